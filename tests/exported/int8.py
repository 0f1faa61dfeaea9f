"""Holds int8 networks that `fusescope calibrate` and `export --to onnx` make against ONNX Runtime.

    int8.py FUSESCOPE SOURCE_FOLDER [NETWORK.onnx…]

ONNX Runtime runs the network that was written and agrees with `fusescope run` of it, and the error of fusescope's int8
against float32 is at most 1.1 times that of ONNX Runtime's own static quantisation of the same inputs, and 1e-3 of rms.
Without networks: the digits of the samples, which also keep their accuracy on held-out digits.
"""
import sys
import tempfile
from pathlib import Path

import numpy as np
import onnxruntime
from onnxruntime.quantization import CalibrationDataReader, QuantFormat, QuantType, quantize_static
from onnxruntime.quantization.shape_inference import quant_pre_process

from support import command, relative

OPERATORS = ["Conv", "ConvTranspose", "MatMul", "Gemm", "Add", "Relu", "Clip", "MaxPool", "AveragePool",
             "GlobalAveragePool", "Concat", "Resize"]
CALIBRATING = 2  # random samples of networks that bring none
FACTOR, RMS = 1.1, 1e-3
METHODS = [["--method", "minmax"], ["--method", "percentile"], ["--method", "mse"], ["--method", "entropy"],
           ["--method", "mse", "--symmetric"], ["--method", "mse", "--smooth", "0.5"]]


class Calls(CalibrationDataReader):
    def __init__(self, samples):
        self.samples = iter(samples)

    def get_next(self):
        return next(self.samples, None)


def runtime(network, inputs):
    session = onnxruntime.InferenceSession(str(network), providers=["CPUExecutionProvider"])
    return session.run([session.get_outputs()[0].name], inputs)[0]


def static_quantisation(network, samples, folder):
    prepared, made = folder / "prepared.onnx", folder / "theirs.onnx"
    quant_pre_process(str(network), str(prepared), skip_symbolic_shape=True)
    quantize_static(str(prepared), str(made), Calls(samples), quant_format=QuantFormat.QDQ, per_channel=True,
                    activation_type=QuantType.QUInt8, weight_type=QuantType.QInt8, op_types_to_quantize=OPERATORS)
    return made


def random_sample(session, random):
    sample = {}
    for each in session.get_inputs():
        dims = [extent if isinstance(extent, int) else (1 if i == 0 else 32) for i, extent in enumerate(each.shape)]
        if "int" in each.type:
            ids = np.ones(dims) if "mask" in each.name else random.integers(0, 2 if "type" in each.name else 1000, dims)
            sample[each.name] = ids.astype(np.int64 if "64" in each.type else np.int32)
        else:
            sample[each.name] = random.standard_normal(dims).astype(np.float32)
    return sample


def digits(source):
    folder = source / "resources" / "samples" / "digits"
    images, labels = np.load(folder / "held_out.npz")["image"], np.load(folder / "labels.npy")
    return folder / "model.onnx", [{"image": images[i:i + 1]} for i in range(120)], {"image": images[120:]}, labels[120:]


def given(network):
    session = onnxruntime.InferenceSession(str(network), providers=["CPUExecutionProvider"])
    random = np.random.default_rng(3)
    samples = [random_sample(session, random) for _ in range(CALIBRATING)]
    return Path(network), samples, random_sample(session, random), None


def check(program, network, samples, inputs, labels, folder):
    exact = runtime(network, inputs)
    theirs = relative([exact], [runtime(static_quantisation(network, samples, folder), inputs)])
    np.savez(folder / "inputs.npz", **inputs)
    calibrating = []
    for i, sample in enumerate(samples):
        np.savez(folder / f"sample_{i}.npz", **sample)
        calibrating += ["--inputs", folder / f"sample_{i}.npz"]
    extents = [text for name, array in inputs.items() for text in ("--input", f"{name}={'x'.join(map(str, array.shape))}")]
    problems = []
    for method in METHODS if labels is not None else METHODS[:3:2]:
        ranges, written, out = folder / "ranges.json", folder / "int8.onnx", folder / "out.npz"
        command(program, "calibrate", network, *calibrating, *method, "-o", ranges)
        command(program, "export", network, "--precision", "int8", "--ranges", ranges, "--to", "onnx", "-o", written)
        command(program, "run", written, *extents, "--inputs", folder / "inputs.npz", "--outputs", out)
        session = onnxruntime.InferenceSession(str(network), providers=["CPUExecutionProvider"])
        outputs = np.load(out)
        ours = next(outputs[key] for key in outputs.files if key.split(":")[-1] == session.get_outputs()[0].name)
        of_runtime = runtime(written, inputs)
        error, theirs_of_ours = relative([exact], [ours]), relative([exact], [of_runtime])
        right = "" if labels is None else f", {np.mean(ours.argmax(1) == labels):.4f} right"
        print(f"{network.parent.name}/{network.name} {' '.join(method)}: error {error:.5f}, in ONNX Runtime "
              f"{theirs_of_ours:.5f}, apart {relative([of_runtime], [ours]):.5f}; its own int8 {theirs:.5f}{right}", flush=True)
        if not 0 < error <= FACTOR * theirs_of_ours + RMS:
            problems.append(f"{' '.join(method)}: the error is above what ONNX Runtime has of the same file")
        if "--symmetric" not in method and error > FACTOR * theirs + RMS:
            problems.append(f"{' '.join(method)}: the error is above that of ONNX Runtime's own quantisation")
        if labels is not None and np.mean(ours.argmax(1) == labels) < np.mean(exact.argmax(1) == labels) - 0.01:
            problems.append(f"{' '.join(method)}: the accuracy is lost")
    return problems


def main():
    program, source = sys.argv[1], Path(sys.argv[2])
    onnxruntime.set_default_logger_severity(4)
    problems = []
    for question in [given(name) for name in sys.argv[3:]] or [digits(source)]:
        with tempfile.TemporaryDirectory() as temporary:
            problems += check(program, *question, Path(temporary))
    for problem in problems:
        print("  wrong:", problem)
    print(f"suite: int8 networks in ONNX Runtime: {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
