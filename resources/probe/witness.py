"""Lists what a compiler's answers depend on in this environment, without importing the compiler.

The answer names every file that determines the compiler: the Python, the folders in which it looks for packages, and
all code of the compiler's packages and of the packages that they require. If the same files are found again, with
the same sizes, inodes and times, the compiler may be assumed to be the same. `why_not` says why this assumption is
impossible; nothing about the compiler is kept then.

A file whose content matters has a part (its package) and a name in this part, which are the same wherever the
package is installed. By the hashes of these contents, two machines find out that they have the same compiler.
"""

import os
import platform
import re
import site
import sys

from . import hello

# Variables that affect which packages are found, or what compilers do.
VARIABLES = re.compile(
    r"PYTHON|LD_|CUDA_|NVIDIA_|ORT_|ONNX|OPENVINO|OV_|TENSORRT|TRT_|TORCH|PYTORCH|TRITON|MKL|DNNL|ONEDNN|OMP_|KMP_|GOMP_|"
    r"VIRTUAL_ENV$|CONDA_PREFIX$|ATEN_|CUDNN_|CUBLAS_|CC$|CXX$")
DEVICES = ("nvidia", "dri", "dxg", "accel", "kfd")  # names in /dev: they change when a driver starts or stops working
CODE = re.compile(r"\.(so|py|pth|dll|pyd|bin|xml|json)$|\.so\.[^/]*$|\.dist-info/")
# What pip writes itself, as the list of files, and scripts that begin with the path of their Python: other bytes where
# the same package is installed elsewhere.
WRITTEN_THERE = re.compile(r"\.dist-info/(?!(METADATA|entry_points\.txt|WHEEL)$)|(^|/)(bin|Scripts)/[^/]*\.py$")
STARTS = ("sitecustomize.py", "usercustomize.py")  # modules that Python runs before all others, if they exist
SYSTEM, LIBRARIES, STARTED = "system libraries", "LD_LIBRARY_PATH", "python"  # parts that are no packages
# Libraries of the system that packages load or calculate with; those for cards count only if there is a card.
SYSTEM_LIBRARY = re.compile(
    rb"/[^\0\n]*/lib(?:c|m|mvec|stdc\+\+|gcc_s|gomp|iomp5|tbb[a-z0-9_]*|OpenCL|ze_[a-z_]+|openblas[a-z0-9]*|mkl_[a-z0-9_]+)"
    rb"\.so[^/\0\n]*")
CARD_LIBRARY = re.compile(
    rb"/[^\0\n]*/lib(?:nvinfer[a-z_]*|nvonnxparser|cudnn[a-z_]*|cublas[A-Za-z]*|cudart|cufft|curand|cusparse|cusolver|"
    rb"nvrtc[a-z-]*|nvJitLink|nccl)\.so[^/\0\n]*")
OTHER_WORDS = re.compile(r"/(lib32|libx32|i[3-6]86[^/]*)/")  # libraries for 32-bit programs
CPU_FIELDS = ("vendor_id", "cpu family", "model", "model name", "stepping", "microcode", "flags", "Features",
              "CPU implementer", "CPU part", "CPU variant", "CPU revision")


def about_compiler(compiler):
    module = compiler.replace("-", "_")
    roots, why_not = roots_of(module)
    packages = closure(roots)
    files, unknown = code_of(packages.values())
    if unknown and not why_not:
        why_not = f"{unknown} does not say which files are its own"
    for path, place in own_files(module).items():
        files.setdefault(path, place)
    return {
        "is_there": any(normalised(root) in packages for root in roots),
        "why_not": why_not,
        "python": platform.python_version(),
        "implementation": f"{sys.implementation.cache_tag}{getattr(sys, 'abiflags', '')} {sys.platform} {os.uname().machine}",
        "executable": os.path.realpath(sys.executable),
        "packages": {name: found.version for name, found in sorted(packages.items())},
        "variables": {name: value for name, value in sorted(os.environ.items()) if VARIABLES.match(name)},
        "machine": machine(),
        "files": [identity(path) + [*place_of(path, files)] for path in sorted(files)],
    }


def roots_of(module):
    """Returns the packages that contain the compiler, and why they are not sufficient to identify it."""
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
    """Returns {name: distribution} for the installed ones of these packages and of everything that they require."""
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
    """Returns {path: (part, name)} for all code of these packages, and the name of a package that does not list all
    of its files."""
    files, unknown = {}, ""
    for distribution in distributions:
        package = normalised(distribution.metadata["Name"] or "")
        if distribution.files is None or '"editable": true' in (distribution.read_text("direct_url.json") or ""):
            unknown = distribution.metadata["Name"] or "a package without a name"
            continue
        for file in distribution.files:
            text = str(file)
            if CODE.search(text):
                path = os.path.normpath(str(distribution.locate_file(file)))
                files[path] = NO_CONTENT if WRITTEN_THERE.search(text) else (package, text)
    return {path: place for path, place in files.items() if os.path.isfile(path)}, unknown


NO_CONTENT = ("", "")  # a file that only says whether something has changed


def own_files(module):
    """Returns {path: (part, name)} for the Python, the places where it looks for packages, what is read before any
    package, and libraries of the system."""
    system = "/etc/ld.so.cache"
    own = {os.path.realpath(sys.executable), os.path.join(sys.prefix, "pyvenv.cfg"), system}
    # Python looks there only if the folder exists when it starts; it is made when a user installs the first package
    own.add(os.path.abspath(site.getusersitepackages()))
    paths = dict.fromkeys(own, NO_CONTENT)
    paths.update((path, (SYSTEM, os.path.basename(path))) for path in system_libraries(system))
    for number, folder in enumerate(library_folders()):
        paths[folder] = NO_CONTENT
        paths.update((os.path.join(folder, name), (LIBRARIES, f"{number}/{name}"))
                     for name in listed(folder) if ".so" in name)
    for folder in sys.path:
        folder = os.path.abspath(folder)
        paths[folder] = NO_CONTENT
        if os.path.isdir(folder):
            paths.update((os.path.join(folder, name), (STARTED, name)) for name in os.listdir(folder)
                         if name.endswith(".pth") or name in (f"fusescope_compiler_{module}.py", *STARTS))
    return paths


def library_folders():
    """Returns the folders of LD_LIBRARY_PATH. The loader reads an empty entry as the current folder, and ignores the
    variable if it is empty as a whole."""
    variable = os.environ.get("LD_LIBRARY_PATH", "")
    return [os.path.abspath(folder) for folder in variable.split(os.pathsep)] if variable else []


def system_libraries(cache):
    """Returns the paths of the libraries that count, as the cache of the system's loader lists them."""
    wanted = [SYSTEM_LIBRARY] + ([CARD_LIBRARY] if any(name.startswith(("nvidia", "dxg")) for name in listed("/dev")) else [])
    try:
        with open(cache, "rb") as file:
            known = file.read()
    except OSError:
        return []
    paths = {os.fsdecode(path) for each in wanted for path in each.findall(known)}
    return sorted(path for path in paths if not OTHER_WORDS.search(path))


def place_of(path, places):
    """Returns the part and name of a path; what is not an existing file has no content."""
    return places[path] if os.path.isfile(path) else NO_CONTENT


def identity(path):
    """Returns [path, size, time of modification in ns, time of change in ns, inode]; the size is -1 if the file does
    not exist."""
    try:
        found = os.stat(path)
    except OSError:
        return [path, -1, 0, 0, 0]
    return [path, found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino]


def machine():
    """Describes the processor and the NVIDIA cards, as far as results of compilers depend on them."""
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
