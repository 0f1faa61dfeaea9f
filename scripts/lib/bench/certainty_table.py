"""Prints the tables of docs/compilers.md that say what is known of networks: for each compiler, how many nodes of the
optimised network are in a kernel, by the best certainty of each, and how many are not disclosed.

    python3 scripts/lib/bench/certainty_table.py [--fusescope F] NETWORK=MODEL.onnx …

It asks `fusescope plan --json` of each compiler that an environment has. A node counts once, by the most certain of the
kernels that contain it. A network of doubles, which no TensorRT has, is truncated for TensorRT for RTX.
"""
import argparse
import json
import os
import subprocess
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
BEST = ("verified", "named", "derived", "guessed")
# For each compiler: the variable with its Python in the tests, and the certainties that it can have.
COMPILERS = {
    "onnxruntime": ("FUSESCOPE_COMPILERS_PYTHON", BEST),
    "openvino": ("FUSESCOPE_COMPILERS_PYTHON", BEST[1:]),
    "tensorrt-rtx": ("FUSESCOPE_TENSORRT_RTX_PYTHON", BEST[1:]),
}
TITLES = {"onnxruntime": "ONNX Runtime", "openvino": "OpenVINO", "tensorrt-rtx": "TensorRT for RTX"}
TRUNCATED = ("long_double",)


def line(cells):
    return "| " + " | ".join(cells) + " |"


def planned(fusescope, model, compiler=None, more=()):
    """Returns the plan of `model`, as a compiler made it or, without one, as our own rules make it; None if it fails."""
    command = [fusescope, "plan", model, "--json", *more]
    environment = dict(os.environ)
    if compiler:
        command += ["--compiler", compiler]
        environment["FUSESCOPE_PYTHON"] = os.environ[COMPILERS[compiler][0]]
    made = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    return json.loads(made.stdout) if made.returncode == 0 else None


def certainties(plan):
    """Returns how many nodes of a read-back plan have each certainty, each node by its best one, and how many are
    "not disclosed". Nodes of kernels of our own engine, in fallback, do not count."""
    theirs = {node["node"] for node in plan["nodes"] if node["fate"] == "kernel"}
    best = {}
    for kernel in plan["kernels"]:
        for node in kernel["nodes"]:
            if node["node"] in theirs:
                known = best.get(node["node"], BEST[-1])
                best[node["node"]] = min(known, node["certainty"], key=BEST.index)
    counts = Counter(best.values())
    counts["not disclosed"] = sum(node["fate"] == "not_disclosed" for node in plan["nodes"])
    assert sum(counts.values()) <= len(plan["nodes"]), "a node counts once"
    return counts


def cell(plan, words):
    if plan is None:
        return "–"
    counts = certainties(plan)
    fallback = sum(node["fate"] == "fallback" for node in plan["nodes"])
    text = f"{len(plan['kernels'])} · " + " / ".join(str(counts[word]) for word in (*words, "not disclosed"))
    return text + (f" ({fallback} in fallback)" if fallback else "")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--fusescope", default=ROOT / "build/bin/fusescope")
    parser.add_argument("networks", nargs="+", metavar="NETWORK=MODEL.onnx")
    arguments = parser.parse_args()
    compilers = [name for name, (python, _) in COMPILERS.items() if os.environ.get(python)]
    print(line(["network", "nodes"] + [f"{TITLES[name]}: kernels · {' / '.join((*COMPILERS[name][1], 'not disclosed'))}"
                                       for name in compilers] + ["ours"]))
    print(line("---" for _ in range(len(compilers) + 3)))
    for network in arguments.networks:
        name, model = network.split("=", 1)
        cells, nodes = [], "–"
        for compiler in compilers:
            truncate = ("--truncate", "all") if compiler == "tensorrt-rtx" and name in TRUNCATED else ()
            plan = planned(arguments.fusescope, model, compiler, truncate)
            cells.append(cell(plan, COMPILERS[compiler][1]))
            if plan is not None:
                nodes = len(plan["nodes"])
        ours = planned(arguments.fusescope, model)
        print(line([name, str(nodes), *cells, str(len(ours["fused_nodes"])) if ours else "–"]), flush=True)


if __name__ == "__main__":
    main()
