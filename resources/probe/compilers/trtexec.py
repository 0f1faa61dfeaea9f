"""TensorRT if only its program trtexec is installed: versions 8.6 to 11. The program is started for each question,
and its output is passed on: its log, layers, times and profiles are files that Fusescope reads like those of engines
that were built elsewhere.

It is untried: it was written from its help, and from logs and files that others have published.
"""

import array
import contextlib
import json
import math
import os
import re
import shutil
import signal
import struct
import subprocess
import tempfile
import time

from .. import base, cuda, npz, tensors

DISTRIBUTIONS = ()
PROGRAM = ("trtexec", "/usr/src/tensorrt/bin", "/opt/tensorrt/bin", "/usr/local/tensorrt/bin")
BROUGHT_BY = "It comes with NVIDIA's packages of TensorRT (libnvinfer-bin) and its archives, not with pip."

UNTRIED = "Nobody has run trtexec through Fusescope yet: its part of the probe was written by its help and files of it."
UNTRIED_TIMES = "trtexec is untried through Fusescope"
TIMES_ARE = "times of runs are those of the card, without transfers (computeMs of trtexec)"
FIRST_WITH_INT64 = (10,)  # earlier versions convert networks to int32
FIRST_WITH_STRONG_TYPES = FIRST_WITH_STARS = (9,)  # in earlier versions, a star in a name is an ordinary character
LOG, LAYERS, PROFILE, TIMES = "build.log", "layers.json", "profile.json", "times.json"
OLDEST = (8, 6)
LAST_LINES = 30  # the last lines of its output, for errors that give no reason
ONCE = ("--iterations=1", "--duration=0", "--warmUp=0")
WEAK_TYPES = {"f32": "fp32", "f16": "fp16", "bf16": "bf16", "int8": "int8"}
PACKED = {"f32": "f", "f16": "e", "f64": "d", "int64": "q", "int32": "i", "int8": "b", "uint8": "B", "bool": "?"}


class Compiler(base.Compiler):
    def open(self, request, files, out_folder, progress):
        self._program = base.find_program(*PROGRAM)
        if self._program is None:
            raise base.no_program(PROGRAM, BROUGHT_BY)
        self._engine = self._shapes = None
        self._outputs = {}
        help_text = self._help()
        self._version = version_in(help_text)
        self._known = set(re.findall(r"--[A-Za-z]\w*", help_text))
        if self._version < OLDEST:
            raise base.Refusal(
                f"This is trtexec of TensorRT {in_words(self._version)}, but Fusescope needs 8.6 or newer.",
                kind="asked",
                help="Files in which an older version describes an engine can be read with fusescope import-engine.",
            )
        self._devices, why_no_device = cuda.devices()
        return {
            "version": in_words(self._version),
            "devices": self._devices,
            "about": {
                "program": self._program,
                "layer_precisions": "--layerPrecisions" in self._known,
                "why_no_device": why_no_device,
                "untried": UNTRIED,
            },
        }

    def compile(self, request, files, out_folder, progress):
        """Compiles the network. Options: `typing` ("strong": the types of the network decide; "layers": `allowed`,
        `constraints` and `precisions` decide, as for TensorRT), `outputs` (name -> type of each output of the
        network), `workspace` in bytes, `timing_cache`, and `profile` as for TensorRT for RTX."""
        options = request.get("options", {})
        self._forget()
        self._folder = tempfile.mkdtemp(prefix="engine-", dir=os.path.dirname(out_folder))
        self._engine = os.path.join(self._folder, "engine.plan")
        self._outputs = options.get("outputs", {})
        self._shapes = {name: each["opt"] for name, each in options.get("profile", {}).items()}
        arguments = [
            f"--onnx={files['network.onnx']}",
            f"--saveEngine={self._engine}",
            "--profilingVerbosity=detailed",
            "--verbose",
            f"--exportLayerInfo={os.path.join(out_folder, LAYERS)}",
            *typing_arguments(options, self._known, self._version),
            *limit_arguments(options, self._version),
            *extent_arguments(options.get("profile", {})),
            *self._shape_arguments(),
            *ONCE,  # formats and extents of tensors are reported only if the engine ran
        ]
        progress("build")
        begin = time.perf_counter()
        try:
            command = self._call(arguments, os.path.join(out_folder, LOG), progress)
        except BaseException:
            self._forget()
            raise
        return {
            "command": command,
            "device": self._devices[0]["name"] if self._devices else "",
            "phases": [{"name": "build", "ms": 1e3 * (time.perf_counter() - begin)}],
            "engine_bytes": os.path.getsize(self._engine) if os.path.exists(self._engine) else 0,
            **set_in_part(options, layers_of_nodes(os.path.join(out_folder, LOG)), self._version),
        }

    def run(self, request, files, out_folder, progress):
        """Runs the engine. The numbers are those that trtexec prints, with six digits."""
        handed = tensors.Handed(request, files, out_folder)
        with self._given(handed.inputs(), out_folder) as given, self._apart(out_folder) as folder:
            written = os.path.join(folder, "outputs.json")
            command = self._call([*given, f"--exportOutput={written}", *ONCE], os.path.join(folder, LOG), progress)
            arrays = outputs_in(text_of(written), self._outputs)
        return {**handed.give(arrays), "command": command, "remark": UNTRIED}

    def time(self, request, files, out_folder, progress):
        path = os.path.join(out_folder, TIMES)
        asked = [f"--warmUp={1e3 * request.get('warmup_seconds', 0):g}", f"--duration={request['seconds']:g}"]
        command = self._loaded(files, out_folder, [*asked, "--iterations=1", f"--exportTimes={path}"], progress)
        return {"ms": times_in(path), "command": command, "remark": f"{TIMES_ARE}; {UNTRIED_TIMES}"}

    def profile(self, request, files, out_folder, progress):
        """Profiles the engine. While it profiles, it writes no times of whole runs, so that the sum of the means of
        its layers is returned as one time."""
        path = os.path.join(out_folder, PROFILE)
        asked = [f"--iterations={request['runs']}", "--duration=0", f"--exportProfile={path}"]
        command = self._loaded(files, out_folder, asked, progress)
        return {"ms": [mean_in(path)], "command": command, "remark": UNTRIED_TIMES}

    def _loaded(self, files, out_folder, asked, progress):
        with self._given(npz.read(files["inputs.npz"]), out_folder) as given:
            return self._call([*given, *asked], os.path.join(out_folder, "run.log"), progress)

    @contextlib.contextmanager
    def _given(self, arrays, out_folder):
        """Returns the arguments that load the engine and these inputs."""
        if self._engine is None:
            raise base.Refusal("No network was compiled yet.")
        with self._apart(out_folder) as folder:
            files = []
            for index, (name, given) in enumerate(arrays.items()):
                path = os.path.join(folder, f"input{index}")
                with open(path, "wb") as file:
                    file.write(given.data if self._version >= FIRST_WITH_INT64 else without_int64(name, given))
                files.append(f"{name}:{path}")
                if self._shapes and name in self._shapes:
                    self._shapes[name] = list(given.dims)
            inputs = [f"--loadInputs={','.join(files)}"] if files else []
            yield [f"--loadEngine={self._engine}", *inputs, *self._shape_arguments()]

    @staticmethod
    def _apart(out_folder):
        """Returns a folder whose files do not belong to the answer."""
        return tempfile.TemporaryDirectory(prefix="run-", dir=os.path.dirname(out_folder))

    def _shape_arguments(self):
        return [f"--shapes={shapes_text(self._shapes)}"] if self._shapes else []

    def _forget(self):
        if self._engine is not None:
            shutil.rmtree(self._folder, ignore_errors=True)
        self._engine = None

    def _help(self):
        try:
            told = subprocess.run([self._program, "--help"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                  errors="replace", check=False)
        except OSError as error:
            raise base.Refusal(f"{self._program} cannot be started: {error}", kind="broken_package") from None
        if "--onnx" not in told.stdout:
            last = "\n".join(told.stdout.splitlines()[-LAST_LINES:])
            message = f"{self._program} --help does not list its options. It printed: {last}"
            raise base.Refusal(message, kind="broken_package")
        return told.stdout

    def _call(self, arguments, log, progress):
        """Runs trtexec and reports its progress from its log, which is written to the file `log`. Returns its
        output, in which paths that will not exist later are replaced by names of files. A caller that cancels ends
        the group of processes to which it belongs."""
        said = []
        with open(log, "w", encoding="utf-8") as file, subprocess.Popen(
            [self._program, *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            encoding="utf-8", errors="replace", cwd=os.path.dirname(log)
        ) as process:
            for line in process.stdout:
                file.write(line)
                said.append(line.rstrip("\n"))
                told = followed(said[-1])
                if told is not None:
                    progress(*told)
            status = process.wait()
        if status != 0:
            raise failure(status, said, in_words(self._version))
        return ["trtexec", *(without_folder(argument) for argument in arguments)]


def without_int64(name, given):
    """Returns the bytes of an input for a version that reads it as int32."""
    if given.descriptor != "<i8":
        return given.data
    try:
        return array.array("i", array.array("q", given.data)).tobytes()
    except OverflowError:
        raise base.Refusal(f"The input {name} has numbers that do not fit into int32, which TensorRT before version 10 "
                           "uses instead of int64.", kind="asked") from None


def typing_arguments(options, known, version):
    if options.get("typing") != "layers":
        if version < FIRST_WITH_STRONG_TYPES:
            raise base.Refusal(
                f"trtexec of TensorRT {in_words(version)} has no strongly typed networks; version 9 was the first.",
                kind="asked",
                help="Plan for the target tensorrt-8: types are then requested with options.",
            )
        return ["--stronglyTyped"] if "--stronglyTyped" in known else []  # since version 11, it is the only way
    if "--layerPrecisions" not in known:
        raise base.Refusal(
            f"trtexec of TensorRT {in_words(version)} has no layer precisions: the types in the network decide since "
            "version 11.",
            kind="asked",
            help="Plan for the target of this version: the types are then written into the network.",
        )
    arguments = [f"--{WEAK_TYPES[each]}" for each in options.get("allowed", [])]
    precisions, outputs = options.get("precisions", {}), options.get("output_types", {})
    if not precisions and not outputs:
        return arguments
    arguments.append(f"--precisionConstraints={options['constraints']}")
    if precisions:  # if a node has several layers, the parser names the further ones NAME_NUMBER
        each = (f"{name}:{WEAK_TYPES[kind]},{name}_*:{WEAK_TYPES[kind]}" for name, kind in precisions.items())
        arguments.append("--layerPrecisions=" + ",".join(each))
    if outputs:  # only by names: with a star, trtexec 9.0 to 10.16 sets another type than it reports
        each = (f"{name}:{WEAK_TYPES[kind]}" for name, kind in outputs.items())
        arguments.append("--layerOutputTypes=" + ",".join(each))
    return arguments


def layers_of_nodes(log):
    """Returns {node: layers that the parser made of it}, as the log of a build reports it."""
    layers = {}
    with open(log, encoding="utf-8") as file:
        for line in file:
            found = re.search(r"Registering layer: (.*) for ONNX node: (.*)", line)
            if found:
                layers.setdefault(found.group(2), []).append(found.group(1))
    return layers


def set_in_part(options, layers, version):
    """Returns the nodes with several layers of which only the first one could be named, because only its name is
    known in advance."""
    several = {node for node, each in layers.items() if len(each) > 1}
    precisions = options.get("precisions", {}) if version < FIRST_WITH_STARS else {}
    return {
        "calculation_set_in_part": sorted(several & set(precisions)),
        "output_set_in_part": sorted(several & set(options.get("output_types", {}))),
    }


def limit_arguments(options, version):
    arguments = []
    if options.get("workspace"):
        size = f"{options['workspace'] / (1 << 20):.12g}"  # in MiB; versions before 10 accept no suffix
        arguments.append(f"--memPoolSize=workspace:{size}{'M' if version >= (10,) else ''}")
    if options.get("timing_cache"):
        arguments.append(f"--timingCacheFile={options['timing_cache']}")
    return arguments


def extent_arguments(profile):
    bounds = ("min", "opt", "max") if profile else ()
    return [f"--{each}Shapes={shapes_text({name: told[each] for name, told in profile.items()})}" for each in bounds]


def shapes_text(shapes):
    return ",".join(f"{name}:{'x'.join(map(str, dims)) or 'scalar'}" for name, dims in shapes.items())


def without_folder(argument):
    option, _, value = argument.partition("=")
    if option == "--loadInputs":
        return f"{option}={','.join(re.sub(':.*/', ':', each) for each in value.split(','))}"
    return f"{option}={os.path.basename(value)}" if value.startswith("/") else argument


def followed(line):
    """Returns (phase, detail) for a line of the log that reports progress, otherwise None."""
    for pattern, phase in (
        (r"Registering layer: (.*) for ONNX node", "import"),
        (r"Timing Runner: (.*) \(", "choose kernels"),
        (r"Autotuning Reformat: (.*?) \*", "choose reformats"),
        (r"(Engine built in .*)", "build"),
        (r"(Starting inference.*)", "run"),
    ):
        found = re.search(pattern, line)
        if found:
            return phase, found.group(1)
    return None


def failure(status, said, version):
    text = "\n".join(said)
    found = (re.match(r"\[[^\]]*\] \[E\] (?:\[TRT\] )?(.*)", line) for line in said)
    errors = [each.group(1) for each in found if each]
    unknown = re.search(r"Unknown option: (--\w+)", text)
    if unknown:
        return base.Refusal(f"trtexec of TensorRT {version} has no option {unknown.group(1)}.", kind="asked",
                            help="Plan for the target of its version, which determines the options that it has.")
    if status < 0:
        name = signal.Signals(-status).name if -status in signal.Signals.__members__.values() else -status
        why = " The system ends processes in this way when memory runs out." if status == -signal.SIGKILL else ""
        last = "\n".join(said[-LAST_LINES:])
        return base.Refusal(f"trtexec was ended by the signal {name}.{why} It printed last: {last}", kind="failed")
    words = "\n".join(errors or said[-LAST_LINES:]) or f"trtexec ended with status {status} and printed nothing."
    wrong_card = re.search("incompatible device|different.*device", words)
    kind = "memory" if re.search("out ?of ?memory", words, re.IGNORECASE) else "asked" if wrong_card else "refused"
    return base.Refusal(words, kind=kind,
                        help="Compile it again on the card on which it is to run." if wrong_card else "")


def version_in(text):
    """Returns (10, 16, 1) for "[TensorRT v101601]" and (8, 6, 1) for "v8601"."""
    found = re.search(r"\[TensorRT v(\d+)\]", text)
    if found is None:
        raise base.Refusal("trtexec --help does not report its version.", kind="broken_package")
    number = int(found.group(1))
    unit = 10_000 if number >= 100_000 else 1_000
    return number // unit, number % unit // 100, number % 100


def in_words(version):
    return ".".join(map(str, version))


def text_of(path):
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()
    except OSError:
        raise base.Refusal(f"trtexec ended without an error but did not write {os.path.basename(path)}.",
                           kind="asked") from None


def read_json(text, what):
    """Reads JSON as trtexec writes it, with numbers that may be nan or inf."""
    words = re.sub(r"(?<=[\s,\[:])-?nan(?=[\s,\]}])", "NaN", text)  # Python's JSON does not allow a sign there
    words = re.sub(r"(?<=[\s,\[:])(-?)inf(?=[\s,\]}])", r"\1Infinity", words)
    try:
        return json.loads(words)
    except ValueError as error:
        raise base.Refusal(f"The file of trtexec about its {what} is not complete JSON: {error}") from None


def times_in(path):
    """Returns the milliseconds that the card took for each run, without transfers."""
    runs = read_json(text_of(path), "times")
    if not isinstance(runs, list) or not all(isinstance(run, dict) and "computeMs" in run for run in runs):
        raise base.Refusal("The file of trtexec about times is not a list of runs.")
    return [run["computeMs"] for run in runs]


def mean_in(path):
    """Returns the sum of the mean milliseconds of all layers of a profile."""
    rows = read_json(text_of(path), "profile")
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise base.Refusal("The file of trtexec about layers is not a list of layers.")
    return sum(row.get("averageMs", 0) for row in rows)


def outputs_in(text, types):
    """Returns {name: npz.Array} from the file that --exportOutput writes."""
    arrays = {}
    for told in read_json(text, "outputs"):
        dims = [int(extent) for extent in re.findall(r"\d+", told["dimensions"])]
        arrays[told["name"]] = array_of(told["values"], dims, types.get(told["name"], "f32"))
    missing = [name for name in types if name not in arrays]
    if missing:
        raise base.Refusal(f"trtexec wrote no values of the output {missing[0]}.")
    return arrays


def array_of(values, dims, kind):
    if kind == "bf16":
        data = struct.pack(f"<{len(values)}H", *map(as_bf16, values))
    elif kind in PACKED:
        whole = PACKED[kind] not in "fed"
        data = struct.pack(f"<{len(values)}{PACKED[kind]}", *((int(value) for value in values) if whole else values))
    else:
        raise base.Refusal(f"An output has the type {kind}, which cannot be read from what trtexec prints.")
    return npz.Array(tensors.TYPES[kind], dims, data)


def as_bf16(value):
    """Returns the bits of the nearest bfloat16, because only six digits of the number were printed."""
    bits = struct.unpack("<I", struct.pack("<f", value))[0]
    return (bits + (0x7FFF + (bits >> 16 & 1) if math.isfinite(value) else 0)) >> 16
