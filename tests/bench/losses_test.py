import tempfile
import unittest
from pathlib import Path

try:
    import onnx
    from onnx import TensorProto, helper

    from bench.engines.engine import Layer
    from bench.losses import kind_of, largest_losses
except ImportError:
    onnx = None


@unittest.skipUnless(onnx, "onnx is missing")
class Losses(unittest.TestCase):
    def setUp(self):
        """x -> conv -> relu -> (no name) Add -> y"""
        nodes = [helper.make_node("Conv", ["x", "w"], ["c"], name="conv"),
                 helper.make_node("Relu", ["c"], ["r"], name="relu"), helper.make_node("Add", ["r", "r"], ["y"])]
        values = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [1]) for name in ("x", "w", "y")]
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = Path(folder.name) / "model.onnx"
        onnx.save(helper.make_model(helper.make_graph(nodes, "g", values[:2], values[2:])), str(self.path))

    def test_layers_meet_over_the_nodes_of_the_file(self):
        own = [Layer(["conv", "relu"], 5.0, "ours"), Layer(["node_of_y"], 1.0, "sum"), Layer([], 0.5, "convert")]
        peer = [Layer([], 0.25, "reorder", before=["relu"]), Layer(["r"], 3.0, "theirs"), Layer(["y"], 2.0, "add"),
                Layer(["stranger"], 9.0, "lost")]
        losses, elsewhere = largest_losses(self.path, own, peer)
        self.assertEqual([(loss.kind, loss.lost_ms) for loss in losses],
                         [("1 x Conv+Relu", 1.75), ("1 x conversion", 0.5), ("1 x Add", -1.0)])
        self.assertEqual((losses[0].tactic, losses[0].peer_kernel), ("ours", "theirs"))
        self.assertEqual(elsewhere, 9.0)

    def test_a_kernel_that_spans_layers_is_held_against_them_together(self):
        own = [Layer(["conv"], 2.0, "a"), Layer(["relu"], 1.0, "b"), Layer(["node_of_y"], 1.0, "c")]
        losses, _ = largest_losses(self.path, own, [Layer(["conv", "relu"], 2.5, "both"), Layer(["y"], 0.75)])
        self.assertEqual([(loss.kind, loss.own_ms, loss.peer_ms) for loss in losses],
                         [("1 x Conv | Relu", 3.0, 2.5), ("1 x Add", 1.0, 0.75)])

    def test_a_layer_under_a_strange_name_is_of_the_node_that_nobody_else_stands_for(self):
        own = [Layer(["conv"], 2.0), Layer(["relu"], 1.0), Layer(["node_of_y"], 1.0)]
        peer = [Layer(["conv"], 2.0), Layer(["made_of_relu"], 0.25, "r", before=["y"]), Layer(["y"], 1.0)]
        losses, _ = largest_losses(self.path, own, peer)
        self.assertEqual((losses[0].kind, losses[0].lost_ms), ("1 x Relu", 0.75))

    def test_what_nothing_stands_for_is_told(self):
        _, elsewhere = largest_losses(self.path, [Layer(["conv", "relu"], 5.0)], [Layer(["y"], 2.0)])
        self.assertEqual(elsewhere, 2.0)

    def test_long_kinds_are_shortened(self):
        self.assertEqual(kind_of(["Conv", "Relu", "Relu"]), "Conv+Relu")
        self.assertEqual(kind_of(list("abcdefgh")), "a+b+c+d+…+h")


if __name__ == "__main__":
    unittest.main()
