"""How much longer a build by another compiler takes than that compiler in a script of its own.

    python -m bench.builds [--rounds N] [--threads N] [--rtx-python PYTHON] COMPILER[,COMPILER] MODEL.onnx …

Each round runs, one after another and each as a process of its own, a Python script that does nothing but read the
network and compile it, and `fusescope build --compiler`, which also plans, hands the network over and reads back what
was made. What counts is the median of the ratios within rounds. Both use this Python, or --rtx-python for TensorRT for
RTX.
"""
import argparse
import json
import os
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


def seconds(command, environment):
    start = time.perf_counter()
    ended = subprocess.run(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False)
    taken = time.perf_counter() - start
    if ended.returncode != 0:
        sys.exit(f"{' '.join(command[:4])} …: {ended.stderr.decode(errors='replace').strip()[-1000:]}")
    return taken


def ratios(compiler, model, python, arguments):
    """{alone: [seconds], built: [seconds], ratio: of the medians within rounds}"""
    alone, built = [], []
    with tempfile.TemporaryDirectory(prefix="builds-") as folder:
        script = Path(folder) / "alone.py"
        script.write_text(SCRIPTS[compiler])
        environment = os.environ | {"XDG_CONFIG_HOME": folder, "FUSESCOPE_PYTHON": python}
        build = [str(ROOT / "build/bin/fusescope"), "build", model, "--compiler", compiler, "--threads",
                 str(arguments.threads), "-o", str(Path(folder) / "built.fse")]
        for number in range(arguments.rounds + 1):  # the first is not counted: it reads files that lie on the disk
            taken = (seconds([python, str(script), model, str(arguments.threads)], environment),
                     seconds(build, environment))
            if number > 0:
                alone.append(taken[0])
                built.append(taken[1])
    return {"compiler": compiler, "network": Path(model).stem, "alone_s": alone, "build_s": built,
            "ratio": statistics.median(b / a for a, b in zip(alone, built))}


def main():
    parser = argparse.ArgumentParser(prog="bench.builds", description=__doc__.split("\n", 1)[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rtx-python", default=os.environ.get("FUSESCOPE_TENSORRT_RTX_PYTHON", sys.executable))
    parser.add_argument("--json", action="store_true", help="print JSON, a line for each")
    parser.add_argument("compilers")
    parser.add_argument("models", nargs="+")
    arguments = parser.parse_args()
    for model in arguments.models:
        for compiler in arguments.compilers.split(","):
            python = arguments.rtx_python if compiler == "tensorrt-rtx" else sys.executable
            row = ratios(compiler, model, python, arguments)
            if arguments.json:
                print(json.dumps(row), flush=True)
            else:
                print(f"{row['network']:20} {compiler:14} alone {statistics.median(row['alone_s']):7.2f} s   build "
                      f"{statistics.median(row['build_s']):7.2f} s   ratio {row['ratio']:.3f}", flush=True)


if __name__ == "__main__":
    main()
