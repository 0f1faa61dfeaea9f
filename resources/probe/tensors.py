"""Tensors that are passed in memory: a file without a name that the caller made and that both sides map. It
disappears with the last process that uses it, in whatever way that process ends. If there is no such memory, tensors
are passed in .npz files."""

import mmap
import os

from . import npz
from .base import Refusal

TYPES = {  # by the names of core/base/data_type.h: the names in .npy files; other types cannot be passed in this way
    "f64": "<f8",
    "f32": "<f4",
    "f16": "<f2",
    "bf16": "|V2",
    "int64": "<i8",
    "int32": "<i4",
    "int16": "<i2",
    "int8": "|i1",
    "uint64": "<u8",
    "uint32": "<u4",
    "uint16": "<u2",
    "uint8": "|u1",
    "bool": "|b1",
}
NAMES = {descriptor: name for name, descriptor in TYPES.items()}
ALIGNED = 64


class Handed:
    """The inputs that a request gives to a network, and the place for the outputs: `tensors` of the request, or
    files. Arrays are those of `numpy`, or npz.Array if that is None."""

    def __init__(self, request, files, out_folder, numpy=None):
        self._told = request.get("tensors")
        self._files, self._out_folder, self._numpy = files, out_folder, numpy
        self._descriptor = None if self._told is None else opened(self._told)

    def inputs(self):
        """Returns {name: array}."""
        if self._told is None:
            return self._read_file(self._files["inputs.npz"])
        memory = mmap.mmap(self._descriptor, 0)
        return {each["name"]: self._seen(memory, each) for each in self._told["list"]}

    def give(self, outputs):
        """Stores `outputs` (name -> array). Returns the part of the answer about them."""
        if self._told is None:
            write = npz.write if self._numpy is None else lambda path, arrays: self._numpy.savez(path, **arrays)
            write(os.path.join(self._out_folder, "outputs.npz"), outputs)
            return {}
        at, listed, parts = self._told["end"], [], []  # after the inputs, of which outputs may be views
        for name, output in outputs.items():
            array = output if self._numpy is None else from_numpy(self._numpy, output)
            if array.descriptor not in NAMES:
                raise not_shared(f"A tensor of the type {array.descriptor} cannot be passed in memory.")
            at += -at % ALIGNED
            listed.append({"name": name, "type": NAMES[array.descriptor], "dims": list(array.dims), "at": at})
            parts.append(array.data)
            at += array.size()
        if at > os.fstat(self._descriptor).st_size:
            os.ftruncate(self._descriptor, at)
        with mmap.mmap(self._descriptor, 0) as memory:
            for each, part in zip(listed, parts):
                memory[each["at"] : each["at"] + len(part)] = part
        os.close(self._descriptor)
        return {"tensors": listed}

    def _read_file(self, path):
        if self._numpy is None:
            return npz.read(path)
        with self._numpy.load(path, allow_pickle=False) as arrays:
            return {name: arrays[name] for name in arrays.files}

    def _seen(self, memory, told):
        array = npz.Array(TYPES[told["type"]], told["dims"], None)
        array.data = memoryview(memory)[told["at"] : told["at"] + array.size()]
        if self._numpy is None:
            return array
        return self._numpy.frombuffer(array.data, self._numpy.dtype(array.descriptor)).reshape(array.dims)


def opened(told):
    """Opens the caller's memory and returns its descriptor. Raises a Refusal if it is another file here, as in a
    container."""
    try:
        descriptor = os.open(told["path"], os.O_RDWR | os.O_CLOEXEC)
    except OSError as error:
        raise not_shared(f"The caller's memory cannot be opened: {error}") from None
    facts = os.fstat(descriptor)
    if [facts.st_dev, facts.st_ino] != told["identity"]:
        os.close(descriptor)
        raise not_shared("The path of the caller's memory refers to another file here.")
    return descriptor


def not_shared(message):
    return Refusal(message, kind="not_shared")


def from_numpy(numpy, array):
    """Returns an npz.Array that shares the elements. Arrays of texts and objects are not supported."""
    array = numpy.asarray(array)
    data = b"" if array.dtype.kind in "OUS" else numpy.ascontiguousarray(array).reshape(-1).view(numpy.uint8).data
    return npz.Array(array.dtype.str, array.shape, data)
