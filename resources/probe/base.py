"""Describes what a module of compilers/ contains.

A module `compilers/NAME.py` (where each `-` in the compiler's name is a `_`) imports only the standard library when
it is imported, and defines

    DISTRIBUTIONS   a tuple of literal texts: the packages that contain the compiler, by their names in pip. Users are
                    told to install the first one. It is empty if a program is used instead of a package:
    PROGRAM         a tuple of literal texts: the program's name, and folders that are searched in addition to PATH
    BROUGHT_BY      a text: a sentence that says what installs the program
    AHEAD           ((modules), {variable: value}), as literals on one line: the modules that `open` imports, and the
                    variables that it sets before that. They are imported while the probe is still being sent. It is
                    optional
    class Compiler(base.Compiler)

The names of its methods are the ops of requests. Each of them takes

    request      a dict: the request as it was made, with `op` and its other members
    files        a dict from the name of each file of the request to its path here
    out_folder   an existing empty folder: every file that the method writes below it belongs to the answer, under its
                 path in this folder
    progress     progress(phase, detail=""): reports what is being done

and returns a dict that can be written as JSON (numbers of numpy are converted, NaN and infinities become "nan",
"inf", "-inf"). If something cannot be done, the method raises a `Refusal`. All methods of a job are called one after
another on the main thread of its own process. The object exists as long as the job, so that `compile` may store
something for `run`. A compiler may have `save`, which writes what was compiled last into `out_folder`, and `load`,
which takes these files instead of compiling the same network with the same options again; afterwards the network can
be run, timed and profiled as after `compile`. A job is cancelled by ending its process, so that methods need not check whether to stop.
"""

import contextlib
import importlib
import os
import resource
import sys
import time


class Refusal(Exception):
    """Says that a compiler cannot do something, as a sentence for people. `help` says what to do about it.

    Kinds in use: "no_package", "broken_package", "unknown_compiler", "unknown_op", "memory", "refused", "failed",
    and "asked", which means that the environment cannot do what was requested for any network.
    """

    def __init__(self, message, kind="refused", help=""):
        super().__init__(message)
        self.message = message
        self.kind = kind
        self.help = help


class Compiler:
    """The base class of the classes of compilers. They have a method for each op that the compiler supports; `open`
    always exists."""

    def open(self, request, files, out_folder, progress):
        """Imports the compiler. Answers {version, devices[], about{}}."""
        raise NotImplementedError


failed_ahead = {}  # module -> why importing it in advance failed (prelude.py)


def set_variables(ahead):
    """Sets the variables of AHEAD that the user has not set, for a package that was not imported in advance."""
    for name, value in ahead[1].items():
        os.environ.setdefault(name, value)


def import_package(module, distribution):
    """Imports `module`, which belongs to the package `distribution`. Raises a Refusal if it is missing or cannot be
    imported."""
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
    """Returns the path of the program `name`, which is searched on PATH and then in the other folders; None if there
    is none."""
    for folder in [*os.environ.get("PATH", os.defpath).split(os.pathsep), *folders]:
        path = os.path.join(folder, name)
        if folder and os.path.isfile(path) and os.access(path, os.X_OK):
            return path
    return None


def no_program(program, brought_by):
    """Returns the refusal if there is no program. `program` is the argument of find_program()."""
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
    """Redirects everything that this process prints meanwhile, also from C++, to the file `path`."""
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
    """Returns the identity of a file at present, and when it was written."""
    facts = os.stat(path)
    return facts.st_dev, facts.st_ino, facts.st_size, facts.st_mtime_ns


def reset_peak():
    """Resets the maximum that peak_bytes() returns, if the system supports this."""
    with contextlib.suppress(OSError), open("/proc/self/clear_refs", "w") as file:
        file.write("5")


def peak_bytes():
    """Returns the largest memory that this process has used since reset_peak(), or since it began."""
    with contextlib.suppress(OSError), open("/proc/self/status") as file:
        for line in file:
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) << 10
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10


class phase:
    """Measures a part of the work and reports its progress."""

    def __init__(self, name, phases, progress):
        self._name, self._phases = name, phases
        progress(name)

    def __enter__(self):
        self._begin = time.perf_counter()

    def __exit__(self, *_):
        self._phases.append({"name": self._name, "ms": 1e3 * (time.perf_counter() - self._begin)})


def times_of_runs(run, seconds, least=1):
    """Returns the milliseconds of each run, in order. It runs for the given number of seconds, and at least the
    given number of times."""
    ms = []
    end = time.perf_counter() + seconds
    while len(ms) < least or time.perf_counter() < end:
        begin = time.perf_counter()
        run()
        ms.append(1e3 * (time.perf_counter() - begin))
    return ms
