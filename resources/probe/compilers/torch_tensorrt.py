"""Torch-TensorRT: how it would divide an exported program (.pt2) into TensorRT engines and what stays in torch. It is
asked for its dry run alone, which converts nothing, so that nothing is there to be run afterwards.

Options of `compile`:

    min_block_size           the fewest operators of an engine
    truncate_double          whether doubles that an engine reads become floats in front of it
    torch_executed_ops       [qualified names], operators that are kept in torch
    require_full_compilation whether a program that does not become one engine is refused
    inputs, outputs          as of torch.py

Files of answers: program.json says what the program has, as torch.py writes it, but that nobody ran it; partition.json
is what ../torch_partition.py describes.
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
    """(package, version) of the one that is there: of both flavours the one for RTX cards stands first."""
    from importlib import metadata

    for name in DISTRIBUTIONS:
        try:
            return name, metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    raise base.no_package(DISTRIBUTIONS[0])


def tensorrt_version():
    """Of what it imports under the name of tensorrt; "" where that does not say it."""
    return str(getattr(sys.modules.get("tensorrt"), "__version__", ""))


def write(folder, name, json_value):
    with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
        json.dump(json_value, file)
