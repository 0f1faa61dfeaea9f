"""The interface of engines that the bench uses."""
import statistics
import time
from dataclasses import dataclass, field

LEAST_CALLS = 3


class CannotRun(Exception):
    """Says why an engine has no time for a question. The text is for people and is shown in the cell."""


@dataclass
class Sample:
    """The measurement of one engine in one round. `spread` is the 95th percentile of the calls' times over their
    median."""
    ms: float
    spread: float
    calls: int


@dataclass
class Layer:
    """A kernel in an engine's own profile. `names` are the nodes and values of the file that it represents, as far
    as it reports them. If the file contains none of them, the kernel is attributed to the layers after it, which
    `before` names."""
    names: list
    ms: float
    kernel: str = ""
    before: list = field(default_factory=list)


class Engine:
    """A network that was prepared by one engine. The constructor raises CannotRun if the engine cannot have a time
    for it.

    Inputs and outputs are in memory that exists before a call, so that a call consists only of the engine's work.
    """
    name = ""

    def __init__(self, question):
        self.question = question

    @staticmethod
    def version():
        raise NotImplementedError

    def outputs(self):
        """Returns the outputs by name: arrays of one call, or of the last of all steps."""
        raise NotImplementedError

    def sample(self, seconds, warmup):
        """Calls the engine for `warmup` seconds and then for `seconds`. For a question with steps, it runs all steps
        and returns the time per step."""
        raise NotImplementedError

    def layers(self, seconds):
        """Returns layers, each with its own time. The times need not add up to sample(), because profiling itself
        takes time."""
        raise NotImplementedError


def sample_calls(call, seconds, warmup):
    end = time.perf_counter() + warmup
    call()
    while time.perf_counter() < end:
        call()
    samples = []
    end = time.perf_counter() + seconds
    while time.perf_counter() < end or len(samples) < LEAST_CALLS:
        start = time.perf_counter()
        call()
        samples.append((time.perf_counter() - start) * 1e3)
    return sample_of(samples)


def sample_of(milliseconds):
    ordered = sorted(milliseconds)
    middle = statistics.median(ordered)
    return Sample(middle, ordered[int(0.95 * (len(ordered) - 1))] / middle, len(ordered))


def sample_steps(steps, seconds, warmup):
    """Does the same for `steps`, a function that runs all steps from the beginning and returns their mean in
    milliseconds."""
    end = time.perf_counter() + warmup
    steps()
    while time.perf_counter() < end:
        steps()
    means = []
    end = time.perf_counter() + seconds
    while time.perf_counter() < end or len(means) < LEAST_CALLS:
        means.append(steps())
    return sample_of(means)
