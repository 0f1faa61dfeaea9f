"""Ends of pipes on which nobody ever waits."""

import os


class Writer:
    """Writes as much as fits into the pipe, and keeps the rest until there is room."""

    def __init__(self, descriptor):
        os.set_blocking(descriptor, False)
        self.descriptor = descriptor
        self._held = bytearray()

    def __len__(self):
        return len(self._held)

    def write(self, data):
        self._held += data
        self.flush()

    def flush(self):
        """Writes what was kept, as far as possible. Raises OSError if nobody reads any more."""
        while self._held:
            try:
                count = os.write(self.descriptor, memoryview(self._held)[: 1 << 18])
            except BlockingIOError:
                return
            del self._held[:count]


def read_what_is_there(descriptor, most=1 << 18):
    """Returns the bytes that are available now, b"" at the end of the pipe, or None if there are none now."""
    try:
        return os.read(descriptor, most)
    except BlockingIOError:
        return None
    except OSError:
        return b""  # the other end of a terminal was closed
