"""upstream_report.py PROGRAM.pt2: what Torch-TensorRT itself reports of a dry run, as JSON: {total, supported,
engines[{name, operators}], unsupported{}, in_torch}. It asks nothing but the report, and nothing of the probe but what lets it
be imported without a GPU."""

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
program = torch.export.load(sys.argv[1])
arguments, keywords = program.example_inputs
upstream.compile(program, arg_inputs=list(arguments), kwarg_inputs=keywords, dryrun=True)
report = reports[0]
print(
    json.dumps(
        {
            "total": report.total_ops_in_graph,
            "supported": report.supported_ops_in_graph,
            "engines": [
                {"name": each.subgraph_name, "operators": each.subgraph_op_count} for each in report.per_subgraph_data
            ],
            "unsupported": report.unsupported_ops,
            "in_torch": len(report.to_run_in_torch),
        }
    )
)
