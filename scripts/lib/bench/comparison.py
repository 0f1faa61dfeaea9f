"""Compares the outputs of two engines."""
import numpy as np

# The largest permitted max |Δ| over the rms of the expected output; narrower types round each edge.
MOST = {"f32": 1e-3, "bf16": 0.1, "f16": 0.02, "int8": 0.5, "weight8": 0.3}


def worst_difference(own, other):
    """Returns (max |Δ| over rms of the worst output, its name), or a text that says why the outputs cannot be
    compared."""
    if set(own) != set(other):
        return f"outputs are {', '.join(sorted(own))} against {', '.join(sorted(other))}"
    worst = (0.0, "")
    for name, expected in other.items():
        given = own[name]
        if given.shape != expected.shape:
            return f"{name} is {list(given.shape)} against {list(expected.shape)}"
        difference = over_rms(given.astype(np.float64), expected.astype(np.float64))
        if difference > worst[0]:
            worst = (difference, name)
    return worst


def over_rms(given, expected):
    """Returns max |Δ| over rms. NaN equals NaN, and an infinity equals itself; otherwise they differ infinitely. If
    all expected numbers are 0, returns the difference itself."""
    same = (given == expected) | (np.isnan(given) & np.isnan(expected))
    finite = expected[np.isfinite(expected)]
    rms = float(np.sqrt(np.mean(np.square(finite)))) if finite.size else 0.0
    with np.errstate(invalid="ignore"):
        difference = np.where(same, 0.0, np.nan_to_num(np.abs(given - expected), nan=np.inf, posinf=np.inf))
    return float(np.max(difference, initial=0.0)) / (rms or 1.0)
