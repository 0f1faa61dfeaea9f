"""Runs networks with ONNX Runtime, in a process of its own: some types in some places end it.

    onnxruntime_run.py

Reads a JSON list of {path, inputs: an .npz, exact: another network} from standard input, and prints a JSON line for each:
{path, stage: "run" | "no kernel" | "error", why, apart}. `apart`: how far its outputs are from those of the network `exact`
on the same inputs, rms over rms, of the worst output; "inf" where they are not finite and the others are; null: it did not
run, or is held against none.
"""
import functools
import json
import math
import os
import sys

import numpy as np
import onnxruntime

from support import relative


def outputs_of(path, inputs):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    return session.run(None, {each.name: inputs[each.name] for each in session.get_inputs()})


@functools.lru_cache(maxsize=1)
def exact_outputs(path, inputs):
    return outputs_of(path, dict(np.load(inputs)))


def apart(exact, outputs):
    floats = [(one, other) for one, other in zip(exact, outputs) if np.asarray(one).dtype.kind == "f"]
    with np.errstate(all="ignore"):
        error = relative(*zip(*floats)) if floats else 0.0
    return error if math.isfinite(error) else "inf"


def run(each):
    """(stage, why, how far apart)"""
    try:
        outputs = outputs_of(each["path"], dict(np.load(each["inputs"])))
        exact = exact_outputs(each["exact"], each["inputs"]) if each.get("exact") else None
    except Exception as error:  # it has exceptions of many types
        text = str(error)
        return "no kernel" if "NOT_IMPLEMENTED" in text or "NotImplemented" in text else "error", text[:400], None
    return "run", "", None if exact is None else apart(exact, outputs)


def main():
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    onnxruntime.set_default_logger_severity(4)
    for each in json.load(sys.stdin):
        stage, why, error = run(each)
        print(json.dumps({"path": each["path"], "stage": stage, "why": why, "apart": error}), file=answers, flush=True)


if __name__ == "__main__":
    main()
