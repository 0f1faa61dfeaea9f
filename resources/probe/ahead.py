"""What makes a process that imported a compiler's package ahead (prelude.py) the child of a job: the code of the modules
that it needs, compiled by the listener meanwhile, so that it needs not be compiled where it is waited for."""

import marshal
import re

PACKAGE = __package__
FIRST = ("__init__", "base", "frames", "blobs", "prelude", "child", "compilers.__init__")
NAMED = re.compile(r"^(?:    )*from (\.+)(\w*) import (.+)$", re.MULTILINE)


def order_for(compiler, modules):
    """The bytes that a process which imported the package of `compiler` waits for. `modules`: prelude.Archive."""
    needed, waiting = {}, [*FIRST, "compilers." + compiler.replace("-", "_")]
    while waiting:
        name = waiting.pop()
        if full_name(name) in needed:
            continue
        found = modules.get(full_name(name))
        if found is None:
            continue  # no module of the probe
        place, code, source = found
        needed[full_name(name)] = place, code
        waiting += named_in(source, name.split(".")[:-1])
    told = marshal.dumps((modules.archive, compiler, needed))
    return b"%d\n" % len(told) + told


def named_in(source, folder):
    """Modules of the probe that a module in `folder` imports at its beginning; names that are none may be among them."""
    for dots, module, names in NAMED.findall(source):
        place = [*folder[: len(folder) - len(dots) + 1], *([module] if module else [])]
        for name in [] if module else re.findall(r"\w+", names):
            yield ".".join([*place, name])
        if module:
            yield ".".join(place)


def full_name(name):
    return ".".join([PACKAGE, *name.split(".")]).removesuffix(".__init__")
