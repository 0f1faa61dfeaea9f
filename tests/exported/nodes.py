"""Holds networks that `fusescope export --to onnx` wrote against ONNX Runtime, node by node.

    nodes.py FUSESCOPE SHARED_FOLDER [NETWORK…]

Each network is exported with several types, read by `fusescope run` with every value between two nodes stored, and each
of its nodes runs as a network of its own in ONNX Runtime on the values that fusescope gave its operands. The results
agree within 2 units in the last place of the type that they are stored at, and 1e-5 of their rms. What is bf16 runs in
float32 on the rounded operands, and is rounded: ONNX Runtime has few kernels for it. Prints a line for each network, and
ends with 1 where a node differs or a network was not checked.
"""
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import ml_dtypes
import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

ULPS, RMS = 2, 1e-5
OPTIONS = [["--precision", "f16"], ["--precision", "bf16"], ["--precision", "f16", "--weights", "keep", "--io", "plan"]]
ZOO = ["bert_tiny", "bert_tiny_eager", "unet_small", "diffusion_block", "tiny_resnet_dynbatch", "rnn_lstm_gru",
       "control_flow_if", "fp16_overflow", "llama_tiny", "decoder_kv", "moe_dense"]
MOST_NODES = 400
# Smallest exponent step of a type: bits of its fraction, and the exponent of its least normal number.
FRACTION = {TensorProto.FLOAT: (23, -126), TensorProto.FLOAT16: (10, -14), TensorProto.BFLOAT16: (7, -126)}
NUMPY = {TensorProto.FLOAT: np.float32, TensorProto.FLOAT16: np.float16, TensorProto.DOUBLE: np.float64}
RANDOM = {"RandomNormal", "RandomUniform", "RandomNormalLike", "RandomUniformLike", "Multinomial", "Bernoulli"}


def ulp(values, kind):
    bits, least = FRACTION[kind]
    with np.errstate(divide="ignore", invalid="ignore"):
        exponent = np.floor(np.log2(np.abs(values.astype(np.float64))))
    exponent = np.where(np.isfinite(exponent), exponent, least)
    return 2.0 ** (np.maximum(exponent, least) - bits)


def differs(ours, theirs, kind):
    """What is wrong, or nothing. Both as float32 or integers."""
    if ours.shape != theirs.shape:
        return f"extents {ours.shape} and {theirs.shape}"
    if kind not in FRACTION:
        return None if np.array_equal(ours, theirs) else "integers differ"
    ours, theirs = ours.astype(np.float64), theirs.astype(np.float64)
    if not np.array_equal(np.isnan(ours), np.isnan(theirs)):
        return "NaN"
    finite = np.isfinite(theirs) & np.isfinite(ours)
    largest = 65504 if kind == TensorProto.FLOAT16 else np.inf
    edge = (np.minimum(np.abs(ours), np.abs(theirs)) >= largest * (1 - 2.0 ** -9)) & (np.sign(ours) == np.sign(theirs))
    if np.any(~finite & ~np.isnan(ours) & (ours != theirs) & ~edge):
        return "infinities"
    if not finite.any():
        return None
    rms = np.sqrt(np.mean(np.square(theirs[finite])))
    allowed = ULPS * ulp(theirs[finite], kind) + RMS * rms
    excess = np.max(np.abs(ours[finite] - theirs[finite]) / allowed)
    return None if excess <= 1 else f"{excess:.3g} times what is allowed"


class Network:
    """`stored_types`: by value, as fusescope names types, where our reading has them in memory."""

    def __init__(self, path, values, stored_types):
        self.stored_types = stored_types
        self.model = onnx.load(path)
        self.opsets = self.model.opset_import
        inferred = onnx.shape_inference.infer_shapes(self.model).graph
        self.types = {v.name: v.type.tensor_type.elem_type
                      for v in [*inferred.value_info, *inferred.input, *inferred.output]}
        self.values = dict(values)
        for tensor in self.model.graph.initializer:
            self.types[tensor.name] = tensor.data_type
            self.values[tensor.name] = self.held(numpy_helper.to_array(tensor), tensor.data_type)

    @staticmethod
    def held(array, kind):
        """Numbers as they go to ONNX Runtime: bf16 as float32."""
        if kind == TensorProto.BFLOAT16:
            return array.astype(np.float32)
        return array.astype(NUMPY[kind]) if kind in NUMPY else array

    def stored(self, name):
        """Our reading may store a value that only Casts read at what they make of it."""
        return {"f16": TensorProto.FLOAT16, "bf16": TensorProto.BFLOAT16}.get(self.stored_types.get(name),
                                                                              self.types.get(name, 0))

    def alone(self, node):
        """The node as a network, bf16 as float32, and what its results are in the file."""
        made = onnx.NodeProto()
        made.CopyFrom(node)
        as_float = lambda kind: TensorProto.FLOAT if kind == TensorProto.BFLOAT16 else kind
        for attribute in made.attribute:
            if attribute.name == "to" and node.op_type == "Cast":
                attribute.i = as_float(attribute.i)
            if attribute.name == "value" and attribute.t.data_type == TensorProto.BFLOAT16:
                attribute.t.CopyFrom(numpy_helper.from_array(numpy_helper.to_array(attribute.t).astype(np.float32)))
        inputs = [helper.make_tensor_value_info(n, as_float(self.types[n]), None) for n in dict.fromkeys(node.input) if n]
        outputs = [helper.make_tensor_value_info(n, as_float(self.types[n]), None) for n in node.output if n]
        graph = helper.make_graph([made], "node", inputs, outputs)
        return helper.make_model(graph, opset_imports=self.opsets, ir_version=min(self.model.ir_version, 10))

    def check(self, node):
        """(checked, what is wrong)"""
        options = onnxruntime.SessionOptions()
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
        options.intra_op_num_threads = 1
        session = onnxruntime.InferenceSession(self.alone(node).SerializeToString(), options,
                                               providers=["CPUExecutionProvider"])
        results = session.run(None, {n: self.values[n] for n in node.input if n})
        checked, wrong = False, None
        for name, theirs in zip([n for n in node.output if n], results):
            kind = self.stored(name)
            if kind == TensorProto.BFLOAT16:
                theirs = theirs.astype(ml_dtypes.bfloat16).astype(np.float32)
            elif kind == TensorProto.FLOAT16 and theirs.dtype == np.float32:
                with np.errstate(over="ignore"):
                    theirs = theirs.astype(np.float16)
            if name not in self.values:  # removed or computed ahead of time: it stands in no memory of ours
                self.values[name] = self.held(theirs, self.types[name])
                continue
            ours = np.asarray(self.values[name])
            checked = True
            wrong = wrong or differs(ours, np.asarray(theirs), kind)
            self.values[name] = self.held(ours, self.types[name])
        return checked, wrong


def random_inputs(path):
    dice = np.random.RandomState(1)
    values = {}
    model = onnx.load(path)
    constants = {t.name for t in model.graph.initializer}
    for value in model.graph.input:
        if value.name in constants:
            continue
        tensor = value.type.tensor_type
        dims = [d.dim_value or 2 for d in tensor.shape.dim]
        kind = helper.tensor_dtype_to_np_dtype(tensor.elem_type)
        values[value.name] = (dice.randint(0, 2, dims).astype(kind) if np.issubdtype(kind, np.integer) or kind == bool
                              else dice.standard_normal(dims).astype(kind))
    return values


def numbers_of(path):
    return {k.split(":", 1)[1]: v for k, v in np.load(path).items() if k.startswith("in:")}


def call(program, *arguments):
    result = subprocess.run([program, *map(str, arguments)], capture_output=True, text=True)
    return result.returncode, result.stderr.strip().splitlines()


def check_network(program, source, inputs, options, folder):
    """(nodes checked, problems, why it was not checked)"""
    out, given, values = folder / "out.onnx", folder / "in.npz", folder / "values.npz"
    for old in folder.iterdir():
        old.unlink()
    status, said = call(program, "export", source, "--to", "onnx", "-o", out, *options)
    if status != 0:
        return 0, [], said[-1] if said else "export failed"
    kinds = {v.name: v.type.tensor_type.elem_type for v in onnx.load(out).graph.input}
    typed = {n: v.astype(NUMPY[kinds[n]]) if kinds.get(n) in NUMPY and v.dtype.kind == "f" else v
             for n, v in inputs.items()}
    np.savez(given, **typed)
    status, said = call(program, "run", out, "--split", "*", "--backend", "reference", "--inputs", given, "--mark", "all",
                        "--outputs", values)
    if status != 0:
        return 0, [], said[-1] if said else "run failed"
    plan = json.loads(subprocess.run([program, "plan", out, "--split", "*", "--json"], capture_output=True).stdout)
    types = {o["value"]: o["type"] for f in plan["fused_nodes"] for o in f["outputs"]}
    network = Network(out, {**dict(np.load(values).items()), **typed}, types)
    for name, kind in kinds.items():
        if name in network.values:
            network.values[name] = network.held(network.values[name], kind)
    checked, problems = 0, []
    for node in network.model.graph.node:
        if node.op_type in RANDOM or any(a.HasField("g") for a in node.attribute):
            continue
        if any(n and (n not in network.values or n not in network.types) for n in node.input):
            continue
        if any(n and n not in network.types for n in node.output):
            continue
        try:
            was_checked, wrong = network.check(node)
        except Exception as error:  # an operator or a type that ONNX Runtime has no kernel for
            if "NOT_IMPLEMENTED" in str(error) or "is not a registered function" in str(error):
                continue
            was_checked, wrong = True, str(error).splitlines()[0]
        checked += was_checked
        if wrong:
            problems.append(f"{node.op_type} '{node.name or node.output[0]}': {wrong}")
    return checked, problems, None


def main():
    program, shared = sys.argv[1], Path(sys.argv[2])
    onnxruntime.set_default_logger_severity(4)
    sources = {p.stem: p for p in sorted((shared / "cases").glob("*.onnx"))}
    sources.update({n: shared / "zoo" / n / "model.onnx" for n in ZOO if (shared / "zoo" / n / "model.onnx").exists()})
    chosen = sys.argv[3:] or list(sources)
    nodes = failures = networks = 0
    with tempfile.TemporaryDirectory() as temporary:
        for name in chosen:
            source = sources[name]
            nodes_of = [n for n in onnx.load(source, load_external_data=False).graph.node if n.op_type != "Constant"]
            if len(nodes_of) > MOST_NODES:
                continue
            io = source.parent / "io.npz"
            inputs = numbers_of(io) if source.stem == "model" and io.exists() else random_inputs(source)
            every_third = [f"--pin={n.name}=f32" for n in nodes_of[::3] if n.name and "/" not in n.name]
            for options in [*OPTIONS, ["--precision", "f16", *every_third]]:
                checked, problems, reason = check_network(program, source, inputs, options, Path(temporary))
                words = " ".join(options[:4]) + (" pins" if len(options) > 6 else "")
                print(f"{name} {words}: {checked} nodes" + (f", not checked: {reason}" if reason else ""))
                for problem in problems:
                    print("  wrong:", problem)
                nodes += checked
                failures += len(problems) + (reason is not None)
                networks += reason is None
    print(f"suite: exported networks: {nodes} nodes of {networks} networks run in ONNX Runtime too, {failures} problems")
    return 1 if failures or nodes < 1000 and len(sys.argv) < 4 else 0


if __name__ == "__main__":
    sys.exit(main())
