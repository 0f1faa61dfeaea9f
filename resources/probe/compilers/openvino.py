"""OpenVINO: imports a network, compiles it for a device, and writes files that describe what it imported and what it
made of it.

If `support` has `next_threads`, the network will be compiled next with this number of threads. If all of it was
imported, it is compiled immediately, because what compiles is supported, and asking about support takes long.

`compile`, `support` and `profile` have these options:

    device     a name that `open` lists; "CPU" if it is absent
    hint       "f32", "bf16" or "f16": the type in which floats may be calculated
    keep       names of values: the operators that make them keep their types
    threads    0: OpenVINO decides

`mark` of `compile` names values that become additional outputs.

Files of answers: model.json is the network as it was imported, before it was optimised; execution.xml is the
execution graph, in which originalLayersNames contains the names of model.json.
"""

import json
import os
import time

from .. import base, tensors
from ..blobs import link_or_copy

DISTRIBUTIONS = ("openvino",)

# Without this variable, numpy starts threads that wait for work in a loop, although nothing here multiplies with numpy.
AHEAD = (("openvino",), {"OPENBLAS_NUM_THREADS": "1"})

MODEL = "model.json"
EXECUTION = "execution.xml"
BLOB, KERNELS = "compiled.blob", "kernels.json"
NO_RULE = ("ONNXFrameworkNode", "NotSupportedONNXNode")  # operators that represent a node that was not converted
KEEP = "DisablePrecisionConversion_0"
# Python has no way to make the value of this attribute; reading a network that has it makes one, which can be copied.
KEEPING = """<?xml version="1.0"?>
<net name="keeping" version="11">
 <layers>
  <layer id="0" name="x" type="Parameter" version="opset1"><data shape="1" element_type="f32"/>
   <output><port id="0" precision="FP32"><dim>1</dim></port></output></layer>
  <layer id="1" name="kept" type="Relu" version="opset1">
   <rt_info><attribute name="precise" version="0"/></rt_info>
   <input><port id="0" precision="FP32"><dim>1</dim></port></input>
   <output><port id="1" precision="FP32"><dim>1</dim></port></output></layer>
  <layer id="2" name="y" type="Result" version="opset1"><input><port id="0" precision="FP32"><dim>1</dim></port></input>
  </layer>
 </layers>
 <edges>
  <edge from-layer="0" from-port="0" to-layer="1" to-port="0"/>
  <edge from-layer="1" from-port="1" to-layer="2" to-port="0"/>
 </edges>
</net>"""


class Compiler(base.Compiler):
    def __init__(self):
        self._ov = self._core = None
        self._model = self._options = None  # the network that was compiled last
        self._asked = None  # the network that support() read last
        self._compiled = None
        self._blob = self._mapped = None  # the path of the network that was loaded last; its bytes
        self._alive = None

    def open(self, request, files, out_folder, progress):
        base.set_variables(AHEAD)
        self._ov = base.import_package("openvino", DISTRIBUTIONS[0])
        self._core = self._ov.Core()
        devices = [
            {
                "name": name,
                "title": str(self._core.get_property(name, "FULL_DEVICE_NAME")),
                "capabilities": [str(each) for each in self._core.get_property(name, "OPTIMIZATION_CAPABILITIES")],
            }
            for name in self._core.available_devices
        ]
        build = self._ov.get_version()
        return {"version": build.split("-")[0], "devices": devices, "about": {"build": build}}

    def support(self, request, files, out_folder, progress):
        options = request.get("options", {})
        progress("import")
        asked = Asked(base.identity(files["network.onnx"]), os.path.join(out_folder, MODEL))
        with asked.phases("import"):
            asked.model, words = self._read_what_converts(files["network.onnx"])
        model = asked.model
        ops = numbered(model)
        write_model(ops, asked.written)
        self._asked = None if words else asked
        unconverted = [
            {"op": name, "attributes": {key: str(value) for key, value in op.get_attributes().items()}}
            for name, op in ops.items()
            if op.get_type_name() in NO_RULE
        ]
        progress("ask")
        device = options.get("device", "CPU")
        if request.get("next_threads") and not words and not unconverted:
            asked.options = {**options, "threads": request["next_threads"]}
            asked.kept = self._keep(ops, options.get("keep", []))
            try:
                with asked.phases("compile"):
                    asked.compiled = self._compile(model, asked.options)
                return {"devices": dict.fromkeys(ops, device), "unconverted": [], "words": ""}
            except RuntimeError:
                self._asked = None  # the device says what does not compile
        devices = self._core.query_model(model, device)
        return {"devices": dict(devices), "unconverted": unconverted, "words": words}

    def compile(self, request, files, out_folder, progress):
        self._model = self._compiled = None
        self._options = request.get("options", {})
        asked, self._asked = self._asked, None
        if asked is None or asked.identity != base.identity(files["network.onnx"]):
            asked = Asked(None, None)
        phases = Phases(progress)
        with phases("import"):
            model = asked.model or self._core.read_model(files["network.onnx"])
            if request.get("mark"):
                model.add_outputs(request["mark"])
                asked.written = asked.compiled = None
        with phases("name"):
            ops = numbered(model)
            if asked.written is not None and os.path.isfile(asked.written):
                link_or_copy(asked.written, os.path.join(out_folder, MODEL))
            else:
                write_model(ops, os.path.join(out_folder, MODEL))
            is_compiled = asked.compiled is not None and asked.options == self._options
            kept = asked.kept if is_compiled else self._keep(ops, self._options.get("keep", []))
        with phases("compile"):
            compiled = asked.compiled if is_compiled else self._compile(model, self._options)
        for each in phases.list:
            if each["name"] != "compile" or is_compiled:
                each["ms"] += asked.phases.ms(each["name"])
        with phases("tell"):
            self._write_execution(compiled, out_folder)
        self._model, self._compiled = model, compiled
        return {
            "phases": phases.list,
            "peak_bytes": base.peak_bytes(),
            "kept": kept,
            "hint": compiled.get_property("INFERENCE_PRECISION_HINT").get_type_name(),
            "threads": compiled.get_property("INFERENCE_NUM_THREADS"),
            "streams": int(compiled.get_property("NUM_STREAMS")),
        }

    def save(self, request, files, out_folder, progress):
        """Writes the compiled network as OpenVINO exports it, and what its kernels are."""
        if self._compiled is None:
            raise base.Refusal("Nothing was compiled yet.")
        progress("save")
        with open(os.path.join(out_folder, BLOB), "wb") as file:
            file.write(as_bytes(self._compiled.export_model()))
        with open(os.path.join(out_folder, KERNELS), "w", encoding="utf-8") as file:
            json.dump(kernels_of(self._compiled), file)
        return {}

    def load(self, request, files, out_folder, progress):
        """Imports what save() wrote. It is refused if its kernels are others than when it was compiled."""
        self._model = self._compiled = None
        self._options = request.get("options", {})
        progress("load")
        compiled = self._imported(files[BLOB], self._options)
        with open(files[KERNELS], encoding="utf-8") as file:
            if json.load(file) != kernels_of(compiled):
                raise base.Refusal("The imported network has other kernels than the compiled one.", kind="failed")
        self._blob, self._compiled = files[BLOB], compiled
        return {}

    def run(self, request, files, out_folder, progress):
        import numpy

        handed = tensors.Handed(request, files, out_folder, numpy)
        ask = self._ready_with(self._compiled, handed.inputs())
        ask.infer()
        outputs = {}
        for index, port in enumerate(self._compiled.outputs):
            for name in port.get_names():
                outputs[name] = as_array(ask.get_output_tensor(index))
        return handed.give(outputs)

    def time(self, request, files, out_folder, progress):
        ask = self._ready(self._compiled, files["inputs.npz"])
        base.times_of_runs(ask.infer, request.get("warmup_seconds", 0), least=0)
        return {"ms": base.times_of_runs(ask.infer, request.get("seconds", 1))}

    def profile(self, request, files, out_folder, progress):
        if self._compiled is None:
            raise base.Refusal("Nothing was compiled yet.")
        progress("compile")
        compiled = self._again({"PERF_COUNT": True})
        ask = self._ready(compiled, files["inputs.npz"])
        progress("run")
        ms = base.times_of_runs(ask.infer, 0, least=max(int(request.get("runs", 10)), 10))
        self._write_execution(compiled, out_folder)
        layers = [
            {
                "name": each.node_name,
                "type": each.node_type,
                "kernel": each.exec_type,
                "status": each.status.name,
                "us": each.real_time.total_seconds() * 1e6,
            }
            for each in ask.profiling_info
        ]
        return {"ms": ms, "layers": layers}

    def _compile(self, model, options, more=()):
        return self._core.compile_model(model, options.get("device", "CPU"), self._properties(options, more))

    def _imported(self, path, options, more=()):
        import numpy

        # Pages are read when they are needed; a private mapping may be written to, which Tensor requires.
        self._mapped = self._ov.Tensor(numpy.memmap(path, numpy.uint8, mode="c"))
        return self._core.import_model(self._mapped, options.get("device", "CPU"), self._properties(options, more))

    def _again(self, more):
        """Makes what was compiled or loaded last once more, with additional properties."""
        if self._model is not None:
            return self._compile(self._model, self._options, more)
        return self._imported(self._blob, self._options, more)

    @staticmethod
    def _properties(options, more):
        asked = {
            "INFERENCE_PRECISION_HINT": options.get("hint", "f32"),
            "PERFORMANCE_HINT": "LATENCY",
            "NUM_STREAMS": 1,
            **dict(more),
        }
        if options.get("threads"):
            asked["INFERENCE_NUM_THREADS"] = int(options["threads"])
        return asked

    def _read_what_converts(self, path):
        """Returns the network, and what the importer says if it does not convert all of it."""
        try:
            return self._core.read_model(path), ""
        except RuntimeError as error:
            words = str(error).strip()
        from openvino.frontend import FrontEndManager

        importer = FrontEndManager().load_by_framework("onnx")
        try:
            file = importer.load(path)
            self._alive = importer, file  # operators of the model use both
            return importer.convert_partially(file), words
        except RuntimeError:
            raise base.Refusal(words) from None

    def _keep(self, ops, values):
        """Marks the operators that make these values, with the unnamed operators that belong to them (parts()).
        Returns the names of all of them."""
        if not values:
            return []
        example = self._core.read_model(KEEPING, self._ov.Tensor(self._ov.Type.u8, [0]))
        mark = next(op for op in example.get_ops() if op.get_type_name() == "Relu").get_rt_info()[KEEP]
        wanted = set(values)
        names = {op.get_instance_id(): name for name, op in ops.items()}
        kept = {}
        for name, op in ops.items():
            if any(wanted & output.get_names() for output in op.outputs()):
                kept.update(dict.fromkeys(parts(op, names)))
        for name in kept:
            ops[name].set_rt_info(mark, KEEP)
        return list(kept)

    def _write_execution(self, compiled, out_folder):
        weights = os.path.join(out_folder, "execution.bin")
        os.symlink(os.devnull, weights)  # it is as large as the network, and nobody reads it
        self._ov.serialize(compiled.get_runtime_model(), os.path.join(out_folder, EXECUTION), weights)
        os.unlink(weights)

    def _ready(self, compiled, path):
        """Returns a request whose inputs are set to those of the file."""
        import numpy

        with numpy.load(path, allow_pickle=False) as arrays:
            return self._ready_with(compiled, arrays)

    def _ready_with(self, compiled, arrays):
        """Does the same with these arrays, by name."""
        if compiled is None:
            raise base.Refusal("Nothing was compiled yet.")
        ask = compiled.create_infer_request()
        for index, port in enumerate(compiled.inputs):
            name = next((each for each in port.get_names() if each in arrays), None)
            if name is None:
                raise base.Refusal(f"The value is missing for the input \"{port.get_any_name()}\".")
            ask.set_input_tensor(index, self._as_tensor(arrays[name], port))
        return ask

    def _as_tensor(self, array, port):
        import numpy

        if array.dtype.kind == "V":  # a type that numpy does not have: bfloat16
            data = numpy.frombuffer(array.tobytes(), numpy.uint16)
            return self._ov.Tensor(data, self._ov.Shape(list(array.shape)), port.get_element_type())
        return self._ov.Tensor(array if array.flags.c_contiguous else array.copy())


class Asked:
    """The network that support() read, and perhaps compiled, for the following compile()."""

    def __init__(self, identity, written):
        self.identity, self.written = identity, written  # the file's path; the file to which the network is described
        self.model = self.compiled = self.options = None
        self.kept, self.phases = [], Phases(lambda name: None)


class Phases:
    """`with phases(name): …` measures a phase and reports its progress."""

    def __init__(self, progress):
        self.list, self._progress = [], progress

    def __call__(self, name):
        self._progress(name)
        self.list.append({"name": name, "ms": 0.0})
        return self

    def __enter__(self):
        self._start = time.perf_counter()

    def __exit__(self, *error):
        self.list[-1]["ms"] = (time.perf_counter() - self._start) * 1e3

    def ms(self, name):
        return sum(each["ms"] for each in self.list if each["name"] == name)


def as_bytes(exported):
    """Returns the bytes of an exported network: a stream, or, in earlier versions, bytes."""
    return exported.getbuffer() if hasattr(exported, "getbuffer") else exported


def kernels_of(compiled):
    """Returns the kernels of a compiled network, sorted: names, types, primitives and formats. Which operators a kernel
    contains is lost when a network is exported."""
    facts = ("layerType", "primitiveType", "outputPrecisions", "outputLayouts", "runtimePrecision")

    def kernel(op):
        info = op.get_rt_info()
        return [op.get_friendly_name(), *(str(info[fact].value) if fact in info else "" for fact in facts)]

    return sorted(kernel(op) for op in compiled.get_runtime_model().get_ordered_ops())


def numbered(model):
    """Gives the operators of a network the new names #0, #1, …, because the names of its nodes may contain commas or
    blanks, or may be equal."""
    ops = {}
    for index, op in enumerate(model.get_ordered_ops()):
        op.set_friendly_name(f"#{index}")
        ops[f"#{index}"] = op
    return ops


def write_model(ops, path):
    names = {op.get_instance_id(): name for name, op in ops.items()}
    listed = [
        {
            "name": name,
            "type": op.get_type_name(),
            "outs": [sorted(output.get_names()) for output in op.outputs()],
            "ins": [[names[each.get_node().get_instance_id()], each.get_index()] for each in op.input_values()],
        }
        for name, op in ops.items()
    ]
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"format": "fusescope.openvino_model", "version": 1, "ops": listed}, file)


def parts(op, names):
    """Returns the names of `op` and of the operators without a named value on which it depends: all operators that
    one node became."""
    found, waiting = [], [op]
    while waiting:
        each = waiting.pop()
        if each.get_type_name() in ("Constant", "Parameter", "Result"):
            continue
        found.append(names[each.get_instance_id()])
        for source in each.input_values():
            if not any(output.get_names() for output in source.get_node().outputs()):
                waiting.append(source.get_node())
    return found


def as_array(tensor):
    """Returns the contents of `tensor` in a type of numpy. A bfloat16 is returned as two bytes."""
    import numpy

    if tensor.get_element_type().get_type_name() == "bf16":
        return numpy.frombuffer(tensor.data.tobytes(), "V2").reshape(tuple(tensor.get_shape()))
    return tensor.str_data if tensor.get_element_type().get_type_name() == "string" else tensor.data
