"""upstream_report.py PROGRAM.pt2…: what Torch-TensorRT itself reports of a dry run of each, as a line of JSON: {total, supported,
engines[{name, operators}], unsupported{}, in_torch}, or {problem}; of a program of which it supports nothing it prints no report:
{}. It asks nothing but the report, and nothing of the probe but
what lets it be imported without a GPU."""

import json
import sys

import torch

from probe import torch_tensorrt_shim as shim

has_gpu = torch.cuda.is_available()
if not has_gpu:
    shim.before_import(torch)
import torch_tensorrt  # noqa: E402,F401
from torch_tensorrt.dynamo import _compiler as upstream  # noqa: E402

if not has_gpu:
    shim.after_import(torch)
reports = []
upstream.dryrun_stats_display = lambda tracker, _: reports.append(tracker)


def report(path):
    reports.clear()
    program = torch.export.load(path)
    arguments, keywords = program.example_inputs
    upstream.compile(program, arg_inputs=list(arguments), kwarg_inputs=keywords, dryrun=True)
    if not reports:
        return {}
    told = reports[0]
    return {
        "total": told.total_ops_in_graph,
        "supported": told.supported_ops_in_graph,
        "engines": [
            {"name": each.subgraph_name, "operators": each.subgraph_op_count} for each in told.per_subgraph_data
        ],
        "unsupported": told.unsupported_ops,
        "in_torch": len(told.to_run_in_torch),
    }


for path in sys.argv[1:]:
    try:
        line = report(path)
    except Exception as error:  # noqa: BLE001 what it says is what is compared
        line = {"problem": f"{type(error).__name__}: {error}"}
    print("\n" + json.dumps(line), flush=True)
