"""Measures how much longer a build by another compiler takes than a script that only runs this compiler.

    python -m bench.builds [--rounds N] [--threads N] [--rtx-python PYTHON] [--ready] COMPILER[,COMPILER] MODEL.onnx …

Each round runs two programs, each as a separate process and in alternating order: a Python script that only reads
the network and compiles it, and `fusescope build --compiler`, which also plans, passes the network to the compiler,
reads back what was made and writes an engine file. Three ratios are reported: of the whole build; of the build without
the phase in which it writes the engine file, which is as large as the network and which the script does not write; and
also without the phase in which it writes the renamed copy of the network. This copy is written while the package is
imported, so that the last ratio is a lower limit of what the rest of the build takes. What counts are the medians of
the ratios within rounds, followed by their quartiles. Then comes the ratio of the processor times of all processes. A
build uses two processors where the script uses one; on a machine that does other work, the ratios of time are therefore
too favourable. Last are the milliseconds in which the build reads back what was made. Both programs use this Python, or
--rtx-python for TensorRT for RTX.

With --ready, it also measures how long a probe takes until it can work: `fusescope compilers --env` against a script
that imports the packages of the compilers one after another, in alternating order.
"""
import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]

SCRIPTS = {
    "onnxruntime": """
import sys, onnxruntime as ort
settings = ort.SessionOptions()
settings.intra_op_num_threads = int(sys.argv[2])
settings.inter_op_num_threads = 1
ort.InferenceSession(sys.argv[1], settings, providers=["CPUExecutionProvider"])
""",
    "openvino": """
import sys, openvino as ov
core = ov.Core()
core.compile_model(core.read_model(sys.argv[1]), "CPU", {
    "INFERENCE_PRECISION_HINT": "f32", "PERFORMANCE_HINT": "LATENCY", "NUM_STREAMS": 1,
    "INFERENCE_NUM_THREADS": int(sys.argv[2])})
""",
    "tensorrt-rtx": """
import sys, tensorrt_rtx as trt
logger = trt.Logger(trt.Logger.WARNING)
builder = trt.Builder(logger)
network = builder.create_network(0)
if not trt.OnnxParser(network, logger).parse_from_file(sys.argv[1]):
    sys.exit("the parser refuses the network")
config = builder.create_builder_config()
config.num_compute_capabilities = 1
config.set_compute_capability(trt.ComputeCapability.SM89, 0)
builder.max_threads = int(sys.argv[2])
open_inputs = [each for each in map(network.get_input, range(network.num_inputs)) if -1 in tuple(each.shape)]
if open_inputs:
    profile = builder.create_optimization_profile()
    for each in open_inputs:
        extents = [1 if extent < 0 else extent for extent in each.shape]
        profile.set_shape(each.name, extents, extents, extents)
    config.add_optimization_profile(profile)
sys.exit(builder.build_serialized_network(network, config) is None)
""",
}


COPY, ENGINE = "hand over", "write"  # the phases of a build in which it writes a network
READ = "read back"
PACKAGES = {"onnxruntime": "onnxruntime", "openvino": "openvino", "tensorrt-rtx": "tensorrt_rtx"}


def run(command, environment):
    """Returns (seconds, seconds of processors, what it printed)."""
    used, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    ended = subprocess.run(command, env=environment, capture_output=True, check=False)
    taken = time.perf_counter() - start
    if ended.returncode != 0:
        sys.exit(f"{' '.join(command[:4])} …: {ended.stderr.decode(errors='replace').strip()[-1000:]}")
    now = resource.getrusage(resource.RUSAGE_CHILDREN)
    return taken, now.ru_utime + now.ru_stime - used.ru_utime - used.ru_stime, ended.stdout


def name_of(model):
    return model.parent.name if model.stem == "model" else model.stem


def quartiles(numbers):
    """Returns (first quartile, median, third quartile)."""
    return tuple(statistics.quantiles(numbers, n=4, method="inclusive")) if len(numbers) > 1 else tuple(numbers * 3)


def ratios(compiler, model, python, arguments):
    """Returns the seconds of each round, and summary() of them."""
    rounds = []
    with tempfile.TemporaryDirectory(prefix="builds-") as folder:
        script = Path(folder) / "alone.py"
        script.write_text(SCRIPTS[compiler])
        environment = os.environ | {"XDG_CONFIG_HOME": folder, "FUSESCOPE_PYTHON": python}
        alone = [python, str(script), model, str(arguments.threads)]
        build = [str(ROOT / "build/bin/fusescope"), "build", model, "--compiler", compiler, "--threads",
                 str(arguments.threads), "--cache", "off", "-o", str(Path(folder) / "built.fse"), "--json"]
        # the first round is not counted, because it reads files from the disk
        for number in range(arguments.rounds + 1):
            taken = {}
            for name, command in (("alone", alone), ("build", build))[:: 1 if number % 2 else -1]:
                taken[name], taken[f"{name}_cpu"], printed = run(command, environment)
                if name == "build":
                    taken["phases"] = {each["name"]: each["ms"] / 1e3 for each in json.loads(printed)["phases"]}
            if number > 0:
                rounds.append(taken)
    return {"compiler": compiler, "network": name_of(Path(model)), "rounds": rounds, **summary(rounds)}


def summary(rounds):
    """Returns the quartiles of the ratios within rounds: of the whole build, and without what it writes."""
    def without(*phases):
        return quartiles([(each["build"] - sum(each["phases"].get(name, 0) for name in phases)) / each["alone"]
                          for each in rounds])
    return {"whole": without(), "without_engine": without(ENGINE), "without_files": without(ENGINE, COPY),
            "cpu": quartiles([each["build_cpu"] / each["alone_cpu"] for each in rounds])}


def words(row):
    def middle(number):
        return statistics.median(number(each) for each in row["rounds"])
    times = [middle(lambda each: each["alone"]), middle(lambda each: each["build"]),
             middle(lambda each: each["phases"].get(COPY, 0)), middle(lambda each: each["phases"].get(ENGINE, 0))]
    keys = ("whole", "without_engine", "without_files", "cpu")
    spread = ["{1:.3f} ({0:.3f} to {2:.3f})".format(*row[key]) for key in keys]
    return (f"{row['network']:12} {row['compiler']:13} alone {times[0]:5.2f} s, build {times[1]:5.2f} s, of it copy "
            f"{times[2]:4.2f} s, engine file {times[3]:4.2f} s; ratio {spread[0]}, without the engine file "
            f"{spread[1]}, without the copy too {spread[2]}; of processor time {spread[3]}; read back in "
            f"{1e3 * middle(lambda each: each['phases'].get(READ, 0)):.0f} ms")


def ready(compilers, python, arguments):
    """Returns words about how much longer a probe takes than the imports."""
    imports = [python, "-c", "import " + ", ".join(PACKAGES[compiler] for compiler in compilers)]
    probe = [str(ROOT / "build/bin/fusescope"), "compilers", "--env", python, "--json"]
    rounds = []
    with tempfile.TemporaryDirectory(prefix="builds-") as folder:
        environment = os.environ | {"XDG_CONFIG_HOME": folder, "FUSESCOPE_CACHE": folder}
        for number in range(arguments.rounds + 1):
            taken = {name: run(command, environment)[0]
                     for name, command in (("alone", imports), ("probe", probe))[:: 1 if number % 2 else -1]}
            if number > 0:
                rounds.append(taken)
    low, middle, high = quartiles([each["probe"] - each["alone"] for each in rounds])
    alone = statistics.median(each["alone"] for each in rounds)
    return (f"{', '.join(compilers)}: the imports take {alone:.2f} s; a probe answers {middle:.2f} s later than the "
            f"script ends ({low:.2f} to {high:.2f})")


def main():
    parser = argparse.ArgumentParser(prog="bench.builds", description=__doc__.split("\n", 1)[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rtx-python", default=os.environ.get("FUSESCOPE_TENSORRT_RTX_PYTHON", sys.executable))
    parser.add_argument("--ready", action="store_true", help="also measure how long a probe takes until it can work")
    parser.add_argument("--json", action="store_true", help="print JSON, a line for each")
    parser.add_argument("compilers")
    parser.add_argument("models", nargs="+")
    arguments = parser.parse_args()
    compilers = arguments.compilers.split(",")
    python_of = {each: arguments.rtx_python if each == "tensorrt-rtx" else sys.executable for each in compilers}
    for python in dict.fromkeys(python_of.values()) if arguments.ready else ():
        print(ready([each for each in compilers if python_of[each] == python], python, arguments), flush=True)
    for model in arguments.models:
        for compiler in compilers:
            python = python_of[compiler]
            row = ratios(compiler, model, python, arguments)
            print(json.dumps(row) if arguments.json else words(row), flush=True)


if __name__ == "__main__":
    main()
