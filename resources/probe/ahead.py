"""What makes a process that imported a compiler's package ahead (prelude.py) the child of a job: the code of the modules
that it needs, compiled by the listener meanwhile, so that it needs not be compiled where it is waited for."""

import marshal
import re
import sys
import zipimport

PACKAGE = __package__
FIRST = ("__init__", "base", "frames", "blobs", "prelude", "child", "compilers.__init__")
NAMED = re.compile(r"^(?:    )*from (\.+)(\w*) import (.+)$", re.MULTILINE)


def order_for(compiler, archive):
    """The bytes that a process which imported the package of `compiler` waits for."""
    importer = zipimport.zipimporter(archive)
    modules, waiting = {}, [*FIRST, "compilers." + compiler.replace("-", "_")]
    while waiting:
        name = waiting.pop()
        if name in modules:
            continue
        place = f"{PACKAGE}/{name.replace('.', '/')}.py"
        try:
            source = importer.get_data(place).decode()
        except OSError:
            continue  # no module of the probe
        modules[name] = place, compile(source, f"{archive}/{place}", "exec", dont_inherit=True)
        waiting += named_in(source, name.split(".")[:-1])
    told = marshal.dumps((archive, compiler, {full_name(name): each for name, each in modules.items()}))
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
