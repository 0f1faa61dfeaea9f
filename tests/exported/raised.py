"""Holds networks whose opset `fusescope export --to onnx` raises against ONNX Runtime.

    raised.py FUSESCOPE

Small networks, each with an operator as an old opset wrote it (or a product in a body), are exported with types that need
a newer opset: int8 with a scale for each channel (13), int4 in blocks (21). ONNX Runtime runs the old network and the one
that was written: they agree but for the codes.
"""
import sys
import tempfile
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

from support import command

MOST = {"int8": 0.05, "int4": 0.25}  # rms of the difference over rms
RANDOM = np.random.default_rng(5)


def weights(name, *dims):
    return numpy_helper.from_array((0.2 * RANDOM.standard_normal(dims)).astype(np.float32), name)


def constant(name, values, kind):
    return numpy_helper.from_array(np.array(values, kind), name)


def network(opset, nodes, initializers, dims=(1, 4, 8, 8), op="Conv", result=None):
    """`nodes`: from "c", a convolution of the input (or a product), to "r"."""
    first = helper.make_node(op, ["x", "w"], ["c"], name="first", **({"pads": [1] * 4} if op == "Conv" else {}))
    w = weights("w", 4, 4, 3, 3) if op == "Conv" else weights("w", dims[-1], 64)
    graph = helper.make_graph([first, *nodes], "g", [helper.make_tensor_value_info("x", TensorProto.FLOAT, dims)],
                              [helper.make_tensor_value_info("r", TensorProto.FLOAT, result)], [w, *initializers])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=7)
    return onnx.shape_inference.infer_shapes(model)


def node(op, inputs, outputs, **attributes):
    return helper.make_node(op, inputs, outputs, name=f"the_{op.lower()}", **attributes)


def old_forms():
    halves = lambda outputs, **a: [node("Split", ["c"], outputs, axis=1, **a), node("Sub", outputs, ["r"])]
    scales = constant("scales", [1, 1, 2, 2], np.float32)
    yield "split_sizes_11", network(11, halves(["p", "q"], split=[2, 2]), [])
    yield "split_12", network(12, halves(["p", "q"]), [])
    yield "reduce_sum_12", network(12, [node("ReduceSum", ["c"], ["r"], axes=[2, 3], keepdims=0)], [])
    yield "reduce_mean_12", network(12, [node("ReduceMean", ["c"], ["r"], axes=[1], keepdims=1)], [])
    yield "reduce_max_11", network(11, [node("ReduceMax", ["c"], ["r"], axes=[-1])], [])
    yield "unsqueeze_11", network(11, [node("Unsqueeze", ["c"], ["u"], axes=[0]), node("Squeeze", ["u"], ["r"], axes=[0])], [])
    for op in ["Softmax", "LogSoftmax"]:  # over several axes: four nodes there
        yield f"{op.lower()}_rows_12", network(12, [node(op, ["c"], ["r"], axis=2)], [])
    yield "softmax_whole_11", network(11, [node("Softmax", ["c"], ["r"])], [])
    yield "upsample_9", network(9, [node("Upsample", ["c", "scales"], ["r"], mode="nearest")], [scales])
    yield "softmax_last_12", network(12, [node("Softmax", ["c"], ["r"], axis=3)], [])
    for mode in ["nearest", "linear"]:
        yield f"resize_10_{mode}", network(10, [node("Resize", ["c", "scales"], ["r"], mode=mode)], [scales])
    empty = constant("roi", [], np.float32)
    for mode, coordinates in [("nearest", "asymmetric"), ("linear", "half_pixel"), ("nearest", "tf_half_pixel_for_nn"),
                              ("cubic", "align_corners")]:
        attributes = {"nearest_mode": "floor"} if mode == "nearest" else {}
        yield f"resize_11_{mode}_{coordinates}", network(
            11, [node("Resize", ["c", "roi", "scales"], ["r"], mode=mode, coordinate_transformation_mode=coordinates,
                      **attributes)], [empty, scales])
    sizes = constant("sizes", [1, 4, 12, 12], np.int64)
    yield "resize_11_sizes", network(11, [node("Resize", ["c", "roi", "none", "sizes"], ["r"], mode="linear")],
                                     [empty, constant("none", [], np.float32), sizes])
    boxes = [constant("rois", [[0.3, 0.6, 5.2, 6.1], [1, 1, 4, 7]], np.float32), constant("of", [0, 0], np.int64)]
    yield "roi_align_11", network(11, [node("RoiAlign", ["c", "rois", "of"], ["r"], output_height=3, output_width=3,
                                            sampling_ratio=2)], boxes)


def bodies():
    carried = lambda name: helper.make_tensor_value_info(name, TensorProto.FLOAT, [2, 64])
    body = helper.make_graph(
        [node("Identity", ["go"], ["more"]), helper.make_node("MatMul", ["h", "v"], ["q"], name="inside"),
         node("Relu", ["q"], ["s"]), node("Add", ["s", "h"], ["n"])], "b",
        [helper.make_tensor_value_info("i", TensorProto.INT64, []), helper.make_tensor_value_info("go", TensorProto.BOOL, []),
         carried("h")], [helper.make_tensor_value_info("more", TensorProto.BOOL, []), carried("n")], [weights("v", 64, 64)])
    yield "loop_12", network(12, [node("Loop", ["trips", "yes", "c"], ["r"], body=body)],
                             [constant("trips", 3, np.int64), constant("yes", True, bool)], (2, 16), "MatMul", (2, 64))
    captured = helper.make_graph([helper.make_node("MatMul", ["c", "v"], ["n"], name="inside")], "t", [], [carried("n")])
    other = helper.make_graph([node("Neg", ["c"], ["n2"])], "e", [], [carried("n2")])
    yield "if_13", network(13, [helper.make_node("ReduceSum", ["c"], ["t"], name="total", keepdims=0),
                                node("Less", ["t", "much"], ["yes"]),
                                node("If", ["yes"], ["r"], then_branch=captured, else_branch=other)],
                           [weights("v", 64, 64), constant("much", 1e6, np.float32)], (2, 16), "MatMul")


def products():
    for opset in (12, 15):
        of = lambda nodes, initializers=(), dims=(8, 64): network(opset, nodes, initializers, dims, "MatMul")
        yield f"mean_{opset}", of([node("ReduceMean", ["c"], ["r"], axes=[1])])
        yield f"sum_{opset}", of([node("ReduceSum", ["c"], ["r"], axes=[1]) if opset < 13 else
                                  node("ReduceSum", ["c", "axes"], ["r"])], [constant("axes", [1], np.int64)])
        yield f"split_{opset}", of([node("Split", ["c"], ["p", "q"], axis=1), node("Sub", ["p", "q"], ["r"])])
        boxes = [constant("rois", [[0.3, 0.6, 5.2, 6.1], [1, 1, 4, 7]], np.float32), constant("of", [0, 0], np.int64)]
        yield f"roi_align_{opset}", of([node("RoiAlign", ["c", "rois", "of"], ["r"], output_height=3, output_width=3,
                                             sampling_ratio=2)], boxes, (1, 4, 8, 64))
        yield f"resize_{opset}", of([node("Resize", ["c", "roi", "scales"], ["r"], mode="linear")],
                                    [constant("roi", [], np.float32), constant("scales", [1, 1, 2, 1.5], np.float32)],
                                    (1, 4, 8, 64))


def run(path, inputs):
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    return session.run(None, inputs)[0].astype(np.float64)


def check(program, name, model, kind, folder):
    path, written, given = folder / f"{name}.onnx", folder / f"{name}_{kind}.onnx", folder / "in.npz"
    onnx.checker.check_model(model)
    onnx.save(model, path)
    dims = [d.dim_value for d in model.graph.input[0].type.tensor_type.shape.dim]
    inputs = {"x": RANDOM.standard_normal(dims).astype(np.float32)}
    np.savez(given, **inputs)
    options = ["--weight-only", "int4", "--block", "32"]
    if kind == "int8":
        command(program, "calibrate", path, "--inputs", given, "--method", "minmax", "-o", folder / "ranges.json")
        options = ["--precision", "int8", "--ranges", folder / "ranges.json"]
    command(program, "export", path, *options, "--to", "onnx", "-o", written)
    made = onnx.load(written)
    before, after = model.opset_import[0].version, made.opset_import[0].version
    least = {"int8": 13, "int4": 21}[kind]
    if after != max(before, least):
        return f"opset {after}, not {max(before, least)}"
    exact, ours = run(path, inputs), run(written, inputs)
    error = float(np.sqrt(np.mean((exact - ours) ** 2) / np.mean(exact ** 2)))
    print(f"{name} {kind}: opset {before} to {after}, apart {error:.4f}", flush=True)
    if not 0 < error <= MOST[kind]:
        return f"{error:.4g} of rms apart, allowed is {MOST[kind]}"
    held = lambda graph: sum(n.op_type == "DequantizeLinear" for n in graph.node) + sum(
        held(a.g) for n in graph.node for a in n.attribute if a.HasField("g"))
    wanted = sum(1 for _ in products_of(model.graph)) * (2 if kind == "int8" else 1)
    return None if held(made.graph) >= wanted else f"{held(made.graph)} DequantizeLinear, {wanted} expected"


def products_of(graph):
    for each in graph.node:
        if each.op_type in ("Conv", "MatMul"):
            yield each
        for attribute in each.attribute:
            if attribute.HasField("g"):
                yield from products_of(attribute.g)


def main():
    onnxruntime.set_default_logger_severity(4)
    cases = [(*case, "int8") for case in [*old_forms(), *bodies()]] + [(*case, "int4") for case in products()]
    problems = 0
    with tempfile.TemporaryDirectory() as temporary:
        for name, model, kind in cases:
            try:
                problem = check(sys.argv[1], name, model, kind, Path(temporary))
            except Exception as error:  # of any of the three programs: the others are checked all the same
                problem = str(error)
            if problem:
                problems += 1
                print(f"  wrong: {name} {kind}: {problem}", flush=True)
    print(f"suite: networks of old opsets in ONNX Runtime: {len(cases)} checked, {problems} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
