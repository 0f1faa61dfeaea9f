import json
import tempfile
import unittest
from pathlib import Path

try:
    import onnx

    from bench import pin_session
    from bench.rebuilds import chain, node_to_pin, products, ratios, with_other_weights, words
except ImportError:
    onnx = None


@unittest.skipUnless(onnx, "onnx is missing")
class Rebuilds(unittest.TestCase):
    def test_times_are_told_against_the_first_within_rounds(self):
        seconds = {"cold": [10.0, 20.0, 40.0], "again": [1.0, 4.0, 2.0]}
        self.assertAlmostEqual(ratios(seconds)["again"][1], 0.1)
        self.assertEqual(ratios(seconds)["cold"], (1.0, 1.0, 1.0))
        self.assertIn("again               2.000 s    0.100 of the first",
                      words({"what": "n", "seconds": seconds, "ratios": ratios(seconds)}))

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
