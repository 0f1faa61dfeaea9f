"""Measures how long a build takes if parts of it were built before.

    scripts/bench --builds [--rounds N] [--threads N] [--pins N] [--json F] [NETWORK|MODEL.onnx …]
    scripts/bench --builds --zoo-store [--threads N] [--compilers NAME[,NAME]] [--most-mib N] [--json F] [NETWORK …]

Each round begins with an empty cache folder. For every network it runs, each as a separate process: a cold build,
the same build again, a build with one node pinned to bf16, and a refit of the engine to a copy of the network with
other weights. For comparison, OpenVINO compiles the network with an empty cache folder, and again. After the
networks come two chains of 32 blocks, of equal blocks and of different ones, and a plan for TensorRT for RTX, asked
for and then found, if it is installed. What counts are the medians of the rounds, of which the first one is not
counted. Beside the whole processes are the seconds of some of their phases, as `--json` reports them: what compiles,
measures, and packs what is measured (`kernels`), and of a refit what reads the new network (`import`), which it cannot
do without. With --pins N nothing of this is timed. Instead there is, for each network, a session of N pins in one
process (pin_session.py), printed as a table of what was compiled, measured and taken over each time.

With --zoo-store, the networks of the zoo are built twice with one cache folder instead, and the size of what is kept
and the time that it saved are reported by kind (zoo_store.py).
"""
import argparse
import json
import os
import shutil
import statistics
import sys
import tempfile
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from . import pin_session
from . import zoo_store
from .builds import ROOT, name_of, quartiles, run

FUSESCOPE = ROOT / "build/bin/fusescope"
DEFAULT = ("bert_base", "resnet50")
BLOCKS, ROWS, WIDTH = 32, 64, 256
MADE = ("kernels",)  # the phase that compiles, measures, and packs what is measured
READ = ("import",)  # of a refit
OPENVINO = """
import sys, openvino as ov
core = ov.Core()
core.set_property({"CACHE_DIR": sys.argv[2]})
core.compile_model(core.read_model(sys.argv[1]), "CPU", {
    "INFERENCE_PRECISION_HINT": "f32", "PERFORMANCE_HINT": "LATENCY", "NUM_STREAMS": 1,
    "INFERENCE_NUM_THREADS": int(sys.argv[3])})
"""


def chain(path, widths):
    """Makes x · w1, Relu, x · w2 …: a block for each of `widths`, whose products read and write WIDTH columns."""
    dice, nodes, weights, last = np.random.default_rng(3), [], [], "x"
    for i, width in enumerate(widths):
        for part, dims in (("in", (WIDTH, width)), ("out", (width, WIDTH))):
            weights.append(numpy_helper.from_array(dice.standard_normal(dims).astype(np.float32) / 16, f"{part}{i}"))
        nodes += [helper.make_node("MatMul", [last, f"in{i}"], [f"wide{i}"], name=f"in_{i}"),
                  helper.make_node("Relu", [f"wide{i}"], [f"active{i}"], name=f"relu_{i}"),
                  helper.make_node("MatMul", [f"active{i}", f"out{i}"], [f"y{i}"], name=f"out_{i}")]
        last = f"y{i}"
    values = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [ROWS, WIDTH]) for name in ("x", last)]
    graph = helper.make_graph(nodes, "chain", values[:1], values[1:], weights)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), str(path))
    return path


def with_other_weights(model, path):
    """Makes a copy in which the weights with more than one axis are other numbers of the same magnitude."""
    network = onnx.load(str(model))
    for weight in network.graph.initializer:
        if weight.data_type == TensorProto.FLOAT and len(weight.dims) > 1:
            numbers = numpy_helper.to_array(weight) * np.float32(1.0009765625)
            weight.CopyFrom(numpy_helper.from_array(numbers, weight.name))
    path.with_name(path.name + ".data").unlink(missing_ok=True)  # otherwise it would be appended to the existing file
    onnx.save(network, str(path), save_as_external_data=True, location=path.name + ".data")
    return path


def products(model):
    """Returns the names of products and convolutions."""
    return [node.name for node in onnx.load(str(model), load_external_data=False).graph.node
            if node.op_type in ("MatMul", "Gemm", "Conv") and node.name]


def node_to_pin(model):
    """Returns a product in the middle of the network."""
    named = products(model)
    return named[len(named) // 2] if named else None


class Rounds:
    """The seconds of everything that was run, by name, in each round."""

    def __init__(self, arguments):
        self.arguments, self.seconds, self.told = arguments, {}, {}

    def time(self, name, command, cache, python=sys.executable):
        environment = os.environ | {"FUSESCOPE_CACHE": str(cache), "FUSESCOPE_PYTHON": python}
        taken, _, printed = run([str(each) for each in command], environment)
        self.seconds.setdefault(name, []).append(taken)
        if printed.lstrip().startswith(b"{"):
            self.told.setdefault(name, []).append(json.loads(printed))

    def build(self, name, model, cache, engine, *more):
        self.time(name, [FUSESCOPE, "build", model, "--threads", self.arguments.threads, "-o", engine, "--json", *more],
                  cache)

    def counted(self):
        """Returns the rounds without the first one, which reads files from the disk, if there are others."""
        return {name: taken[1:] or taken for name, taken in self.seconds.items()}

    def phases(self):
        """Seconds of the phases of each counted round, by name and phase."""
        return {name: by_phase(documents[1:] or documents) for name, documents in self.told.items()
                if all("phases" in document for document in documents)}


def by_phase(documents):
    """Returns the seconds of each document, by phase; 0 if a document lacks the phase."""
    names = dict.fromkeys(phase["name"] for document in documents for phase in document["phases"])
    return {name: [sum(phase["ms"] for phase in document["phases"] if phase["name"] == name) / 1000
                   for document in documents] for name in names}


def seconds_in(phases, wanted):
    """Returns the sum of the seconds of the wanted phases, for each round."""
    return [sum(each) for each in zip(*(phases[name] for name in wanted if name in phases))]


def network_round(rounds, model, other, pinned, folder):
    cache, engine = folder / "cache", folder / "built.fse"
    rounds.build("cold", model, cache, engine)
    rounds.build("again", model, cache, folder / "again.fse")
    if pinned:
        rounds.build("one pin", model, cache, folder / "pinned.fse", "--pin", f"{pinned}=bf16")
    rounds.time("refit", [FUSESCOPE, "refit", engine, "--weights", other, "--threads", rounds.arguments.threads, "-o",
                          folder / "refitted.fse", "--json"], cache)
    script = folder / "compile.py"
    script.write_text(OPENVINO)
    for name in ("OpenVINO cold", "OpenVINO again"):
        rounds.time(name, [sys.executable, script, model, folder / "openvino", rounds.arguments.threads], cache)


def measured(arguments, name, round_of):
    rounds = Rounds(arguments)
    for _ in range(arguments.rounds + 1):
        with tempfile.TemporaryDirectory(prefix="rebuilds-") as folder:
            round_of(rounds, Path(folder))
    return {"what": name, "seconds": rounds.counted(), "ratios": ratios(rounds.counted()), "phases": rounds.phases()}


def ratios(seconds):
    """Returns the quartiles of each time over the first one, within rounds."""
    base = next(iter(seconds.values()))
    return {name: quartiles([each / cold for each, cold in zip(taken, base)]) for name, taken in seconds.items()}


def words(row):
    lines = [row["what"]]
    for name, taken in row["seconds"].items():
        low, middle, high = row["ratios"][name]
        lines.append(f"  {name:16} {statistics.median(taken):8.3f} s   {middle:6.3f} of the first ({low:.3f} to {high:.3f})")
    return "\n".join(lines + words_of_phases(row))


def words_of_phases(row):
    """Returns lines about the phases of the processes that cannot be left out, and their share of the first or whole."""
    lines, made = [], {name: seconds_in(phases, MADE) for name, phases in row["phases"].items() if name != "refit"}
    first = next(iter(made.values()), [])
    for name, taken in made.items():
        share = statistics.median(each / base for each, base in zip(taken, first)) if all(first) else float("nan")
        lines.append(f"  {name:16} {statistics.median(taken):8.3f} s   {share:6.3f} of the first: compiling and measuring "
                     "alone (phase kernels)")
    if "refit" in row["phases"]:
        least = seconds_in(row["phases"]["refit"], READ)
        written = seconds_in(row["phases"]["refit"], ("write",))
        whole = row["seconds"]["refit"]
        times, without = (statistics.median(each / base for each, base in zip(taken, least)) for taken in
                          (whole, [each - file for each, file in zip(whole, written)]))
        lines.append(f"  {'refit':16} {statistics.median(least):8.3f} s   reading the network alone (phase import); "
                     f"the whole refit is {times:.3f} times that, without writing the engine {without:.3f} times")
    return lines


def sessions_of(arguments):
    """Runs a session of pins for each network. The table of the last round is printed."""
    with tempfile.TemporaryDirectory(prefix="rebuilds-") as place:
        for name, model in networks_of(arguments):
            nodes = pin_session.spread(products(model), arguments.pins)
            then = [word for file in pin_session.write_directives(nodes, Path(place)) for word in ("--then", file)]
            rounds = Rounds(arguments)
            for number in range(arguments.rounds + 1):
                folder = Path(place) / f"{name}-{number}"
                folder.mkdir()
                rounds.build(name, model, folder / "cache", folder / "e.fse", *then)
                shutil.rmtree(folder)
            document = rounds.told[name][-1]
            print(f"{name}, a session of {len(nodes)} pins\n\n{pin_session.table(document, nodes)}\n", flush=True)
            yield {"what": name, "nodes": nodes, "builds": [
                {key: build[key] for key in ("directives", "regions", "compiled", "measured", "taken_over", "phases")}
                for build in document["builds"]]}


def networks_of(arguments):
    for name in arguments.networks or DEFAULT:
        places = [Path(name), arguments.filled / f"{name}.onnx", arguments.zoo / name / "model.onnx"]
        found = next((place for place in places if place.is_file()), None)
        if found is None:
            print(f"{name}: there is no such network", file=sys.stderr)
        else:
            yield name_of(found), found


def rows_of(arguments):
    with tempfile.TemporaryDirectory(prefix="rebuilds-") as place:
        place = Path(place)
        for name, model in networks_of(arguments):
            other, pinned = with_other_weights(model, place / f"{name}.other.onnx"), node_to_pin(model)
            yield measured(arguments, f"{name}; {pinned or 'nothing'} is pinned",
                           lambda rounds, folder: network_round(rounds, model, other, pinned, folder))
        different = chain(place / "different.onnx", [WIDTH + 8 * i for i in range(BLOCKS)])
        equal = chain(place / "equal.onnx", [WIDTH + 4 * BLOCKS] * BLOCKS)

        def blocks(rounds, folder):
            for name, model in (("different", different), ("equal", equal)):
                rounds.build(name, model, folder / name, folder / f"{name}.fse")
        yield measured(arguments, f"{BLOCKS} blocks", blocks)
        small = arguments.zoo / "bert_tiny" / "model.onnx"
        if arguments.rtx_python and small.is_file():
            def found(rounds, folder):
                for name in ("asked", "found"):
                    rounds.time(name, [FUSESCOPE, "plan", small, "--compiler", "tensorrt-rtx", "--json"], folder / "cache",
                                arguments.rtx_python)
            yield measured(arguments, "plan of bert_tiny over TensorRT for RTX", found)


def main():
    parser = argparse.ArgumentParser(prog="scripts/bench --builds", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--zoo", type=Path, required=True, help=argparse.SUPPRESS)
    parser.add_argument("--filled", type=Path, required=True, help=argparse.SUPPRESS)
    parser.add_argument("--rounds", type=int, default=3, help="that count; one more comes before them")
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--pins", type=int, default=0, metavar="N", help="a session of so many pins in one process instead")
    parser.add_argument("--rtx-python", default=os.environ.get("FUSESCOPE_TENSORRT_RTX_PYTHON", ""), help=argparse.SUPPRESS)
    parser.add_argument("--json", type=Path, metavar="F", help="all seconds, by row and name")
    parser.add_argument("--zoo-store", action="store_true", help="what the store has after the zoo was built twice")
    parser.add_argument("--compilers", default="fusescope,openvino,onnxruntime", metavar="NAME[,NAME]",
                        help="of --zoo-store; default: %(default)s")
    parser.add_argument("--most-mib", type=float, default=600, metavar="N",
                        help="of --zoo-store: networks that are larger are left out; default: %(default)s")
    parser.add_argument("networks", nargs="*", metavar="NETWORK|MODEL.onnx", help="default: " + ", ".join(DEFAULT))
    arguments = parser.parse_args()
    if arguments.zoo_store:
        zoo_store.main(arguments)
        return
    rows = []
    for row in sessions_of(arguments) if arguments.pins else rows_of(arguments):
        rows.append(row)
        if "seconds" in row:
            print(words(row) + "\n", flush=True)
        if arguments.json:
            arguments.json.write_text(json.dumps(rows, indent=1))


if __name__ == "__main__":
    main()
