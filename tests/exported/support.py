"""What the scripts beside this share."""
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np


def call(program, *arguments):
    """The exit status of `program`, what it prints, and what it says on standard error."""
    made = subprocess.run([str(program), *map(str, arguments)], capture_output=True, text=True)
    return made.returncode, made.stdout, made.stderr.strip()


def command(program, *arguments):
    """What `program` prints; an error of it is raised, with the end of what it says."""
    status, printed, said = call(program, *arguments)
    if status != 0:
        raise RuntimeError(f"{' '.join(map(str, arguments[:4]))}: {said[-600:]}")
    return printed


def relative(exact, other):
    """rms of the error over rms, of the worst of the outputs."""
    worst = 0.0
    for theirs, ours in zip(exact, other):
        theirs, ours = np.asarray(theirs, np.float64), np.asarray(ours, np.float64)
        worst = max(worst, float(np.sqrt(np.mean((theirs - ours) ** 2) / max(np.mean(theirs ** 2), 1e-30))))
    return worst


def answers_of(python, script, questions):
    """What `script` says to each question, [{stage, why, …}], in a process of its own; where that dies at one, "died"."""
    answers = []
    while len(answers) < len(questions):
        rest = questions[len(answers):]
        made = subprocess.run([python, str(Path(__file__).with_name(script))], input=json.dumps(rest), capture_output=True,
                              text=True)
        told = [json.loads(line) for line in made.stdout.splitlines()]
        answers += told
        if len(told) < len(rest):
            answers.append({"stage": "died", "why": f"status {made.returncode}: {made.stderr.strip()[-300:]}"})
    return answers


def built_by_tensorrt(networks):
    """What TensorRT for RTX makes of `networks`, [(path, {input: extents})]: [(stage, why)]; nothing where its Python
    ($FUSESCOPE_TENSORRT_RTX_PYTHON) is not there."""
    python = os.environ.get("FUSESCOPE_TENSORRT_RTX_PYTHON")
    if not python:
        return None
    answers = answers_of(python, "tensorrt_build.py",
                         [{"path": str(path), "extents": {name: list(dims) for name, dims in extents.items()}}
                          for path, extents in networks])
    return [(each["stage"], each["why"]) for each in answers]


def run_by_onnxruntime(networks):
    """What ONNX Runtime makes of `networks`, [(path, .npz of inputs, the network that it was made of)]: [(stage, why, how
    far its outputs are from those of that)]."""
    answers = answers_of(sys.executable, "onnxruntime_run.py",
                         [{"path": str(path), "inputs": str(inputs), "exact": str(exact)} for path, inputs, exact in networks])
    return [(each["stage"], each["why"], each.get("apart")) for each in answers]
