"""What the scripts beside this share."""
import subprocess

import numpy as np


def command(program, *arguments):
    """What `program` prints; an error of it is raised, with the end of what it says."""
    made = subprocess.run([program, *map(str, arguments)], capture_output=True, text=True)
    if made.returncode != 0:
        raise RuntimeError(f"{' '.join(map(str, arguments[:4]))}: {made.stderr.strip()[-600:]}")
    return made.stdout


def relative(exact, other):
    """rms of the error over rms, of the worst of the outputs."""
    worst = 0.0
    for theirs, ours in zip(exact, other):
        theirs, ours = np.asarray(theirs, np.float64), np.asarray(ours, np.float64)
        worst = max(worst, float(np.sqrt(np.mean((theirs - ours) ** 2) / max(np.mean(theirs ** 2), 1e-30))))
    return worst
