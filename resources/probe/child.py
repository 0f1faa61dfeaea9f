"""A job: the process that imports one compiler and does what it is asked for, one request after another."""

import importlib
import os
import queue
import signal
import sys
import threading
import time
import traceback

from . import base
from .blobs import bring
from .frames import FrameReader, json_bytes

PROGRESS_INTERVAL = 0.05  # seconds between two details of one phase


def be_a_child(compiler, commands, answers, log, memory):
    """Never returns. Reads requests from the descriptor `commands`, writes events to `answers`; all that is printed
    goes to `log`. Ends with the one that holds the other end of `commands`."""
    status = 1
    try:
        parent = os.getppid()
        os.setpgid(0, 0)
        end_with_parent(parent)
        nothing = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nothing, 0)
        os.dup2(log, 1)
        os.dup2(log, 2)
        sys.stdin = open(0, closefd=False)
        sys.stdout = open(1, "w", buffering=1, closefd=False, errors="backslashreplace")
        sys.stderr = open(2, "w", buffering=1, closefd=False, errors="backslashreplace")
        limit_memory(memory)
        Job(compiler, answers).work(requests_from(commands))
        status = 0
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(status)


def end_with_parent(parent):
    """The system ends this process when its parent ends, also where a compiler holds the interpreter."""
    try:
        import ctypes

        ctypes.CDLL(None).prctl(1, signal.SIGKILL, 0, 0, 0)  # PR_SET_PDEATHSIG
    except Exception:
        return  # no Linux, or no ctypes: the keeper and the pipe's end do it
    if os.getppid() != parent:
        os._exit(1)


def limit_memory(most):
    import resource

    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if most:
        hard = resource.getrlimit(resource.RLIMIT_AS)[1]
        soft = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


def requests_from(commands):
    """A queue of requests. A thread of its own reads them, and ends the job where the pipe ends."""
    waiting = queue.SimpleQueue()

    def read():
        reader = FrameReader()
        while True:
            data = os.read(commands, 1 << 16)
            if not data:
                os.killpg(0, signal.SIGKILL)
            for header, _ in reader.feed(data):
                waiting.put(header)

    threading.Thread(target=read, daemon=True).start()
    return waiting


class Job:
    def __init__(self, compiler, answers):
        self._name = compiler
        self._answers = answers
        self._compiler = None
        self._lock = threading.Lock()
        self._phase, self._told = None, 0.0

    def work(self, requests):
        while True:
            order = requests.get()
            try:
                answer = {"event": "answer", "json": self.answer(order)}
                answer["files"] = files_below(order["out"])
                line = json_bytes({**answer, "id": order["id"]})
            except BaseException as error:
                line = json_bytes({**as_event(error), "id": order["id"]})
            self.write(line)

    def answer(self, order):
        self._phase = None
        op = order["request"].get("op", "")
        if op == "open":
            self._compiler = compiler_module(self._name).Compiler()
        elif self._compiler is None:
            raise base.Refusal("The compiler was not opened yet.")
        method = None if op.startswith("_") else getattr(self._compiler, op, None)
        if not callable(method):
            raise base.Refusal(f"{self._name} does not know the request \"{op}\".", kind="unknown_op")
        for file in order["bring"]:
            bring(file["from"], file["to"], file["sha256"])
        answer = method(order["request"], order["files"], order["out"], self.progress)
        if not isinstance(answer, dict):
            raise base.Refusal(f"The probe's part for {self._name} answered \"{op}\" with no object.", kind="failed")
        return answer

    def progress(self, phase, detail=""):
        now = time.monotonic()
        if phase == self._phase and now - self._told < PROGRESS_INTERVAL:
            return
        self._phase, self._told = phase, now
        self.write(json_bytes({"event": "progress", "phase": str(phase), "detail": str(detail)}))

    def write(self, line):
        data = memoryview(line + b"\n")
        with self._lock:
            while data:
                data = data[os.write(self._answers, data) :]


def compiler_module(name):
    """The probe's part for a compiler: ours, or a module fusescope_compiler_NAME of the environment."""
    module = name.replace("-", "_")
    if not module.isidentifier():
        raise base.Refusal(f"\"{name}\" is no name of a compiler.", kind="unknown_compiler")
    for place in (f"{__package__}.compilers.{module}", f"fusescope_compiler_{module}"):
        try:
            return importlib.import_module(place)
        except ModuleNotFoundError as error:
            if error.name != place:
                raise
    raise base.Refusal(f"The probe knows no compiler \"{name}\".", kind="unknown_compiler")


def files_below(folder):
    """Name and size of every file below `folder`; links are not followed and not sent."""
    files = []
    for place, folders, names in os.walk(folder):
        folders.sort()
        for name in sorted(names):
            path = os.path.join(place, name)
            if os.path.isfile(path) and not os.path.islink(path):
                relative = os.path.relpath(path, folder).replace(os.sep, "/")
                files.append({"name": relative, "size": os.path.getsize(path)})
    return files


def as_event(error):
    event = {"event": "error", "kind": "failed", "message": "", "help": "", "trace": ""}
    if isinstance(error, base.Refusal):
        return {**event, "kind": error.kind, "message": error.message, "help": error.help}
    event["trace"] = traceback.format_exc()[-4096:]
    if isinstance(error, MemoryError):
        event["kind"] = "memory"
        event["message"] = f"There was not enough memory. {error}".strip()
    else:
        text = str(error).strip()
        event["message"] = f"{type(error).__name__}: {text}" if text else type(error).__name__
    return event
