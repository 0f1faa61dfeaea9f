"""TensorRT for servers, versions 10.1 to 11: `pip install tensorrt`. It needs an NVIDIA card for compiling as well
as for running.

It is untried: it was written from the documentation of its Python interface. What it has in common with TensorRT for
RTX, which was tried, is in tensorrt_rtx.py. This module contains what only this one has: networks that are not
strongly typed (until version 10), a timing cache, and an inspector that can be asked as soon as the engine is built.
"""

import contextlib
import os
import re
import shutil

from .. import base
from . import tensorrt_rtx as rtx

DISTRIBUTIONS = ("tensorrt", "tensorrt-cu13", "tensorrt-cu12", "tensorrt-cu11")
AHEAD = (("tensorrt",), {})

OLDEST = (10, 1)  # the first version whose parser says which parts of a network it supports
LAYERS = "layers.json"
TYPES = {"f32": "FLOAT", "f16": "HALF", "bf16": "BF16"}  # trt.DataType
FLAGS = {"f16": "FP16", "bf16": "BF16", "int8": "INT8"}  # trt.BuilderFlag: what the builder may use in addition to f32
UNTRIED = "Nobody has run TensorRT for servers through Fusescope yet: its part was written by its documentation."


class Compiler(rtx.Compiler):
    module, distribution, title, untried = "tensorrt", DISTRIBUTIONS[0], "TensorRT", UNTRIED

    def open(self, request, files, out_folder, progress):
        opened = super().open(request, files, out_folder, progress)
        if version_of(self._trt) < OLDEST:
            raise base.Refusal(
                f"This is TensorRT {self._trt.__version__}, but Fusescope needs 10.1 or newer.",
                kind="asked",
                help="Files in which an older version describes an engine can be read with fusescope import-engine.",
            )
        return opened

    def _of_about(self):
        return {"layer_precisions": has_layer_precisions(self._trt)}

    def _of_network(self, builder, options):
        trt = self._trt
        if options.get("typing") == "layers":
            if not has_layer_precisions(trt):
                raise base.Refusal(
                    f"TensorRT {trt.__version__} has no layer precisions: the types in the network decide since "
                    "version 11.",
                    kind="asked",
                    help="Plan for the target of this version: the types are then written into the network.",
                )
            return builder.create_network(0)
        # This is a flag until version 10. Later versions always do it, and a flag without effect may have been removed.
        strong = getattr(trt.NetworkDefinitionCreationFlag, "STRONGLY_TYPED", None)
        return builder.create_network(0 if strong is None or version_of(trt) >= (11,) else 1 << int(strong))

    def _of_types(self, network, config, options):
        if options.get("typing") != "layers":
            return {}
        flags = self._trt.BuilderFlag
        for allowed in options.get("allowed", []):
            config.set_flag(getattr(flags, FLAGS[allowed]))
        precisions, outputs = options.get("precisions", {}), options.get("output_types", {})
        if not precisions and not outputs:
            return {}
        config.set_flag(getattr(flags, f"{options['constraints'].upper()}_PRECISION_CONSTRAINTS"))
        return {**set_types(self._trt, network, precisions, outputs), "constraints": options["constraints"]}

    def _of_card(self, config, options):
        """Prepares a build for the card of this machine, the only one for which it compiles: reads the timing cache."""
        path = options.get("timing_cache")
        if not path:
            return
        folder = os.path.dirname(os.path.abspath(path))
        if not os.access(folder, os.W_OK):  # checked before minutes are spent on what should be stored
            raise base.Refusal(f"Nothing can be written into the folder {folder} of the timing cache.", kind="asked",
                               help="Give another file.")
        cache = config.create_timing_cache(read_or_empty(path))
        if cache is None or not config.set_timing_cache(cache, False):
            raise base.Refusal(
                f"The timing cache {path} belongs to another TensorRT or another card, or is damaged.",
                kind="asked",
                help="Give the name of another file, or remove this one.",
            )

    def _of_build(self, config, options):
        """Stores the timing cache. The engine exists by now, so that losing the times is no reason to lose the
        engine as well."""
        if not options.get("timing_cache"):
            return {}
        try:
            return {"timing_cache_bytes": keep_times(config, options["timing_cache"])}
        except OSError as error:
            return {"warnings": [f"the timing cache cannot be written: {error}"]}

    def _of_engine(self, out_folder):
        if not self._devices:
            return {}
        with open(os.path.join(out_folder, LAYERS), "w", encoding="utf-8") as file:
            file.write(self._prepared().inspected())
        return {"device": self._devices[0]["name"]}


def keep_times(config, path):
    """Writes the times so that other processes see either the whole new file or the old one. The rights of the file
    stay the same."""
    data = bytes(memoryview(config.get_timing_cache().serialize()))
    new = f"{path}.{os.getpid()}"
    try:
        with open(new, "wb") as file:
            file.write(data)
        with contextlib.suppress(FileNotFoundError):
            shutil.copymode(path, new)
        os.replace(new, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(new)
        raise
    return len(data)


def version_of(trt):
    """Returns (10, 16, 1) for "10.16.1.11"."""
    return tuple(int(number) for number in re.findall(r"\d+", trt.__version__)[:3])


def has_layer_precisions(trt):
    return hasattr(trt.BuilderFlag, "OBEY_PRECISION_CONSTRAINTS") and hasattr(trt.ILayer, "precision")


def read_or_empty(path):
    try:
        with open(path, "rb") as file:
            return file.read()
    except FileNotFoundError:
        return b""
    except OSError as error:
        raise base.Refusal(f"The timing cache cannot be read: {error}", kind="asked", help="Give another file.") from None


def set_types(trt, network, precisions, outputs):
    """Sets the types of all layers of floats that the parser made of a node in `precisions` or `outputs` (name ->
    type). Returns the types as [layer, node, type, "precision" | "output"], and the nodes without such a layer."""
    done, unmatched = [], set(precisions) | set(outputs)
    for index in range(network.num_layers):
        layer = network.get_layer(index)
        for node in nodes_of(layer):
            if (node not in precisions and node not in outputs) or not computes_floats(trt, layer):
                continue
            unmatched.discard(node)
            if node in precisions:
                layer.precision = getattr(trt.DataType, TYPES[precisions[node]])
                done.append([layer.name, node, precisions[node], "precision"])
            if node in outputs:
                for output in range(layer.num_outputs):
                    layer.set_output_type(output, getattr(trt.DataType, TYPES[outputs[node]]))
                done.append([layer.name, node, outputs[node], "output"])
    return {"types_set": done, "no_layer_of": sorted(unmatched)}


def nodes_of(layer):
    """Returns the names of the ONNX nodes from which the parser made a layer."""
    for piece in re.split("[\x1e\x1f]", layer.metadata or ""):
        match = re.fullmatch(r"\[ONNX Layer: (.*?)( \| .*)?\]", piece, re.DOTALL)
        if match:
            yield match.group(1)


def computes_floats(trt, layer):
    """Returns whether a layer calculates floats. Layers that process integers, booleans or extents keep their types."""
    floats = [getattr(trt.DataType, name) for name in TYPES.values()]
    outputs = [layer.get_output(i) for i in range(layer.num_outputs)]
    return any(not tensor.is_shape_tensor and tensor.dtype in floats for tensor in outputs)
