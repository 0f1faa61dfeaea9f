#!/usr/bin/env python3
"""Cuts one decoder block out of a network that is too large to run, and fills it with weights.

usage: cut_block.py MATERIALIZE.py MODEL_DIR OUT.onnx

Every block of these networks squares the residual stream twice with a Pow, for the norm before the attention and for
the one before the MLP. The second block is between the third and the fifth of these nodes. Its input is the residual
stream, and its output is what the third block reads. Everything else that it needs (rotary embeddings, masks) is
computed inside.
"""
import importlib.util
import json
import sys
from pathlib import Path

import onnx


def block(graph):
    """Returns the names of the values with which the block begins and ends, and its nodes in the order of the file."""
    norms = [node.input[0] for node in graph.node if node.op_type == "Pow"]
    start, end = norms[2], norms[4]
    producer = {name: index for index, node in enumerate(graph.node) for name in node.output}
    wanted, pending = set(), [end]
    while pending:
        name = pending.pop()
        index = producer.get(name)
        if name == start or index is None or index in wanted:
            continue
        wanted.add(index)
        pending += graph.node[index].input
    return start, end, [graph.node[index] for index in sorted(wanted)]


def cut(model):
    graph = model.graph
    start, end, nodes = block(graph)
    types = {info.name: info for info in (*graph.value_info, *graph.input)}
    used = {name for node in nodes for name in node.input}
    inputs = [types[name] for name in (start, *(info.name for info in graph.input if info.name in used))]
    weights = [tensor for tensor in graph.initializer if tensor.name in used]
    part = onnx.helper.make_graph(nodes, graph.name + "_block", inputs, [types[end]], weights)
    return onnx.helper.make_model(part, ir_version=model.ir_version, opset_imports=model.opset_import,
                                  functions=model.functions)


def main():
    source, folder, out = map(Path, sys.argv[1:4])
    spec = importlib.util.spec_from_file_location("materialize", source)
    materialize = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(materialize)
    model = cut(onnx.load(str(folder / "model.weightless.onnx")))
    materialize.fill(model.graph, json.loads((folder / "model.weightless.stats.json").read_text()))
    out.write_bytes(model.SerializeToString())


if __name__ == "__main__":
    main()
