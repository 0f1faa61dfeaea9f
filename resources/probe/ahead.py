"""Makes a process that imported a compiler's package in advance (prelude.py) the child of a job. The listener
compiles the modules that the child needs while the package is imported, so that nobody waits for that later."""

import marshal
import re

PACKAGE = __package__
FIRST = ("__init__", "base", "frames", "blobs", "prelude", "child", "compilers.__init__")
NAMED = re.compile(r"^(?:    )*from (\.+)(\w*) import (.+)$", re.MULTILINE)


def order_for(compiler, modules):
    """Returns the bytes for which a process that imported the package of `compiler` waits. `modules` is a
    prelude.Archive."""
    needed, waiting = {}, [*FIRST, "compilers." + compiler.replace("-", "_")]
    while waiting:
        name = waiting.pop()
        if full_name(name) in needed:
            continue
        found = modules.get(full_name(name))
        if found is None:
            continue  # the name is no module of the probe
        place, code, source = found
        needed[full_name(name)] = place, code
        waiting += named_in(source, name.split(".")[:-1])
    told = marshal.dumps((modules.archive, compiler, needed))
    return b"%d\n" % len(told) + told


def named_in(source, folder):
    """Yields the modules of the probe that a module in `folder` imports at its beginning. Names that are no modules
    may be among them."""
    for dots, module, names in NAMED.findall(source):
        place = [*folder[: len(folder) - len(dots) + 1], *([module] if module else [])]
        for name in [] if module else re.findall(r"\w+", names):
            yield ".".join([*place, name])
        if module:
            yield ".".join(place)


def full_name(name):
    return ".".join([PACKAGE, *name.split(".")]).removesuffix(".__init__")
