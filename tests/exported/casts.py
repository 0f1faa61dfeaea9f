"""Holds random networks with Casts against ONNX Runtime, on both backends.

    casts.py FUSESCOPE

FUSESCOPE_CAST_CASES networks (default below), the first of seed FUSESCOPE_CAST_FIRST. Each has several branches from one
input, of products, activations, norms and attention with Casts of its author between them: to f16, bf16, double, int32
and int8, and back, with one operator in that type or none. Where a type narrows, a number next to a tie may be rounded
to either side. So of the rows of a result, which are calculated apart, most must be as float32's own rounding allows, and
all must be so near as one such rounding in each row can put them. A kernel that leaves a rounding out is off in all rows.
Prints the count of networks and of results, and ends with 1 where one differs.
"""
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

CASES, FIRST = 60, 1
ROWS, WIDTH, HEADS = 48, 16, 2
OPSET = 18
STEP = {"f16": 2.0 ** -10, "bf16": 2.0 ** -7, "double": 0, "int32": 1, "int8": 1}
TYPES = {"f16": TensorProto.FLOAT16, "bf16": TensorProto.BFLOAT16, "double": TensorProto.DOUBLE,
         "int32": TensorProto.INT32, "int8": TensorProto.INT8, "f32": TensorProto.FLOAT}
TIGHT = 2e-5      # of the rms of a result
MOST_ROWS = 0.35  # that may hold a number next to a tie
COMMANDS = ["run --backend native", "run --backend reference"]
VERIFY = "verify"  # holds all tactics against the reference; sums next to a whole number become other integers


class Branch:
    """A chain of operators from the input. `loose`: what one rounding to the other side may do, of the rms."""

    def __init__(self, network, dice, name):
        self.network, self.dice, self.name = network, dice, name
        self.value, self.loose, self.made = "x", 0.0, 0

    def fresh(self):
        self.made += 1
        return f"{self.name}_{self.made}"

    def add(self, op, *inputs, **attributes):
        output = self.fresh()
        self.network.nodes.append(helper.make_node(op, list(inputs), [output], name=f"{output}_{op}", **attributes))
        return output

    def constant(self, array, kind=None):
        name = self.fresh()
        tensor = numpy_helper.from_array(array, name)
        if kind is not None:
            tensor = helper.make_tensor(name, kind, array.shape, array.astype(np.float64).ravel().tolist())
        self.network.constants.append(tensor)
        return name

    def weights(self, *dims, scale=1.0):
        return (scale * self.dice.standard_normal(dims)).astype(np.float32)

    def cast(self, value, kind):
        return self.add("Cast", value, to=TYPES[kind])

    def step(self):
        kinds = [self.product, self.activation, self.shift, self.scale, self.norm, self.attention, self.softmax, self.rms]
        weights = np.array([4, 3, 2, 2, 1, 1, 1, 1], float)
        self.dice.choice(kinds, p=weights / weights.sum())()

    def product(self):
        bias = self.dice.random() < 0.3
        w = self.constant(self.weights(WIDTH, WIDTH, scale=self.dice.choice([0.3, 1.0])))
        self.value = self.add("MatMul", self.value, w)
        if bias:
            self.value = self.add("Add", self.value, self.constant(self.weights(WIDTH)))

    def activation(self):
        self.value = self.add(self.dice.choice(["Relu", "Tanh", "Sigmoid", "Abs", "Neg"]), self.value)

    def shift(self):
        other = "x" if self.dice.random() < 0.4 else self.constant(self.weights(WIDTH))
        self.value = self.add("Add", self.value, other)

    def scale(self):
        self.value = self.add("Mul", self.value, self.constant(np.float32(self.dice.choice([0.5, 2.0, 3.0]))))

    def softmax(self):
        self.value = self.add("Softmax", self.value, axis=-1)

    def norm(self):
        self.value = self.add("LayerNormalization", self.value, self.constant(self.weights(WIDTH)), axis=-1)

    def rms(self):
        """A norm by the root of the mean square in f32, cast before its weights."""
        kind = self.dice.choice(["f16", "bf16", "f32"])
        square = self.add("Pow", self.value, self.constant(np.float32(2)))
        mean = self.add("ReduceMean", square, self.constant(np.array([-1], np.int64)), keepdims=1)
        root = self.add("Sqrt", self.add("Add", mean, self.constant(np.float32(1e-5))))
        normal = self.add("Mul", self.value, self.add("Reciprocal", root))
        if kind != "f32":
            normal = self.cast(self.cast(normal, kind), "f32")
            self.loose += STEP[kind]
        self.value = self.add("Mul", normal, self.constant(self.weights(WIDTH)))

    def attention(self):
        """softmax(q · k) · v over rows in groups, with Casts of scores and probabilities."""
        keys = self.constant(self.weights(WIDTH, 24, scale=0.4))
        values = self.constant(self.weights(24, WIDTH))
        scores = self.maybe_rounded(self.add("MatMul", self.value, keys))
        if self.dice.random() < 0.5:
            scores = self.maybe_rounded(self.add("Mul", scores, self.constant(np.float32(0.5))))
        weights = self.maybe_rounded(self.add("Softmax", scores, axis=-1))
        self.value = self.add("MatMul", weights, values)

    def maybe_rounded(self, value):
        if self.dice.random() < 0.5:
            return value
        kind = self.dice.choice(["f16", "bf16"])
        self.loose += 4 * STEP[kind]
        return self.cast(self.cast(value, kind), "f32")

    def through(self):
        """To other types and back to f32, with an operator on the way."""
        for kind in self.dice.choice(list(STEP), size=self.dice.integers(1, 3), replace=False):
            if kind.startswith("int"):  # what it does with numbers beyond its range is not said
                limit = 100.0 if kind == "int8" else 1e6
                bounds = [self.constant(np.float32(-limit)), self.constant(np.float32(limit))]
                self.value = self.add("Clip", self.cast(self.value, "f32"), *bounds)
            self.value = self.cast(self.value, kind)
            self.loose += STEP[kind]
            if kind in ("f16", "double", "int32") and self.dice.random() < 0.4:
                self.operate(kind)
        self.value = self.cast(self.value, "f32")

    def operate(self, kind):
        numbers = {"int32": lambda *dims: self.dice.integers(-3, 4, dims)}.get(kind, self.weights)
        ops = ["Add", "Mul"] if kind == "int32" else ["Add", "Mul", "MatMul", "Relu"]
        op = self.dice.choice(ops)
        if op == "Relu":
            self.value = self.add(op, self.value)
            return
        dims = (WIDTH, WIDTH) if op == "MatMul" else (WIDTH,)
        self.value = self.add(op, self.value, self.constant(numbers(*dims), TYPES[kind]))
        self.loose += STEP[kind]


class Network:
    def __init__(self, seed):
        dice = np.random.default_rng(seed)
        self.nodes, self.constants, self.branches = [], [], []
        for i in range(4):
            branch = Branch(self, dice, f"b{i}")
            for _ in range(dice.integers(0, 3)):
                branch.step()
            branch.through()
            for _ in range(dice.integers(0, 3)):
                branch.step()
            if dice.random() < 0.2:
                branch.value = branch.cast(branch.value, "f16")
                branch.loose += STEP["f16"]
            if branch.value == "x":
                branch.activation()
            self.branches.append(branch)
        dims = [ROWS, WIDTH]
        kinds = {n.output[0]: n.attribute[0].i for n in self.nodes if n.op_type == "Cast"}
        outputs = [helper.make_tensor_value_info(b.value, kinds.get(b.value, TensorProto.FLOAT), dims)
                   for b in self.branches]
        graph = helper.make_graph(self.nodes, "casts", [helper.make_tensor_value_info("x", TensorProto.FLOAT, dims)],
                                  outputs, self.constants)
        self.model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=9)
        self.x = (dice.choice([0.1, 1.0, 30.0, 8000.0]) * dice.standard_normal(dims)).astype(np.float32)


def difference(ours, theirs, loose):
    """What is wrong, or nothing."""
    if ours.shape != theirs.shape:
        return f"extents {ours.shape} and {theirs.shape}"
    ours, theirs = ours.astype(np.float64), theirs.astype(np.float64)
    finite = np.isfinite(theirs) & np.isfinite(ours)
    same = (ours == theirs) | (np.isnan(ours) & np.isnan(theirs))
    rms = np.sqrt(np.mean(np.square(theirs[finite]))) if finite.any() else 0.0
    with np.errstate(invalid="ignore"):
        off = np.where(same, 0.0, np.where(finite, np.abs(ours - theirs) / (rms + 1e-30), np.inf))
    unit = np.abs(theirs) * 2.0 ** -9 / (rms + 1e-30) if loose else 0  # of what is stored as f16
    rows = np.max(np.where(off <= TIGHT, 0, off), axis=1)
    wrong = np.mean(rows > 0)
    if wrong > MOST_ROWS:
        return f"{100 * wrong:.0f} % of the rows differ, by up to {np.max(off):.3g} of rms"
    far = np.isfinite(off) & (off > TIGHT + 60 * loose + np.where(np.isfinite(unit), unit, 0))
    return f"differs by {np.max(off[far]):.3g} of rms" if far.any() else None


def alone(model, node, types):
    """The node as a network. What is bf16 goes in and out as float32, which holds it."""
    outside = lambda name: TensorProto.FLOAT if types[name] == TensorProto.BFLOAT16 else types[name]
    constants = [t for t in model.graph.initializer if t.name in node.input]
    given = [n for n in dict.fromkeys(node.input) if all(n != t.name for t in constants)]
    result = node.output[0]
    nodes, left = [node], result
    if types[result] == TensorProto.BFLOAT16:
        left = "as_float"
        nodes.append(helper.make_node("Cast", [result], [left], to=TensorProto.FLOAT))
    graph = helper.make_graph(nodes, "node", [helper.make_tensor_value_info(n, outside(n), None) for n in given],
                              [helper.make_tensor_value_info(left, outside(result), None)], constants)
    return helper.make_model(graph, opset_imports=model.opset_import, ir_version=model.ir_version), given


def runtime(model, x):
    """Every value, by ONNX Runtime node by node: of several together it may leave the author's roundings out."""
    inferred = onnx.shape_inference.infer_shapes(model).graph
    types = {v.name: v.type.tensor_type.elem_type for v in [*inferred.value_info, *inferred.input, *inferred.output]}
    types.update({t.name: t.data_type for t in model.graph.initializer})
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = 1
    values = {"x": x}
    for node in model.graph.node:
        network, given = alone(model, node, types)
        session = onnxruntime.InferenceSession(network.SerializeToString(), options, providers=["CPUExecutionProvider"])
        values[node.output[0]] = session.run(None, {name: values[name] for name in given})[0]
    return values


def check(program, seed, folder):
    """(results, problems), or None where ONNX Runtime has no kernel."""
    network = Network(seed)
    try:
        expected = runtime(network.model, network.x)
    except Exception as error:
        if "NOT_IMPLEMENTED" in str(error) or "is not a registered function" in str(error):
            return None
        raise
    path, given, values = folder / f"{seed}.onnx", folder / "in.npz", folder / "out.npz"
    onnx.save(network.model, path)
    np.savez(given, **{"in:x": network.x})
    results, problems = 0, []
    integers = any(n.op_type == "Cast" and n.attribute[0].i in (TYPES["int8"], TYPES["int32"]) for n in network.nodes)
    for command in COMMANDS + ([] if integers else [VERIFY]):
        values.unlink(missing_ok=True)
        written = ["--outputs", str(values)] if command.startswith("run") else []
        done = subprocess.run([program, *command.split(), str(path), "--inputs", str(given), *written],
                              capture_output=True, text=True)
        if done.returncode != 0:
            problems.append(f"{command}: {(done.stderr or done.stdout).strip()[-600:]}")
            continue
        numbers = {k.split(":", 1)[-1]: v for k, v in np.load(values).items()} if written else {}
        for branch in network.branches if written else []:
            wrong = difference(numbers[branch.value], expected[branch.value], branch.loose)
            results += 1
            if wrong:
                problems.append(f"{command}: {branch.value}: {wrong}")
    return results, problems


def main():
    program = sys.argv[1]
    first, cases = int(os.environ.get("FUSESCOPE_CAST_FIRST", FIRST)), int(os.environ.get("FUSESCOPE_CAST_CASES", CASES))
    onnxruntime.set_default_logger_severity(4)
    networks = results = failures = 0
    with tempfile.TemporaryDirectory() as temporary:
        for seed in range(first, first + cases):
            checked = check(program, seed, Path(temporary))
            if checked is None:
                continue
            networks += 1
            results += checked[0]
            failures += len(checked[1])
            for problem in checked[1]:
                print(f"seed {seed}: {problem}")
    print(f"suite: Casts of the author: {results} results of {networks} networks as in ONNX Runtime, {failures} problems")
    return 1 if failures or networks < cases / 2 else 0


if __name__ == "__main__":
    sys.exit(main())
