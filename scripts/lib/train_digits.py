"""Trains the bundled digits network: `python scripts/lib/train_digits.py resources/samples/digits`.

A small residual network over the handwritten digits that scikit-learn ships (8 by 8 pixels of 0 to 16, 1,797 images,
UCI's test set of optical recognition, CC BY 4.0), trained in NumPy alone, so that anyone can make the bundled weights
again, up to how the machine rounds. Needs numpy, scikit-learn and onnx; a few minutes. Writes

    model.onnx       input `image` [batch, 1, 8, 8] in [0, 1], output `scores` [batch, 10]
    io.npz           the first 16 held-out images and the scores that NumPy calculates for them
    held_out.npz     all 360 held-out images, as `image`
    labels.npy       their digits, int64
"""
import pathlib
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from sklearn.datasets import load_digits

SEED, EPOCHS, BATCH, HELD_OUT = 20, 40, 64, 360
RATE, DECAY = 2e-3, 1e-4
WIDTHS = (16, 32)  # channels before and behind the pooling


def patches(x):
    """Returns [n, h, w, c * 9] for [n, c, h, w]: the 3 by 3 neighbourhood of each pixel, with zeros outside."""
    n, c, h, w = x.shape
    padded = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)))
    windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), axis=(2, 3))
    return windows.transpose(0, 2, 3, 1, 4, 5).reshape(n, h, w, c * 9)


class Conv:
    """A convolution of 3 by 3 with padding 1 and a bias."""

    def __init__(self, random, inputs, outputs):
        self.weight = random.normal(0, np.sqrt(2 / (inputs * 9)), (outputs, inputs, 3, 3))
        self.bias = np.zeros(outputs)

    def forward(self, x):
        self.columns, self.shape = patches(x), x.shape
        flat = self.weight.reshape(len(self.weight), -1)
        return (self.columns @ flat.T + self.bias).transpose(0, 3, 1, 2)

    def backward(self, dy):
        n, c, h, w = self.shape
        dy = dy.transpose(0, 2, 3, 1)
        flat = self.weight.reshape(len(self.weight), -1)
        self.d_weight = (dy.reshape(-1, dy.shape[-1]).T @ self.columns.reshape(-1, c * 9)).reshape(self.weight.shape)
        self.d_bias = dy.sum((0, 1, 2))
        parts = (dy @ flat).reshape(n, h, w, c, 3, 3)
        padded = np.zeros((n, c, h + 2, w + 2))
        for i in range(3):
            for j in range(3):
                padded[:, :, i:i + h, j:j + w] += parts[..., i, j].transpose(0, 3, 1, 2)
        return padded[:, :, 1:-1, 1:-1]


class Linear:
    def __init__(self, random, inputs, outputs):
        self.weight = random.normal(0, np.sqrt(1 / inputs), (outputs, inputs))
        self.bias = np.zeros(outputs)

    def forward(self, x):
        self.x = x
        return x @ self.weight.T + self.bias

    def backward(self, dy):
        self.d_weight, self.d_bias = dy.T @ self.x, dy.sum(0)
        return dy @ self.weight


class Relu:
    def forward(self, x):
        self.positive = x > 0
        return x * self.positive

    def backward(self, dy):
        return dy * self.positive


class Residual:
    """Calculates relu(conv(relu(conv(x))) + x)."""

    def __init__(self, random, width):
        self.inner, self.outer = Conv(random, width, width), Conv(random, width, width)
        self.between, self.last = Relu(), Relu()

    def forward(self, x):
        return self.last.forward(self.outer.forward(self.between.forward(self.inner.forward(x))) + x)

    def backward(self, dy):
        dy = self.last.backward(dy)
        return dy + self.inner.backward(self.between.backward(self.outer.backward(dy)))


class MaxPool:
    """A max pool of 2 by 2."""

    def forward(self, x):
        n, c, h, w = x.shape
        cells = x.reshape(n, c, h // 2, 2, w // 2, 2)
        y = cells.max((3, 5))
        greatest = cells == y[:, :, :, None, :, None]
        self.share = greatest / greatest.sum((3, 5), keepdims=True)
        return y

    def backward(self, dy):
        n, c, h, w = dy.shape
        return (self.share * dy[:, :, :, None, :, None]).reshape(n, c, 2 * h, 2 * w)


class MeanPool:
    def forward(self, x):
        self.shape = x.shape
        return x.mean((2, 3))

    def backward(self, dy):
        return np.broadcast_to(dy[:, :, None, None], self.shape) / (self.shape[2] * self.shape[3])


class Network:
    def __init__(self, random):
        first, second = WIDTHS
        self.stem, self.early = Conv(random, 1, first), Residual(random, first)
        self.widen, self.late = Conv(random, first, second), Residual(random, second)
        self.head = Linear(random, second, 10)
        self.layers = [self.stem, Relu(), self.early, MaxPool(), self.widen, Relu(), self.late, MeanPool(), self.head]
        self.weighted = [self.stem, self.early.inner, self.early.outer, self.widen, self.late.inner, self.late.outer,
                         self.head]

    def forward(self, x):
        for layer in self.layers:
            x = layer.forward(x)
        return x

    def backward(self, dy):
        for layer in reversed(self.layers):
            dy = layer.backward(dy)


class Adam:
    def __init__(self, layers):
        self.state = [(layer, name, np.zeros_like(getattr(layer, name)), np.zeros_like(getattr(layer, name)))
                      for layer in layers for name in ("weight", "bias")]
        self.steps = 0

    def step(self, rate):
        self.steps += 1
        for layer, name, mean, square in self.state:
            value, gradient = getattr(layer, name), getattr(layer, "d_" + name)
            mean += 0.1 * (gradient - mean)
            square += 0.001 * (gradient * gradient - square)
            value -= rate * (mean / (1 - 0.9**self.steps) / (np.sqrt(square / (1 - 0.999**self.steps)) + 1e-8)
                             + DECAY * value)


def loss_gradient(scores, labels):
    """Returns the gradient of the mean cross entropy."""
    odds = np.exp(scores - scores.max(1, keepdims=True))
    odds /= odds.sum(1, keepdims=True)
    odds[np.arange(len(labels)), labels] -= 1
    return odds / len(labels)


def shifted(random, images):
    """Returns each image moved by up to a pixel."""
    padded = np.pad(images, ((0, 0), (0, 0), (1, 1), (1, 1)))
    at = random.integers(0, 3, (len(images), 2))
    return np.stack([image[:, i:i + 8, j:j + 8] for image, (i, j) in zip(padded, at)])


def train(random, images, labels):
    network = Network(random)
    adam = Adam(network.weighted)
    for epoch in range(EPOCHS):
        order = random.permutation(len(images))
        rate = RATE * (1 + np.cos(np.pi * epoch / EPOCHS)) / 2
        for begin in range(0, len(order), BATCH):
            taken = order[begin:begin + BATCH]
            network.backward(loss_gradient(network.forward(shifted(random, images[taken])), labels[taken]))
            adam.step(rate)
    return network


def onnx_model(network):
    names = ["stem", "early.conv1", "early.conv2", "widen", "late.conv1", "late.conv2", "head"]
    weights = [numpy_helper.from_array(getattr(layer, kind).astype(np.float32), f"{name}.{kind}")
               for name, layer in zip(names, network.weighted) for kind in ("weight", "bias")]
    nodes = []

    def add(op, name, inputs, **attributes):
        nodes.append(helper.make_node(op, inputs, [name + "_out"], name=name, **attributes))
        return name + "_out"

    def conv(name, x):
        return add("Conv", name, [x, name + ".weight", name + ".bias"], kernel_shape=[3, 3], pads=[1, 1, 1, 1])

    def residual(name, x):
        inner = add("Relu", name + ".relu1", [conv(name + ".conv1", x)])
        return add("Relu", name + ".relu2", [add("Add", name + ".add", [conv(name + ".conv2", inner), x])])

    x = residual("early", add("Relu", "stem.relu", [conv("stem", "image")]))
    x = add("MaxPool", "pool", [x], kernel_shape=[2, 2], strides=[2, 2])
    x = residual("late", add("Relu", "widen.relu", [conv("widen", x)]))
    x = add("Flatten", "flatten", [add("GlobalAveragePool", "mean", [x])])
    nodes.append(helper.make_node("Gemm", [x, "head.weight", "head.bias"], ["scores"], name="head", transB=1))
    graph = helper.make_graph(
        nodes, "digits", [helper.make_tensor_value_info("image", TensorProto.FLOAT, ["batch", 1, 8, 8])],
        [helper.make_tensor_value_info("scores", TensorProto.FLOAT, ["batch", 10])], weights)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=8, producer_name="train_digits")
    onnx.checker.check_model(model, full_check=True)
    return model


def main(folder):
    digits = load_digits()
    random = np.random.default_rng(SEED)
    order = random.permutation(len(digits.target))
    images, labels = digits.images[order][:, None] / 16, digits.target[order].astype(np.int64)
    network = train(random, images[HELD_OUT:], labels[HELD_OUT:])
    for layer in network.weighted:  # the types of the file
        layer.weight, layer.bias = layer.weight.astype(np.float32), layer.bias.astype(np.float32)
    scores = network.forward(images[:HELD_OUT])
    print(f"{(scores.argmax(1) == labels[:HELD_OUT]).mean():.4f} of {HELD_OUT} held-out images are recognised")
    folder.mkdir(parents=True, exist_ok=True)
    onnx.save(onnx_model(network), folder / "model.onnx")
    held_out = images[:HELD_OUT].astype(np.float32)
    np.savez_compressed(folder / "io.npz", **{"in:image": held_out[:16], "out:scores": scores[:16].astype(np.float32)})
    np.savez_compressed(folder / "held_out.npz", image=held_out)
    np.save(folder / "labels.npy", labels[:HELD_OUT])


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(pathlib.Path(sys.argv[1]))
