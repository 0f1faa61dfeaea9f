"""Holds that int8 can be exported of nodes that normalisation writes as others.

    rewritten.py FUSESCOPE

An Einsum that is a product, operators of ONNX Runtime's optimiser and calls of functions are written as what they stand
for, where codes are to stand beside them; what the author named keeps its name. ONNX Runtime runs what is written and
agrees with `fusescope run` of it, and its error from float32 is one of int8.
"""
import sys
import tempfile
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
from onnx import numpy_helper, parser

from support import command, relative

DOMAINS = '"" : %d, "com.microsoft" : 1, "my" : 1'
LINEAR = """
<domain: "my", opset_import: ["" : 17]> linear (x, w, b) => (z) { [p] m = MatMul (x, w) [q] z = Add (m, b) }"""
# Name, opset, graph (and functions), weights, kernels of products that are read again, nodes that keep their names.
CASES = [
    ("einsum", 17, "g (float[2,5,16] x) => (float[2,5,4,6] y) { [first] h = Einsum <equation = \"bsd,de->bse\"> (x, w)"
     " [act] a = Relu (h) [second] y = Einsum <equation = \"bsd,dhk->bshk\"> (a, v) }",
     {"w": (16, 12), "v": (12, 4, 6)}, 2, {"first", "act", "second"}),
    ("fused matmul", 17, "g (float[2,5,16] x) => (float[2,5,6] y) { [first] h = com.microsoft.FusedMatMul <alpha = 0.5> (x, w)"
     " [act] a = com.microsoft.BiasGelu (h, b) [last] y = MatMul (a, v) }",
     {"w": (16, 12), "b": (12,), "v": (12, 6)}, 2, {"first", "act", "last"}),
    ("fused conv", 13, "g (float[1,3,8,8] x) => (float[1,6,8,8] y) { [first] h = com.microsoft.FusedConv <kernel_shape = [3,3],"
     " pads = [1,1,1,1], activation = \"Relu\"> (x, w, b) [last] y = Conv <kernel_shape = [1,1]> (h, v) }",
     {"w": (5, 3, 3, 3), "b": (5,), "v": (6, 5, 1, 1)}, 2, {"first", "last"}),
    ("fused gemm", 13, "g (float[5,16] x) => (float[5,6] y) { [first] h = com.microsoft.FusedGemm <activation = \"Relu\"> (x, w, b)"
     " [last] y = Gemm (h, v) }", {"w": (16, 12), "b": (12,), "v": (12, 6)}, 2, {"first", "last"}),
    ("calls", 17, "g (float[2,5,16] x) => (float[2,5,6] y) { [one] h = my.linear (x, w, b) [act] a = Relu (h)"
     " [two] y = my.linear (a, v, c) }" + LINEAR,
     {"w": (16, 12), "b": (12,), "v": (12, 6), "c": (6,)}, 2, {"act"})]
INT8, SAME = 0.05, 0.03  # of rms: what int8 costs here; two ways of running it


def runtime(path, inputs):
    return onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"]).run(None, inputs)


def products_of_codes(path):
    """Products both of whose operands are dequantised."""
    model = onnx.load(str(path))
    made = {output for node in model.graph.node if node.op_type == "DequantizeLinear" for output in node.output}
    return sum(node.op_type in ("MatMul", "Gemm", "Conv") and made >= set(node.input[:2]) for node in model.graph.node)


def check(program, case, folder):
    name, opset, text, weights, kernels, kept = case
    random = np.random.default_rng(2)
    source, ranges, written = folder / "model.onnx", folder / "ranges.json", folder / "int8.onnx"
    model = parser.parse_model(f"<ir_version: 8, opset_import: [{DOMAINS % opset}]> {text}")
    for key, dims in weights.items():
        model.graph.initializer.append(numpy_helper.from_array(random.standard_normal(dims).astype(np.float32), key))
    onnx.save(model, str(source))
    inputs = {each.name: random.standard_normal([dim.dim_value for dim in each.type.tensor_type.shape.dim]).astype(np.float32)
              for each in model.graph.input}
    np.savez(folder / "in.npz", **inputs)
    command(program, "calibrate", source, "--inputs", folder / "in.npz", "--method", "minmax", "--symmetric", "-o", ranges)
    command(program, "export", source, "--precision", "int8", "--ranges", ranges, "--to", "onnx", "-o", written)
    command(program, "run", written, "--inputs", folder / "in.npz", "--outputs", folder / "out.npz")
    outputs = np.load(folder / "out.npz")
    ours = [next(outputs[key] for key in outputs.files if key.split(":")[-1] == each.name) for each in model.graph.output]
    exact, theirs = runtime(source, inputs), runtime(written, inputs)
    error, apart, codes = relative(exact, theirs), relative(theirs, ours), products_of_codes(written)
    print(f"{name}: {codes} products of codes, error {error:.5f}, apart {apart:.5f}", flush=True)
    problems = []
    if not 0 < error <= INT8 or not apart <= SAME:
        problems.append(f"the numbers are not those of int8: error {error}, apart {apart}")
    lost = kept - {node.name for node in onnx.load(str(written)).graph.node}
    if lost:
        problems.append(f"names were lost: {sorted(lost)}")
    if codes != kernels:
        problems.append(f"{codes} products read codes, not {kernels}")
    return [f"{name}: {problem}" for problem in problems]


def main():
    onnxruntime.set_default_logger_severity(4)
    problems = []
    for case in CASES:
        with tempfile.TemporaryDirectory() as temporary:
            try:
                problems += check(sys.argv[1], case, Path(temporary))
            except RuntimeError as error:
                problems.append(f"{case[0]}: {error}")
    for problem in problems:
        print("  wrong:", problem)
    print(f"suite: int8 exports of rewritten nodes: {len(CASES)}, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
