"""TensorRT for RTX: `pip install tensorrt-rtx`. It compiles without a card, but needs one to run what it compiled.

Only its documented Python interface is used. An engine is measured and discarded, unless `keep_engine` requests its
file or there is a card to run it. Running on a card is untried: that part was written from the documentation only.

The log is a file of lines, each of which is a JSON array [severity, text] with a whole message, because names in it
may contain line breaks.

TensorRT for servers has the same Python interface: tensorrt.py contains the same class for another module, and only
the methods that begin with `_of_` differ.
"""

import contextlib
import json
import os
import re
import sys
import time

from .. import base, cuda, npz, tensors

DISTRIBUTIONS = ("tensorrt-rtx",)
AHEAD = (("tensorrt_rtx",), {})

MODULE = "tensorrt_rtx"
LOG = "log.jsonl"
ENGINE = "engine.bin"
UNTRIED = "Running with TensorRT for RTX is untried: nothing of it was run on a card yet."


class Compiler(base.Compiler):
    module, distribution, title, untried = MODULE, DISTRIBUTIONS[0], "TensorRT for RTX", UNTRIED

    def open(self, request, files, out_folder, progress):
        self._trt = trt = base.import_package(self.module, self.distribution)
        self._messages = []
        self._logger = make_logger(trt, self._messages)
        self._devices, why_no_device = cuda.devices()
        self._engine, self._runner, self._asked = None, None, None
        return {
            "version": trt.__version__,
            "devices": self._devices,
            "about": {**self._of_about(), "why_no_device": why_no_device, "untried": self.untried},
        }

    def _of_about(self):
        return {"sm": [name[len("SM") :] for name in self._trt.ComputeCapability.__members__ if name.startswith("SM")]}

    @staticmethod
    def _form_of(options):
        """Returns the options that determine how a network is read. If they differ, a network must be read again."""
        return options.get("typing")

    def _of_network(self, builder, options):
        """Returns the network that the parser fills."""
        return builder.create_network(0)

    def _of_types(self, network, config, options):
        """Sets types when the network has been read. Returns members of the answer to `compile`."""
        return {}

    def _of_card(self, config, options):
        config.num_compute_capabilities = 1
        config.set_compute_capability(self._compute_capability(str(options.get("sm", "CURRENT"))), 0)

    def _of_build(self, config, options):
        """Is called when the engine has been built. Returns members of the answer to `compile`."""
        return {}

    def _of_engine(self, out_folder):
        """Is called when nothing but the engine is left of the build. Returns members of the answer to `compile`."""
        return {}

    def support(self, request, files, out_folder, progress):
        """Returns which nodes the parser supports: each refusal in its own words, and the parts between the refused
        nodes. A network of which it supports everything is kept for compile(), because reading it again would take
        as long."""
        progress("support")
        path, options = files["network.onnx"], request.get("options", {})
        start = time.perf_counter()
        parsed = builder, network, parser = self._parser(options)
        is_supported = parser.parse_from_file(path)
        ms = 1e3 * (time.perf_counter() - start)
        self._asked = (base.identity(path), self._form_of(options), (*parsed, ms)) if is_supported else None
        if is_supported:
            self._write_log(out_folder)
            return {"is_supported": True, "refusals": [], "parts": []}
        builder, network, parser = self._parser(options)
        with open(path, "rb") as file:
            is_supported = parser.supports_model_v2(file.read(), path)
        self._write_log(out_folder)
        return {
            "is_supported": is_supported,
            "refusals": refusals(parser),
            "parts": [
                {"nodes": list(parser.get_subgraph_nodes(i)), "is_supported": parser.is_subgraph_supported(i)}
                for i in range(parser.num_subgraphs)
            ],
        }

    def compile(self, request, files, out_folder, progress):
        """Compiles the network. Options: `sm` ("89", or "CURRENT" for the card of this machine), `threads`,
        `workspace` in bytes, `keep_engine`, and `profile`, for inputs of dynamic extents: name -> {"min": extents,
        "opt": extents, "max": extents}."""
        options = request.get("options", {})
        self._engine, self._runner = None, None
        base.reset_peak()
        progress("import")
        start = time.perf_counter()
        builder, network, parser, before = self._parsed(files["network.onnx"], options)
        config = self._configuration(builder, network, options, progress)
        told = self._of_types(network, config, options)
        parsed = time.perf_counter()
        progress("build")
        engine = builder.build_serialized_network(network, config)
        built = time.perf_counter()
        if engine is None:
            raise self._failure("made no engine, and its log gives no reason.")
        self._write_log(out_folder)
        if options.get("keep_engine"):
            with open(os.path.join(out_folder, ENGINE), "wb") as file:
                file.write(memoryview(engine))
        told.update(self._of_build(config, options))
        del parser, network, config, builder  # loading the engine needs the memory
        if self._devices:
            self._engine = engine
        told.update(self._of_engine(out_folder))
        return {
            **told,
            "phases": [
                {"name": "import", "ms": before + 1e3 * (parsed - start)},
                {"name": "build", "ms": 1e3 * (built - parsed)},
            ],
            "peak_bytes": base.peak_bytes(),
            "engine_bytes": engine.nbytes,
        }

    def save(self, request, files, out_folder, progress):
        """Writes the engine. Without a card, nothing could load it again, and it was discarded."""
        if self._engine is None:
            raise base.Refusal("There is no engine that a card of this machine could run.", kind="asked")
        progress("save")
        with open(os.path.join(out_folder, ENGINE), "wb") as file:
            file.write(memoryview(self._engine))
        return {}

    def load(self, request, files, out_folder, progress):
        """Loads what save() wrote."""
        progress("load")
        with open(files[ENGINE], "rb") as file:
            self._engine, self._runner = file.read(), None
        self._prepared()
        return {}

    def run(self, request, files, out_folder, progress):
        handed = tensors.Handed(request, files, out_folder)
        runner = self._prepared()
        runner.set_inputs(handed.inputs())
        runner.run()
        return {**handed.give(runner.outputs()), "remark": self.untried}

    def time(self, request, files, out_folder, progress):
        runner = self._prepared()
        runner.set_inputs(npz.read(files["inputs.npz"]))
        base.times_of_runs(runner.run, request.get("warmup_seconds", 0), least=0)
        ms = base.times_of_runs(runner.run, request["seconds"])
        return {"ms": ms, "remark": f"running with {self.title} is untried through Fusescope"}

    def profile(self, request, files, out_folder, progress):
        """Profiles the engine. Writes profile.json, which contains for each run a list of [layer, milliseconds], and
        layers.json, which contains what the inspector reports."""
        runs = []
        with self._prepared().profiled() as runner:
            runner.set_inputs(npz.read(files["inputs.npz"]))
            ms = base.times_of_runs(lambda: runs.append(runner.run_profiled()), 0, least=request["runs"])
            layers = runner.inspected()
        with open(os.path.join(out_folder, "profile.json"), "w", encoding="utf-8") as file:
            json.dump(runs, file)
        with open(os.path.join(out_folder, "layers.json"), "w", encoding="utf-8") as file:
            file.write(layers)
        return {"ms": ms, "remark": self.untried}

    def _parser(self, options):
        trt = self._trt
        self._messages.clear()
        builder = trt.Builder(self._logger)
        network = self._of_network(builder, options)
        return builder, network, trt.OnnxParser(network, self._logger)

    def _parsed(self, path, options):
        """Returns the network that support() has read, if it was the same file in the same form, with the
        milliseconds that reading took then. Otherwise reads it."""
        asked, self._asked = self._asked, None
        if asked is not None and asked[:2] == (base.identity(path), self._form_of(options)):
            return asked[2]
        builder, network, parser = self._parser(options)
        if not parser.parse_from_file(path):
            raise base.Refusal("\n".join(as_words(each) for each in refusals(parser)) or self._errors())
        return builder, network, parser, 0.0

    def _configuration(self, builder, network, options, progress):
        trt = self._trt
        config = builder.create_builder_config()
        config.profiling_verbosity = trt.ProfilingVerbosity.DETAILED
        config.progress_monitor = self._monitor = make_monitor(trt, progress)
        self._of_card(config, options)
        if options.get("workspace"):
            config.set_memory_pool_limit(trt.MemoryPoolType.WORKSPACE, options["workspace"])
        if options.get("threads"):
            builder.max_threads = options["threads"]
        if options.get("profile"):
            config.add_optimization_profile(optimization_profile(builder, options["profile"]))
        return config

    def _compute_capability(self, sm):
        if sm == "CURRENT" and not self._devices:
            raise base.Refusal("There is no card here, so sm=CURRENT cannot be used.", kind="asked",
                               help="Give the compute capability of the card, such as sm=89.")
        name = sm if sm == "CURRENT" else "SM" + sm
        known = self._trt.ComputeCapability.__members__
        if name not in known:
            raise base.Refusal(f"This version of TensorRT for RTX cannot compile for compute capability {sm}.",
                               kind="asked")
        return known[name]

    def _errors(self, begin=0):
        """Returns the errors among the messages from number `begin` on."""
        logger = self._trt.ILogger
        bad = (logger.INTERNAL_ERROR, logger.ERROR)
        return "\n".join(text for severity, text in self._messages[begin:] if severity in bad)

    def _failure(self, otherwise):
        errors = self._errors()
        kind = "memory" if is_short_of_memory(errors) else "refused"
        return base.Refusal(errors or f"{self.title} {otherwise}", kind=kind)

    def _write_log(self, out_folder):
        with open(os.path.join(out_folder, LOG), "w", encoding="ascii") as file:
            for severity, text in self._messages:
                file.write(json.dumps([severity.name.lower(), text]) + "\n")

    def _prepared(self):
        if not self._devices:
            raise base.Refusal(f"{self.title} runs networks on an NVIDIA card, and there is none here.",
                               kind="no_device")
        if self._runner is None:
            if self._engine is None:
                raise base.Refusal("No network was compiled yet.")
            begin = len(self._messages)
            self._runner = Runner(self._trt, self._logger, self._engine, self.title, lambda: self._errors(begin))
        return self._runner


class Runner:
    """Runs a network on a card."""

    def __init__(self, trt, logger, plan, title, errors):
        self._trt, self._title, self._errors = trt, title, errors
        self._cuda = cuda.Context()
        self._runtime = trt.Runtime(logger)
        self._engine = self._runtime.deserialize_cuda_engine(plan)
        if self._engine is None:
            raise self._failure("load")
        self._context = self._new_context()
        self._profiler = make_profiler(trt)
        self._buffers = {}

    def _new_context(self):
        context = self._engine.create_execution_context()
        if context is None:
            raise self._failure("run")
        return context

    def _failure(self, verb):
        errors = self._errors()
        if is_short_of_memory(errors):
            return base.Refusal(errors, kind="memory")
        return base.Refusal(errors or f"{self._title} cannot {verb} the engine on this card.", kind="asked",
                            help="Compile it again on the card on which it is to run.")

    def _names(self, mode):
        names = (self._engine.get_tensor_name(i) for i in range(self._engine.num_io_tensors))
        return [name for name in names if self._engine.get_tensor_mode(name) == mode]

    def set_inputs(self, arrays):
        trt, inputs = self._trt, self._names(self._trt.TensorIOMode.INPUT)
        missing = [name for name in inputs if name not in arrays]
        if missing:
            raise base.Refusal(f"There is no value for the input {missing[0]}.")
        for name in inputs:
            if not self._context.set_input_shape(name, arrays[name].dims):
                raise base.Refusal(f"The input {name} cannot have the extents {list(arrays[name].dims)}.")
            self._place(name, len(arrays[name].data)).fill(arrays[name].data)
        for name in self._names(trt.TensorIOMode.OUTPUT):
            dims = tuple(self._context.get_tensor_shape(name))
            if any(dim < 0 for dim in dims):
                raise base.Refusal(f"The extents of the output {name} depend on values, which is not supported.")
            self._place(name, npz.Array(descriptor(trt, self._engine.get_tensor_dtype(name)), dims, b"").size())

    def _place(self, name, size):
        is_on_host = self._engine.get_tensor_location(name) == self._trt.TensorLocation.HOST
        self._buffers[name] = buffer = (cuda.HostBuffer if is_on_host else self._cuda.buffer)(size)
        self._context.set_tensor_address(name, buffer.address)
        return buffer

    def run(self):
        if not self._context.execute_async_v3(self._cuda.stream):
            raise base.Refusal(f"{self._title} could not run the network.", kind="failed")
        self._cuda.synchronise()

    @contextlib.contextmanager
    def profiled(self):
        """Runs in a separate context that is profiled, because a context that was ever profiled is slower."""
        kept, self._context = self._context, self._new_context()
        self._context.profiler = self._profiler
        try:
            yield self
        finally:
            self._context = kept

    def run_profiled(self):
        self._profiler.times = []
        self.run()
        return self._profiler.times

    def inspected(self):
        inspector = self._engine.create_engine_inspector()
        inspector.execution_context = self._context
        return inspector.get_engine_information(self._trt.LayerInformationFormat.JSON)

    def outputs(self):
        arrays = {}
        for name in self._names(self._trt.TensorIOMode.OUTPUT):
            kind = descriptor(self._trt, self._engine.get_tensor_dtype(name))
            dims = tuple(self._context.get_tensor_shape(name))
            arrays[name] = npz.Array(kind, dims, self._buffers[name].read())
        return arrays


def is_short_of_memory(errors):
    return re.search("out ?of ?memory", errors, re.IGNORECASE) is not None


def make_logger(trt, messages):
    class Logger(trt.ILogger):
        def __init__(self):
            trt.ILogger.__init__(self)

        def log(self, severity, text):
            messages.append((severity, text))
            if severity in (trt.ILogger.INTERNAL_ERROR, trt.ILogger.ERROR):
                print(text, file=sys.stderr)  # this is known even if the call ends the process

    return Logger()


def make_monitor(trt, progress):
    class Monitor(trt.IProgressMonitor):
        def __init__(self):
            trt.IProgressMonitor.__init__(self)
            self.steps = {}

        def phase_start(self, name, parent, steps):
            self.steps[name] = steps

        def step_complete(self, name, step):
            progress("build", f"{name} {step + 1}/{self.steps.get(name, '?')}")
            return True

        def phase_finish(self, name):
            self.steps.pop(name, None)

    return Monitor()


def make_profiler(trt):
    class Profiler(trt.IProfiler):
        def __init__(self):
            trt.IProfiler.__init__(self)
            self.times = []

        def report_layer_time(self, layer, ms):
            self.times.append([layer, ms])

    return Profiler()


def optimization_profile(builder, extents):
    profile = builder.create_optimization_profile()
    for name, each in extents.items():
        profile.set_shape(name, tuple(each["min"]), tuple(each["opt"]), tuple(each["max"]))
    return profile


def refusals(parser):
    """Returns what the parser refuses. `stack` contains the nodes in whose bodies or functions it is, the outermost
    first."""
    errors = (parser.get_error(i) for i in range(parser.num_errors))
    return [
        {
            "code": error.code().name,
            "index": error.node(),
            "node": error.node_name(),
            "operator": error.node_operator(),
            "text": error.desc(),
            "stack": list(error.local_function_stack()),
        }
        for error in errors
    ]


def as_words(refusal):
    inside = "".join(f" in {holder}" for holder in reversed(refusal["stack"]))
    return f"{refusal['node']} ({refusal['operator']}){inside}: {refusal['code']}: {refusal['text']}"


def descriptor(trt, data_type):
    """Returns the type of elements as .npy files name it."""
    known = {
        trt.DataType.FLOAT: "<f4",
        trt.DataType.HALF: "<f2",
        trt.DataType.BF16: "|V2",
        trt.DataType.FP8: "|u1",
        trt.DataType.INT64: "<i8",
        trt.DataType.INT32: "<i4",
        trt.DataType.INT8: "|i1",
        trt.DataType.UINT8: "|u1",
        trt.DataType.BOOL: "|b1",
    }
    if data_type not in known:
        raise base.Refusal(f"A tensor has the type {data_type.name}, which cannot be passed to the network.")
    return known[data_type]
