"""Frames of the protocol: a line of JSON and the bytes that it announces (core/probe/PROTOCOL.md)."""

import json
import math

MOST_LINE = 64 << 20  # most bytes of a line
MOST_PIECE = 1 << 20  # most bytes after a line
PIECE = 256 << 10  # bytes of a file that are sent at a time


class Garbled(Exception):
    """Says that the received bytes do not follow the protocol."""


def frame(header, payload=b""):
    """Returns the bytes of a frame."""
    if payload:
        header = {**header, "bytes": len(payload)}
    return json_bytes(header) + b"\n" + payload


def json_bytes(value):
    """Returns JSON in UTF-8 that every reader accepts, without NaN and without characters that UTF-8 does not have."""
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"), default=plain)
    except ValueError:
        text = json.dumps(without_nan(value), ensure_ascii=False, separators=(",", ":"), default=plain)
    return text.encode("utf-8", "replace")


def plain(value):
    """Converts what JSON cannot contain: numbers and arrays of numpy, sets, paths."""
    for convert in ("tolist", "item"):
        if hasattr(value, convert):
            return without_nan(getattr(value, convert)())
    if isinstance(value, (set, frozenset)):
        return sorted(value, key=str)
    if isinstance(value, (bytes, bytearray)):
        return bytes(value).decode("utf-8", "replace")
    return str(value)


def without_nan(value):
    if isinstance(value, float) and not math.isfinite(value):
        return "nan" if value != value else "inf" if value > 0 else "-inf"
    if isinstance(value, dict):
        return {key: without_nan(entry) for key, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [without_nan(entry) for entry in value]
    return value


class FrameReader:
    """Divides bytes that arrive in pieces of any size into frames."""

    def __init__(self):
        self._held = bytearray()
        self._searched = 0
        self._header = None

    def feed(self, data):
        """Returns the frames that are complete now: (header, payload)."""
        self._held += data
        while True:
            if self._header is None:
                end = self._held.find(b"\n", self._searched)
                if end < 0:
                    self._searched = len(self._held)
                    if self._searched > MOST_LINE:
                        raise Garbled("a line is too long")
                    return
                line = bytes(self._held[:end])
                del self._held[: end + 1]
                self._searched = 0
                self._header = parse(line)
            size = self._header.get("bytes", 0)
            if not isinstance(size, int) or not 0 <= size <= MOST_PIECE:
                raise Garbled("a frame announces too many bytes")
            if len(self._held) < size:
                return
            header, payload = self._header, bytes(self._held[:size])
            del self._held[:size]
            self._header = None
            yield header, payload


def parse(line):
    try:
        header = json.loads(line)
    except (ValueError, RecursionError):
        raise Garbled("a line is not JSON") from None
    if not isinstance(header, dict):
        raise Garbled("a line is not a JSON object")
    return header
