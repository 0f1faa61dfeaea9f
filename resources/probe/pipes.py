"""Ends of pipes that are never waited for."""

import os


class Writer:
    """Writes what fits into the pipe and keeps the rest until there is room."""

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
        """Errors: OSError where nobody reads any more."""
        while self._held:
            try:
                count = os.write(self.descriptor, memoryview(self._held)[: 1 << 18])
            except BlockingIOError:
                return
            del self._held[:count]


def read_what_is_there(descriptor, most=1 << 18):
    """Bytes, b"" at the end of the pipe, None where there is nothing now."""
    try:
        return os.read(descriptor, most)
    except BlockingIOError:
        return None
    except OSError:
        return b""  # a terminal's other end was closed
