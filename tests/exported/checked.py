"""Holds what `fusescope export --to onnx --inputs` checked against ONNX Runtime and, where it is installed, TensorRT for RTX.

    checked.py FUSESCOPE SOURCE_FOLDER SHARED_FOLDER

Small networks are exported in float16, int8 and mixes of both, for the CPU and for TensorRT. What is written gives
finite numbers in ONNX Runtime, as near to float32 as the check allowed (codes that turn at the edge of a step may take a
little more), and what is planned for TensorRT is built by it, networks among them that ONNX Runtime has no kernels for. What is refused is not written. Without a Python that has
tensorrt_rtx (FUSESCOPE_TENSORRT_RTX_PYTHON) nothing is built, and that is said.
"""
import json
import sys
import tempfile
from pathlib import Path

import numpy as np
import onnxruntime

from support import built_by_tensorrt, call

# Whether what is exported for TensorRT is built, too.
IS_BUILT = built_by_tensorrt([]) is not None
F16, INT8, MIX = ["--precision", "f16"], ["--precision", "int8"], ["--precision", "int8,f16"]
FOR_TENSORRT = ["--target", "tensorrt-11"]
ALLOWED = {"f16": 0.05, "int8": 0.6}  # of rms: the weights of most of these networks are random
MARGIN = 1.25
ZOO = ["bert_tiny", "unet_small", "diffusion_block", "tiny_resnet_dynbatch", "llama_tiny", "moe_dense"]
LEAST = 20  # exports that are to be accepted
# What ONNX Runtime has no kernels for in these types, and TensorRT for RTX builds.
BUILT_ONLY = [("rnn_lstm_gru", ["--precision", "bf16"]),
              ("rnn_lstm_gru", ["--precision", "f16", "--pin", "/g/GRU=f32"])]


def outputs_of(network, inputs):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(str(network), options, providers=["CPUExecutionProvider"])
    return session.run(None, {each.name: inputs[each.name] for each in session.get_inputs()})


def apart(exact, other):
    """The worst max|d| over rms; infinite where a number is finite on one side only."""
    worst = 0.0
    for theirs, ours in zip(exact, other):
        theirs, ours = np.asarray(theirs, np.float64), np.asarray(ours, np.float64)
        if np.any(np.isfinite(theirs) != np.isfinite(ours)):
            return float("inf")
        finite = np.isfinite(theirs)
        difference = np.max(np.abs(theirs[finite] - ours[finite]), initial=0)
        rms = np.sqrt(np.mean(np.square(theirs[finite]))) if finite.any() else 0
        worst = max(worst, difference / rms if difference else 0)
    return worst


def refused_by_tensorrt(path, values):
    """Why TensorRT for RTX does not build it; nothing where it does."""
    (stage, why), = built_by_tensorrt([(path, {name: value.shape for name, value in values.items()})])
    return None if stage == "built" else f"{stage}: {why}"


class Checker:
    def __init__(self, program, folder):
        self.program, self.folder = program, folder
        self.problems, self.accepted, self.built = [], 0, 0

    def ranges(self, network, inputs, more):
        out = self.folder / "ranges.json"
        status, _, said = call(self.program, "calibrate", network, "--inputs", inputs, *more, "-o", out)
        if status != 0:
            raise RuntimeError(said)
        return ["--ranges", out]

    def build(self, title, network, values, options):
        """Whether TensorRT for RTX builds what is exported without a check of numbers."""
        if not IS_BUILT:
            return
        out = self.folder / "out.onnx"
        status, _, said = call(self.program, "export", network, *options, "--to", "onnx", "-o", out)
        why = said if status != 0 else refused_by_tensorrt(out, values)
        self.built += why is None
        if why is not None:
            self.problems.append(f"{title}: {why}")
        print(f"{title}: {'built by TensorRT for RTX' if why is None else why}", flush=True)

    def check(self, title, network, values, options, allowed):
        """Whether it was written."""
        inputs, out = self.folder / "inputs.npz", self.folder / "out.onnx"
        np.savez(inputs, **values)
        for old in self.folder.glob("out.onnx*"):
            old.unlink()
        asked = [*options, *(self.ranges(network, inputs, []) if "int8" in " ".join(options) else [])]
        status, text, said = call(self.program, "export", network, *asked, "--inputs", inputs, "--tol-rms", allowed,
                                  "--to", "onnx", "-o", out, "--json")
        if status != 0:
            print(f"{title}: status {status}: {said.splitlines()[-1] if said else ''}", flush=True)
            if out.exists():
                self.problems.append(f"{title}: refused, and yet written")
            return False
        told = json.loads(text)["numbers"]
        found = apart(outputs_of(network, values), outputs_of(out, values))
        line = f"{title}: by the check {told['reference']['error']:.4g} (reference), {told['engine']['error']:.4g} " \
               f"(engine); in ONNX Runtime {found:.4g}"
        self.accepted += 1
        if not found <= MARGIN * allowed:
            self.problems.append(f"{title}: {found:.4g} of rms in ONNX Runtime, allowed is {allowed}")
        if IS_BUILT and "tensorrt-11" in options:
            why = refused_by_tensorrt(out, values)
            line += "; built by TensorRT for RTX" if why is None else f"; TensorRT for RTX: {why}"
            self.built += why is None
            if why is not None:
                self.problems.append(f"{title}: {why}")
        print(line, flush=True)
        return True


def inputs_of(path):
    return {name[3:]: value for name, value in np.load(path).items() if name.startswith("in:")}


def main():
    program, source, shared = sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3])
    onnxruntime.set_default_logger_severity(4)
    samples = source / "resources" / "samples"
    with tempfile.TemporaryDirectory() as temporary:
        checker = Checker(program, Path(temporary))
        overflow = samples / "fp16_overflow"
        values = inputs_of(overflow / "io.npz")
        if checker.check("fp16_overflow f16", overflow / "model.onnx", values, F16, 0.01):
            checker.problems.append("fp16_overflow f16: an export that is NaN alone was accepted")
        pins = ["--pin", "node_relu_1=f32", "--pin", "node_layer_norm=f32"]
        checker.check("fp16_overflow f16 with pins", overflow / "model.onnx", values, F16 + pins, 0.01)
        checker.check("fp16_overflow f16 with pins for TensorRT", overflow / "model.onnx", values,
                      F16 + pins + ["--pin", "node_linear_1=f32"] + FOR_TENSORRT, 0.01)
        digits = {"image": np.load(samples / "digits" / "held_out.npz")["image"][:32]}
        networks = [("digits", samples / "digits" / "model.onnx", digits)]
        for name in ZOO:
            folder = shared / "zoo" / name
            if (folder / "model.onnx").exists():
                networks.append((name, folder / "model.onnx", inputs_of(folder / "io.npz")))
        for name, path, values in networks:
            for options in (F16, INT8, F16 + FOR_TENSORRT, INT8 + FOR_TENSORRT, MIX + FOR_TENSORRT):
                allowed = ALLOWED["int8" if "int8" in options[1] else "f16"]
                title = f"{name} {options[1]}{' for TensorRT' if FOR_TENSORRT[1] in options else ''}"
                checker.check(title, path, values, options, allowed)
        for name, options in BUILT_ONLY:
            folder = shared / "zoo" / name
            if (folder / "model.onnx").exists():
                checker.build(f"{name} {' '.join(options[1:])}", folder / "model.onnx", inputs_of(folder / "io.npz"),
                              options + FOR_TENSORRT)
    if len(networks) > 1 and checker.accepted < LEAST:
        checker.problems.append(f"only {checker.accepted} exports were accepted")
    for problem in checker.problems:
        print("  wrong:", problem)
    built = f"{checker.built} built by TensorRT for RTX" if IS_BUILT else "TensorRT for RTX is not installed"
    print(f"suite: checked exports in ONNX Runtime: {checker.accepted} accepted, {built}, {len(checker.problems)} problems")
    return 1 if checker.problems else 0


if __name__ == "__main__":
    sys.exit(main())
