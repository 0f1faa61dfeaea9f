"""Numbers about rounds: medians, ratios within rounds, their spread, and means over networks. Plain Python."""
import math
import statistics
from dataclasses import dataclass


@dataclass
class Ratio:
    """The own time over a peer's, round by round, so that a disturbance of a round affects both."""
    rounds: list

    @property
    def median(self):
        return statistics.median(self.rounds)

    @property
    def least(self):
        return min(self.rounds)

    @property
    def most(self):
        return max(self.rounds)


def ratio(own, peer):
    """Returns the ratio of two lists of times, round by round."""
    if len(own) != len(peer) or not own:
        raise ValueError(f"{len(own)} rounds against {len(peer)}")
    return Ratio([a / b for a, b in zip(own, peer)])


def geometric_mean(ratios):
    """Returns the geometric mean of the medians of Ratios, and the least and the largest of the same mean for each
    round."""
    rounds = min(len(each.rounds) for each in ratios)
    means = [mean_of_logarithms(each.rounds[i] for each in ratios) for i in range(rounds)]
    return mean_of_logarithms(each.median for each in ratios), min(means), max(means)


def mean_of_logarithms(values):
    return math.exp(statistics.fmean(math.log(value) for value in values))


def spread(times):
    """Returns the slowest round of one engine over its fastest one."""
    return max(times) / min(times)
