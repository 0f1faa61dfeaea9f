"""What the bench asks of every engine."""
import statistics
import time
from dataclasses import dataclass, field

LEAST_CALLS = 3


class CannotRun(Exception):
    """Why an engine has no time for a question: for people, it becomes the text of the cell."""


@dataclass
class Sample:
    """One engine in one round. `spread` is the time below which 95 of 100 calls are, over the median."""
    ms: float
    spread: float
    calls: int


@dataclass
class Layer:
    """A kernel in an engine's own profile. `names`: nodes and values of the file that it stands for, as far as it says;
    where the file knows none of them, it counts where the layers behind it do, which `before` names."""
    names: list
    ms: float
    kernel: str = ""
    before: list = field(default_factory=list)


class Engine:
    """A network prepared by one engine. Making one raises CannotRun where the engine cannot have a time for it.

    Inputs and outputs lie in memory that is there before a call, so that a call is the engine's work alone.
    """
    name = ""

    def __init__(self, question):
        self.question = question

    @staticmethod
    def version():
        raise NotImplementedError

    def outputs(self):
        """Arrays by name, of one call, or of the last of all steps."""
        raise NotImplementedError

    def sample(self, seconds, warmup):
        """Calls for `warmup` seconds, then for `seconds`; of a question with steps, all steps, in a time per step."""
        raise NotImplementedError

    def layers(self, seconds):
        """Layers, each with its own time; they need not add up to sample(), since profiling takes time itself."""
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
    """The same for `steps`, which runs all steps from the start and gives their mean in milliseconds."""
    end = time.perf_counter() + warmup
    steps()
    while time.perf_counter() < end:
        steps()
    means = []
    end = time.perf_counter() + seconds
    while time.perf_counter() < end or len(means) < LEAST_CALLS:
        means.append(steps())
    return sample_of(means)
