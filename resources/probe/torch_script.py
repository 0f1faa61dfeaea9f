"""Runs a script of the user, whose function returns a module and example inputs.

The folder of the script is added to sys.path only here, after torch was imported, so that a file beside the script
cannot replace a module that torch imports itself. It is at the front while the script and its function run, and at
the end while torch calls the module.
"""

import contextlib
import importlib.util
import inspect
import keyword
import linecache
import os
import sys
import traceback
import types

from . import base
from .torch_program import first_lines

FORM = (
    "It returns (module, args), (module, args, kwargs) or (module, args, kwargs, dynamic_shapes), or a dict with these keys: "
    "an nn.Module, a tuple of example inputs, a dict of those that have names, and what torch.export.export() takes as dynamic_shapes."
)
KEYS = ("module", "args", "kwargs", "dynamic_shapes")


class Loaded:
    """What a function of the script returned."""

    def __init__(self, path, module, args, kwargs, dynamic_shapes):
        self.path, self.module, self.args, self.kwargs, self.dynamic_shapes = path, module, args, kwargs, dynamic_shapes
        self.evaluated = False  # it was in training mode and no longer is


def attempt(call):
    """Returns (result, None) or (None, exception), because code of the user may also call sys.exit()."""
    try:
        return call(), None
    except MemoryError:
        raise
    except BaseException as error:
        return None, error


def load(torch, content, path, function):
    """Runs the script at `path`, which has the content `content`, and its function."""
    script = as_module(content, path)
    with imports_of(path):
        _, error = attempt(lambda: exec(compile(content, path, "exec", dont_inherit=True), script.__dict__))
        if error is not None:
            raise raised("The script", path, error)
        make = factory(script, path, function)
        given, error = attempt(make)
        if error is not None:
            raise raised(f"{function}()", path, error)
    loaded = checked(torch, path, f"{line_of(make)}{function}()", given)
    sys.path.append(os.path.dirname(path))
    if loaded.module.training:
        _, error = attempt(loaded.module.eval)  # a module that torch exported has no mode to set; it was set before
        loaded.evaluated = error is None
    return loaded


def as_module(content, path):
    """Registers the script as a module under its own name, for which tracebacks and pickles search, unless another
    module has that name."""
    name = os.path.splitext(os.path.basename(path))[0]
    if not name.isidentifier() or keyword.iskeyword(name) or is_taken(name):
        name = "fusescope_script"
    module = types.ModuleType(name)
    module.__file__ = path
    sys.modules[name] = module
    lines = content.decode("utf-8", "replace").splitlines(keepends=True)
    linecache.cache[path] = (len(content), None, lines, path)  # the content that runs, whatever happens to the file
    return module


def is_taken(name):
    """Returns whether a module has this name, or could be imported under it. The folder of the script is not on the
    path yet."""
    found, error = attempt(lambda: importlib.util.find_spec(name))
    return name in sys.modules or found is not None or error is not None


@contextlib.contextmanager
def imports_of(path):
    folder = os.path.dirname(path)
    arguments, sys.argv = sys.argv, [path]
    sys.path.insert(0, folder)
    try:
        yield
    finally:
        sys.argv = arguments
        with contextlib.suppress(ValueError):
            sys.path.remove(folder)


def factory(script, path, name):
    make = getattr(script, name, None)
    if make is None:
        known = [
            key for key, value in vars(script).items() if inspect.isfunction(value) and value.__module__ == script.__name__
        ]
        raise base.Refusal(
            f"The script has no function {name}.",
            kind="asked",
            help=f"Its functions are {', '.join(known)}." if known else "It defines no function.",
        )
    if not callable(make):
        raise base.Refusal(
            f"{name} is not a function, but has the type {type(make).__name__}.", kind="asked", help=FORM
        )
    needed = arguments_without_default(make)
    if needed:
        raise base.Refusal(
            f"{line_of(make)}{name}() needs arguments ({', '.join(needed)}), but it is called without any.",
            kind="asked",
            help="Write a function without arguments that calls it.",
        )
    return make


def arguments_without_default(make):
    try:
        parameters = inspect.signature(make).parameters.values()
    except (TypeError, ValueError):  # something that is written in C
        return []
    collecting = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    return [each.name for each in parameters if each.default is inspect.Parameter.empty and each.kind not in collecting]


def line_of(function):
    code = getattr(function, "__code__", None)
    return f"line {code.co_firstlineno}: " if code is not None else ""


def checked(torch, path, called, given):
    def refuse(what):
        raise base.Refusal(f"{called} {what}.", kind="asked", help=FORM)

    if isinstance(given, torch.nn.Module):
        refuse("returns a module alone, without example inputs")
    if isinstance(given, dict):
        unknown = [str(key) for key in given if key not in KEYS]
        if unknown:
            refuse(f"returns a dict with the unknown {', '.join(unknown)}")
        parts = [given.get(key) for key in KEYS]
    elif isinstance(given, (tuple, list)) and 2 <= len(given) <= len(KEYS):
        parts = [*given, *[None] * (len(KEYS) - len(given))]
    else:
        refuse(f"returns {shown(given)}")
    module, args, kwargs, dynamic_shapes = parts
    if not isinstance(module, torch.nn.Module):
        refuse(f"returns {type(module).__name__} where the module is to stand")
    if isinstance(args, torch.Tensor):
        args = (args,)
    if not isinstance(args, (tuple, list)) and not (args is None and kwargs):
        refuse(f"returns {type(args).__name__} where the tuple of example inputs is to stand")
    if kwargs is not None and not isinstance(kwargs, dict):
        refuse(f"returns {type(kwargs).__name__} where the dict of named example inputs is to stand")
    return Loaded(path, module, tuple(args or ()), dict(kwargs or {}), dynamic_shapes)


def shown(given):
    return f"{len(given)} things" if isinstance(given, (tuple, list)) else f"{type(given).__name__}"


def raised(what, path, error):
    """Returns the error that the user's code raised, with its line."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if is_users(frame, path)]
    line = frames[-1].lineno if frames else None
    if isinstance(error, SyntaxError) and error.filename == path:
        line = error.lineno
    file = frames[-1].filename if frames and frames[-1].filename != path else ""
    where = f"{file + ', ' if file else ''}line {line}: " if line else ""
    if isinstance(error, SystemExit):
        return base.Refusal(f"{where}{what} ended the process ({first_lines(error, 1)}).", kind="asked")
    help = ""
    if isinstance(error, ModuleNotFoundError):
        help = f"Install it where torch is ({sys.executable} -m pip install NAME), or put it beside the script."
    return base.Refusal(f"{where}{what} raised {first_lines(error, 3)}", kind="asked", help=help)


def is_users(frame, path):
    """Returns whether a line of a traceback is in the script, or in a file in or below its folder."""
    return frame.filename == path or (
        frame.filename.startswith(os.path.dirname(path) + os.sep) and "site-packages" not in frame.filename
    )


def place_of(loaded, error):
    """Returns {file, line, function} of the innermost line of the user that torch was executing; line 0 if it is
    unknown."""
    stack = list(getattr(error, "real_stack", None) or []) or list(traceback.extract_tb(error.__traceback__))
    return place_in(stack, loaded.path)


def place_in(stack, path):
    frames = [frame for frame in stack if is_users(frame, path)]
    if not frames:
        return {"file": "", "line": 0, "function": ""}
    return {"file": frames[-1].filename, "line": frames[-1].lineno or 0, "function": frames[-1].name}
