"""Describes the machine of a measurement, and whether other programs used it meanwhile. Plain Python; Linux."""
import os
import resource
from pathlib import Path
from typing import NamedTuple

ISA = ("avx2", "fma", "avx512f", "avx512_vnni", "avx_vnni", "avx512_bf16", "avx512_fp16", "amx_tile", "amx_bf16",
       "amx_int8", "amx_fp16")
# If other programs used more than this share of all CPUs, or the host took more than this, a round is not fair.
MOST_OF_OTHERS, MOST_STOLEN, MOST_SPREAD = 0.05, 0.01, 1.15


def cpu():
    """Returns the model name, and the vector instructions by which kernels are chosen."""
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    fields = {}
    for line in lines:
        name, _, value = line.partition(":")
        fields.setdefault(name.strip(), value.strip())
    flags = set(fields.get("flags", "").split())
    return {"model": fields.get("model name", "unknown"), "isa": [name for name in ISA if name in flags],
            "cpus": len(os.sched_getaffinity(0))}


class Clocks(NamedTuple):
    """Seconds of all CPUs together since the machine started."""
    busy: float
    stolen: float  # taken by the host
    own: float  # of this process and its ended children
    total: float


class Watch:
    """Reads the clocks of all CPUs when it is made, and again in report()."""

    def __init__(self):
        self.start = clocks()
        self.load = os.getloadavg()[0]

    def report(self):
        return shares(self.start, clocks()) | {"load_before": self.load}


def shares(start, end):
    """Returns shares of the time of all CPUs: what other processes used, and what the host took."""
    busy, stolen, own, total = (b - a for a, b in zip(start, end))
    total = max(total, 1e-9)
    return {"others": max(0.0, busy - own) / total, "stolen": stolen / total}


def clocks():
    fields = [int(text) for text in Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:9]]
    user, nice, system, idle, waiting, irq, soft_irq, stolen = fields
    tick = os.sysconf("SC_CLK_TCK")
    own = sum(getattr(resource.getrusage(who), field) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
              for field in ("ru_utime", "ru_stime"))
    busy = user + nice + system + irq + soft_irq
    return Clocks(busy / tick, stolen / tick, own, (busy + idle + waiting + stolen) / tick)


def unquiet(report, spreads, used):
    """Returns why a row is not accurate to a few per cent; empty if it is. `spreads` are, for each engine, its
    slowest round over its fastest one; `used` is the share of the CPUs that engines use, of which the rest is
    available to other programs."""
    reasons = []
    if report["others"] > 1.0 - min(used, 1.0) + MOST_OF_OTHERS:
        reasons.append(f"other processes took {report['others']:.0%} of the CPUs")
    if report["stolen"] > MOST_STOLEN:
        reasons.append(f"the host took {report['stolen']:.0%}")
    reasons += [f"rounds of {name} differ by {spread - 1:.0%}" for name, spread in spreads.items()
                if spread > MOST_SPREAD]
    return reasons
