"""Hashes files, so that two machines can find out that they have the same code. This is a job like that of a
compiler, so that the listener can continue meanwhile, and a cancelled job ends at once."""

import os

from . import base

PIECE = 1 << 20  # bytes that are read at once


class Compiler(base.Compiler):
    def open(self, request, files, out_folder, progress):
        return {"version": "", "devices": [], "about": {}}

    def sha256(self, request, files, out_folder, progress):
        """Returns for each of `paths` [size, time of modification in ns, time of change in ns, inode, SHA-256 of the
        content], or None if it cannot be read or has changed meanwhile."""
        return {"files": [hash_of(path) for path in request["paths"]]}


def hash_of(path):
    from hashlib import sha256

    try:
        with open(path, "rb", buffering=0) as file:
            before, digest, piece = identity(file), sha256(), memoryview(bytearray(PIECE))
            while count := file.readinto(piece):
                digest.update(piece[:count])
            return [*before, digest.hexdigest()] if identity(file) == before else None
    except OSError:
        return None


def identity(file):
    found = os.fstat(file.fileno())
    return [found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino]
