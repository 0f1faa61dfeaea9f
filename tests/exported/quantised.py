"""Holds that every form that ONNX Runtime's quantisers write runs by kernels of ours.

    quantised.py FUSESCOPE SOURCE_FOLDER SHARED_FOLDER [NETWORK.onnx…]

Small networks are quantised by ONNX Runtime's static and dynamic quantisers: as QDQ and as QOperator, per tensor and per
channel, with activations of uint8 and int8, symmetric and not, and at opsets 13 to 21. No node of what they write may
fall back or be run by the reference. Products of codes are int8 in the plan, whatever float is asked for, and f16 changes
little of what operators on codes give. The numbers are those of ONNX Runtime without optimisation: to a step where there is
one operator, and else as near to float32, since a code that turns at the edge of a step turns others behind it.
"""
import contextlib
import io
import json
import logging
import sys
import tempfile
import warnings
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
from onnx import numpy_helper, parser, version_converter
from onnxruntime.quantization import CalibrationDataReader, QuantFormat, QuantType, quantize_dynamic, quantize_static

from support import command, relative

QDQ, QOPERATOR, DYNAMIC = QuantFormat.QDQ, QuantFormat.QOperator, None
U8, S8 = QuantType.QUInt8, QuantType.QInt8
SYMMETRIC = {"ActivationSymmetric": True}
# Name, format, types of activations and weights, per channel, further options, least opset (None: the network's).
FORMS = [("qdq u8 u8", QDQ, U8, U8, False, {}, None),
         ("qdq u8 s8", QDQ, U8, S8, False, {}, 13),
         ("qdq u8 s8 by channels", QDQ, U8, S8, True, {}, 17),
         ("qdq s8 s8 symmetric", QDQ, S8, S8, True, SYMMETRIC, 21),
         ("qdq s8 s8", QDQ, S8, S8, False, {}, 19),
         ("qdq pairs at weights", QDQ, U8, S8, True, {"AddQDQPairToWeight": True, "DedicatedQDQPair": True}, None),
         ("qdq of com.microsoft", QDQ, U8, S8, True, {"UseQDQContribOps": True}, 17),
         ("qoperator u8 u8", QOPERATOR, U8, U8, False, {}, 17),
         ("qoperator u8 s8", QOPERATOR, U8, S8, False, {}, 13),
         ("qoperator u8 s8 by channels", QOPERATOR, U8, S8, True, {}, None),
         ("qoperator s8 s8 symmetric", QOPERATOR, S8, S8, True, SYMMETRIC, 21),
         ("qoperator s8 s8", QOPERATOR, S8, S8, False, {}, None),
         ("dynamic u8", DYNAMIC, None, U8, False, {}, None),
         ("dynamic s8 by channels", DYNAMIC, None, S8, True, {}, None),
         ("dynamic, activations too", DYNAMIC, None, S8, False, {"MatMulConstBOnly": False}, 17)]
FEW = ["qdq u8 s8 by channels", "qoperator u8 s8 by channels", "dynamic, activations too"]  # of networks of the zoo
ZOO = ["bert_tiny", "diffusion_block", "squeezenet1_1", "llama_tiny"]
FACTOR, RMS = 1.1, 1e-3
IN_F16 = 0.02  # of rms, and no more than codes themselves cost
ON_CODES = {"QLinearConv", "QLinearMatMul", "ConvInteger", "MatMulInteger"}

# One product of two activations; and what stands around such in networks.
NETWORKS = {
    "product": ("g (float[2,3,7,16] a, float[2,3,16,5] b) => (float[2,3,7,5] y) { [product] y = MatMul (a, b) }", {}),
    "attention": (
        "g (float[2,6,16] x) => (float[2,6,16] y) <int64[4] heads = {0, 0, 2, 8}, int64[3] rows = {0, 0, 16}, "
        "float scale = {0.35}> {"
        " [wq] q0 = MatMul (x, q) [wk] k0 = MatMul (x, k) [wv] v0 = MatMul (x, v)"
        " [rq] q1 = Reshape (q0, heads) [rk] k1 = Reshape (k0, heads) [rv] v1 = Reshape (v0, heads)"
        " [tq] q2 = Transpose <perm = [0,2,1,3]> (q1) [tk] k2 = Transpose <perm = [0,2,3,1]> (k1)"
        " [tv] v2 = Transpose <perm = [0,2,1,3]> (v1) [qk] s = MatMul (q2, k2) [scaled] t = Mul (s, scale)"
        " [p] p0 = Softmax <axis = -1> (t) [pv] o = MatMul (p0, v2) [to] o1 = Transpose <perm = [0,2,1,3]> (o)"
        " [ro] o2 = Reshape (o1, rows) [wo] o3 = MatMul (o2, w) [bias] o4 = Add (o3, b) [residual] y = Add (o4, x) }",
        {"q": (16, 16), "k": (16, 16), "v": (16, 16), "w": (16, 16), "b": (16,)}),
    "images": (
        "g (float[1,3,16,16] x) => (float[1,10] y) <float[4] up = {1, 1, 2, 2}> {"
        " [stem] a = Conv <kernel_shape = [3,3], pads = [1,1,1,1]> (x, w, b) [r] c = Relu (a)"
        " [pool] d = MaxPool <kernel_shape = [3,3], strides = [2,2], pads = [1,1,1,1]> (c)"
        " [norm] e = InstanceNormalization (d, s, t) [bn] f = BatchNormalization (e, s, t, t, n)"
        " [resize] g1 = Resize <mode = \"linear\"> (f, , up) [cat] h = Concat <axis = 1> (g1, c)"
        " [act] i = Sigmoid (h) [gate] j = Mul (h, i) [mean] k = GlobalAveragePool (j) [flat] l = Flatten (k)"
        " [fc] y = Gemm <transB = 1> (l, z, o) }",
        {"w": (8, 3, 3, 3), "b": (8,), "s": (8,), "t": (8,), "n": (8,), "z": (10, 16), "o": (10,)})}


def network_of(text, weights, random):
    model = parser.parse_model(f'<ir_version: 7, opset_import: ["" : 13]> {text}')
    for name, dims in weights.items():
        numbers = random.standard_normal(dims) if name != "n" else random.uniform(0.5, 2, dims)
        model.graph.initializer.append(numpy_helper.from_array(numbers.astype(np.float32), name))
    return model


class Calls(CalibrationDataReader):
    def __init__(self, samples):
        self.samples = iter(samples)

    def get_next(self):
        return next(self.samples, None)


def session_of(path):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


def random_sample(session, random):
    sample = {}
    for each in session.get_inputs():
        dims = [extent if isinstance(extent, int) else 2 for extent in each.shape]
        if "float" in each.type:
            sample[each.name] = random.standard_normal(dims).astype(np.float32)
        else:
            numbers = np.ones(dims) if "mask" in each.name else random.integers(0, 2 if "type" in each.name else 10, dims)
            sample[each.name] = numbers.astype(np.int64 if "64" in each.type else np.int32 if "int" in each.type else bool)
    return sample


def at_opset(path, opset, folder):
    model = onnx.load(str(path))
    own = next(each.version for each in model.opset_import if not each.domain)
    if opset is None or opset <= own:
        return path
    raised = folder / f"opset{opset}.onnx"
    onnx.save(version_converter.convert_version(model, opset), str(raised))
    return raised


def quantised(path, form, samples, folder):
    _, kind, activations, weights, by_channels, options, opset = form
    source, made = at_opset(path, opset, folder), folder / "quantised.onnx"
    with contextlib.redirect_stdout(io.StringIO()):
        if kind is DYNAMIC:
            quantize_dynamic(str(source), str(made), per_channel=by_channels, weight_type=weights, extra_options=options)
        else:
            quantize_static(str(source), str(made), Calls(samples), quant_format=kind, per_channel=by_channels,
                            activation_type=activations, weight_type=weights, extra_options=options)
    return made


def not_ours(program, path, extents, folder):
    """Nodes that fall back or that the reference runs."""
    plan = json.loads(command(program, "plan", path, *extents, "--json"))
    found = [node for segment in plan["segments"] if segment["kind"] != "accelerated" for node in segment["nodes"]]
    built = json.loads(command(program, "build", path, *extents, "--no-measure", "-o", folder / "e.fse", "--json"))
    return found + [f"{each['fused_node']} ({each['chosen']})" for each in built["tactics"] if "reference" in each["chosen"]]


def not_integers(program, path, extents):
    """Products of codes (by the operator's name) that the plan does not show as int8, with and without f16."""
    coded = {node.name for node in onnx.load(str(path)).graph.node if node.op_type in ON_CODES}
    found = []
    for options in ([], ["--precision", "f16"]):
        plan = json.loads(command(program, "plan", path, *extents, *options, "--json"))
        types = {each["node"]: each["granted"] for each in plan["precision_map"]}
        kernels = {node: each["compute"] for each in plan["fused_nodes"] for node in each["nodes"]}
        found += [f"{node} ({types[node]}, its kernel {kernels[node]}{' '.join(['', *options])})" for node in sorted(coded)
                  if (types[node], kernels[node]) != ("int8", "int8")]
    return found


def outputs_of(program, path, options, session, folder):
    command(program, "run", path, *options, "--inputs", folder / "in.npz", "--outputs", folder / "out.npz")
    outputs = np.load(folder / "out.npz")
    return [next(outputs[key] for key in outputs.files if key.split(":")[-1] == each.name) for each in session.get_outputs()]


def step_of(path):
    """The scale with which the only output is dequantised; nothing where it is none."""
    model = onnx.load(str(path))
    last = next(node for node in model.graph.node if model.graph.output[0].name in node.output)
    scales = {each.name: numpy_helper.to_array(each) for each in model.graph.initializer}
    return float(scales[last.input[1]]) if last.op_type == "DequantizeLinear" else None


def sums_exactly():
    """Whether ONNX Runtime's integer kernels do: without VNNI they add pairs of products in 16 bits, which saturate."""
    try:
        flags = Path("/proc/cpuinfo").read_text()
    except OSError:
        return True
    return "avx2" not in flags or "avx512_vnni" in flags or "avx_vnni" in flags


def check(program, name, path, form, folder):
    random = np.random.default_rng(3)
    session = session_of(path)
    samples, inputs = [random_sample(session, random) for _ in range(3)], random_sample(session, random)
    made = quantised(path, form, samples, folder)
    exact, theirs = session.run(None, inputs), session_of(made).run(None, inputs)
    np.savez(folder / "in.npz", **inputs)
    extents = [text for key, array in inputs.items() if array.ndim
               for text in ("--input", f"{key}={'x'.join(map(str, array.shape))}")]
    problems = [f"{node} is not run by a kernel of ours" for node in not_ours(program, made, extents, folder)]
    problems += [f"{node} is not shown as int8" for node in not_integers(program, made, extents)]
    ours = outputs_of(program, made, extents, session, folder)
    if form[1] is QOPERATOR:
        narrow = relative(ours, outputs_of(program, made, [*extents, "--precision", "f16"], session, folder))
        if not narrow <= max(IN_F16, relative(exact, theirs)):
            problems.append(f"f16 beside its codes changes {narrow:.5f} of rms")
    error, of_theirs, apart = relative(exact, ours), relative(exact, theirs), relative(theirs, ours)
    print(f"{name}, {form[0]}: error {error:.5f}, in ONNX Runtime {of_theirs:.5f}, apart {apart:.5f}", flush=True)
    if not error <= FACTOR * of_theirs + RMS:
        problems.append("the error is above what ONNX Runtime has of the same file")
    if not sums_exactly():
        return [f"{name}, {form[0]}: {problem}" for problem in problems]
    if not apart <= of_theirs + RMS:
        problems.append("it is farther from ONNX Runtime than that is from float32")
    step = step_of(made) if name == "product" else None
    if step is not None and np.max(np.abs(theirs[0] - ours[0])) > 1.01 * step:
        problems.append("it is more than a step from ONNX Runtime")
    return [f"{name}, {form[0]}: {problem}" for problem in problems]


def networks(source, shared, given, folder):
    """Name, file and forms."""
    if given:
        yield from ((Path(each).stem, Path(each), FORMS) for each in given)
        return
    random = np.random.default_rng(1)
    for name, (text, weights) in NETWORKS.items():
        onnx.save(network_of(text, weights, random), str(folder / f"{name}.onnx"))
        yield name, folder / f"{name}.onnx", FORMS
    yield "digits", source / "resources" / "samples" / "digits" / "model.onnx", FORMS
    few = [form for form in FORMS if form[0] in FEW]
    for name in ZOO:
        path = shared / "zoo" / name / "model.onnx"
        if path.exists():
            yield name, path, few
        else:
            print(f"skipped: {name}, since {path} is not there")


def main():
    program, source, shared = sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3])
    warnings.filterwarnings("ignore")
    logging.disable(logging.WARNING)
    onnxruntime.set_default_logger_severity(4)
    problems, count = [], 0
    with tempfile.TemporaryDirectory() as models:
        for name, path, forms in networks(source, shared, sys.argv[4:], Path(models)):
            for form in forms:
                with tempfile.TemporaryDirectory() as temporary:
                    problems += check(program, name, path, form, Path(temporary))
                count += 1
    for problem in problems:
        print("  wrong:", problem)
    if not sums_exactly():
        print("skipped: how near ONNX Runtime the results are, for its integers saturate on a CPU without VNNI")
    print(f"suite: networks that ONNX Runtime quantised: {count}, {len(problems)} problems")
    return 1 if problems or count == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
