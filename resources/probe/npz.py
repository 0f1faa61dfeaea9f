"""Files of arrays as numpy writes them (.npz), for environments without numpy: elements remain bytes. The modules
for reading and writing them are imported only when they are needed, because most jobs do neither."""

import math
import re

from .base import Refusal

MAGIC = b"\x93NUMPY"


class Array:
    """An array. `descriptor` is numpy's name of the type, "<f4"; `data` contains the elements in row-major order."""

    def __init__(self, descriptor, dims, data):
        self.descriptor, self.dims, self.data = descriptor, tuple(dims), data

    def size(self):
        return math.prod(self.dims) * int(re.search(r"\d+$", self.descriptor).group())


def read(path):
    """Returns {name: Array}."""
    import zipfile

    with zipfile.ZipFile(path) as archive:
        return {name[: -len(".npy")]: parse(archive.read(name)) for name in archive.namelist() if name.endswith(".npy")}


def parse(data):
    import ast
    import struct

    if data[: len(MAGIC)] != MAGIC:
        raise Refusal("An array is not in the format of numpy.")
    width, code = (2, "<H") if data[len(MAGIC)] == 1 else (4, "<I")
    start = len(MAGIC) + 2 + width
    end = start + struct.unpack(code, data[start - width : start])[0]
    header = ast.literal_eval(data[start:end].decode("utf-8").strip())
    if header["fortran_order"] and len(header["shape"]) > 1:
        raise Refusal("An array is column-major, which is not supported.")
    array = Array(header["descr"], header["shape"], data[end:])
    if len(array.data) != array.size():
        raise Refusal("The number of bytes of an array does not match its extents.")
    return array


def write(path, arrays):
    import struct
    import zipfile

    with zipfile.ZipFile(path, "w", allowZip64=True) as archive:
        for name, array in arrays.items():
            header = repr({"descr": array.descriptor, "fortran_order": False, "shape": array.dims}).encode()
            header += b" " * (-(len(MAGIC) + 4 + len(header) + 1) % 64) + b"\n"
            archive.writestr(name + ".npy", MAGIC + b"\x01\x00" + struct.pack("<H", len(header)) + header + array.data)
