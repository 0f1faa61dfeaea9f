"""Has the tools that exports of precision configurations are for read them.

    consumers.py FUSESCOPE SHARED_FOLDER

A network whose nodes have odd names (commas, quotes, colons, stars, line breaks, letters beyond ASCII), and small ones
of the zoo, are planned with pins and exported. Then:
- Python's re matches the expressions for AutoCast with all names of the network: just the nodes that stay in float32;
- ModelOpt's AutoCast, where the package is installed, converts the network;
- onnxconverter-common converts it: each node's types are the plan's, and ONNX Runtime runs what came out;
- OpenVINO reads the IR, and its compiled kernels have the plan's types;
- NNCF quantises all but the products that stay in floats;
- Polygraphy's own loader calls the network script, and each layer gets the type of its node.
"""
import importlib.util
import json
import re
import sys
import tempfile
import types
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper, shape_inference

from support import call

ODD = ["a, b", "it's", 'say "x"', "c:d", "e: f", " g ", "*h*", "(i)[j]{k}", "l\\m\\Z", "^n$|o?", "p + q", "ünï/π/層",
       "r\ns", "#t=u;v&w", "😀", "op:MatMul", "/x/", "back`tick", "%y%s", "<z>"]
RANDOM = np.random.default_rng(7)
ZOO = ["unet_small", "bert_tiny"]


class Problems:
    def __init__(self):
        self.list, self.passed = [], 0

    def check(self, title, holds, what):
        if holds:
            self.passed += 1
        else:
            self.list.append(f"{title}: {what}")
            print(f"  wrong: {title}: {what}", flush=True)


def odd_network(path):
    """A product, a bias and a Relu for each odd name."""
    nodes, tensors, x = [], [], "x"
    for i, name in enumerate(ODD):
        tensors.append(numpy_helper.from_array((RANDOM.standard_normal((32, 32)) / 6).astype(np.float32), f"w{i}"))
        tensors.append(numpy_helper.from_array(RANDOM.standard_normal(32).astype(np.float32), f"b{i}"))
        nodes.append(helper.make_node("MatMul", [x, f"w{i}"], [f"m{i}"], name=name))
        nodes.append(helper.make_node("Add", [f"m{i}", f"b{i}"], [f"a{i}"], name=f"add {name}"))
        nodes.append(helper.make_node("Relu", [f"a{i}"], [f"r{i}"], name=f"{name} relu"))
        x = f"r{i}"
    graph = helper.make_graph(nodes, "odd", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [8, 32])],
                              [helper.make_tensor_value_info(x, TensorProto.FLOAT, [8, 32])], tensors)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9), path)
    return {"x": RANDOM.standard_normal((8, 32)).astype(np.float32)}


def mixed_network(path):
    """Casts of the author, bodies that read weights and values from outside, and an output that a pinned node makes."""
    def weight(name, *dims):
        return numpy_helper.from_array((RANDOM.standard_normal(dims) / 4).astype(np.float32), name)

    def body(name, *nodes):
        return helper.make_graph(list(nodes), name, [], [helper.make_tensor_value_info(f"{name}_y", TensorProto.FLOAT,
                                                                                       [8, 16])])

    then = body("then", helper.make_node("MatMul", ["h", "inner"], ["then_y"], name="in then"))
    other = body("other", helper.make_node("Mul", ["h", "shared"], ["other_y"], name="in other"))
    nodes = [helper.make_node("Cast", ["codes"], ["f"], name="widened", to=TensorProto.FLOAT),
             helper.make_node("MatMul", ["f", "w"], ["m"], name="product"),
             helper.make_node("Mul", ["m", "shared"], ["h"], name="scaled"),
             helper.make_node("If", ["which"], ["branched"], name="branch", then_branch=then, else_branch=other),
             helper.make_node("Relu", ["branched"], ["r"], name="clamped"),
             helper.make_node("MatMul", ["r", "last"], ["y"], name="pinned"),
             helper.make_node("Relu", ["y"], ["z"], name="after")]
    graph = helper.make_graph(nodes, "mixed", [helper.make_tensor_value_info("codes", TensorProto.INT32, [8, 16]),
                                               helper.make_tensor_value_info("which", TensorProto.BOOL, [])],
                              [helper.make_tensor_value_info(name, TensorProto.FLOAT, [8, 16]) for name in "yz"],
                              [weight("w", 16, 16), weight("inner", 16, 16), weight("last", 16, 16),
                               weight("shared", 16)])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9), path)
    return {"codes": RANDOM.integers(-4, 5, (8, 16)).astype(np.int32), "which": np.array(True)}


def module_of(path):
    """The script as a module, not run."""
    spec = importlib.util.spec_from_file_location("exported", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Case:
    def __init__(self, program, folder, title, network, inputs, pinned):
        self.program, self.folder, self.title, self.network, self.inputs = program, folder, title, network, inputs
        directives = [{"kind": "pin", "pattern": name, "type": "f32"} for name in pinned]
        self.directives = folder / "directives.json"
        self.directives.write_text(json.dumps({"format": "fusescope.directives", "version": 2, "target": "tensorrt-10",
                                               "precision": ["f16"], "directives": directives}))
        status, text, said = call(program, "plan", network, "--directives", self.directives, "--json")
        if status != 0:
            raise RuntimeError(said)
        # What only moves elements rounds nothing: it goes along with what it moves.
        self.types = {each["node"]: each["granted"] for each in json.loads(text)["precision_map"]
                      if each["code"] != "precision.moved"}
        self.pinned = set(pinned)
        self.model = onnx.load(network)

    def export(self, form, *more):
        path = self.folder / f"exported_{form}.py"
        status, _, said = call(self.program, "export", self.network, "--directives", self.directives, "--to", form, "-o",
                               path, *more)
        if status != 0:
            raise RuntimeError(f"{self.title}: --to {form}: {said}")
        return path

    def run(self, script, *arguments):
        status, _, said = call(sys.executable, script, *arguments)
        if status != 0:
            raise RuntimeError(f"{self.title}: {script.name}: {said[-2000:]}")


def expressions(case, problems):
    module = module_of(case.export("modelopt"))
    names = [node.name for node in case.model.graph.node]
    matched = {name for name in names if any(re.match(each, name) for each in module.NODES_TO_EXCLUDE)}
    for name in names:
        kind = case.types.get(name)
        if name in case.pinned or kind == "f32":
            problems.check(case.title, name in matched, f"AutoCast would lower {name!r}")
        if kind == "f16":
            problems.check(case.title, name not in matched, f"AutoCast would not lower {name!r}")
    for each in module.NODES_TO_EXCLUDE:
        hits = [name for name in names if re.match(each, name)]
        problems.check(case.title, len(hits) <= 1, f"{each!r} matches {hits}")


def autocast(case, problems):
    from modelopt.onnx.autocast import convert_to_mixed_precision  # noqa: F401

    out = case.folder / "autocast.onnx"
    case.run(case.export("modelopt"), case.network, out)
    typed_as_planned(case, out, "AutoCast", problems)


def typed_as_planned(case, path, who, problems):
    """Each product of the network has operands of the type that the plan calculates it in."""
    model = shape_inference.infer_shapes(onnx.load(path))
    kinds = {value.name: value.type.tensor_type.elem_type
             for value in [*model.graph.value_info, *model.graph.input, *model.graph.output]}
    kinds |= {tensor.name: tensor.data_type for tensor in model.graph.initializer}
    wanted = {"f32": TensorProto.FLOAT, "f16": TensorProto.FLOAT16}
    for node in model.graph.node:
        kind = wanted.get(case.types.get(node.name))
        if kind is None or node.op_type not in ("MatMul", "Gemm", "Conv", "Add", "Relu"):
            continue
        found = {kinds.get(name) for name in node.input} & set(wanted.values())
        problems.check(case.title, found == {kind}, f"{who}: {node.name!r} has operands of {found}, planned is {kind}")


def converter(case, problems):
    script = case.export("onnxruntime")
    out = case.folder / "float16.onnx"
    case.run(script, case.network, out)
    typed_as_planned(case, out, "onnxconverter-common", problems)
    exact = onnxruntime.InferenceSession(str(case.network), providers=["CPUExecutionProvider"]).run(None, case.inputs)
    other = onnxruntime.InferenceSession(str(out), providers=["CPUExecutionProvider"]).run(None, case.inputs)
    for theirs, ours in zip(exact, other):
        problems.check(case.title, theirs.dtype == ours.dtype, f"an output is {ours.dtype}, and was {theirs.dtype}")
        rms = np.sqrt(np.mean(np.square(theirs))) or 1
        problems.check(case.title, np.max(np.abs(theirs - ours)) < 0.1 * rms, "ONNX Runtime is far from float32")


def openvino_kernels(case, problems):
    import openvino

    script = case.export("openvino", "--precision", "bf16")  # what this CPU may have
    status, text, _ = call(case.program, "plan", case.network, "--directives", case.directives, "--precision", "bf16",
                           "--json")
    types_of = {each["node"]: each["granted"] for each in json.loads(text)["precision_map"]}
    out = case.folder / "network.xml"
    case.run(script, case.network, out)
    kept = module_of(script).KEPT_VALUES
    core = openvino.Core()
    read = core.read_model(out)
    marked = {name for op in read.get_ops() for output in op.outputs() for name in output.get_names()
              if "DisablePrecisionConversion_0" in op.get_rt_info()}
    problems.check(case.title, set(kept) <= marked, f"OpenVINO does not read the marks of {set(kept) - marked}")
    makers = {node.name: set(node.output) for node in case.model.graph.node}
    lowered = {name for node, kind in types_of.items() if kind == "bf16" for name in makers.get(node, ())}
    problems.check(case.title, not lowered & marked, f"marked, though they are lowered: {lowered & marked}")
    if "BF16" not in core.get_property("CPU", "OPTIMIZATION_CAPABILITIES"):
        return print(f"{case.title}: this CPU calculates nothing in bf16: kernels are not looked at", flush=True)
    products = {op.get_friendly_name(): names_of_product(op) for op in read.get_ops()
                if op.get_type_name() in ("Convolution", "MatMul")}
    compiled = core.compile_model(str(out), "CPU")
    seen = 0
    for op in compiled.get_runtime_model().get_ordered_ops():
        info = op.get_rt_info()
        if info["layerType"].value not in ("Convolution", "FullyConnected", "MatMul"):
            continue
        values = {name for part in info["originalLayersNames"].value.split(",") for name in products.get(part, ())}
        if values & marked:
            seen += 1
            problems.check(case.title, info["runtimePrecision"].value == "f32",
                           f"OpenVINO calculates {values & marked} in {info['runtimePrecision'].value}")
    print(f"{case.title}: {seen} kernels of OpenVINO stay in float32", flush=True)


def output_names(op):
    return {name for output in op.outputs() for name in output.get_names()}


def names_of_product(op):
    """The value that a product makes; of a convolution without a name, what the addition of its bias makes."""
    names = output_names(op)
    return names or {name for target in op.output(0).get_target_inputs() for name in output_names(target.get_node())}


def comes_quantised(op):
    """Whether codes stand there, or before what hands them on as they are."""
    if op.get_type_name() in ("Concat", "MaxPool", "Interpolate", "Reshape", "Transpose", "Squeeze", "Unsqueeze"):
        return comes_quantised(op.input_value(0).get_node())
    return op.get_type_name() == "FakeQuantize"


def nncf_scope(case, problems):
    import nncf  # noqa: F401
    import openvino

    inputs, ranges = case.folder / "inputs.npz", case.folder / "ranges.json"
    np.savez(inputs, **case.inputs)
    status, _, said = call(case.program, "calibrate", case.network, "--inputs", inputs, "-o", ranges)
    if status != 0:
        raise RuntimeError(said)
    script = case.export("openvino", "--precision", "int8", "--target", "cpu", "--ranges", ranges)
    ignored = set(module_of(script).IGNORED_VALUES)
    out = case.folder / "int8.xml"
    case.run(script, case.network, out, inputs)
    model = openvino.Core().read_model(out)
    counts = {True: 0, False: 0}
    for op in model.get_ordered_ops():
        if op.get_type_name() not in ("MatMul", "Convolution"):
            continue
        quantised = comes_quantised(op.input_value(0).get_node())
        is_ignored = bool(names_of_product(op) & ignored)
        counts[is_ignored] += 1
        problems.check(case.title, quantised != is_ignored,
                       f"NNCF {'quantises' if quantised else 'does not quantise'} {names_of_product(op)}")
    print(f"{case.title}: NNCF quantises {counts[False]} products, {counts[True]} stay in floats", flush=True)


class FakeTensor:
    is_shape_tensor = False

    def __init__(self, kind):
        self.dtype = kind


class FakeLayer:
    """A layer of TensorRT's network as the script sees it; TensorRT 10 needs a card, so its Python is not here."""

    def __init__(self, node, kind, position):
        self.name = f"{node.name}_{position}"
        self.metadata = "\x1e".join(f"[ONNX Layer: {name}]" for name in [node.name])
        self.precision, self.types, self.num_outputs = None, {}, len(node.output)
        self._output = FakeTensor(kind)

    def get_output(self, index):
        return self._output

    def set_output_type(self, index, kind):
        self.types[index] = kind


class FakeNetwork:
    def __init__(self, model, kind):
        self.layers = [FakeLayer(node, kind, i) for i, node in enumerate(model.graph.node)]
        self.num_layers = len(self.layers)

    def get_layer(self, index):
        return self.layers[index]


def polygraphy_script(case, problems):
    from polygraphy.backend.common import invoke_from_script

    fake = types.ModuleType("tensorrt")
    fake.float32, fake.float16, fake.bfloat16 = "float32", "float16", "bfloat16"
    sys.modules["tensorrt"] = fake
    script = case.export("polygraphy", "--trt-version", "10.3")
    network = FakeNetwork(case.model, fake.float32)
    invoke_from_script(str(script), "postprocess", network)
    for layer, node in zip(network.layers, case.model.graph.node):
        wanted = "float32" if node.name in case.pinned else None
        problems.check(case.title, layer.precision == wanted,
                       f"Polygraphy gives {node.name!r} {layer.precision}, pinned is {wanted}")


# ModelOpt needs PyTorch, which is too large to install for a test: it is skipped where it is not there.
READERS = {expressions: "Python's re", autocast: "ModelOpt", converter: "onnxconverter-common",
           openvino_kernels: "OpenVINO", nncf_scope: "NNCF", polygraphy_script: "Polygraphy"}


def inputs_of(path):
    return {name[3:]: value for name, value in np.load(path).items() if name.startswith("in:")}


def main():
    program, shared = sys.argv[1], Path(sys.argv[2])
    onnxruntime.set_default_logger_severity(4)
    problems, cases, skipped = Problems(), 0, set()
    # NNCF does not read bodies that take values from outside, and OpenVINO's kernels in bodies are not listed.
    of_bodies = [expressions, converter, polygraphy_script]
    made = {"odd names": (odd_network, ODD[::2], READERS), "bodies and Casts": (mixed_network, ["pinned"], of_bodies)}
    networks = [(title, None) for title in made] + [(name, shared / "zoo" / name) for name in ZOO]
    for title, source in networks:
        if source is not None and not (source / "model.onnx").exists():
            continue
        with tempfile.TemporaryDirectory() as temporary:
            folder, readers = Path(temporary), READERS
            if source is None:
                network, (make, pinned, readers) = folder / "made.onnx", made[title]
                inputs = make(network)
            else:
                network, inputs = source / "model.onnx", inputs_of(source / "io.npz")
                products = [n.name for n in onnx.load(network).graph.node if n.op_type in ("Conv", "MatMul", "Gemm")]
                pinned = products[1::3]
            case = Case(program, folder, title, network, inputs, pinned)
            for reader in readers:
                try:
                    reader(case, problems)
                except ImportError as error:
                    skipped.add(READERS[reader])
                    print(f"skipped: {READERS[reader]}: {error}", flush=True)
            cases += 1
    without = f", without {', '.join(sorted(skipped))}" if skipped else ""
    print(f"suite: exports read by their consumers: {cases} networks, {problems.passed} checks{without}, "
          f"{len(problems.list)} problems")
    return 1 if problems.list else 0


if __name__ == "__main__":
    sys.exit(main())
