"""Holds that networks in int8, and in a mixture of int8 and f16, are planned for TensorRT as one segment.

    segments.py FUSESCOPE SOURCE_FOLDER SHARED_FOLDER [NETWORK.onnx=RANGES.json…]

No node falls back, and every product whose operands are dequantised is one of integers, in the plan and in the kernel that
holds it: of the network, and of what `export` writes of that plan. Networks are calibrated on the inputs that they bring, or
planned by the ranges that are given.
"""
import json
import sys
import tempfile
from pathlib import Path

import numpy as np
import onnx

from support import command

PRECISIONS = ["int8", "int8,f16"]
PRODUCTS = {"Conv", "ConvTranspose", "MatMul", "Gemm"}
ZOO = ["diffusion_block", "llama_tiny", "moe_dense", "tiny_resnet_dynbatch", "unet_small"]


def ranges_of(program, network, inputs, folder):
    ranges = folder / "ranges.json"
    command(program, "calibrate", network, "--inputs", inputs, "--method", "minmax", "-o", ranges)
    return ranges


def subjects(plan, code):
    return {subject["node"] for each in plan["decisions"] if each["code"] == code for subject in each["subjects"]}


def wrong_in(plan, coded):
    """What keeps the plan from being one segment in which the products `coded` are of integers."""
    granted = {each["node"]: each["granted"] for each in plan["precision_map"]}
    kernel = {node: each["compute"] for each in plan["fused_nodes"] for node in each["nodes"]}
    problems = [] if len(plan["segments"]) == 1 else [f"{len(plan['segments'])} segments"]
    problems += [f"{node} falls back" for segment in plan["segments"] if segment["kind"] != "accelerated"
                 for node in segment["nodes"]]
    problems += [f"{node} multiplies floats" for node in sorted(coded) if (granted[node], kernel[node]) != ("int8", "int8")]
    return problems + ([] if coded else ["no product has codes"])


def coded_in(path):
    """Products whose first two operands are dequantised, themselves or what a Reshape or Transpose is made of."""
    nodes = onnx.load(path, load_external_data=False).graph.node
    maker = {output: node for node in nodes for output in node.output}

    def dequantised(value):
        node = maker.get(value)
        while node is not None and node.op_type in ("Reshape", "Transpose"):
            node = maker.get(node.input[0])
        return node is not None and node.op_type == "DequantizeLinear"
    return {node.name for node in nodes if node.op_type in PRODUCTS and all(map(dequantised, node.input[:2]))}


def check(program, name, network, ranges, precision, folder):
    options, written = ["--target", "tensorrt-11", "--precision", precision, "--ranges", ranges], folder / "out.onnx"
    plan = json.loads(command(program, "plan", network, *options, "--json"))
    command(program, "export", network, *options, "--to", "onnx", "-o", written)
    again = json.loads(command(program, "plan", written, "--target", "tensorrt-11", "--json"))
    coded, coded_again = subjects(plan, "quantize.product"), coded_in(written)
    problems = wrong_in(plan, coded) + [f"exported: {problem}" for problem in wrong_in(again, coded_again)]
    print(f"{name} {precision}: {len(plan['segments'])} segment, {len(coded)} products of codes; exported: "
          f"{len(again['segments'])} segment, {len(coded_again)} products of codes; {len(problems)} problems", flush=True)
    return [f"{name} {precision}: {problem}" for problem in problems]


def networks(program, source, shared, given, folder):
    """Name, file, ranges."""
    if given:
        for each in given:
            path, ranges = each.split("=")
            yield Path(path).stem, path, ranges
        return
    samples = source / "resources" / "samples"
    np.savez(folder / "digits.npz", image=np.load(samples / "digits" / "held_out.npz")["image"][:32])
    found = [("digits", samples / "digits" / "model.onnx", folder / "digits.npz")]
    for name in ["bert_tiny", "squeezenet1_1"]:
        found.append((name, samples / name / "model.onnx", samples / name / "io.npz"))
    for name in ZOO:
        if (shared / "zoo" / name / "model.onnx").exists():
            found.append((name, shared / "zoo" / name / "model.onnx", shared / "zoo" / name / "io.npz"))
        else:
            print(f"skipped: {name}, since it is not in {shared / 'zoo'}")
    for name, path, inputs in found:
        yield name, path, ranges_of(program, path, inputs, folder)


def main():
    program, source, shared = sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3])
    problems, count = [], 0
    with tempfile.TemporaryDirectory() as temporary:
        for name, path, ranges in networks(program, source, shared, sys.argv[4:], Path(temporary)):
            for precision in PRECISIONS:
                problems += check(program, name, path, ranges, precision, Path(temporary))
                count += 1
    for problem in problems:
        print("  wrong:", problem)
    print(f"suite: int8 planned for TensorRT: {count} plans, {len(problems)} problems")
    return 1 if problems or count == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
