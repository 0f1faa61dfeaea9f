"""A job: the process that imports one compiler and answers one request after another."""

import _thread
import importlib
import os
import time

from . import base
from .blobs import bring
from .frames import FrameReader, json_bytes
from .prelude import chunks_from, end_with, limit_memory, print_into

CODE_HASHES = "code_hashes"  # this job is like that of a compiler, but is none
PROGRESS_INTERVAL = 0.05  # the least number of seconds between two details of one phase


def be_a_child(compiler, commands, answers, log, memory):
    """Never returns. It reads requests from the descriptor `commands` and writes events to `answers`; everything
    that is printed goes to `log`. It ends when the other end of `commands` is closed."""
    try:
        parent = os.getppid()
        os.setpgid(0, 0)
        end_with(parent)
        print_into(log)
        limit_memory(memory)
    except BaseException:
        print_exception()
        os._exit(1)
    go_on(compiler, chunks_from(commands), b"", answers)


def go_on(compiler, chunks, first, answers, failed=()):
    """Never returns. `chunks` is a queue of what the listener sends after the bytes `first`. `failed` contains the
    modules whose import failed before, and the errors."""
    status = 1
    try:
        base.failed_ahead.update(failed)
        Job(compiler, answers).work(requests_in(first, chunks))
        status = 0
    except BaseException:
        print_exception()
    finally:
        os._exit(status)


def print_exception():
    import traceback

    traceback.print_exc()


def requests_in(data, chunks):
    reader = FrameReader()
    while True:
        for header, _ in reader.feed(data):
            yield header
        data = chunks.get()


class Job:
    def __init__(self, compiler, answers):
        self._name = compiler
        self._answers = answers
        self._compiler = None
        self._lock = _thread.allocate_lock()
        self._phase, self._told = None, 0.0

    def work(self, requests):
        for order in requests:
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
            raise base.Refusal(
                f"The probe's part for {self._name} did not answer \"{op}\" with an object.", kind="failed"
            )
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
    """Returns the probe's module for a compiler: our own, or a module fusescope_compiler_NAME of the environment."""
    module = name.replace("-", "_")
    if not module.isidentifier():
        raise base.Refusal(f"\"{name}\" is not the name of a compiler.", kind="unknown_compiler")
    if module == CODE_HASHES:
        return importlib.import_module(f"{__package__}.{module}")
    for place in (f"{__package__}.compilers.{module}", f"fusescope_compiler_{module}"):
        try:
            return importlib.import_module(place)
        except ModuleNotFoundError as error:
            if error.name != place:
                raise
    raise base.Refusal(f"The probe knows no compiler \"{name}\".", kind="unknown_compiler")


def files_below(folder):
    """Returns the name and size of every file below `folder`. Links are neither followed nor sent."""
    files = []
    for place, folders, names in os.walk(folder):
        folders.sort()
        for name in sorted(names):
            path = os.path.join(place, name)
            if os.path.isfile(path) and not os.path.islink(path):
                relative = os.path.relpath(path, folder).replace(os.sep, "/")
                files.append({"name": relative, "size": os.path.getsize(path)})
    return files


def memory_help():
    import resource

    most = resource.getrlimit(resource.RLIMIT_DATA)[0]
    if most == resource.RLIM_INFINITY:
        return ""
    return (f"This process may allocate {most} bytes. Another limit is set for its environment by: "
            "fusescope compilers add NAME COMMAND --memory BYTES")


def as_event(error):
    event = {"event": "error", "kind": "failed", "message": "", "help": "", "trace": ""}
    if isinstance(error, base.Refusal):
        return {**event, "kind": error.kind, "message": error.message, "help": error.help}
    import traceback

    event["trace"] = traceback.format_exc()[-4096:]
    if isinstance(error, MemoryError):
        event["kind"] = "memory"
        event["message"] = f"There was not enough memory. {error}".strip()
        event["help"] = memory_help()
    else:
        text = str(error).strip()
        event["message"] = f"{type(error).__name__}: {text}" if text else type(error).__name__
    return event
