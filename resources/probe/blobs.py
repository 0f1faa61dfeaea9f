"""Files that are sent here are identified by the hashes of their contents. They are kept for one job, or in a cache
of limited size if the user allowed that."""

import contextlib
import os

from .base import Refusal


def sha256_of(path):
    import hashlib

    digest = hashlib.sha256()
    with open(path, "rb") as file:
        while piece := file.read(1 << 20):
            digest.update(piece)
    return digest.hexdigest()


def is_sha256(text):
    return isinstance(text, str) and len(text) == 64 and all(c in "0123456789abcdef" for c in text)


def is_safe_name(name):
    """Returns whether a file of this name would be inside the folder to which it is written."""
    if not isinstance(name, str) or not name or "\\" in name or "\0" in name:
        return False
    return all(part not in ("", ".", "..") for part in name.split("/"))


class Incoming:
    """A file that is being received: its pieces arrive in order and are hashed at once."""

    def __init__(self, path, sha256, size):
        import hashlib

        self.path, self.sha256, self.size, self.got = path, sha256, size, 0
        self._digest = hashlib.sha256()
        self._file = open(path, "xb")

    def add(self, at, piece):
        """Adds a piece and returns whether the file is complete."""
        if at != self.got or at + len(piece) > self.size:
            raise damaged()
        self._file.write(piece)
        self._digest.update(piece)
        self.got += len(piece)
        return self.finish() if self.got == self.size else False

    def finish(self):
        self._file.close()
        if self._digest.hexdigest() != self.sha256:
            os.unlink(self.path)
            raise damaged()
        return True

    def close(self):
        self._file.close()


def damaged():
    return Refusal("A file was damaged on its way to the probe.", kind="damaged_file", help="Try again.")


class Cache:
    """Keeps the files of earlier jobs that were used last, up to `limit` bytes, in the user's cache folder on this
    machine."""

    def __init__(self, limit):
        base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
        self._folder = os.path.join(base, "fusescope", "probe-files")
        self._limit = limit

    def find(self, sha256, size):
        """Returns the path of a file that is kept. The caller must compare the hash."""
        path = os.path.join(self._folder, sha256)
        try:
            if os.path.getsize(path) != size:
                return None
            os.utime(path)
        except OSError:
            return None
        return path

    def keep(self, path, sha256, size):
        """Keeps a copy of the file at `path` if there is room. If this fails, the file is sent again the next time."""
        if size > self._limit:
            return
        with contextlib.suppress(OSError):
            os.makedirs(self._folder, mode=0o700, exist_ok=True)
            self._make_room(size)
            part = os.path.join(self._folder, f"part-{os.getpid()}-{sha256}")
            link_or_copy(path, part)
            os.replace(part, os.path.join(self._folder, sha256))

    def _make_room(self, size):
        entries = [(entry.stat().st_mtime, entry.stat().st_size, entry.path) for entry in os.scandir(self._folder)]
        total = sum(entry[1] for entry in entries)
        for _, freed, path in sorted(entries):
            if total + size <= self._limit:
                return
            os.unlink(path)
            total -= freed


def link_or_copy(source, target):
    try:
        os.link(source, target)
    except OSError:
        import shutil

        shutil.copyfile(source, target)


def bring(source, target, sha256):
    """Puts a received file where a request needs it. `sha256` is the expected hash, or None if it has been checked
    before."""
    os.makedirs(os.path.dirname(target), exist_ok=True)
    link_or_copy(source, target)
    if sha256 is not None and sha256_of(target) != sha256:
        os.unlink(source)
        raise Refusal(
            "A file in the cache of that machine has changed since it was sent.",
            kind="damaged_file",
            help="The file was removed from the cache. Try again.",
        )
