"""OpenVINO's CPU plugin, with inputs and outputs set."""
import time

import numpy as np
import openvino

from ..questions import IN_FILE
from .engine import CannotRun, Engine, Layer, sample_calls, sample_steps
from .fed_values import FedValues

CAPABILITIES = {"f32": "FP32", "bf16": "BF16", "f16": "FP16", "int8": "INT8", "weight8": "FP32"}


class OpenVino(Engine):
    name = "openvino"

    def __init__(self, question):
        super().__init__(question)
        self.request = self._request()
        self.inputs = {name: np.ascontiguousarray(array) for name, array in question.inputs.items()}
        self._set(self.request, self.inputs)
        self._set_outputs()

    def _request(self, profiled=False):
        question = self.question
        core = openvino.Core()
        config = {"INFERENCE_NUM_THREADS": question.threads, "PERFORMANCE_HINT": "LATENCY",
                  "INFERENCE_PRECISION_HINT": precision_hint(core, question.precision), "PERF_COUNT": profiled}
        try:
            model = core.read_model(str(question.model))
            if not question.open:
                model.reshape({name: list(array.shape) for name, array in question.inputs.items()})
            return core.compile_model(model, "CPU", config).create_infer_request()
        except RuntimeError as error:
            raise CannotRun(str(error).strip()) from error

    @staticmethod
    def version():
        return openvino.__version__.split("-")[0]

    def outputs(self):
        if self.question.steps:
            self._steps()
            return self.last
        self.request.infer(share_inputs=True, share_outputs=True)
        return {name: array.copy() for name, array in self.arrays.items()}

    def sample(self, seconds, warmup):
        if self.question.steps:
            return sample_steps(self._steps, seconds, warmup)
        return sample_calls(lambda: self.request.infer(share_inputs=True, share_outputs=True), seconds, warmup)

    def layers(self, seconds):
        request = self._request(profiled=True)
        self._set(request, self.inputs)
        sample_calls(lambda: request.infer(share_outputs=True), seconds, 0)
        operators = request.get_compiled_model().get_runtime_model().get_ordered_ops()
        return [layer_of(operator) for operator in operators if time_of(operator)]

    def _set_outputs(self):
        self.request.infer(share_inputs=True, share_outputs=True)
        self.arrays = {output.get_any_name(): np.array(self.request.get_tensor(output).data)
                       for output in self.request.model_outputs}
        if self.question.steps:
            self.fed = FedValues(self.question.feeds, self.inputs, self.arrays, self.question.steps)
            self.arrays = {name: array for name, array in self.arrays.items() if name not in self.question.feeds}
        self._set(self.request, self.arrays)

    @staticmethod
    def _set(request, arrays):
        for name, array in arrays.items():
            request.set_tensor(name, openvino.Tensor(array, shared_memory=True))

    def _steps(self):
        """Runs all steps, feeding outputs back, and returns the mean of a step in milliseconds."""
        self._set(self.request, self.inputs)
        start = time.perf_counter()
        for step in range(self.question.steps):
            written = self.fed.outputs_of(step)
            self._set(self.request, written)
            self.request.infer(share_inputs=True, share_outputs=True)
            self._set(self.request, {self.question.feeds[name]: array for name, array in written.items()})
        mean = (time.perf_counter() - start) * 1e3 / self.question.steps
        self.last = {name: array.copy() for name, array in (self.arrays | written).items()}
        return mean


def names_of(operator):
    """Returns the names of the file's nodes that were fused into a layer."""
    return [name for name in operator.get_rt_info()["originalLayersNames"].astype(str).split(",") if name]


def time_of(operator):
    """Returns the milliseconds of a layer in a run, as the mean over all runs; 0 if it has none."""
    microseconds = operator.get_rt_info()["execTimeMcs"].astype(str)
    return int(microseconds) / 1e3 if microseconds.isdigit() else 0.0


def layer_of(operator):
    behind = [reader.get_node() for output in operator.outputs() for reader in output.get_target_inputs()]
    kernel = operator.get_rt_info()["primitiveType"].astype(str)
    return Layer(names_of(operator), time_of(operator), kernel, [name for node in behind for name in names_of(node)])


def precision_hint(core, precision):
    """Returns OpenVINO's name of the type. OpenVINO ignores a hint for a type that this machine lacks, so that it is
    refused here."""
    if precision not in CAPABILITIES:
        raise CannotRun(f"{precision} is no precision that it can be asked for")
    if CAPABILITIES[precision] not in core.get_property("CPU", "OPTIMIZATION_CAPABILITIES"):
        raise CannotRun(f"{precision} is not among what it calculates in on this machine")
    return "f32" if precision in IN_FILE else precision  # the hint is about the values in between
