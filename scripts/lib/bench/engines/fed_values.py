"""Memory for outputs that are fed back as inputs. Their extents may grow by the same number in each step."""
import numpy as np


class FedValues:
    """Each value is in one of two buffers in turn, both of which have its largest extents: a step reads one and
    writes the other."""

    def __init__(self, feeds, inputs, first_outputs, steps):
        self.feeds, self.inputs = feeds, inputs
        self.growth = {output: np.subtract(first_outputs[output].shape, inputs[name].shape)
                       for output, name in feeds.items()}
        self.buffers = {}
        for output in feeds:
            size = int(np.prod(self._extents(output, steps)))
            self.buffers[output] = [np.empty(size, first_outputs[output].dtype) for _ in range(2)]

    def _extents(self, output, steps):
        return self.inputs[self.feeds[output]].shape + self.growth[output] * steps

    def outputs_of(self, step):
        """Returns the arrays to which step `step` writes; the first step is 0."""
        views = {}
        for output, pair in self.buffers.items():
            dims = self._extents(output, step + 1)
            views[output] = pair[step % 2][:int(np.prod(dims))].reshape(dims)
        return views
