"""Networks of the zoo in many mixes of types, as `fusescope export --to onnx` writes them, built and run by others.

    built.py FUSESCOPE SHARED_FOLDER [--all [MIXES [NETWORK…]]]

Small networks are exported in float16, bfloat16, int8 and random mixes of pins: about 60 exports; with --all every
network of the zoo (or those that are named), the smallest first, in MIXES (20) mixes, and a line of a table for each network
and kind of types is printed, as documents have it. Each is parsed and built by TensorRT for RTX, where it is installed, and run by
ONNX Runtime; or it is refused before anything is written, at a node that is named; or what TensorRT refuses is a node that
`export` named as one that it cannot run. ONNX Runtime has no kernels in bfloat16 and few in float16: what it does not
implement, and what ends its process, is counted and is no error of ours.
"""
import json
import math
import os
import random
import re
import sys
import tempfile
from pathlib import Path

import numpy as np
import onnx

from support import built_by_tensorrt, call, run_by_onnxruntime

SMALL = ["bert_tiny", "bert_tiny_eager", "unet_small", "diffusion_block", "tiny_resnet_dynbatch", "llama_tiny", "moe_dense",
         "fp16_overflow", "control_flow_if", "rnn_lstm_gru", "decoder_kv", "long_double"]
FIXED = [("f16", ["--precision", "f16"]), ("bf16", ["--precision", "bf16"]), ("int8", ["--precision", "int8"])]
LEAST_WRITTEN = 50  # of the small ones


def mixes(names, seed, count):
    """Random pins: a few nodes, runs of nodes, operators, over f16 or bf16."""
    dice = random.Random(seed)
    for number in range(count):
        low, other = dice.choice([("f16", "bf16"), ("bf16", "f16"), ("f16", "f32"), ("bf16", "f32"), ("f32", "f16")])
        pins = {}
        for _ in range(dice.randint(1, 4)):
            start = dice.randrange(len(names))
            for name in names[start:start + dice.choice([1, 1, 2, 5, len(names) // 3 or 1])]:
                pins[name] = dice.choice(["f32", other])
        integers = low != "bf16" and dice.random() < 0.2
        precision = f"int8,{low}" if integers and low != "f32" else "int8" if integers else low
        yield f"mix {number} ({precision}, {len(pins)} pins)", precision, pins


class Exports:
    def __init__(self, program, folder):
        self.program, self.folder = program, folder
        self.rows, self.problems = [], []

    def network(self, title, path, inputs, count):
        names = [node.name for node in onnx.load(path, load_external_data=False).graph.node if node.name]
        names = [name for name in dict.fromkeys(names) if "\n" not in name]
        samples = self.folder / f"{title}.npz"
        np.savez(samples, **inputs)
        ranges = self.folder / f"{title}.ranges.json"
        status, _, said = call(self.program, "calibrate", path, "--inputs", samples, "--symmetric", "-o", ranges)
        has_ranges = status == 0
        if not has_ranges:
            print(f"{title}: no ranges: {said.splitlines()[-1] if said else ''}", file=sys.stderr, flush=True)
        for kind, options in FIXED:
            if kind != "int8" or has_ranges:
                self.export(f"{title} {kind}", path, inputs, options + (["--ranges", ranges] if kind == "int8" else []), {})
        for kind, precision, pins in mixes(names, title, count - len(FIXED)):
            if "int8" in precision and not has_ranges:
                precision = precision.replace("int8,", "").replace("int8", "f16")
            more = ["--ranges", ranges] if "int8" in precision else []
            self.export(f"{title} {kind}", path, inputs, ["--precision", precision, *more], pins)

    def export(self, title, path, inputs, options, pins):
        out, directives = self.folder / f"{len(self.rows)}.onnx", self.folder / "directives.json"
        directives.write_text(json.dumps({"format": "fusescope.directives", "version": 2, "directives": [
            {"kind": "pin", "pattern": name, "type": kind} for name, kind in pins.items()]}))
        status, _, said = call(self.program, "export", path, "--target", "tensorrt-11", *options, "--directives", directives,
                               "--to", "onnx", "-o", out)
        row = {"title": title, "path": out, "said": said, "inputs": inputs, "written": out.exists(),
               "samples": self.folder / f"{title.split(' ')[0]}.npz", "exact": path}
        if not out.exists():
            row["refused"] = said.splitlines()[-1] if said else f"status {status}"
            if not re.search(r"node '|value '|input '", said):
                self.problems.append(f"{title}: refused without a place: {row['refused']}")
        self.rows.append(row)

    def run(self):
        written = [row for row in self.rows if row["written"]]
        asked = [(row["path"], row["samples"], row["exact"]) for row in written]
        for row, (stage, why, row["apart"]) in zip(written, run_by_onnxruntime(asked)):
            row["run"] = stage if stage == "run" else f"{stage}: {why[:200]}"
            if stage == "error":
                self.problems.append(f"{row['title']}: ONNX Runtime: {why}")

    def build(self):
        written = [row for row in self.rows if row["written"]]
        extents = lambda row: {name: value.shape for name, value in row["inputs"].items()}
        answers = built_by_tensorrt([(row["path"], extents(row)) for row in written])
        for row, answer in zip(written, answers or []):
            row["stage"], row["why"] = answer
            # A check inside of TensorRT's optimiser that fails is an error of its own, which nobody can name before.
            row["internal"] = row["stage"] == "not built" and "MyelinCheckException" in row["why"]
            if row["stage"] != "built" and not self.was_named(row) and not row["internal"]:
                self.problems.append(f"{row['title']}: TensorRT for RTX: {row['stage']}: {row['why'][:400]}")
        return answers is not None

    def was_named(self, row):
        """Whether `export` said before it wrote that TensorRT cannot run a node, and which."""
        row["named"] = "cannot run these nodes" in row["said"]
        return row["named"]


def summary(exports, has_tensorrt):
    rows = exports.rows
    written = [row for row in rows if row["written"]]
    counts = {"built": sum(row.get("stage") == "built" for row in written),
              "named": sum(row.get("named", False) for row in written),
              "internal": sum(row.get("internal", False) for row in written),
              "run": sum(row["run"] == "run" for row in written),
              "kernel": sum(row["run"].startswith("no kernel") for row in written),
              "died": sum(row["run"].startswith("died") for row in written)}
    tensorrt = (f"{counts['built']} built by TensorRT for RTX, {counts['named']} refused there at nodes that were named, "
                f"{counts['internal']} end in a check of its optimiser that fails"
                if has_tensorrt else "TensorRT for RTX is not installed")
    return (f"suite: mixes of types: {len(rows)} exports, {len(written)} written, {tensorrt}, {counts['run']} run by ONNX "
            f"Runtime ({counts['kernel']} without a kernel there, {counts['died']} end its process), {len(exports.problems)} problems")


TABLE = ["network", "types", "exports", "written", "parsed", "built", "run", "no kernel", "error, median", "error, worst"]


def print_header():
    print("| " + " | ".join(TABLE) + " |")
    print("|" + "---|" * len(TABLE), flush=True)


def kind_of(row):
    kind = row["title"].split(" ")[1]
    return "mixes of pins" if kind == "mix" else kind


def print_rows(rows, has_tensorrt):
    """Of one network, by kind of types: exports, written, parsed and built by TensorRT for RTX, run by ONNX Runtime, and how far
    what ran there is from the network in float32."""
    for kind in dict.fromkeys(map(kind_of, rows)):
        these = [row for row in rows if kind_of(row) == kind]
        written = [row for row in these if row["written"]]
        errors = sorted(math.inf if row["apart"] == "inf" else row["apart"] for row in written if row.get("apart") is not None)
        of_tensorrt = [sum(row.get("stage") in stages for row in written) if has_tensorrt else "-"
                       for stages in (("built", "not built"), ("built",))]
        cells = [these[0]["title"].split(" ")[0], kind, len(these), len(written), *of_tensorrt,
                 sum(row["run"] == "run" for row in written), sum(row["run"].startswith("no kernel") for row in written),
                 *([f"{errors[len(errors) // 2]:.2g}", f"{errors[-1]:.2g}"] if errors else ["-", "-"])]
        print("| " + " | ".join(map(str, cells)) + " |", flush=True)


def print_reasons(exports):
    """Each refusal and each error once."""
    reasons = {}
    for row in exports.rows:
        network = row["title"].split(" ")[0]
        for what in (row.get("refused"), row.get("why"), row.get("run") if row.get("run", "").startswith(("error", "died")) else None):
            if what:
                reasons.setdefault(f"{network}: {what[:200]}", []).append(row["title"])
    for reason, titles in reasons.items():
        print(f"  {len(titles)} x {reason}")


def inputs_of(path):
    return {name[3:]: value for name, value in np.load(path).items() if name.startswith("in:")}


def random_inputs(program, path):
    """Of what `inspect` says of the inputs: small integers, floats around 0."""
    status, text, said = call(program, "inspect", path, "--json")
    if status != 0:
        raise RuntimeError(said)
    dice, inputs = np.random.default_rng(11), {}
    told = json.loads(text)
    types = {each["name"]: each["type"] for each in told["inputs"]}
    for spec in told["input_specs"]:
        dims = spec["opt"]
        kind = {"int64": np.int64, "int32": np.int32, "bool": np.bool_}.get(types[spec["name"]], np.float32)
        inputs[spec["name"]] = (dice.standard_normal(dims).astype(kind) if kind is np.float32
                                else dice.integers(0, 2, dims).astype(kind))
    return inputs


def networks_of(program, shared, all_of_them, names):
    """(name, path, inputs), the smallest first."""
    filled = Path(os.environ.get("FUSESCOPE_ZOO", Path.home() / ".cache" / "fusescope" / "zoo"))
    wanted = names or (None if all_of_them else SMALL)
    found = []
    for folder in (shared / "zoo").iterdir():
        if wanted is not None and folder.name not in wanted:
            continue
        path = next((each for each in (folder / "model.onnx", filled / f"{folder.name}.onnx") if each.exists()), None)
        if path is not None:
            weights = path.with_name(path.name + ".data")
            size = path.stat().st_size + (weights.stat().st_size if weights.exists() else 0)
            found.append((size, folder.name, path, folder / "io.npz"))
    for _, name, path, given in sorted(found):
        yield name, path, inputs_of(given) if given.exists() else random_inputs(program, path)


def main():
    program, shared, all_of_them = sys.argv[1], Path(sys.argv[2]), "--all" in sys.argv
    if not (shared / "zoo").is_dir():
        print("skipped: no shared test material")
        return 77
    count = int(sys.argv[4]) if len(sys.argv) > 4 else 20 if all_of_them else 5
    total, has_tensorrt = None, False
    print_header()
    for name, path, inputs in networks_of(program, shared, all_of_them, sys.argv[5:]):
        with tempfile.TemporaryDirectory() as temporary:  # exports of large networks are not all kept at once
            exports = Exports(program, Path(temporary))
            exports.network(name, path, inputs, count)
            exports.run()
            has_tensorrt = exports.build() or has_tensorrt
            print_rows(exports.rows, has_tensorrt)
            total = total or exports
            if total is not exports:
                total.rows += exports.rows
                total.problems += exports.problems
    if total is None:
        print("skipped: no network with inputs")
        return 77
    print_reasons(total)
    if not all_of_them and sum(row["written"] for row in total.rows) < LEAST_WRITTEN:
        total.problems.append(f"fewer than {LEAST_WRITTEN} were written")
    for problem in total.problems:
        print("  wrong:", problem)
    print(summary(total, has_tensorrt))
    return 1 if total.problems else 0


if __name__ == "__main__":
    sys.exit(main())
