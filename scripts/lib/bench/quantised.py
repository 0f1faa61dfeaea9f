"""Makes networks of int8 once and keeps them in a folder. Either activations and weights are quantised, by ONNX
Runtime's static quantisation, or only the weights of products.

QuantizeLinear and DequantizeLinear are on the edges (Q/DQ). Activations are uint8 with one scale and zero point;
weights are int8 and symmetric, with a scale for each output channel. The ranges are those of one call with the
inputs of the question.
"""
import tempfile
from hashlib import sha256
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
from onnxruntime.quantization import CalibrationDataReader, QuantFormat, QuantType, quantize_static
from onnxruntime.quantization.shape_inference import quant_pre_process

from .builds import name_of

# Operators that have integer kernels; everything between them stays unchanged.
OPERATORS = ["Conv", "ConvTranspose", "MatMul", "Gemm", "Add", "Relu", "Clip", "MaxPool", "AveragePool",
             "GlobalAveragePool", "Concat", "Resize"]
RULES = 1  # is increased when the networks that are made change


class OneCall(CalibrationDataReader):
    def __init__(self, inputs):
        self.calls = iter([inputs])

    def get_next(self):
        return next(self.calls, None)


def quantised(model, inputs, folder):
    """Returns the file of the quantised network. `inputs` are arrays by name, which determine the ranges."""
    key = sha256(Path(model).read_bytes())
    for name, array in sorted(inputs.items()):
        key.update(f"{name} {array.shape} {array.dtype}".encode() + np.ascontiguousarray(array).tobytes())
    key.update(f"{onnxruntime.__version__} {RULES} {OPERATORS}".encode())
    made = Path(folder) / f"{name_of(Path(model))}-{key.hexdigest()[:16]}.onnx"
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


def weight_only(model, folder):
    """Returns the file of the network whose products read constant matrices of int8, symmetric, with a scale for
    each column."""
    key = sha256(Path(model).read_bytes())
    key.update(f"weight8 {RULES}".encode())
    made = Path(folder) / f"{name_of(Path(model))}-weight8-{key.hexdigest()[:16]}.onnx"
    if not made.is_file():
        made.parent.mkdir(parents=True, exist_ok=True)
        network = onnx.load(str(model))
        hold_as_codes(network.graph)
        part = made.with_suffix(".part")
        onnx.save(network, str(part))
        part.rename(made)
    return made


def hold_as_codes(graph):
    """Replaces constant matrices that products read, directly or transposed, by DequantizeLinear nodes. Other
    readers of a matrix keep it."""
    weights = {tensor.name: tensor for tensor in graph.initializer}
    turned = {node.output[0]: node for node in graph.node
              if node.op_type == "Transpose" and node.input[0] in weights and len(weights[node.input[0]].dims) == 2}
    held = {}  # the output of DequantizeLinear, by matrix and the axis of its columns
    for node in list(graph.node):
        if node.op_type not in ("MatMul", "Gemm") or node.domain:
            continue
        axis = 0 if any(attribute.name == "transB" and attribute.i for attribute in node.attribute) else 1
        reader, slot = (turned[node.input[1]], 0) if node.input[1] in turned else (node, 1)
        name = reader.input[slot]
        if name in weights and reader is not node:
            axis = 1 - axis
        if name in weights and len(weights[name].dims) == 2 and weights[name].data_type == onnx.TensorProto.FLOAT:
            if (name, axis) not in held:
                held[name, axis] = hold(graph, weights[name], axis)
            reader.input[slot] = held[name, axis]
    read = {name for node in graph.node for name in node.input}
    for name, tensor in weights.items():
        if name not in read:
            graph.initializer.remove(tensor)


def hold(graph, tensor, axis):
    name, weight = tensor.name, onnx.numpy_helper.to_array(tensor)
    scale = np.maximum(np.abs(weight).max(axis=1 - axis), 1e-8).astype(np.float32) / np.float32(127)
    codes = np.clip(np.rint(weight / np.expand_dims(scale, 1 - axis)), -127, 127).astype(np.int8)
    graph.initializer.extend([onnx.numpy_helper.from_array(codes, f"{name}_codes{axis}"),
                              onnx.numpy_helper.from_array(scale, f"{name}_scale{axis}")])
    graph.node.insert(0, onnx.helper.make_node("DequantizeLinear", [f"{name}_codes{axis}", f"{name}_scale{axis}"],
                                               [f"{name}_held{axis}"], f"{name}_DequantizeLinear{axis}", axis=axis))
    return f"{name}_held{axis}"


def outputs_of(model, inputs):
    """Returns the outputs that ONNX Runtime calculates, by name."""
    session = onnxruntime.InferenceSession(str(model), providers=["CPUExecutionProvider"])
    return dict(zip([output.name for output in session.get_outputs()], session.run(None, inputs)))
