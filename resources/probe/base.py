"""What a module of compilers/ has.

A module `compilers/NAME.py` (a `-` of the compiler's name is a `_` of the module's) imports nothing but the standard
library when it is imported, and defines

    DISTRIBUTIONS   a tuple of texts, written out: the packages that bring the compiler, as pip names them. The first
                    one is what a user is told to install. Empty where a program is asked for in its place:
    PROGRAM         a tuple of texts, written out: its name, and folders where it is put besides those of PATH
    BROUGHT_BY      a text: what brings the program, as a sentence
    AHEAD           ((modules), {variable: value}), written out on one line: what `open` imports, and the variables that
                    it sets before; it is imported while the probe is still on its way. Where there is none, nothing is
    class Compiler(base.Compiler)

whose methods are named by the ops of a request. Each takes

    request      a dict: the request as it was asked for, with `op` and all that belongs to it
    files        a dict: the name of each file of the request -> its path here
    out_folder   a folder that is there and empty: every file that the method writes below it belongs to the answer,
                 under its path in that folder
    progress     progress(phase, detail=""): tells how far the work is

and returns a dict that JSON can say (numbers of numpy are converted, NaN and infinities become "nan", "inf",
"-inf"). What cannot be done is a `Refusal`. All methods of a job are called on the main thread of a process of its own, one after
another; the object lives as long as the job, so that `compile` may leave something for `run`. Whoever cancels ends the
process, so that nothing needs to ask whether it is to stop.
"""

import contextlib
import importlib
import os
import resource
import sys
import time


class Refusal(Exception):
    """What a compiler cannot do, as a sentence for people. `help` says what to do about it.

    Kinds in use: "no_package", "broken_package", "unknown_compiler", "unknown_op", "memory", "refused", "failed", and
    "asked": what was asked for cannot be had here, whatever the network is.
    """

    def __init__(self, message, kind="refused", help=""):
        super().__init__(message)
        self.message = message
        self.kind = kind
        self.help = help


class Compiler:
    """What a compiler's class derives from. It has the ops that the compiler knows, `open` always."""

    def open(self, request, files, out_folder, progress):
        """Imports the compiler. Answers {version, devices[], about{}}."""
        raise NotImplementedError


failed_ahead = {}  # module -> why it could not be imported when that was tried before it was asked for (prelude.py)


def set_variables(ahead):
    """Those of AHEAD, where the user has not set them: for a package that was not imported ahead."""
    for name, value in ahead[1].items():
        os.environ.setdefault(name, value)


def import_package(module, distribution):
    """Imports `module`, which the package `distribution` brings. Refusals: it is not there, or cannot be imported."""
    try:
        if module in failed_ahead:
            raise failed_ahead.pop(module)
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        if error.name is not None and (module + ".").startswith(error.name + "."):
            raise no_package(distribution) from None
        raise broken_package(module, distribution, error) from error
    except BaseException as error:  # a package may also call sys.exit() while it is imported
        if isinstance(error, MemoryError):
            raise
        raise broken_package(module, distribution, error) from error


def no_package(distribution):
    return Refusal(
        f"This Python ({sys.executable}) has no package {distribution}.",
        kind="no_package",
        help=f"Install it in this Python: {sys.executable} -m pip install {distribution}",
    )


def find_program(name, *folders):
    """Where the program `name` is: on PATH, else in one of the folders where it is put; None: nowhere."""
    for folder in [*os.environ.get("PATH", os.defpath).split(os.pathsep), *folders]:
        path = os.path.join(folder, name)
        if folder and os.path.isfile(path) and os.access(path, os.X_OK):
            return path
    return None


def no_program(program, brought_by):
    """`program`: as find_program() is called."""
    name, *folders = program
    return Refusal(
        f"There is no program {name} on the PATH of this Python ({sys.executable}), nor in {', '.join(folders)}.",
        kind="no_package",
        help=f"{brought_by} Add its folder to the PATH of this Python.",
    )


def broken_package(module, distribution, error):
    return Refusal(
        f"The package {distribution} is installed, but \"import {module}\" fails: {type(error).__name__}: {error}",
        kind="broken_package",
        help=f"Install it again: {sys.executable} -m pip install --force-reinstall {distribution}",
    )


@contextlib.contextmanager
def captured_output(path):
    """Whatever this process prints meanwhile, also from C++, goes into the file `path` instead."""
    sys.stdout.flush()
    sys.stderr.flush()
    kept = os.dup(1), os.dup(2)
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    try:
        os.dup2(file, 1)
        os.dup2(file, 2)
        yield
    finally:
        with contextlib.suppress(Exception):
            sys.stdout.flush()
            sys.stderr.flush()
        os.dup2(kept[0], 1)
        os.dup2(kept[1], 2)
        for descriptor in (*kept, file):
            os.close(descriptor)


def identity(path):
    """Of a file as it is now: which one it is, and when it was written."""
    facts = os.stat(path)
    return facts.st_dev, facts.st_ino, facts.st_size, facts.st_mtime_ns


def reset_peak():
    """Makes peak_bytes() count from now on, where the system can."""
    with contextlib.suppress(OSError), open("/proc/self/clear_refs", "w") as file:
        file.write("5")


def peak_bytes():
    """The most memory that this process had at once since reset_peak(), or since it began."""
    with contextlib.suppress(OSError), open("/proc/self/status") as file:
        for line in file:
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) << 10
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10


class phase:
    """Times a part of what is done, and tells of it."""

    def __init__(self, name, phases, progress):
        self._name, self._phases = name, phases
        progress(name)

    def __enter__(self):
        self._begin = time.perf_counter()

    def __exit__(self, *_):
        self._phases.append({"name": self._name, "ms": 1e3 * (time.perf_counter() - self._begin)})


def times_of_runs(run, seconds, least=1):
    """Milliseconds of each run, in order: for so many seconds, and at least so many runs."""
    ms = []
    end = time.perf_counter() + seconds
    while len(ms) < least or time.perf_counter() < end:
        begin = time.perf_counter()
        run()
        ms.append(1e3 * (time.perf_counter() - begin))
    return ms
