"""Torch-TensorRT: how it would divide an exported program (.pt2) into TensorRT engines, and what would stay in
torch. Only its dry run is used, which converts nothing, so that nothing can be run afterwards.

Options of `compile`:

    min_block_size           the least number of operators of an engine
    truncate_double          whether doubles that an engine reads are converted to floats before it
    torch_executed_ops       [qualified names]: operators that are kept in torch
    require_full_compilation whether a program that does not become a single engine is refused
    inputs, outputs          as in torch.py

Files of answers: program.json contains the program as torch.py writes it, except that nobody ran it; partition.json
is described in ../torch_partition.py.
"""

import json
import os
import sys

from .. import base, torch_partition, torch_tensorrt_shim
from .. import torch_program as programs

DISTRIBUTIONS = ("torch-tensorrt-rtx", "torch-tensorrt")

PROGRAM = "program.pt2"


class Compiler(base.Compiler):
    def open(self, request, files, out_folder, progress):
        programs.keep_within(out_folder)
        distribution, version = installed()
        self._torch = base.import_package("torch", "torch")
        self._has_gpu = self._torch.cuda.is_available()
        if not self._has_gpu:
            torch_tensorrt_shim.check(version)
            torch_tensorrt_shim.before_import(self._torch)
        self._package = base.import_package("torch_tensorrt", distribution)
        if not self._has_gpu:
            torch_tensorrt_shim.after_import(self._torch)
        self._about = {
            "torch": self._torch.__version__,
            "tensorrt": tensorrt_version(),
            "flavour": "rtx" if distribution == DISTRIBUTIONS[0] else "server",
            "without_gpu": not self._has_gpu,
        }
        return {"version": version, "devices": [], "about": self._about}

    def compile(self, request, files, out_folder, progress):
        options = request["options"]
        base.reset_peak()
        phases = []
        with base.phase("load", phases, progress):
            exported = programs.load(self._torch, files[PROGRAM])
            device = "cuda" if self._has_gpu else "cpu"
            program = programs.Program(self._torch, exported, device, options)
            nodes = programs.listed(self._torch, exported)
            write(out_folder, "program.json", {"nodes": nodes, "weights": program.weights()})
            if self._has_gpu:
                exported = programs.on_device(exported, device)
        with base.phase("dry run", phases, progress):
            args, kwargs = program.arguments(program.usual_inputs())
            told = torch_partition.dry_run(self._torch, exported, args, kwargs, options)
        write(out_folder, "partition.json", told)
        return {**self._about, "phases": phases, "peak_bytes": base.peak_bytes()}


def installed():
    """Returns (package, version) of the installed flavour; if both are installed, that for RTX cards."""
    from importlib import metadata

    for name in DISTRIBUTIONS:
        try:
            return name, metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    raise base.no_package(DISTRIBUTIONS[0])


def tensorrt_version():
    """Returns the version of the package that it imports as tensorrt; "" if that does not report one."""
    return str(getattr(sys.modules.get("tensorrt"), "__version__", ""))


def write(folder, name, json_value):
    with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
        json.dump(json_value, file)
