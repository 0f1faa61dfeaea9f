"""What a listener says of the environment that it runs in, without importing a compiler."""

import ast
import os
import pkgutil
import platform
import re
import sys

from . import base, compilers


def about_this_environment():
    known = {name: distributions_of(name) for name in compiler_modules()}
    wanted = {entry for names in known.values() for entry in names}
    packages = installed(wanted)
    return {
        "python": platform.python_version(),
        "executable": sys.executable,
        "platform": f"{platform.system()} {platform.release()} {platform.machine()}",
        "machine": platform.node(),
        "cpus": cpus(),
        "memory": memory(),
        "packages": packages,
        "compilers": [found(name, names, packages) for name, names in known.items()],
    }


def found(module, distributions, packages):
    if not distributions:
        return found_program(module)
    present = next((name for name in distributions if name in packages), None)
    return {
        "name": module.replace("_", "-"),
        "package": present or distributions[0],
        "version": packages.get(present, ""),
    }


def found_program(module):
    """`path`: null where it is not there, and then `problem` says what to do. Its version it says when it is opened."""
    program = written_out(module, "PROGRAM")
    path = base.find_program(*program)
    problem = None if path else base.no_program(program, written_out(module, "BROUGHT_BY"))
    return {
        "name": module.replace("_", "-"),
        "package": "",
        "version": "",
        "path": path,
        "problem": "" if problem is None else f"{problem.message} {problem.help}",
    }


def compiler_modules():
    return sorted(module.name for module in pkgutil.iter_modules(compilers.__path__))


def distributions_of(module):
    found = written_out(module, "DISTRIBUTIONS")
    return (module.replace("_", "-"),) if found is None else found


def written_out(module, name):
    """NAME = (…) or "…" of a compiler's module, which is read and not run: that would cost time. None: it has none."""
    source = pkgutil.get_data(compilers.__name__, module + ".py").decode()
    found = re.search(rf"^{name} = (\([^()]*\)|\".*\")$", source, re.MULTILINE)
    return ast.literal_eval(found.group(1)) if found else None


def installed(names):
    """name -> version of those packages that are there."""
    from importlib import metadata

    versions = {}
    for name in sorted(names):
        try:
            versions[name] = metadata.version(name) or ""
        except metadata.PackageNotFoundError:
            continue
        except Exception:  # metadata that cannot be read
            versions[name] = ""
    return versions


def cpus():
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:
        return os.cpu_count() or 1


def memory():
    """Bytes of physical memory, None where the system does not tell."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return None
