"""Old recipes of TensorRT, written into networks by `fusescope migrate`.

    migrated.py FUSESCOPE SHARED_FOLDER

Recipes as people have them, real ones of the shared material among them: command lines of trtexec with wildcards and with
names of layers that a verbose log explains, a network script of Polygraphy, a tactic replay, a calibration cache, an
AutoCast script, block lists. Each becomes a typed network: nodes that the recipe names have operands of the types that it
asks for, what does not map is named, ONNX Runtime runs what was written near to float32, and TensorRT for RTX, where it is
installed, builds it.
"""
import json
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper, shape_inference

from support import built_by_tensorrt

RANDOM = np.random.default_rng(3)
KINDS = {"f32": TensorProto.FLOAT, "f16": TensorProto.FLOAT16}


def weight(name, *dims):
    return numpy_helper.from_array((RANDOM.standard_normal(dims) / np.sqrt(np.prod(dims[1:]))).astype(np.float32), name)


def digits(names):
    """The classifier of digits that NVIDIA's samples use; `names` of its nodes, in order."""
    conv1, relu1, pool1, conv2, relu2, pool2, turn, view, gemm1, relu3, gemm2, softmax = names
    node = helper.make_node
    nodes = [
        node("Conv", ["x", "w1", "b1"], ["c1"], name=conv1, pads=[2] * 4),
        node("Relu", ["c1"], ["r1"], name=relu1),
        node("MaxPool", ["r1"], ["p1"], name=pool1, kernel_shape=[2, 2], strides=[2, 2]),
        node("Conv", ["p1", "w2", "b2"], ["c2"], name=conv2, pads=[2] * 4),
        node("Relu", ["c2"], ["r2"], name=relu2),
        node("MaxPool", ["r2"], ["p2"], name=pool2, kernel_shape=[2, 2], strides=[2, 2]),
        node("Transpose", ["p2"], ["t"], name=turn, perm=[0, 2, 3, 1]),
        node("Reshape", ["t", "shape"], ["v"], name=view),
        node("Gemm", ["v", "w3", "b3"], ["g1"], name=gemm1),
        node("Relu", ["g1"], ["r3"], name=relu3),
        node("Gemm", ["r3", "w4", "b4"], ["g2"], name=gemm2),
        node("Softmax", ["g2"], ["y"], name=softmax, axis=1),
    ]
    tensors = [weight("w1", 32, 1, 5, 5), weight("b1", 32), weight("w2", 64, 32, 5, 5), weight("b2", 64),
               weight("w3", 3136, 128), weight("b3", 128), weight("w4", 128, 10), weight("b4", 10),
               numpy_helper.from_array(np.array([-1, 3136], np.int64), "shape")]
    graph = helper.make_graph(nodes, "digits", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 1, 28, 28])],
                              [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 10])], tensors)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)


def types_of_operands(path):
    model = shape_inference.infer_shapes(onnx.load(path))
    kinds = {value.name: value.type.tensor_type.elem_type
             for value in [*model.graph.value_info, *model.graph.input, *model.graph.output]}
    kinds |= {tensor.name: tensor.data_type for tensor in model.graph.initializer}
    return {node.name: {kinds.get(name) for name in node.input} & set(KINDS.values()) for node in model.graph.node}


class Migrations:
    def __init__(self, program, folder):
        self.program, self.folder = program, folder
        self.problems, self.networks, self.count = [], [], 0

    def wrong(self, title, what):
        self.problems.append(f"{title}: {what}")

    def migrate(self, title, recipe, network, inputs, wanted, unmapped=(), tolerance=0.05, more=()):
        """`wanted`: types by node; `unmapped`: a part of what is said of each entry that is not taken over."""
        self.count += 1
        out, samples = self.folder / f"{self.count}.onnx", self.folder / f"{self.count}.npz"
        np.savez(samples, **inputs)
        made = subprocess.run([self.program, "migrate", str(recipe), str(network), "-o", str(out), "--inputs", str(samples),
                               "--tol-rms", str(tolerance), "--json", *map(str, more)], capture_output=True, text=True)
        if made.returncode not in (0, 1) or not out.exists():
            return self.wrong(title, f"status {made.returncode}: {made.stderr.strip()[-600:]}")
        told = json.loads(made.stdout)
        if told["ok"] != (made.returncode == 0) or told["ok"] != (not told["unmapped"]):
            self.wrong(title, f"ok is {told['ok']}, the status {made.returncode}, unmapped {told['unmapped']}")
        said = [f"{each['entry']}: {each['why']}" for each in told["unmapped"]]
        for part in unmapped:
            if not any(part in each for each in said):
                self.wrong(title, f"'{part}' is not said in {said}")
        if len(said) != len(unmapped):
            self.wrong(title, f"{len(said)} entries are not taken over, expected are {len(unmapped)}: {said}")
        found = types_of_operands(out)
        for node, kind in wanted.items():
            if found.get(node) != {KINDS[kind]}:
                self.wrong(title, f"'{node}' has operands of {found.get(node)}, asked for is {kind}")
        changed = {each["node"]: each["to"] for each in told["changes"]}
        for node, kind in wanted.items():
            if changed.get(node, "f32") != kind:
                self.wrong(title, f"changes say {changed.get(node)} of '{node}'")
        if told["edges"] < 1 or not told["checked"]["max_over_rms"] <= tolerance:
            self.wrong(title, f"{told['edges']} edges, {told['checked']}")
        self.run(title, network, out, inputs, tolerance)
        self.networks.append((title, out, {name: value.shape for name, value in inputs.items()}))
        print(f"{title}: {len(told['changes'])} nodes changed, {told['edges']} edges equal, {len(said)} entries not taken "
              f"over, {told['checked']['max_over_rms']:.3g} from float32", flush=True)

    def run(self, title, network, out, inputs, tolerance):
        exact = onnxruntime.InferenceSession(str(network), providers=["CPUExecutionProvider"]).run(None, inputs)
        other = onnxruntime.InferenceSession(str(out), providers=["CPUExecutionProvider"]).run(None, inputs)
        for theirs, ours in zip(exact, other):
            rms = np.sqrt(np.mean(np.square(theirs))) or 1
            far = np.max(np.abs(theirs - ours.astype(np.float32))) / rms
            if not far <= 1.5 * tolerance:
                self.wrong(title, f"ONNX Runtime is {far:.3g} of rms from float32")

    def build(self):
        answers = built_by_tensorrt([(path, extents) for _, path, extents in self.networks])
        if answers is None:
            print("skipped: TensorRT for RTX is not installed: nothing is built", flush=True)
            return "TensorRT for RTX is not installed"
        for (title, _, _), (stage, why) in zip(self.networks, answers):
            if stage != "built":
                self.wrong(title, f"TensorRT for RTX: {stage}: {why}")
        return f"{sum(stage == 'built' for stage, _ in answers)} of {len(answers)} built by TensorRT for RTX"


def inputs_of(path):
    return {name[3:]: value for name, value in np.load(path).items() if name.startswith("in:")}


def of_zoo(migrations, folder, shared):
    """Command lines and scripts for networks of the zoo."""
    network = shared / "zoo" / "bert_tiny" / "model.onnx"
    inputs = inputs_of(network.with_name("io.npz"))
    nodes = onnx.load(network).graph.node
    products = [n.name for n in nodes if n.op_type in ("MatMul", "Gemm")]
    norms = [n.name for n in nodes if n.op_type == "LayerNormalization"]
    recipe = folder / "build.sh"
    first = products[0]
    recipe.write_text("#!/bin/bash\nset -e\n# the build that went to production\n"
                      f"trtexec --onnx=$MODEL --fp16 --precisionConstraints=obey \\\n  --layerPrecisions="
                      + shlex.quote(f"node_layer_norm*:fp32,{first}:fp32,{first} + {products[1]}:fp32") + " \\\n"
                      "  --memPoolSize=workspace:512M --builderOptimizationLevel=5 --saveEngine=bert.plan | tee log\n")
    norms = [name for name in norms if name.startswith("node_layer_norm")]
    migrations.migrate("trtexec with a wildcard", recipe, network, inputs,
                       {**dict.fromkeys(norms, "f32"), first: "f32", products[2]: "f16"},
                       ["the name of a layer of a built engine"])

    network = shared / "zoo" / "unet_small" / "model.onnx"
    inputs = inputs_of(network.with_name("io.npz"))
    convs = [n.name for n in onnx.load(network).graph.node if n.op_type == "Conv"]
    (folder / "pins.py").write_text(
        "import tensorrt as trt\n\n# pinned by hand, see the ticket\nFP32 = {\n"
        + "".join(f"    {name!r}: trt.float32,\n" for name in convs[:3]) + f"    'gone': trt.float32,\n}}\n\n\n"
        "def postprocess(network):\n    for layer in network:\n        if layer.name in FP32:\n"
        "            layer.precision = FP32[layer.name]\n")
    migrations.migrate("Polygraphy with a network script",
                       f"polygraphy convert m.onnx --fp16 --trt-npps {folder / 'pins.py'}:postprocess "
                       "--precision-constraints prefer -o m.plan", network, inputs,
                       {**dict.fromkeys(convs[:3], "f32"), convs[4]: "f16"}, ["FP32[\"gone\"]"])
    lists = folder / "block.py"
    lists.write_text("import onnx\nfrom onnxconverter_common import float16\nnode_block_list = ["
                     + ", ".join(repr(name) for name in convs[2:4]) + "]\nmodel = float16.convert_float_to_float16(\n"
                     "    onnx.load('m.onnx'), keep_io_types=True, node_block_list=node_block_list)\n")
    migrations.migrate("block lists of onnxconverter-common", lists, network, inputs,
                       {**dict.fromkeys(convs[2:4], "f32"), convs[0]: "f16"})
    autocast = folder / "autocast.py"
    autocast.write_text("from modelopt.onnx.autocast import convert_to_mixed_precision\n"
                        "model = convert_to_mixed_precision(onnx_path='m.onnx', low_precision_type='fp16',\n"
                        "                                   nodes_to_exclude=[r'node_conv2d_[12]$'])\n")
    matched = [name for name in convs if name in ("node_conv2d_1", "node_conv2d_2")]
    migrations.migrate("options of AutoCast", autocast, network, inputs,
                       {**dict.fromkeys(matched, "f32"), "node_conv2d": "f16"})


def of_samples(migrations, folder, shared):
    """Real files of TensorRT's tools, for the network that they were made of."""
    data = shared / "data" / "tensorrt"
    names = ["node_conv2d", "node_relu", "node_max_pool2d", "node_conv2d_1", "node_relu_1", "node_max_pool2d_1", "turn",
             "node_view", "node_linear", "node_relu_2", "node_linear_1", "node_softmax"]
    network, inputs = folder / "digits.onnx", {"x": RANDOM.random((1, 1, 28, 28)).astype(np.float32)}
    onnx.save(digits(names), network)
    log = data / "trt10.16-mnist" / "trtexec-verbose-build.log"
    migrations.migrate("a verbose log of trtexec", log, network, inputs,
                       {"node_conv2d": "f16", "node_linear": "f16"})
    migrations.migrate("trtexec with names that the log explains",
                       "trtexec --fp16 --precisionConstraints=obey --layerPrecisions=node_linear_1_2:fp32,node_linear_1:fp32,"
                       "node_conv2d_9:fp32", network, inputs,
                       {"node_linear": "f32", "node_linear_1": "f32", "node_conv2d": "f16"},
                       ["the log registers no such layer"], more=["--layer-names", log])
    network = folder / "replayed.onnx"
    names = [f"A-N-{number}-{op}" for number, op in
             [(0, "Conv"), (1, "Relu"), (2, "MaxPool"), (3, "Conv"), (4, "Relu"), (5, "MaxPool"), (6, "Transpose"),
              (7, "Reshape"), (8, "MatMul"), (10, "Relu"), (11, "MatMul"), (13, "Softmax")]]
    onnx.save(digits(names), network)
    migrations.migrate("a tactic replay of Polygraphy", data / "polygraphy" / "tactic-replay.json", network, inputs,
                       {"A-N-0-Conv": "f16", "A-N-8-MatMul": "f16", "A-N-13-Softmax": "f32"},
                       ["reshape_before_A-N-8-MatMul", "reshape_after_A-N-11-MatMul", "A-N-14-ArgMax",
                        "(Unnamed Layer* 32) [Shuffle]: ", "{ForeignNode[A-N-0-Conv", "{ForeignNode[A-N-3-Conv",
                        "{ForeignNode[constant10"])


def of_calibration(migrations, folder, shared):
    """A cache that `export` wrote, with the header of a real one, and `--int8 --calib` beside it."""
    network = shared / "zoo" / "unet_small" / "model.onnx"
    inputs = inputs_of(network.with_name("io.npz"))
    samples, ranges, cache = folder / "samples.npz", folder / "ranges.json", folder / "int8.cache"
    np.savez(samples, **inputs)
    for arguments in (["calibrate", network, "--inputs", samples, "--symmetric", "--method", "minmax", "-o", ranges],
                      ["export", network, "--precision", "int8", "--ranges", ranges, "--to", "tensorrt-calibration",
                       "--trt-version", "8.6.1", "-o", cache]):
        made = subprocess.run([migrations.program, *map(str, arguments)], capture_output=True, text=True)
        if made.returncode != 0:
            return migrations.wrong("calibration", made.stderr)
    if not cache.read_text().startswith("TRT-8601-"):
        migrations.wrong("calibration", cache.read_text()[:60])
    with cache.open("a") as file:
        file.write("(Unnamed Layer* 7) [ElementWise]_output: 3d16bcb4\n")
    recipe = folder / "int8.sh"
    recipe.write_text("trtexec --onnx=unet.onnx --int8 --fp16 --calib=int8.cache --saveEngine=unet.plan\n")
    migrations.migrate("a calibration cache", recipe, network, inputs, {}, ["no value of the model has this name"],
                       tolerance=0.6)


def main():
    program, shared = sys.argv[1], Path(sys.argv[2])
    onnxruntime.set_default_logger_severity(4)
    if not (shared / "zoo").is_dir():
        print("skipped: no shared test material")
        return 77
    with tempfile.TemporaryDirectory() as temporary:
        migrations = Migrations(program, Path(temporary))
        for case in (of_zoo, of_samples, of_calibration):
            case(migrations, Path(temporary), shared)
        built = migrations.build()
    for problem in migrations.problems:
        print("  wrong:", problem)
    print(f"suite: recipes migrated: {migrations.count}, {built}, {len(migrations.problems)} problems")
    return 1 if migrations.problems else 0


if __name__ == "__main__":
    sys.exit(main())
