"""ONNX Runtime's CPU provider, with bound inputs and outputs."""
import json
import tempfile
import time
from pathlib import Path

import numpy as np
import onnx
import onnxruntime

from ..questions import IN_FILE
from .engine import CannotRun, Engine, Layer, sample_calls, sample_steps
from .fed_values import FedValues

LEAST_PROFILED, MOST_PROFILED = 10, 500  # runs; the profile contains at most a million events


class OnnxRuntime(Engine):
    name = "onnxruntime"

    def __init__(self, question):
        super().__init__(question)
        if question.precision not in ("f32", *IN_FILE):
            raise CannotRun(f"runs a network in the types that it is written in: no setting asks for {question.precision}")
        self.session = self._session()
        self.inputs = {name: np.ascontiguousarray(array) for name, array in question.inputs.items()}
        self.loop = Steps(self.session, question, self.inputs) if question.steps else None
        if self.loop is None:
            self._bind()

    @staticmethod
    def version():
        return onnxruntime.__version__

    def outputs(self):
        if self.loop is not None:
            self.loop.run()
            return self.loop.last
        self.session.run_with_iobinding(self.binding)
        return {name: array.copy() for name, array in self.arrays.items()}

    def sample(self, seconds, warmup):
        if self.loop is not None:
            return sample_steps(self.loop.run, seconds, warmup)
        return sample_calls(lambda: self.session.run_with_iobinding(self.binding), seconds, warmup)

    def layers(self, seconds):
        with tempfile.TemporaryDirectory() as folder:
            optimised = Path(folder) / "optimised.onnx"
            session = self._session(profile=str(Path(folder) / "profile"), optimised=str(optimised))
            end = time.perf_counter() + seconds
            for i in range(MOST_PROFILED):
                session.run(None, self.inputs)
                if i >= LEAST_PROFILED and time.perf_counter() > end:
                    break
            times = kernel_times(json.loads(Path(session.end_profiling()).read_text()))
            return layers_of(onnx.load(str(optimised), load_external_data=False).graph, times)

    def _session(self, profile=None, optimised=None):
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = self.question.threads
        options.inter_op_num_threads = 1
        options.log_severity_level = 3
        if profile is not None:
            options.enable_profiling = True
            options.profile_file_prefix = profile
            options.optimized_model_filepath = optimised
        for symbol, extent in self.question.symbols().items():
            options.add_free_dimension_override_by_name(symbol, extent)
        try:
            return onnxruntime.InferenceSession(str(self.question.model), options, providers=["CPUExecutionProvider"])
        except Exception as error:  # its exceptions have no common base class
            raise CannotRun(str(error)) from error

    def _bind(self):
        """Binds inputs and outputs. The extents of outputs are those of a first run, because the inputs stay the
        same."""
        names = [output.name for output in self.session.get_outputs()]
        first = self.session.run(None, self.inputs)
        if not all(isinstance(array, np.ndarray) and array.dtype != object for array in first):
            raise CannotRun("an output is no tensor of numbers: it cannot be bound")
        self.arrays = {name: np.empty_like(array) for name, array in zip(names, first)}
        self.binding = self.session.io_binding()
        for name, array in self.inputs.items():
            bind(self.binding.bind_input, name, array)
        for name, array in self.arrays.items():
            bind(self.binding.bind_output, name, array)


def bind(how, name, array):
    how(name, "cpu", 0, array.dtype.type, list(array.shape), array.ctypes.data)


class Steps:
    """Calls the network once for each step and feeds outputs back, in memory that exists before."""

    def __init__(self, session, question, inputs):
        self.session, self.question, self.inputs = session, question, inputs
        first = dict(zip([output.name for output in session.get_outputs()], session.run(None, inputs)))
        self.fed = FedValues(question.feeds, inputs, first, question.steps)
        self.arrays = {name: array for name, array in first.items() if name not in question.feeds}
        self.last = {}

    def run(self):
        """Runs all steps and returns the mean of a step in milliseconds."""
        binding = self.session.io_binding()
        for name, array in self.inputs.items():
            bind(binding.bind_input, name, array)
        for name, array in self.arrays.items():
            bind(binding.bind_output, name, array)
        start = time.perf_counter()
        for step in range(self.question.steps):
            written = self.fed.outputs_of(step)
            for name, array in written.items():
                bind(binding.bind_output, name, array)
            self.session.run_with_iobinding(binding)
            for name, array in written.items():
                bind(binding.bind_input, self.question.feeds[name], array)
        mean = (time.perf_counter() - start) * 1e3 / self.question.steps
        self.last = {name: array.copy() for name, array in (self.arrays | written).items()}
        return mean


def layers_of(optimised, times):
    """Returns the names of a kernel: those of the values that it writes, and the names that its own name contains."""
    names, readers = {}, {}
    for node in optimised.node:
        made_from = node.name.removesuffix("_nchwc")
        names[node.name] = [*node.output, made_from, made_from.removesuffix("_bn")]
        for value in node.input:
            readers.setdefault(value, []).append(node.name)
    behind = {node.name: [name for value in node.output for reader in readers.get(value, []) for name in names[reader]]
              for node in optimised.node}
    kinds = {node.name: node.op_type for node in optimised.node}
    return [Layer(names[name], ms, kinds[name], behind[name]) for name, ms in times.items() if name in names]


def kernel_times(events):
    """Returns milliseconds by node: the median of its calls except the first two, which initialise things."""
    calls = {}
    for event in events:
        if event.get("cat") == "Node" and event["name"].endswith("_kernel_time"):
            calls.setdefault(event["name"].removesuffix("_kernel_time"), []).append(event["dur"] / 1e3)
    return {name: sorted(times[2:])[len(times[2:]) // 2] for name, times in calls.items() if len(times) > 2}
