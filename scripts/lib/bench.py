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

import trained

ROOT = Path(__file__).resolve().parents[2]
FUSESCOPE = ROOT / "build" / "bin" / "fusescope"


class Question:
    """What is asked of every runtime: a network, its inputs, and of Fusescope how it is built."""

    def __init__(self, model, inputs=None, options=(), name=None):
        self.model, self.options, self.name = model, list(options), name or model.stem
        self.inputs = random_inputs(model) if inputs is None else inputs


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

    def __init__(self, question, threads):
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        options.inter_op_num_threads = 1
        options.log_severity_level = 3
        self.session = onnxruntime.InferenceSession(str(question.model), options, providers=["CPUExecutionProvider"])
        self.inputs = question.inputs

    def median_ms(self, seconds):
        return median_of_calls(lambda: self.session.run(None, self.inputs), seconds)


class OpenVino:
    name = "openvino"

    def __init__(self, question, threads):
        import openvino

        config = {"INFERENCE_NUM_THREADS": threads, "PERFORMANCE_HINT": "LATENCY", "INFERENCE_PRECISION_HINT": "f32"}
        self.request = openvino.Core().compile_model(str(question.model), "CPU", config).create_infer_request()
        self.inputs = question.inputs

    def median_ms(self, seconds):
        return median_of_calls(lambda: self.request.infer(self.inputs), seconds)


class Fusescope:
    name = "fusescope"

    def __init__(self, question, threads):
        self.threads = threads
        self.folder = tempfile.TemporaryDirectory()
        self.engine, self.inputs = (Path(self.folder.name) / name for name in ("engine.fse", "inputs.npz"))
        np.savez(self.inputs, **{f"in:{name}": array for name, array in question.inputs.items()})
        run([FUSESCOPE, "build", question.model, "-o", self.engine, "--threads", str(threads), *question.options])

    def median_ms(self, seconds):
        done = run([FUSESCOPE, "time", self.engine, "--threads", str(self.threads), "--seconds", str(seconds),
                    "--inputs", self.inputs, "--warmup", "0.3", "--json"])
        report = json.loads(done.stdout)
        if report["median_ms"] is None:
            raise CannotRun(f"no time: {report['unavailable_reason']}")
        return report["median_ms"]


class CannotRun(Exception):
    pass


def run(command):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    if done.returncode != 0:
        raise CannotRun(done.stderr.strip())
    return done


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


def compare(question, kinds, rounds, seconds, threads):
    try:
        runtimes = [kind(question, threads) for kind in kinds]
        times = {runtime.name: [] for runtime in runtimes}
        for _ in range(rounds):
            for runtime in runtimes:
                times[runtime.name].append(runtime.median_ms(seconds))
    except CannotRun as error:
        print(f"{question.name:40} {error}", flush=True)
        return
    own = times[Fusescope.name]
    print(f"{question.name:40} fusescope {statistics.median(own):8.3f} ms", end="")
    for name, values in times.items():
        if name == Fusescope.name:
            continue
        ratios = [a / b for a, b in zip(own, values)]
        print(f"   {name} {statistics.median(values):8.3f} ms, ratio {statistics.median(ratios):.2f}"
              f" ({min(ratios):.2f} to {max(ratios):.2f})", end="")
    print(flush=True)


def spec(flag, extents):
    """What `build` is told of inputs; those without axes have nothing to be told."""
    return [part for name, dims in extents.items() if dims for part in (flag, f"{name}={','.join(map(str, dims))}")]


def trained_questions(folder, fixed):
    """Each network at each of its extents: one engine for them all, or with `fixed` one for each."""
    for network in trained.NETWORKS:
        if not network.file(folder).exists():
            print(f"{network.name:40} skipped: {network.package} {network.version} is not in {folder}", flush=True)
            continue
        usual = network.extents[0]
        bounds = [{name: [pick(sizes) for sizes in zip(*(e[name] for e in network.extents))] for name in usual}
                  for pick in (min, max)]
        ranges = spec("--min", bounds[0]) + spec("--opt", usual) + spec("--max", bounds[1])
        for extents in network.extents:
            one_size = fixed or len(network.extents) == 1
            shown = " ".join("x".join(map(str, dims)) for dims in list(extents.values())[:1])
            yield Question(network.file(folder), trained.inputs_of(network, extents),
                           spec("--input", extents) if one_size else ranges, f"{network.name} {shown}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--zoo", type=Path)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=2.0)
    parser.add_argument("--threads", type=int, default=len(__import__("os").sched_getaffinity(0)))
    parser.add_argument("--openvino", action="store_true", help="OpenVINO as well")
    parser.add_argument("--trained", type=Path, metavar="FOLDER", help="the networks that trained.py fetched there")
    parser.add_argument("--fixed", action="store_true", help="with --trained: an engine for each of the extents")
    parser.add_argument("models", nargs="*", type=Path)
    arguments = parser.parse_args()
    kinds = [Fusescope, OnnxRuntime] + ([OpenVino] if arguments.openvino else [])
    print(f"{arguments.threads} threads, {arguments.rounds} rounds of {arguments.seconds} s each; medians; "
          f"ratio = fusescope / other within a round (least to most)")
    if arguments.trained:
        questions = trained_questions(arguments.trained, arguments.fixed)
    else:
        usual = [arguments.zoo / f"{n}.onnx" for n in ("resnet50", "mobilenet_v2", "bert_base")]
        questions = (Question(model) for model in arguments.models or usual)
    for question in questions:
        compare(question, kinds, arguments.rounds, arguments.seconds, arguments.threads)


if __name__ == "__main__":
    main()
