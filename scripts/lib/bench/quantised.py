"""Networks with int8 activations and weights, made once by ONNX Runtime's static quantisation and kept in a folder.

QuantizeLinear and DequantizeLinear stand on the edges (Q/DQ): activations are uint8 by one scale and zero point, weights
int8, symmetric, by a scale for each output channel. Ranges are those of one call on the inputs of the question.
"""
import tempfile
from hashlib import sha256
from pathlib import Path

import numpy as np
import onnxruntime
from onnxruntime.quantization import CalibrationDataReader, QuantFormat, QuantType, quantize_static
from onnxruntime.quantization.shape_inference import quant_pre_process

# What has integer kernels; everything between stays as it is.
OPERATORS = ["Conv", "ConvTranspose", "MatMul", "Gemm", "Add", "Relu", "Clip", "MaxPool", "AveragePool",
             "GlobalAveragePool", "Concat", "Resize"]
RULES = 1  # goes up when what is made changes


class OneCall(CalibrationDataReader):
    def __init__(self, inputs):
        self.calls = iter([inputs])

    def get_next(self):
        return next(self.calls, None)


def quantised(model, inputs, folder):
    """The quantised network's file. `inputs`: arrays by name, which set the ranges."""
    key = sha256(Path(model).read_bytes())
    for name, array in sorted(inputs.items()):
        key.update(f"{name} {array.shape} {array.dtype}".encode() + np.ascontiguousarray(array).tobytes())
    key.update(f"{onnxruntime.__version__} {RULES} {OPERATORS}".encode())
    name = Path(model).stem if Path(model).stem != "model" else Path(model).parent.name
    made = Path(folder) / f"{name}-{key.hexdigest()[:16]}.onnx"
    if not made.is_file():
        make(model, inputs, made)
    return made


def make(model, inputs, made):
    made.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as temporary:
        prepared, part = Path(temporary) / "prepared.onnx", made.with_suffix(".part")
        quant_pre_process(str(model), str(prepared), skip_symbolic_shape=True)
        quantize_static(str(prepared), str(part), OneCall(inputs), quant_format=QuantFormat.QDQ, per_channel=True,
                        activation_type=QuantType.QUInt8, weight_type=QuantType.QInt8,
                        op_types_to_quantize=OPERATORS)
        part.rename(made)


def outputs_of(model, inputs):
    """What ONNX Runtime makes of them, by name."""
    session = onnxruntime.InferenceSession(str(model), providers=["CPUExecutionProvider"])
    return dict(zip([output.name for output in session.get_outputs()], session.run(None, inputs)))
