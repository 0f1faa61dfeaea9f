"""Changes the length of sequences in networks whose files fix it, because a decoder calculates one token at a time."""
from hashlib import sha256
from pathlib import Path

import numpy as np
import onnx

# elements; tensors that depend on the length (extents, positions, masks) are smaller than weights
LARGEST_CONSTANT = 1 << 17


def shortened(model, length, folder):
    """Returns the file of the network with sequences of `length` elements. Their present length is the last axis of
    its first input."""
    made = Path(folder) / f"{Path(model).stem}-{length}-{sha256(Path(model).read_bytes()).hexdigest()[:16]}.onnx"
    if not made.is_file():
        made.parent.mkdir(parents=True, exist_ok=True)
        network = onnx.load(str(model))
        former = network.graph.input[0].type.tensor_type.shape.dim[-1].dim_value
        shorten(network.graph, former, length)
        part = made.with_suffix(".part")
        onnx.save(network, str(part))
        part.rename(made)
    return made


def shorten(graph, former, length):
    for value in [*graph.input, *graph.output]:
        for dim in value.type.tensor_type.shape.dim:
            if dim.dim_value == former:
                dim.dim_value = length
    del graph.value_info[:]
    for tensor in graph.initializer:
        if np.prod(tensor.dims) > LARGEST_CONSTANT:
            continue
        array = onnx.numpy_helper.to_array(tensor)
        if array.dtype == np.int64 and array.ndim == 1 and former not in array.shape:
            array = np.where(array == former, length, array)
        for axis, extent in enumerate(array.shape):
            if extent == former:
                array = array.take(range(length), axis=axis)
        tensor.CopyFrom(onnx.numpy_helper.from_array(array, tensor.name))
