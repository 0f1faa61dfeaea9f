"""OpenVINO's CPU plugin, with inputs and outputs set."""
import time

import numpy as np
import openvino

from .engine import CannotRun, Engine, sample_calls, sample_steps
from .fed_values import FedValues

CAPABILITIES = {"f32": "FP32", "bf16": "BF16", "f16": "FP16"}


class OpenVino(Engine):
    name = "openvino"

    def __init__(self, question):
        super().__init__(question)
        core = openvino.Core()
        config = {"INFERENCE_NUM_THREADS": question.threads, "PERFORMANCE_HINT": "LATENCY",
                  "INFERENCE_PRECISION_HINT": precision_hint(core, question.precision)}
        try:
            model = core.read_model(str(question.model))
            if not question.open:
                model.reshape({name: list(array.shape) for name, array in question.inputs.items()})
            self.request = core.compile_model(model, "CPU", config).create_infer_request()
            self.inputs = {name: np.ascontiguousarray(array) for name, array in question.inputs.items()}
            self._set(self.inputs)
            self._set_outputs()
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

    def _set_outputs(self):
        self.request.infer(share_inputs=True, share_outputs=True)
        self.arrays = {output.get_any_name(): np.array(self.request.get_tensor(output).data)
                       for output in self.request.model_outputs}
        if self.question.steps:
            self.fed = FedValues(self.question.feeds, self.inputs, self.arrays, self.question.steps)
            self.arrays = {name: array for name, array in self.arrays.items() if name not in self.question.feeds}
        self._set(self.arrays)

    def _set(self, arrays):
        for name, array in arrays.items():
            self.request.set_tensor(name, openvino.Tensor(array, shared_memory=True))

    def _steps(self):
        """All steps, outputs fed back; the mean of a step in milliseconds."""
        self._set(self.inputs)
        start = time.perf_counter()
        for step in range(self.question.steps):
            written = self.fed.outputs_of(step)
            self._set(written)
            self.request.infer(share_inputs=True, share_outputs=True)
            self._set({self.question.feeds[name]: array for name, array in written.items()})
        mean = (time.perf_counter() - start) * 1e3 / self.question.steps
        self.last = {name: array.copy() for name, array in (self.arrays | written).items()}
        return mean


def precision_hint(core, precision):
    """Its name of the type; it is taken as a wish, so that one that this machine lacks must be refused here."""
    if precision not in CAPABILITIES:
        raise CannotRun(f"{precision} is no precision that it can be asked for")
    if CAPABILITIES[precision] not in core.get_property("CPU", "OPTIMIZATION_CAPABILITIES"):
        raise CannotRun(f"{precision} is not among what it calculates in on this machine")
    return precision
