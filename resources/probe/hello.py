"""What a listener reports about its environment, without importing a compiler."""

import os
import re
import sys

from . import base, compilers

WRITTEN_OUT = re.compile(r"^(DISTRIBUTIONS|PROGRAM|BROUGHT_BY) = (\([^()]*\)|\".*\")$", re.MULTILINE)
# endings of the names of folders and files with metadata of a package
METADATA = (".dist-info", ".egg-info", ".egg", ".egg-link")
VERSION = re.compile(r"([^-]+)(?:-py\d[^-]*)?")


def about_this_environment():
    system = os.uname()
    known = {name: distributions_of(name) for name in compiler_modules()}
    wanted = {entry for names in known.values() for entry in names}
    packages = installed(wanted)
    return {
        "python": sys.version.split()[0],
        "executable": sys.executable,
        "platform": f"{system.sysname} {system.release} {system.machine}",
        "machine": system.nodename,
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
    """Returns the facts about a program. `path` is null if it is missing, and `problem` then says what to do. Its
    version is reported when it is opened."""
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
    """Returns the names of the modules of compilers, from an archive or from a folder."""
    place, archive = compilers.__path__[0], getattr(compilers.__loader__, "archive", None)
    if archive is not None:
        import zipimport

        # zipimport has read the archive already; reading it again would take long
        entries, folder = zipimport._zip_directory_cache[archive], os.path.relpath(place, archive)
        names = [os.path.basename(entry) for entry in entries if os.path.dirname(entry) == folder]
    else:
        names = os.listdir(place)
    return sorted(name[:-3] for name in names if name.endswith(".py") and name != "__init__.py")


def distributions_of(module):
    found = written_out(module, "DISTRIBUTIONS")
    return (module.replace("_", "-"),) if found is None else found


def written_out(module, name):
    """Returns the value of NAME = (…) or NAME = "…" in a compiler's module. The module is read and not run, because
    running it takes time. Returns None if it does not define the name."""
    source = compilers.__loader__.get_data(os.path.join(compilers.__path__[0], module + ".py")).decode()
    found = dict(WRITTEN_OUT.findall(source)).get(name)
    if found is None:
        return None
    texts = tuple(re.findall(r"\"([^\"]*)\"", found))
    return texts if found.startswith("(") else texts[0]


def installed(names):
    """Returns {name: version} of the packages that are installed."""
    versions = versions_in_folders(names)
    return metadata_versions(names) if versions is None else versions


def versions_in_folders(names):
    """Returns the same from the names of folders that contain metadata, because importing the code that reads
    metadata takes longer than everything else. Returns None if a place is no such folder, or if a name contains no
    version."""
    wanted = {normalised(name): name for name in names}
    versions = {}
    if any(hasattr(finder, "find_distributions") for finder in sys.meta_path if finder.__module__ not in KNOWN_FINDERS):
        return None
    for place in sys.path:
        if os.path.isfile(place):
            return None
        try:
            found = sorted(os.listdir(place or os.curdir))
        except OSError:
            continue
        here = {}
        for entry in found:
            if not entry.endswith(METADATA):
                continue
            name, _, version = entry.rpartition(".")[0].partition("-")
            name, told = wanted.get(normalised(name)), VERSION.fullmatch(version)
            if name is None:
                continue
            if told is None or name in here or not entry.endswith("-info"):
                return None  # a link, or the rest of an interrupted installation: the code that reads metadata decides
            here[name] = told[1]
        versions = {**here, **versions}
    return dict(sorted(versions.items()))


KNOWN_FINDERS = ("_frozen_importlib", "_frozen_importlib_external", "_distutils_hack")


def normalised(name):
    return re.sub(r"[-_.]+", "-", name).lower()


def metadata_versions(names):
    from importlib import metadata

    versions = {}
    for name in sorted(names):
        try:
            versions[name] = metadata.version(name) or ""
        except metadata.PackageNotFoundError:
            continue
        except Exception:  # the metadata cannot be read
            versions[name] = ""
    return versions


def cpus():
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:
        return os.cpu_count() or 1


def memory():
    """Returns the bytes of physical memory, or None if the system does not report them."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return None
