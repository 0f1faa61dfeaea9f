"""torch: runs an exported program (.pt2) of a network unchanged (eager), or compiled by TorchInductor.

Options of `compile`:

    mode      "eager" or "inductor"
    device    "cpu", "cuda", or "auto": the first CUDA card if there is one
    half      "f16" or "bf16"; if it is absent, floats keep their types
    half_by   "autocast": torch's autocast chooses by operator; "whole": all floats of the program get that type
    tf32      "default": f32 is multiplied in TF32 where torch does so by itself; "off": nowhere
    threads   0: torch decides
    inputs    [{name, called, type, dims, extents}], in the network's order: `called` is the author's name; an extent of
              `dims` that is null may have any value; `extents` are those for which the program is compiled
    outputs   [{name, called, type, dims}]

`export {names{}, outputs[]}` makes an ONNX network from the exported program: ../torch_export.py. `capture` runs a
file, whose hash the user has confirmed, and makes an exported program from it: ../torch_capture.py. It has either
{script{path, function, sha256}, breaks} or {torchscript{sha256}, inputs[{name, type, dims}], wanted}.

Files of answers: program.json describes the program and what each of its nodes did in a run; provenance.json
contains what TorchInductor reports about its kernels; profile.json contains what torch's profiler recorded;
network.onnx is the result of `export`, with large weights in a file beside it; program.pt2 or network.onnx is the
result of `capture`.
"""

import json
import os
import re
import shutil
import tempfile

from .. import base, tensors, torch_capture, torch_export, torch_profile, torch_script
from .. import torch_program as programs

DISTRIBUTIONS = ("torch",)

OLDEST = (2, 11)
PROGRAM = "program.pt2"
SCRIPT, TORCHSCRIPT = "script.py", "model.pt"  # the files that `capture` receives
MOST_PROFILED = 20  # number of runs
DRIVER = "/proc/driver/nvidia/version"
NO_COMPILER = ("InvalidCxxCompiler", "Failed to find C compiler", "Python.h")
UNMOVED = "inputs lie on the card before a run begins, and outputs stay there: no transfers are counted"


class Compiler(base.Compiler):
    def __init__(self):
        self._program = self._run = None
        self._device, self._mode, self._kernels = "cpu", "eager", []
        self._tf32 = None  # where torch allows it by itself

    def open(self, request, files, out_folder, progress):
        programs.keep_within(out_folder)
        self._torch = base.import_package("torch", DISTRIBUTIONS[0])
        self._numpy = base.import_package("numpy", "numpy")
        version = self._torch.__version__
        if tuple(int(number) for number in re.findall(r"\d+", version)[:2]) < OLDEST:
            raise base.Refusal(
                f"This is torch {version}, but Fusescope needs 2.11 or newer.",
                kind="asked",
                help="Use an environment with a newer torch.",
            )
        cards, why_none = cards_of(self._torch)
        about = {
            "cuda": self._torch.version.cuda or "",
            "driver": driver_version(),
            "why_no_device": why_none,
            "threads": os.cpu_count(),
            "compiler": shutil.which(os.environ.get("CXX", "g++")) or "",
        }
        return {"version": version, "devices": [*cards, {"name": "cpu"}], "about": about}

    def compile(self, request, files, out_folder, progress):
        options = request["options"]
        self._program = self._run = None
        self._mode, self._device = options["mode"], self._device_of(options["device"])
        base.reset_peak()
        if options.get("threads"):
            self._torch.set_num_threads(options["threads"])
        if self._device != "cpu":
            self._allow_tf32(options.get("tf32") != "off")
        phases = []
        with base.phase("load", phases, progress):
            exported = programs.load(self._torch, files[PROGRAM])
            program = programs.Program(self._torch, exported, self._device, options)
        with base.phase("observe", phases, progress), self._words("run the exported program"):
            nodes = program.observed()
        write(os.path.join(out_folder, "program.json"), {"nodes": nodes, "weights": program.weights()})
        run = program.module
        if self._mode == "inductor":
            with base.phase("inductor", phases, progress), self._words("compile the exported program"):
                run, told = self._compile(program)
            write(os.path.join(out_folder, "provenance.json"), told)
        self._program, self._run = program, run
        return {
            "phases": phases,
            "peak_bytes": base.peak_bytes(),
            "device": self._device,
            "card": self._torch.cuda.get_device_name() if self._device != "cpu" else "",
            "tf32": tf32_of(self._torch) if self._device != "cpu" else [],
            "device_bytes": self._torch.cuda.max_memory_allocated() if self._device != "cpu" else 0,
        }

    def export(self, request, files, out_folder, progress):
        phases = []
        base.reset_peak()
        with base.phase("load", phases, progress):
            exported = programs.load(self._torch, files[PROGRAM])
        with base.phase("export", phases, progress):
            path = os.path.join(out_folder, torch_export.NETWORK)
            outputs = request.get("outputs", [])
            told = torch_export.export(self._torch, exported, request.get("names", {}), outputs, path)
        return {**told, "phases": phases, "peak_bytes": base.peak_bytes()}

    def capture(self, request, files, out_folder, progress):
        script = request.get("script")
        if script is None:
            content = torch_capture.confirmed_bytes(files[TORCHSCRIPT], request["torchscript"]["sha256"])
            progress("convert")
            inputs, wanted = request.get("inputs", []), request.get("wanted", "")
            return torch_capture.capture_torchscript(self._torch, content, inputs, wanted, out_folder)
        content = torch_capture.confirmed_bytes(files[SCRIPT], script["sha256"])
        progress("run", script["path"])
        loaded = torch_script.load(self._torch, content, script["path"], script["function"])
        progress("export")
        return torch_capture.capture_script(self._torch, loaded, bool(request.get("breaks")), out_folder)

    def run(self, request, files, out_folder, progress):
        handed = tensors.Handed(request, files, out_folder, self._numpy)
        args, kwargs = self._given(handed.inputs())
        progress("run")
        with self._words("run the network"), self._program.calculating():
            outputs = self._program.outputs(self._run(*args, **kwargs))
        return handed.give({name: self._array(tensor) for name, tensor in outputs.items()})

    def time(self, request, files, out_folder, progress):
        args, kwargs = self._given(self._read(files))
        once = lambda: self._once(self._run, args, kwargs)  # noqa: E731
        with self._words("run the network"), self._program.calculating():
            progress("warm up")
            base.times_of_runs(once, request.get("warmup_seconds", 0), least=3)
            progress("time")
            ms = base.times_of_runs(once, request.get("seconds", 1), least=3)
        return {"ms": ms, **({"remark": UNMOVED} if self._device != "cpu" else {})}

    def profile(self, request, files, out_folder, progress):
        """Profiles a program. Eager nodes are called one by one, each under its name, because torch's profiler knows
        only operators."""
        args, kwargs = self._given(self._read(files))
        if self._mode == "eager":
            run = lambda named: self._program.named_run(args, kwargs, named)  # noqa: E731
        else:
            run = lambda _: self._run(*args, **kwargs)  # noqa: E731
        runs = max(3, min(int(request.get("runs", 10)), MOST_PROFILED))
        progress("profile")
        with self._words("profile the network"), self._program.calculating():
            ms, events = torch_profile.profiled(self._torch, run, runs, self._device != "cpu", out_folder)
        kernels = {} if self._mode == "eager" else {"kernels": self._kernels}
        write(os.path.join(out_folder, "profile.json"), {**events, **kernels})
        return {"ms": ms}

    def _allow_tf32(self, as_by_itself):
        """Sets whether TF32 may be used, because a job may compile again with other options."""
        backends = self._torch.backends
        if self._tf32 is None:
            self._tf32 = (backends.cuda.matmul.allow_tf32, backends.cudnn.allow_tf32)
        backends.cuda.matmul.allow_tf32, backends.cudnn.allow_tf32 = self._tf32 if as_by_itself else (False, False)

    def _device_of(self, asked):
        has_card = self._torch.cuda.is_available()
        if asked == "auto":
            return "cuda" if has_card else "cpu"
        if asked == "cuda" and not has_card:
            raise base.Refusal(
                f"torch finds no CUDA card here. {cards_of(self._torch)[1]}",
                kind="asked",
                help="Give device=cpu, or use an environment on a machine with a card.",
            )
        return asked

    def _compile(self, program):
        """Compiles for the usual inputs. Returns what runs, and what TorchInductor writes about the kernels that it
        made."""
        folder = tempfile.mkdtemp(prefix="inductor-")
        os.environ["TORCHINDUCTOR_CACHE_DIR"] = os.path.join(folder, "cache")
        os.environ["TRITON_CACHE_DIR"] = os.path.join(folder, "triton")
        os.environ.setdefault("TORCHINDUCTOR_COMPILE_THREADS", "1")
        import torch._dynamo
        import torch._inductor.config as config

        torch._dynamo.reset()
        asked = torch_profile.told_of_kernels(config, os.path.join(folder, "told"))
        args, kwargs = program.arguments(program.usual_inputs())
        graphs = []
        with config.patch(asked), program.calculating():
            run = self._torch.compile(program.module, backend=watched_inductor(graphs))
            self._once(run, args, kwargs)
        told = torch_profile.provenance(os.path.join(folder, "told"))
        self._kernels = [name for graph in told for name in torch_profile.in_order(graph["kernels"])]
        return run, {"graphs": told, "nodes": graphs}

    def _once(self, run, args, kwargs):
        result = run(*args, **kwargs)
        if self._device != "cpu":
            self._torch.cuda.synchronize()
        return result

    def _given(self, arrays):
        if self._program is None:
            raise base.Refusal("No network was compiled yet.")
        return self._program.arguments({name: self._tensor(array) for name, array in arrays.items()})

    def _read(self, files):
        with self._numpy.load(files["inputs.npz"], allow_pickle=False) as arrays:
            return {name: arrays[name] for name in arrays.files}

    def _tensor(self, array):
        if array.dtype.kind == "V" and array.dtype.itemsize == 2:
            return self._torch.from_numpy(array.view(self._numpy.int16).copy()).view(self._torch.bfloat16)
        if array.dtype.kind not in "fiub":
            raise base.Refusal(f"torch has no tensors of the type {array.dtype}.")
        return self._torch.from_numpy(self._numpy.array(array))

    def _array(self, tensor):
        tensor = tensor.cpu().contiguous()
        if tensor.dtype == self._torch.bfloat16:
            return tensor.view(self._torch.int16).numpy().view("V2")
        return tensor.numpy()

    def _words(self, doing):
        return Words(doing)


class Words:
    """Turns a failure of torch into a refusal with torch's words. It does not look for a node that caused it,
    because a program runs as a whole."""

    def __init__(self, doing):
        self._doing = doing

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        if error is None or isinstance(error, (base.Refusal, MemoryError)) or not isinstance(error, Exception):
            return False
        words = f"torch could not {self._doing}. {programs.first_lines(error)}"
        if any(known in str(error) for known in NO_COMPILER):
            raise base.Refusal(
                f"TorchInductor needs a C++ compiler and Python's headers, which are missing here. {words}",
                kind="asked",
                help="Install g++ and python3-dev, or set CXX to the path of the compiler; mode=eager needs neither.",
            ) from error
        raise base.Refusal(words, kind="asked") from error


def watched_inductor(graphs):
    """Returns TorchInductor as a backend of torch.compile that records in `graphs` what it receives: nodes may have
    other names there than in the program."""
    from torch._dynamo.backends.registry import lookup_backend

    inductor = lookup_backend("inductor")

    def compile(module, inputs):
        graphs.append([programs.about(node) for node in module.graph.nodes if node.op == "call_function"])
        return inductor(module, inputs)

    return compile


def cards_of(torch):
    """Returns [{name, sm, memory}] and, if it is empty, the reason as a sentence."""
    if torch.version.cuda is None:
        return [], "This torch was built without CUDA."
    try:
        found = []
        for index in range(torch.cuda.device_count()):
            facts = torch.cuda.get_device_properties(index)
            found.append({"name": facts.name, "sm": f"{facts.major}{facts.minor}", "memory": facts.total_memory})
    except Exception as error:  # a driver that is too old, or a card in a bad state
        return [], f"CUDA cannot be used here: {programs.first_lines(error, 1)}"
    return found, "" if found else "There is no NVIDIA driver here, or it knows no card."


def tf32_of(torch):
    """Returns where the card may multiply floats of f32 in TF32."""
    if torch.cuda.get_device_capability() < (8, 0):
        return []
    allowed = {
        "matrix products": torch.backends.cuda.matmul.allow_tf32,
        "convolutions": torch.backends.cudnn.enabled and torch.backends.cudnn.allow_tf32,
    }
    return [where for where, is_allowed in allowed.items() if is_allowed]


def driver_version():
    """Returns the version of the NVIDIA driver, or "" if there is none."""
    try:
        with open(DRIVER, encoding="utf-8", errors="replace") as file:
            found = re.search(r"\b\d+\.\d+(\.\d+)?\b", file.readline())
    except OSError:
        return ""
    return found.group(0) if found else ""


def write(path, json_value):
    with open(path, "w", encoding="utf-8") as file:
        json.dump(json_value, file)
