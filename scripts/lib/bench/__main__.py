"""Compares the latency of Fusescope's engines with that of other engines, in turns, in one run.

Every engine gets the same network and the same inputs, and writes into memory that exists before the call. Its
outputs are compared with Fusescope's; if they differ, there is no ratio. Each round times every engine for the same
number of seconds after the same warm-up, one after another, so that a change of the machine's speed affects all of
them. What counts is the ratio within a round. Fusescope stores its measured times in a separate folder, which is
made for this run.
"""
import argparse
import math
import os
import statistics
import sys
import tempfile
from dataclasses import asdict, replace
from hashlib import sha256
from pathlib import Path

import numpy as np
import onnx

from . import machine, table
from .comparison import MOST, worst_difference
from .engines import OWN, PEERS
from .engines.engine import CannotRun
from .losses import largest_losses
from .quantised import outputs_of, quantised, weight_only
from .questions import DEFAULT, Networks, Question
from .ratios import ratio, spread
from .results import Results

ROOT = Path(__file__).resolve().parents[3]


def measured(question, peers, arguments):
    """Returns a row: all engines that can answer, checked against each other and then timed in turns."""
    row = {"key": question.key, "engines": {}, "errors": {}, "differs": {}, "ratios": {}, "unquiet": []}
    engines = {}
    for kind in (OWN, *peers):
        try:
            engines[kind.name] = kind(question)
        except CannotRun as reason:
            row["engines"][kind.name] = {"reason": str(reason)}
    if OWN.name not in engines:
        return row
    try:
        engines = checked(engines, question, row)
        watch = machine.Watch()
        samples = turns(engines, arguments)
        row["machine"] = watch.report()
    except CannotRun as reason:
        row["engines"][OWN.name] = {"reason": str(reason)}
        return row
    for name, taken in samples.items():
        times = [sample.ms for sample in taken]
        row["engines"][name] = {"median_ms": statistics.median(times), "rounds_ms": times,
                                "spread_in_rounds": statistics.median(sample.spread for sample in taken),
                                "calls": sum(sample.calls for sample in taken)}
        if name != OWN.name:
            row["ratios"][name] = asdict(ratio([sample.ms for sample in samples[OWN.name]], times))
    spreads = {name: spread([sample.ms for sample in taken]) for name, taken in samples.items()}
    row["unquiet"] = machine.unquiet(row["machine"], spreads, question.threads / machine.cpu()["cpus"])
    if arguments.losses and row["ratios"] and not question.steps:
        row |= losses_of(engines, row, question, arguments.seconds)
    return row


def checked(engines, question, row):
    """Returns the engines whose outputs equal Fusescope's. The others are listed in the row."""
    own = engines[OWN.name].outputs()
    row["memory"] = engines[OWN.name].memory()
    if question.floats is not None:
        row["against_f32"] = errors_against(outputs_of(question.floats, question.inputs), engines)
    same = {OWN.name: engines[OWN.name]}
    for name, engine in engines.items():
        if name == OWN.name:
            continue
        difference = worst_difference(own, engine.outputs())
        if isinstance(difference, str):
            row["differs"][name] = difference
            continue
        error = difference[0] if math.isfinite(difference[0]) else str(difference[0])
        row["errors"][name] = {"max_over_rms": error, "output": difference[1]}
        if difference[0] <= MOST[question.precision]:
            same[name] = engine
        else:
            row["differs"][name] = f"{difference[1]} by {difference[0]:.1e} of its rms"
    return same


def errors_against(expected, engines):
    """Returns the error that quantisation causes, by engine: max |Δ| over rms of the worst output."""
    differences = {name: worst_difference(engine.outputs(), expected) for name, engine in engines.items()}
    return {name: found if isinstance(found, str) else found[0] for name, found in differences.items()}


def turns(engines, arguments):
    samples = {name: [] for name in engines}
    for _ in range(arguments.rounds):
        for name, engine in engines.items():
            samples[name].append(engine.sample(arguments.seconds, arguments.warmup))
    return samples


def losses_of(engines, row, question, seconds):
    """Returns the largest losses against the fastest peer."""
    best = min(row["ratios"], key=lambda name: row["engines"][name]["median_ms"])
    own, peer = engines[OWN.name].layers(seconds), engines[best].layers(seconds)
    losses, rest = largest_losses(question.model, own, peer)
    return {"losses": [asdict(loss) | {"lost_ms": loss.lost_ms} for loss in losses], "losses_to": best,
            "profiled_ms": {OWN.name: sum(layer.ms for layer in own), best: sum(layer.ms for layer in peer)},
            "peer_elsewhere_ms": rest}


def call_costs(peers, threads, folder):
    """Returns the milliseconds of a call that calculates next to nothing, by engine: the part of each time that does
    not belong to the network."""
    path = Path(folder) / "relu.onnx"
    values = [onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, [4]) for name in ("x", "y")]
    graph = onnx.helper.make_graph([onnx.helper.make_node("Relu", ["x"], ["y"])], "relu", values[:1], values[1:])
    opset = [onnx.helper.make_opsetid("", 17)]
    onnx.save(onnx.helper.make_model(graph, opset_imports=opset, ir_version=8), str(path))
    question = Question("relu", path, {"x": np.ones(4, np.float32)}, threads)
    return {kind.name: kind(question).sample(0.2, 0.1).ms for kind in (OWN, *peers)}


def setting_of(peers, arguments):
    """Returns what rows must have in common to be in one table."""
    binary = sha256(Path(sys.modules[OWN.__module__].BINARY).read_bytes()).hexdigest()[:16]
    return {"cpu": machine.cpu(), "versions": {kind.name: kind.version() for kind in (OWN, *peers)}, "binary": binary,
            "rounds": arguments.rounds, "seconds": arguments.seconds, "warmup": arguments.warmup,
            "open": arguments.open}


def questions_of(arguments, networks):
    """Returns each question at each type and number of threads, and reports networks that are missing."""
    for name in arguments.networks or DEFAULT:
        try:
            found = networks.questions(name, arguments.open)
        except FileNotFoundError as missing:
            print(f"{name}: {missing}", file=sys.stderr, flush=True)
            continue
        for question in found:
            for precision in arguments.types:
                for threads in arguments.threads:
                    yield at_type(replace(question, threads=threads, precision=precision), arguments.quantised_folder)


def at_type(question, folder):
    """Returns the question at its type. For int8 and weight8 this is another network, which is the same for all
    engines."""
    if question.precision == "int8":
        return replace(question, model=quantised(question.model, question.inputs, folder), floats=question.model)
    if question.precision == "weight8":
        return replace(question, model=weight_only(question.model, folder), floats=question.model)
    return question


def print_setting(setting, costs):
    cpu, versions = setting["cpu"], setting["versions"]
    print(f"{cpu['model']}, {cpu['cpus']} CPUs, {' '.join(cpu['isa'])}")
    print(", ".join(f"{name} {version}" for name, version in versions.items()))
    print(f"{setting['rounds']} rounds of {setting['seconds']} s each after {setting['warmup']} s of warm-up; medians; "
          f"ratio = {OWN.name} / other within a round")
    print("inputs and outputs are in place before a call on all sides; a call alone takes " +
          ", ".join(f"{name} {cost * 1e3:.1f} µs" for name, cost in costs.items()) + ", which its times include\n",
          flush=True)


def parsed():
    parser = argparse.ArgumentParser(prog="scripts/bench", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--zoo", type=Path, required=True, help=argparse.SUPPRESS)
    parser.add_argument("--filled", type=Path, required=True, help=argparse.SUPPRESS)
    parser.add_argument("--trained-folder", type=Path, required=True, help=argparse.SUPPRESS)
    parser.add_argument("--quantised-folder", type=Path, required=True, help=argparse.SUPPRESS)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=2.0, help="of each engine in each round")
    parser.add_argument("--warmup", type=float, default=0.5, help="seconds before each of these")
    parser.add_argument("--threads", type=numbers, default=[len(os.sched_getaffinity(0))], metavar="N[,N]")
    parser.add_argument("--types", type=types, default=["f32"], metavar="TYPE[,TYPE]", help=", ".join(MOST))
    parser.add_argument("--peers", type=peer_kinds, default=list(PEERS.values()), metavar="NAME[,NAME]",
                        help=", ".join(PEERS))
    parser.add_argument("--open", action="store_true", help="trained networks: one engine for all their extents")
    parser.add_argument("--losses", action="store_true", help="the layers that lose most against the fastest peer")
    parser.add_argument("--json", type=Path, metavar="F", help="the rows, written after each")
    parser.add_argument("--resume", action="store_true", help="keep the rows of F that were measured like this")
    parser.add_argument("--store", type=Path, metavar="FOLDER", help="keep what Fusescope measures here")
    parser.add_argument("networks", nargs="*", metavar="NETWORK[@N]|MODEL.onnx",
                        help="NETWORK@N: its sequences have N elements; default: " + ", ".join(DEFAULT))
    return parser.parse_args()


def numbers(text):
    return [int(part) for part in text.split(",")]


def types(text):
    return [known(part, MOST) for part in text.split(",")]


def peer_kinds(text):
    return [PEERS[known(part, PEERS)] for part in text.split(",")]


def known(name, names):
    if name not in names:
        raise argparse.ArgumentTypeError(f"'{name}' is none of {', '.join(names)}")
    return name


def main():
    arguments = parsed()
    peers = arguments.peers
    names = [kind.name for kind in peers]
    setting = setting_of(peers, arguments)
    results = Results(arguments.json, setting, arguments.resume)
    networks = Networks(arguments.filled, arguments.zoo, arguments.trained_folder)
    with tempfile.TemporaryDirectory() as folder:
        OWN.store = arguments.store or folder
        print_setting(setting, call_costs(peers, max(arguments.threads), folder))
        print(table.heading(names), flush=True)
        rows = []
        for question in questions_of(arguments, networks):
            row = results.find(question.key)
            if row is None:
                row = measured(question, peers, arguments)
                results.add(row)
            rows.append(row)
            print(table.row_text(row, names), flush=True)
    print("\n" + table.means_text(rows, names))
    for text in filter(None, map(table.losses_text, rows)):
        print("\n" + text)


if __name__ == "__main__":
    main()
