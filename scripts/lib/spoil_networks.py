#!/usr/bin/env python3
"""Makes the networks of tests/unit/tuning/spoiled: ordinary blocks, and between them one or two that float16 cannot
represent, whose nodes are named spoiled.*. Usage: spoil_networks.py FOLDER (with onnx and numpy). The bytes are the
same each time."""
import pathlib
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

WIDTH, ROWS, SAMPLES = 16, 8, 2


class Network:
    def __init__(self, name):
        self.name, self.nodes, self.weights = name, [], []
        self.random = np.random.default_rng(7)
        self.value = "x"

    def weight(self, name, values):
        self.weights.append(numpy_helper.from_array(np.asarray(values, np.float32), name))
        return name

    def matrix(self, name, rows, columns, scale=1.0):
        return self.weight(name, scale * self.random.standard_normal((rows, columns)) / np.sqrt(rows))

    def node(self, op, name, inputs, **attributes):
        output = name + ".out"
        self.nodes.append(helper.make_node(op, inputs, [output], name=name, **attributes))
        self.value = output
        return output

    def block(self, name):
        """Calculates x + W2 gelu(W1 x), and then a norm."""
        before = self.value
        up = self.node("MatMul", name + ".up", [before, self.matrix(name + ".w1", WIDTH, 2 * WIDTH)])
        half = self.node("Relu", name + ".relu", [up])
        down = self.node("MatMul", name + ".down", [half, self.matrix(name + ".w2", 2 * WIDTH, WIDTH)])
        self.node("Add", name + ".add", [before, down])
        self.norm(name + ".norm", 1e-5)

    def norm(self, name, epsilon):
        scale = self.weight(name + ".scale", np.ones(WIDTH))
        bias = self.weight(name + ".bias", np.zeros(WIDTH))
        return self.node("LayerNormalization", name, [self.value, scale, bias], axis=-1, epsilon=epsilon)

    def scaled_pair(self, name="spoiled"):
        """Makes two products, the first of which is a million times too large and the second as much too small."""
        before, factor = self.value, 2.0**20
        up = self.node("MatMul", name + ".up", [before, self.matrix(name + ".w1", WIDTH, WIDTH, factor)])
        half = self.node("Relu", name + ".relu", [up])
        down = self.node("MatMul", name + ".down", [half, self.matrix(name + ".w2", WIDTH, WIDTH, 1 / factor)])
        self.node("Add", name + ".add", [before, down])

    def large_logits(self, name="spoiled"):
        """Makes an attention whose scores are thousands and differ by ones, so that rounding the keys selects other
        values."""
        before = self.value
        query = self.node("MatMul", name + ".query", [before, self.matrix(name + ".wq", WIDTH, WIDTH)])
        query = self.node("Add", name + ".query.bias", [query, self.weight(name + ".bq", np.full(WIDTH, 30))])
        key = self.node("MatMul", name + ".key", [before, self.matrix(name + ".wk", WIDTH, WIDTH, 0.05)])
        key = self.node("Add", name + ".key.bias", [key, self.weight(name + ".bk", np.full(WIDTH, 30))])
        turned = self.node("Transpose", name + ".turned", [key], perm=[1, 0])
        scores = self.node("MatMul", name + ".scores", [query, turned])
        chosen = self.node("Softmax", name + ".softmax", [scores], axis=-1)
        self.node("MatMul", name + ".values", [chosen, before])
        self.node("Add", name + ".add", [before, self.value])

    def tiny_variance(self, name="spoiled"):
        """Makes a norm of values that differ by a thousandth of their mean."""
        before = self.value
        small = self.node("Mul", name + ".small", [before, self.weight(name + ".thousandth", 1e-3)])
        self.node("Add", name + ".shifted", [small, self.weight(name + ".one", np.ones(WIDTH))])
        self.norm(name + ".norm", 1e-12)

    def large_sum(self, name="spoiled"):
        """Makes a sum of squares that exceeds 65,504 and is divided again."""
        before = self.value
        wide = self.node("MatMul", name + ".wide", [before, self.matrix(name + ".w", WIDTH, 64, 45)])
        squares = self.node("Mul", name + ".squares", [wide, wide])
        total = self.node("ReduceSum", name + ".sum",
                          [squares, self.axes(name + ".axes")], keepdims=1)
        mean = self.node("Mul", name + ".mean", [total, self.weight(name + ".share", 1e-5)])
        self.node("Add", name + ".add", [before, mean])

    def axes(self, name):
        self.weights.append(numpy_helper.from_array(np.asarray([-1], np.int64), name))
        return name

    def write(self, folder):
        self.nodes[-1].output[0] = "y"
        shape = [ROWS, WIDTH]
        graph = helper.make_graph(self.nodes, self.name, [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)],
                                  [helper.make_tensor_value_info("y", TensorProto.FLOAT, shape)], self.weights)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=8)
        onnx.checker.check_model(model)
        (folder / f"{self.name}.onnx").write_bytes(model.SerializeToString(deterministic=True))


def network(name, *spoil):
    """Makes two blocks, what spoils the network, two blocks, and so on."""
    made = Network(name)
    for index in range(2):
        made.block(f"begin{index}")
    for index, (part, called) in enumerate(spoil):
        getattr(made, part)(called)
        for after in range(2):
            made.block(f"after{index}{after}")
    return made


def main():
    folder = pathlib.Path(sys.argv[1])
    for part in ("scaled_pair", "large_logits", "tiny_variance", "large_sum"):
        network(part, (part, "spoiled")).write(folder)
    network("two_at_once", ("scaled_pair", "spoiled.first"), ("tiny_variance", "spoiled.second")).write(folder)
    random = np.random.default_rng(11)
    inputs = random.standard_normal((SAMPLES * ROWS, WIDTH)).astype(np.float32)
    np.savez(folder / "inputs.npz", x=inputs)


if __name__ == "__main__":
    main()
