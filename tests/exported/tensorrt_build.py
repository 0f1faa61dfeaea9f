"""Parses and builds networks with TensorRT for RTX, in a process of its own.

    tensorrt_build.py

Reads a JSON list of {path, extents: {input: [...]}} from standard input, and prints a JSON line for each:
{path, stage: "built" | "not parsed" | "not built", why}.
"""
import json
import os
import sys

import tensorrt_rtx as rtx


class Log(rtx.ILogger):
    def __init__(self):
        super().__init__()
        self.errors = []

    def log(self, severity, text):
        if severity <= rtx.ILogger.Severity.ERROR:
            self.errors.append(text)


def build(log, path, extents):
    log.errors.clear()
    builder = rtx.Builder(log)
    network = builder.create_network(0)
    parser = rtx.OnnxParser(network, log)
    if not parser.parse_from_file(path):
        errors = [parser.get_error(i) for i in range(parser.num_errors)]
        why = "; ".join(f"node '{each.node_name()}' ({each.node_operator()}): {each.desc()}" for each in errors)
        return "not parsed", why or "; ".join(log.errors[:2])
    config = builder.create_builder_config()
    config.num_compute_capabilities = 1
    config.set_compute_capability(rtx.ComputeCapability.SM89, 0)
    profile = builder.create_optimization_profile()
    for i in range(network.num_inputs):
        tensor = network.get_input(i)
        if any(extent < 0 for extent in tensor.shape):
            dims = extents.get(tensor.name) or [max(extent, 1) for extent in tensor.shape]
            profile.set_shape(tensor.name, dims, dims, dims)
    config.add_optimization_profile(profile)
    made = builder.build_serialized_network(network, config)
    return ("built", "") if made is not None else ("not built", "; ".join(log.errors[:2]))


def main():
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what the libraries print is no answer
    log = Log()
    for each in json.load(sys.stdin):
        stage, why = build(log, each["path"], each.get("extents", {}))
        print(json.dumps({"path": each["path"], "stage": stage, "why": why}), file=answers, flush=True)


if __name__ == "__main__":
    main()
