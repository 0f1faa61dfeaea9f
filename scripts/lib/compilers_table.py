"""The table of docs/compilers.md: what three compilers make of networks, and what our plan for the CPU has beside it.

    python scripts/lib/compilers_table.py [--rtx-python PYTHON] NAME=MODEL.onnx …

Prints a row for each network, and below the table how well the plan that we predict for TensorRT for RTX agrees with what
it made, over the edges of all of them. FUSESCOPE_PYTHON is the Python with ONNX Runtime and OpenVINO, --rtx-python the
one with TensorRT for RTX.
"""
import argparse
import collections
import json
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
COLUMNS = (("onnxruntime", ("verified", "named", "derived", "guessed", "untold")),
           ("openvino", ("named", "derived", "guessed", "untold")),
           ("tensorrt-rtx", ("named", "derived", "untold")))


def plan(model, compiler, python):
    command = [str(ROOT / "build/bin/fusescope"), "plan", model, "--json"]
    if compiler is not None:
        command += ["--compiler", compiler]
    ended = subprocess.run(command, env=os.environ | {"FUSESCOPE_PYTHON": python}, capture_output=True, check=False)
    if ended.returncode != 0:
        sys.exit(f"{model}, {compiler}: {ended.stderr.decode(errors='replace').strip()[-500:]}")
    return json.loads(ended.stdout)


def told(made):
    """How many nodes are known in which way. Of a node in several kernels the best counts."""
    order = ("verified", "named", "derived", "guessed")
    best = {}
    for kernel in made["kernels"]:
        for held in kernel["nodes"]:
            rank = order.index(held["certainty"])
            best[held["node"]] = min(best.get(held["node"], rank), rank)
    counts = collections.Counter(order[rank] for rank in best.values())
    counts["untold"] = sum(node["fate"] == "not_disclosed" for node in made["nodes"])
    return counts


def cell(made, columns):
    counts = told(made)
    return f"{len(made['kernels'])} · " + " / ".join(str(counts[column]) for column in columns)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--rtx-python", default=os.environ.get("FUSESCOPE_TENSORRT_RTX_PYTHON", sys.executable))
    parser.add_argument("networks", nargs="+", metavar="NAME=MODEL.onnx")
    arguments = parser.parse_args()
    edges = collections.Counter()
    for name, model in (each.split("=", 1) for each in arguments.networks):
        cells = []
        for compiler, columns in COLUMNS:
            is_rtx = compiler == "tensorrt-rtx"
            made = plan(model, compiler, arguments.rtx_python if is_rtx else os.environ["FUSESCOPE_PYTHON"])
            cells.append(cell(made, columns))
            if is_rtx:
                edges.update({key: made["agreement"][key] for key in ("edges", "made", "predicted", "both")})
        ours = len(plan(model, None, os.environ["FUSESCOPE_PYTHON"])["fused_nodes"])
        print("| " + " | ".join([name, *cells, str(ours)]) + " |", flush=True)
    print(f"of {edges['edges']} edges {edges['made']} are inside a kernel of TensorRT for RTX, by our prediction "
          f"{edges['predicted']}, in both {edges['both']}: F1 "
          f"{2 * edges['both'] / max(1, edges['made'] + edges['predicted']):.2f}")


if __name__ == "__main__":
    main()
