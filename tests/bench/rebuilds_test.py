import json
import tempfile
import unittest
from pathlib import Path

try:
    import onnx

    from bench import pin_session
    from bench.rebuilds import (Rounds, chain, node_to_pin, products, ratios, with_other_weights, words,
                                words_of_phases)
except ImportError:
    onnx = None


@unittest.skipUnless(onnx, "onnx is missing")
class Rebuilds(unittest.TestCase):
    def test_times_are_told_against_the_first_within_rounds(self):
        seconds = {"cold": [10.0, 20.0, 40.0], "again": [1.0, 4.0, 2.0]}
        self.assertAlmostEqual(ratios(seconds)["again"][1], 0.1)
        self.assertEqual(ratios(seconds)["cold"], (1.0, 1.0, 1.0))
        self.assertIn("again               2.000 s    0.100 of the first",
                      words({"what": "n", "seconds": seconds, "ratios": ratios(seconds), "phases": {}}))

    def test_phases_are_told_for_what_they_are(self):
        def document(**ms):
            return {"phases": [{"name": name, "ms": each} for name, each in ms.items()]}
        rounds = Rounds(None)
        rounds.told = {"different": [document(kernels=9000, write=1), document(kernels=200, write=100)],
                       "equal": [document(kernels=9000), document(kernels=30)], "other": [{}, {}]}
        self.assertEqual(rounds.phases(), {"different": {"kernels": [0.2], "write": [0.1]}, "equal": {"kernels": [0.03]}})
        told = words_of_phases({"seconds": {}, "phases": rounds.phases()})
        self.assertEqual(len(told), 2)
        self.assertIn("equal               0.030 s    0.150 of the first: compiling and measuring alone", told[1])

    def test_a_refit_is_told_against_what_it_cannot_do_without(self):
        phases = {"refit": {"import": [0.1], "plan": [0.02], "kernels": [0.1], "write": [0.1]}}
        told = words_of_phases({"seconds": {"refit": [0.4]}, "phases": phases})
        self.assertEqual(len(told), 1)
        self.assertIn("refit               0.100 s   reading the network alone", told[0])
        self.assertIn("the whole refit is 4.000 times that, without writing the engine 3.000 times", told[0])

    def test_other_weights_are_of_the_same_network(self):
        with tempfile.TemporaryDirectory() as folder:
            model = chain(Path(folder) / "chain.onnx", [8, 8, 8])
            other = with_other_weights(model, Path(folder) / "other.onnx")
            before, after = onnx.load(str(model)), onnx.load(str(other))
            self.assertEqual([node.name for node in before.graph.node], [node.name for node in after.graph.node])
            for one, two in zip(before.graph.initializer, after.graph.initializer):
                self.assertEqual(list(one.dims), list(two.dims))
                self.assertNotEqual(onnx.numpy_helper.to_array(one).tobytes(), onnx.numpy_helper.to_array(two).tobytes())
            self.assertEqual(node_to_pin(model), "out_1")

    def test_a_session_of_pins_has_one_more_pin_each_time(self):
        with tempfile.TemporaryDirectory() as folder:
            model = chain(Path(folder) / "chain.onnx", [8, 8, 8, 8, 8])
            nodes = pin_session.spread(products(model), 3)
            self.assertEqual(len(set(nodes)), 3)
            files = pin_session.write_directives(nodes, Path(folder))
            patterns = [[pin["pattern"] for pin in json.loads(file.read_text())["directives"]] for file in files]
            self.assertEqual(patterns, [nodes[:1], nodes[:2], nodes])
        self.assertEqual(pin_session.spread(["a", "b"], 10), ["a", "b"])

    def test_a_session_is_told_as_a_table(self):
        def build(made, compiled):
            return {"regions": 9, "compiled": compiled, "measured": compiled, "taken_over": 9 - compiled,
                    "seconds": made + 0.5, "phases": [{"name": "kernels", "ms": 1000 * made}, {"name": "write", "ms": 500}]}
        told = pin_session.table({"builds": [build(4, 9), build(0.1, 2)]}, ["node_a"])
        self.assertEqual(told.splitlines()[2:], ["| 0 | none | 9 | 9 | 9 | 0 | 4.000 s | 1.000 | 0.500 s |",
                                                 "| 1 | node_a | 9 | 2 | 2 | 7 | 0.100 s | 0.025 | 0.500 s |"])
