import tempfile
import unittest
from pathlib import Path

try:
    import numpy as np
    import onnx

    from bench.comparison import worst_difference
    from bench.quantised import outputs_of, quantised
except ImportError:
    np = None


@unittest.skipUnless(np, "onnxruntime is missing")
class Quantised(unittest.TestCase):
    def network(self, folder, factor):
        weights = factor * np.random.RandomState(1).standard_normal((8, 4, 3, 3)).astype(np.float32)
        values = [onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, dims)
                  for name, dims in (("x", [1, 4, 9, 9]), ("y", [1, 8, 7, 7]))]
        graph = onnx.helper.make_graph([onnx.helper.make_node("Conv", ["x", "w"], ["y"])], "conv", values[:1],
                                       values[1:], [onnx.numpy_helper.from_array(weights, "w")])
        path = Path(folder) / f"conv{factor}.onnx"
        onnx.save(onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 17)], ir_version=8),
                  str(path))
        return path

    def test_is_made_once_by_channel_and_near_float32(self):
        with tempfile.TemporaryDirectory() as folder:
            model = self.network(folder, 1)
            inputs = {"x": np.random.RandomState(0).standard_normal((1, 4, 9, 9)).astype(np.float32)}
            made = quantised(model, inputs, folder)
            when = made.stat().st_mtime_ns
            self.assertEqual(quantised(model, inputs, folder), made)
            self.assertEqual(made.stat().st_mtime_ns, when)
            graph = onnx.load(str(made)).graph
            scales = {weight.name: list(weight.dims) for weight in graph.initializer}
            self.assertIn([8], [scales.get(node.input[1]) for node in graph.node if node.op_type == "DequantizeLinear"])
            error, _ = worst_difference(outputs_of(made, inputs), outputs_of(model, inputs))
            self.assertGreater(error, 0)
            self.assertLess(error, 0.1)

    def test_another_network_or_other_inputs_are_another_file(self):
        with tempfile.TemporaryDirectory() as folder:
            ones = {"x": np.ones((1, 4, 9, 9), np.float32)}
            files = {quantised(self.network(folder, factor), inputs, folder) for factor, inputs in
                     ((1, ones), (2, ones), (1, {"x": 2 * ones["x"]}))}
            self.assertEqual(len(files), 3)


if __name__ == "__main__":
    unittest.main()
