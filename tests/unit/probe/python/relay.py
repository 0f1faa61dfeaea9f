"""relay.py [OPTIONS] COMMAND…: runs a command and stands between it and its standard input and output, as a network does.

--delay MS      every byte takes so long, in both directions
--chunk N       what passes is cut into pieces of N bytes
--break-in N    the connection breaks after N bytes to the command; --break-out N: from it
--stall-out N   after N bytes from the command nothing passes any more, in neither direction, and nobody is told
--far           the command's probe names another word than the one in its file, as if it were on another machine
--spoil in|out  the bytes SPOILME become SPOILED where they pass in this direction
--noise TEXT    is printed before anything else, as by a shell's profile
--terminal      the command runs on a terminal, as srun --pty has it
--count FILE    how many bytes passed in each direction is written there
"""

import argparse
import os
import pty
import re
import subprocess
import sys
import threading
import time

parser = argparse.ArgumentParser()
for name in ("--delay", "--chunk", "--break-in", "--break-out", "--stall-out"):
    parser.add_argument(name, type=int)
parser.add_argument("--far", action="store_true")
parser.add_argument("--spoil", choices=("in", "out"), default="")
parser.add_argument("--terminal", action="store_true")
parser.add_argument("--noise", default="")
parser.add_argument("--count")
parser.add_argument("command", nargs=argparse.REMAINDER)
options = parser.parse_args()

stalled = threading.Event()
passed = {"in": 0, "out": 0}


def start():
    if not options.terminal:
        process = subprocess.Popen(options.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)
        return process.stdin.fileno(), process.stdout.fileno()
    pid, terminal = pty.fork()
    if pid == 0:
        os.execvp(options.command[0], options.command)
    return terminal, terminal


def leave():
    if options.count:
        with open(options.count, "w") as file:
            file.write(f"{passed['in']} {passed['out']}")
    os._exit(0)


def write_all(target, data):
    while data:
        data = data[os.write(target, data) :]


def carry(source, target, name, limit, change):
    """Carries bytes until the end of `source` or `limit` bytes."""
    due = []  # (when, bytes)
    arrived = threading.Condition()

    def deliver():
        while True:
            with arrived:
                while not due:
                    arrived.wait()
                when, data = due.pop(0)
            time.sleep(max(0.0, when - time.monotonic()))
            if data is None:
                if name == "in" and not options.terminal:
                    os.close(target)
                    return
                leave()
            try:
                if not stalled.is_set():
                    write_all(target, data)
            except OSError:
                leave()
            passed[name] += len(data)
            if name == "out" and options.stall_out is not None and passed[name] >= options.stall_out:
                stalled.set()
            if limit is not None and passed[name] >= limit:
                leave()

    threading.Thread(target=deliver).start()
    while True:
        try:
            data = os.read(source, 1 << 16)
        except OSError:
            data = b""
        when = time.monotonic() + (options.delay or 0) / 1000
        pieces = cut(change(data), name, limit) if data else [None]
        with arrived:
            due.extend((when, piece) for piece in pieces)
            arrived.notify()
        if not data:
            return


def cut(data, name, limit):
    size = options.chunk or (256 if limit is not None or options.stall_out is not None else len(data))
    return [data[at : at + size] for at in range(0, len(data), size)]


def change(name):
    def changed(data):
        if options.spoil == name:
            data = data.replace(b"SPOILME", b"SPOILED")
        if options.far and name == "out":
            data = re.sub(rb'"word":"[0-9a-f]{32}"', b'"word":"' + b"0" * 32 + b'"', data)
        return data

    return changed


write_all(1, options.noise.encode())
into, out_of = start()
threading.Thread(target=carry, args=(0, into, "in", options.break_in, change("in")), daemon=True).start()
carry(out_of, 1, "out", options.break_out, change("out"))
