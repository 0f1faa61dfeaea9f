"""Compares trained networks with ONNX Runtime on meaningful inputs: printed text at many extents, and speech-like
chunks with the states fed back. Each network has one engine, which is built with open extents. The exit status is 1
if outputs differ.

    check_trained.py FOLDER [NAME…]      FOLDER: where trained.py has put the networks; NAME…: only these
"""
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import onnxruntime

import printed_text
import trained

FUSESCOPE = Path(__file__).resolve().parents[2] / "build" / "bin" / "fusescope"
CHUNKS = 6

PAGES = [(64, 64), (96, 320), (320, 320), (480, 640), (736, 1280), (640, 352)]
LINES = [(48, w) for w in (96, 192, 320, 511, 640)]
EXTENTS = {
    "ch_PP-OCRv4_det_infer": PAGES, "ch_PP-OCRv4_rec_infer": LINES, "ch_ppocr_mobile_v2.0_cls_infer": LINES,
    "common": [(64, w) for w in (32, 96, 161, 256)], "common_old": [(64, w) for w in (32, 96, 161, 256)],
    "common_det": [(416, 416)],
}


class Difference(Exception):
    pass


class Pair:
    """A network in both runtimes."""

    def __init__(self, model, bounds):
        options = onnxruntime.SessionOptions()
        options.log_severity_level = 3
        self.session = onnxruntime.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])
        self.names = [output.name for output in self.session.get_outputs()]
        self.folder = tempfile.TemporaryDirectory()
        self.engine = self.path("engine.fse")
        fusescope("build", model, "-o", self.engine, *bounds)

    def path(self, name):
        return Path(self.folder.name) / name

    def own(self, name):
        """Returns Fusescope's output of the last run."""
        arrays = np.load(self.path("out.npz"))
        return arrays[name] if name in arrays else arrays[f"out:{name}"]

    def run(self, inputs):
        """Returns ONNX Runtime's outputs by name, and the difference of Fusescope's outputs."""
        np.savez(self.path("in.npz"), **{f"in:{name}": array for name, array in inputs.items()})
        fusescope("run", self.engine, "--inputs", self.path("in.npz"), "--outputs", self.path("out.npz"))
        wanted = dict(zip(self.names, self.session.run(None, inputs)))
        worst = 0
        for name, array in wanted.items():
            given = self.own(name)
            if given.shape != array.shape:
                raise Difference(f"{name} is {given.shape} in place of {array.shape}")
            usual = float(np.sqrt(np.mean(np.square(array, dtype=np.float64)))) or 1.0
            worst = max(worst, float(np.max(np.abs(given - array), initial=0)) / usual)
        return wanted, worst


def fusescope(*command):
    done = subprocess.run([str(part) for part in (FUSESCOPE, *command)], capture_output=True, text=True)
    if done.returncode != 0:
        raise Difference(done.stderr.strip())


def bounds_of(name, all_dims):
    low, high = np.min(all_dims, axis=0), np.max(all_dims, axis=0)
    if (low == high).all():
        return []
    return [part for flag, dims in (("--min", low), ("--opt", all_dims[0]), ("--max", high))
            for part in (flag, f"{name}={','.join(str(extent) for extent in dims)}")]


def check_images(network, folder):
    (name, dims), = network.extents[0].items()
    all_dims = [[*dims[:2], *size] for size in EXTENTS[network.name]]
    pair = Pair(network.file(folder), bounds_of(name, all_dims))
    for extents in all_dims:
        outputs, worst = pair.run({name: printed_text.page(extents).astype(np.float32)})
        output, first = next(iter(outputs.items()))
        told = f"outputs from {first.min():.3g} to {first.max():.3g}"
        if network.quantises:
            same = (pair.own(output).argmax(axis=-1) == first.argmax(axis=-1)).all()
            told += f", {'the same text' if same else 'another text'}"
            worst = worst if same else np.inf
        yield f"{network.name} {extents[2]}x{extents[3]}", worst, told


def speech(samples, start):
    """Makes vowels: a few harmonics of a voice that starts and stops."""
    t = (start + np.arange(samples)) / 16000
    voice = sum(np.sin(2 * np.pi * 140 * k * t) / k for k in range(1, 9))
    return 0.1 * voice * (np.sin(2 * np.pi * 3 * t) > 0)


def check_speech(network, folder):
    """Checks chunks one after another: the state that the network returns is its next input."""
    bounds = [part for name in network.extents[0]
              for part in bounds_of(name, [extents[name] for extents in network.extents])]
    pair = Pair(network.file(folder), bounds)
    for extents in network.extents:
        state = {name: np.zeros(dims, np.float32) for name, dims in extents.items() if name in ("state", "h", "c")}
        for chunk in range(CHUNKS):
            rows, samples = extents["input"]
            inputs = {"input": np.stack([speech(samples, (chunk * rows + r) * samples) for r in range(rows)])}
            inputs = {**{n: a.astype(np.float32) for n, a in inputs.items()}, **state,
                      **{n: v for n, v in network.values.items() if n in extents}}
            outputs, worst = pair.run(inputs)
            fed = [array for array in outputs.values() if array.shape in {s.shape for s in state.values()}]
            state = dict(zip(state, fed))
            first = next(iter(outputs.values()))
            yield f"{network.name} {extents['input']} chunk {chunk}", worst, f"says {first.ravel()[0]:.3g}"


def main():
    folder, bad = Path(sys.argv[1]), 0
    for network in trained.NETWORKS:
        if sys.argv[2:] and network.name not in sys.argv[2:]:
            continue
        check = check_images if network.name in EXTENTS else check_speech
        try:
            for what, worst, note in check(network, folder):
                bad += worst > network.tolerance
                print(f"{what:48} {worst:.1e} {'' if worst <= network.tolerance else 'DIFFERS '}{note}", flush=True)
        except Difference as difference:
            bad += 1
            print(f"{network.name:48} {difference}", flush=True)
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
