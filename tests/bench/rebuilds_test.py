import tempfile
import unittest
from pathlib import Path

try:
    import onnx

    from bench.rebuilds import chain, node_to_pin, ratios, with_other_weights, words
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
