"""Holds plans of networks that `fusescope export --to onnx` wrote against the plans that they were exported from.

    reread.py FUSESCOPE SOURCE_FOLDER SHARED_FOLDER [NETWORK…]

Small networks of the samples, the zoo and the shared cases are exported with all of them in f16 and in bf16, and
FUSESCOPE_REREAD_CASES times (default below, the first seed FUSESCOPE_REREAD_FIRST) in a random type with random nodes
pinned to random types, half of them out of the networks of PINNED, a quarter for TensorRT. Opened again without options
but the target, each has the same kernels, Casts apart, and stores the same types; outputs of the network apart, whose
last Cast is the author's then. Where it has other kernels, a warning of the export names the first of them and says why.
Ends with 1 where that is not so, or where more than one in MOST_OTHERS has other kernels.
"""
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import onnx

CASES, FIRST = 160, 1
MOST_BYTES = 6 << 20
MOST_OTHERS = 20
TYPES = ["f32", "f16", "bf16"]
PINNED = ["bert_tiny", "bert_tiny_eager", "control_flow_if", "decoder_kv", "diffusion_block", "digits", "llama_tiny",
          "moe_dense", "rnn_lstm_gru", "squeezenet1_1", "tiny_resnet_dynbatch", "unet_small"]
LEFT_OUT = {"chain1000", "mlp999"}  # long ones of no other kind
SAYS = "opened again, "
SAYS_NOTHING = "no fusion rule joins"  # what the export says where it finds no reason
FOR_TENSORRT = ["--target", "tensorrt-11"]


def planned(program, path, *options):
    done = subprocess.run([program, "plan", str(path), *options, "--json"], capture_output=True, text=True)
    return json.loads(done.stdout) if done.returncode == 0 else None


def kernels(plan, nodes):
    """Sets of those of `nodes` that run together."""
    return {frozenset(n for n in f["nodes"] if n in nodes) for f in plan["fused_nodes"]} - {frozenset()}


def stored(plan):
    return {o["value"]: o["type"] for f in plan["fused_nodes"] for o in f["outputs"]}


def operators(path):
    return {n.name for n in onnx.load(path, load_external_data=False).graph.node if n.op_type != "Cast"}


def check(program, source, options, folder):
    """("same", "other" or "not exported", what is wrong)"""
    out = folder / "out.onnx"
    done = subprocess.run([program, "export", str(source), "--to", "onnx", "-o", str(out), *options],
                          capture_output=True, text=True)
    if done.returncode != 0:
        return "not exported", None
    plan = planned(program, source, *options)
    again = planned(program, out, *(FOR_TENSORRT if FOR_TENSORRT[1] in options else []))
    if plan is None or again is None:
        return "other", "no plan of it can be made"
    nodes = {g["node"] for g in plan["precision_map"]} & {g["node"] for g in again["precision_map"]}
    nodes -= {n.name for n in onnx.load(out, load_external_data=False).graph.node if n.op_type == "Cast"}
    outputs = {v.name for v in onnx.load(source, load_external_data=False).graph.output}
    ours, theirs = stored(plan), stored(again)
    for value in ours.keys() & theirs.keys() - outputs:
        if ours[value] != theirs[value]:
            return "other", f"{value} is stored as {theirs[value]}, not {ours[value]}"
    if kernels(plan, nodes) == kernels(again, nodes):
        return "same", None
    said = [line for line in done.stderr.splitlines() if SAYS in line]
    if not said or SAYS_NOTHING in said[0]:
        return "other", f"it has other kernels, and nobody says why: {' '.join(said)}"
    return "other", None


def sources_in(source_folder, shared, chosen):
    found = {p.stem: p for p in sorted((shared / "cases").glob("*.onnx")) if p.stem not in LEFT_OUT}
    for folder in (source_folder / "resources" / "samples", shared / "zoo"):
        found.update({p.parent.name: p for p in sorted(folder.glob("*/model.onnx"))})
    return {n: p for n, p in found.items() if (n in chosen if chosen else p.stat().st_size <= MOST_BYTES)}


def random_options(dice, nodes, target):
    # TensorRT's layers have one type; one in f16 leaves no bf16, so that it would be written in f32.
    types = TYPES[:2] if target else TYPES
    share = dice.choice([0.05, 0.2, 0.5])
    pins = [f"--pin={n}={dice.choice(types)}" for n in sorted(nodes) if "/" not in n and dice.random() < share]
    return ["--precision", str(dice.choice(types)), *target, *pins]


def main():
    program, shared, chosen = sys.argv[1], Path(sys.argv[3]), sys.argv[4:]
    sources = sources_in(Path(sys.argv[2]), shared, chosen)
    pinned = [name for name in PINNED if name in sources] or sorted(sources)
    first, cases = int(os.environ.get("FUSESCOPE_REREAD_FIRST", FIRST)), int(os.environ.get("FUSESCOPE_REREAD_CASES", CASES))
    asked = [(n, ["--precision", t]) for n in sources for t in ("f16", "bf16")]
    for seed in range(first, first + cases):
        dice = np.random.default_rng(seed)
        name = str(dice.choice(pinned if seed % 2 else sorted(sources)))
        asked.append((name, random_options(dice, operators(sources[name]), FOR_TENSORRT if seed % 4 == 3 else [])))
    counts, problems = {"same": 0, "other": 0, "not exported": 0}, 0
    with tempfile.TemporaryDirectory() as temporary:
        for name, options in asked:
            what, wrong = check(program, sources[name], options, Path(temporary))
            counts[what] += 1
            if what == "other":
                pins = [option for option in options if option.startswith("--pin")]
                asked_for = " ".join(option for option in options if option not in pins)
                print(f"{name} {asked_for}, {len(pins)} pins: {wrong or 'other kernels, as the export says'}")
            problems += wrong is not None
    print(f"suite: exported networks opened again: {counts['same']} of {counts['same'] + counts['other']} have the plan that "
          f"they were exported from, {counts['other'] - problems} say why not, {problems} problems; "
          f"{counts['not exported']} were not exported")
    return 1 if problems or counts["other"] * MOST_OTHERS > counts["same"] + counts["other"] else 0


if __name__ == "__main__":
    sys.exit(main())
