"""TensorRT for RTX under the name of TensorRT for servers, whose interface it has: what the probe asks of the one is asked
of a real compiler so. It is told for which card to compile, which the other takes from the machine."""

import tensorrt_rtx
from tensorrt_rtx import *  # noqa: F403 - all of it, under this name

__version__ = "11.0.0"  # of a TensorRT whose networks are strongly typed, as its are


class Builder(tensorrt_rtx.Builder):
    def create_builder_config(self):
        config = tensorrt_rtx.Builder.create_builder_config(self)
        config.num_compute_capabilities = 1
        config.set_compute_capability(tensorrt_rtx.ComputeCapability.SM89, 0)
        return config
