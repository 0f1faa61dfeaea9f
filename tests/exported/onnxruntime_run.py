"""Runs networks with ONNX Runtime, in a process of its own: some types in some places end it.

    onnxruntime_run.py

Reads a JSON list of {path, inputs: an .npz} from standard input, and prints a JSON line for each:
{path, stage: "run" | "no kernel" | "error", why}.
"""
import json
import os
import sys

import numpy as np
import onnxruntime


def run(path, inputs):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    try:
        session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
        session.run(None, {each.name: inputs[each.name] for each in session.get_inputs()})
    except Exception as error:  # it has exceptions of many types
        text = str(error)
        return "no kernel" if "NOT_IMPLEMENTED" in text or "NotImplemented" in text else "error", text[:400]
    return "run", ""


def main():
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    onnxruntime.set_default_logger_severity(4)
    for each in json.load(sys.stdin):
        stage, why = run(each["path"], dict(np.load(each["inputs"])))
        print(json.dumps({"path": each["path"], "stage": stage, "why": why}), file=answers, flush=True)


if __name__ == "__main__":
    main()
