"""Latency of Fusescope's engines beside other runtimes, in turns, in one run.

Each round times every runtime for the same number of seconds, one after another, so that a change of the machine's
speed meets all of them. What counts is the ratio within a round; its median and its spread over the rounds are printed.
"""
import argparse
import json
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np
import onnx
import onnxruntime

ROOT = Path(__file__).resolve().parents[2]
FUSESCOPE = ROOT / "build" / "bin" / "fusescope"


def random_inputs(model_path):
    """Zeros for integers (a valid token everywhere), standard normal for floats; symbolic extents become 1."""
    model = onnx.load(str(model_path), load_external_data=False)
    weights = {w.name for w in model.graph.initializer}
    inputs = {}
    for value in model.graph.input:
        if value.name in weights:
            continue
        tensor = value.type.tensor_type
        dims = [d.dim_value if d.HasField("dim_value") else 1 for d in tensor.shape.dim]
        dtype = onnx.helper.tensor_dtype_to_np_dtype(tensor.elem_type)
        drawn = np.random.RandomState(0).standard_normal(dims)
        inputs[value.name] = drawn.astype(dtype) if np.issubdtype(dtype, np.floating) else np.ones(dims, dtype)
    return inputs


class OnnxRuntime:
    name = "onnxruntime"

    def __init__(self, model, threads):
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        options.inter_op_num_threads = 1
        self.session = onnxruntime.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])
        self.inputs = random_inputs(model)

    def median_ms(self, seconds):
        return median_of_calls(lambda: self.session.run(None, self.inputs), seconds)


class OpenVino:
    name = "openvino"

    def __init__(self, model, threads):
        import openvino

        config = {"INFERENCE_NUM_THREADS": threads, "PERFORMANCE_HINT": "LATENCY", "INFERENCE_PRECISION_HINT": "f32"}
        self.request = openvino.Core().compile_model(str(model), "CPU", config).create_infer_request()
        self.inputs = random_inputs(model)

    def median_ms(self, seconds):
        return median_of_calls(lambda: self.request.infer(self.inputs), seconds)


class Fusescope:
    name = "fusescope"

    def __init__(self, model, threads):
        self.threads = threads
        self.engine = Path(tempfile.mkdtemp()) / "engine.fse"
        subprocess.run([FUSESCOPE, "build", model, "-o", self.engine, "--threads", str(threads)],
                       check=True, stdout=subprocess.DEVNULL)

    def median_ms(self, seconds):
        done = subprocess.run([FUSESCOPE, "time", self.engine, "--threads", str(self.threads), "--seconds", str(seconds),
                               "--warmup", "0.3", "--json"], check=True, capture_output=True)
        report = json.loads(done.stdout)
        if report["median_ms"] is None:
            raise SystemExit(f"{self.engine}: no time: {report['unavailable_reason']}")
        return report["median_ms"]


def median_of_calls(call, seconds):
    for _ in range(3):
        call()
    samples = []
    end = time.perf_counter() + seconds
    while time.perf_counter() < end or len(samples) < 3:
        start = time.perf_counter()
        call()
        samples.append((time.perf_counter() - start) * 1e3)
    return statistics.median(samples)


def compare(model, kinds, rounds, seconds, threads):
    runtimes = [kind(model, threads) for kind in kinds]
    times = {runtime.name: [] for runtime in runtimes}
    for _ in range(rounds):
        for runtime in runtimes:
            times[runtime.name].append(runtime.median_ms(seconds))
    own = times[Fusescope.name]
    print(f"{model.stem:16} fusescope {statistics.median(own):8.2f} ms", end="")
    for name, values in times.items():
        if name == Fusescope.name:
            continue
        ratios = [a / b for a, b in zip(own, values)]
        print(f"   {name} {statistics.median(values):8.2f} ms, ratio {statistics.median(ratios):.2f}"
              f" ({min(ratios):.2f} to {max(ratios):.2f})", end="")
    print(flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--zoo", type=Path, required=True)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=2.0)
    parser.add_argument("--threads", type=int, default=len(__import__("os").sched_getaffinity(0)))
    parser.add_argument("--openvino", action="store_true", help="OpenVINO as well")
    parser.add_argument("models", nargs="*", type=Path)
    arguments = parser.parse_args()
    kinds = [Fusescope, OnnxRuntime] + ([OpenVino] if arguments.openvino else [])
    print(f"{arguments.threads} threads, {arguments.rounds} rounds of {arguments.seconds} s each; medians; "
          f"ratio = fusescope / other within a round (least to most)")
    for model in arguments.models or [arguments.zoo / f"{n}.onnx" for n in ("resnet50", "mobilenet_v2", "bert_base")]:
        compare(model, kinds, arguments.rounds, arguments.seconds, arguments.threads)


if __name__ == "__main__":
    main()
