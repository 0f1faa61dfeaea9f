"""quantise.py ZOO OUT NAME...: networks of the zoo as ONNX Runtime's static quantiser leaves them, with QuantizeLinear and
DequantizeLinear. ZOO/NAME/model.onnx becomes OUT/NAME.onnx."""

import pathlib
import sys
import warnings

import numpy
from onnxruntime.quantization import CalibrationDataReader, QuantFormat, quantize_static
from onnxruntime.quantization.shape_inference import quant_pre_process


class Reader(CalibrationDataReader):
    """The inputs that came with the network, once."""

    def __init__(self, path):
        with numpy.load(path) as arrays:
            self._left = [{name[3:]: arrays[name] for name in arrays.files if name.startswith("in:")}]

    def get_next(self):
        return self._left.pop() if self._left else None


def quantise(source, target):
    plain = target.with_suffix(".plain.onnx")
    quant_pre_process(str(source / "model.onnx"), str(plain), skip_symbolic_shape=True)
    quantize_static(str(plain), str(target), Reader(source / "io.npz"), quant_format=QuantFormat.QDQ, per_channel=False)
    plain.unlink()


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    zoo, out = map(pathlib.Path, sys.argv[1:3])
    for name in sys.argv[3:]:
        quantise(zoo / name, out / (name + ".onnx"))
