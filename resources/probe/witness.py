"""What a compiler's answers depend on in this environment, told without importing the compiler.

The answer names every file that says which compiler this is: the Python, the folders that it looks for packages in, and
all code of the compiler's packages and of those that they require. Whoever finds the same files again, by size, inode
and times, may take it that the compiler is the same one. `why_not` says why nobody may: then nothing is kept of it.
"""

import os
import platform
import re
import site
import sys

from . import hello

# Variables that bear on which packages are found, or on what compilers do.
VARIABLES = re.compile(
    r"PYTHON|LD_|CUDA_|NVIDIA_|ORT_|ONNX|OPENVINO|OV_|TENSORRT|TRT_|TORCH|PYTORCH|TRITON|MKL|DNNL|ONEDNN|OMP_|KMP_|GOMP_|"
    r"VIRTUAL_ENV$|CONDA_PREFIX$|ATEN_|CUDNN_|CUBLAS_|CC$|CXX$")
DEVICES = ("nvidia", "dri", "dxg", "accel", "kfd")  # below /dev: a driver that begins or ends to work changes them
CODE = re.compile(r"\.(so|py|pth|dll|pyd|bin|xml|json)$|\.so\.[^/]*$|\.dist-info/")
CPU_FIELDS = ("vendor_id", "cpu family", "model", "model name", "stepping", "microcode", "flags", "Features",
              "CPU implementer", "CPU part", "CPU variant", "CPU revision")


def about_compiler(compiler):
    module = compiler.replace("-", "_")
    roots, why_not = roots_of(module)
    packages = closure(roots)
    files, unknown = code_of(packages.values())
    if unknown and not why_not:
        why_not = f"{unknown} does not say which files are its own"
    return {
        "is_there": any(normalised(root) in packages for root in roots),
        "why_not": why_not,
        "python": platform.python_version(),
        "executable": os.path.realpath(sys.executable),
        "packages": {name: found.version for name, found in sorted(packages.items())},
        "variables": {name: value for name, value in sorted(os.environ.items()) if VARIABLES.match(name)},
        "machine": machine(),
        "files": [identity(path) for path in sorted(files | own_files(module))],
    }


def roots_of(module):
    """The packages that bring the compiler, and why it cannot be told by them which one it is."""
    if module in hello.compiler_modules():
        roots = hello.distributions_of(module)
        return roots, "" if roots else "it is a program, and nothing says which libraries that loads"
    from importlib import util

    try:
        found = util.find_spec("fusescope_compiler_" + module)
        source = open(found.origin, encoding="utf-8").read()
    except (AttributeError, ImportError, OSError, ValueError):
        return (), "nothing says which packages it has"
    named = re.search(r"^DISTRIBUTIONS = \(([^()]*)\)$", source, re.MULTILINE)
    roots = tuple(re.findall(r"[\"']([^\"']+)[\"']", named.group(1))) if named else ()
    return roots, "" if roots else "nothing says which packages it has"


def closure(names):
    """name -> distribution, of those that are there and of all that they require and is there."""
    from importlib import metadata

    found, waiting = {}, list(names)
    while waiting:
        name = normalised(waiting.pop())
        if name in found:
            continue
        try:
            found[name] = metadata.distribution(name)
        except metadata.PackageNotFoundError:
            continue
        for requirement in found[name].requires or ():
            waiting.append(re.match(r"[A-Za-z0-9._-]+", requirement).group())
    return found


def normalised(name):
    return re.sub(r"[-_.]+", "-", name).lower()


def code_of(distributions):
    """Paths of all code of these packages, and the name of one that does not tell all of its files."""
    files, unknown = set(), ""
    for distribution in distributions:
        if distribution.files is None or '"editable": true' in (distribution.read_text("direct_url.json") or ""):
            unknown = distribution.metadata["Name"] or "a package without a name"
            continue
        for file in distribution.files:
            text = str(file)
            if CODE.search(text):
                files.add(os.path.normpath(str(distribution.locate_file(file))))
    return {path for path in files if os.path.isfile(path)}, unknown


def own_files(module):
    """The Python, where it looks for packages, what is read before any of them, and the list of the system's libraries."""
    paths = {os.path.realpath(sys.executable), os.path.join(sys.prefix, "pyvenv.cfg"), "/etc/ld.so.cache"}
    # Python looks there only where it is there when Python starts: the first package that a user installs makes it.
    paths.add(os.path.abspath(site.getusersitepackages()))
    for folder in os.environ.get("LD_LIBRARY_PATH", "").split(os.pathsep):
        paths.add(os.path.abspath(folder))
        paths.update(os.path.join(os.path.abspath(folder), name) for name in listed(folder) if ".so" in name)
    for folder in sys.path:
        folder = os.path.abspath(folder)
        paths.add(folder)
        if os.path.isdir(folder):
            paths.update(os.path.join(folder, name) for name in os.listdir(folder)
                         if name.endswith(".pth") or name == f"fusescope_compiler_{module}.py")
    return paths


def identity(path):
    """[path, size, time of modification in ns, time of change in ns, inode]; size -1: there is nothing."""
    try:
        found = os.stat(path)
    except OSError:
        return [path, -1, 0, 0, 0]
    return [path, found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino]


def machine():
    """The processor and the NVIDIA cards, as far as results of compilers depend on them."""
    fields = {}
    for line in text_of("/proc/cpuinfo").split("\n\n")[0].splitlines():
        name, _, value = line.partition(":")
        if name.strip() in CPU_FIELDS:
            fields[name.strip()] = value.strip()
    cards = "/proc/driver/nvidia/gpus"
    return {
        "cpu": fields,
        "cpus": hello.cpus(),
        "system": platform.release(),
        "driver": text_of("/proc/driver/nvidia/version"),
        "devices": [name for name in sorted(listed("/dev")) if name.startswith(DEVICES)],
        "cards": [text_of(os.path.join(cards, each, "information")) for each in sorted(listed(cards))],
    }


def listed(folder):
    try:
        return os.listdir(folder)
    except OSError:
        return []


def text_of(path):
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()
    except OSError:
        return ""
