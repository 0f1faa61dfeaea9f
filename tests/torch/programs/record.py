"""Records what torch makes of a small exported program, by the probe itself: record.py RESOURCES FOLDER

FOLDER gets net.pt2, the program; network.onnx and told.json, what the probe answered; io.npz, inputs and what torch
gives for them. To be run with a Python that has torch, onnx and onnxscript ([torch-python] of
scripts/lib/python-packages.txt)."""

import json
import os
import re
import sys

import numpy
import torch

sys.path.insert(0, sys.argv[1])
from probe import torch_export  # noqa: E402


class Block(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = torch.nn.LayerNorm(8)
        self.linear = torch.nn.Linear(8, 8)

    def forward(self, x):
        return x + torch.nn.functional.gelu(self.linear(self.norm(x)))


class Net(torch.nn.Module):
    """Modules, an open extent that two inputs share, an argument that is no tensor, and a branch."""

    def __init__(self):
        super().__init__()
        self.encoder = torch.nn.ModuleList(Block() for _ in range(2))
        self.head = torch.nn.Linear(8, 3)

    def forward(self, x, mask, scale=2.0):
        for block in self.encoder:
            x = block(x)
        x = torch.cond(mask.sum() > 0, lambda a, b: a * b, lambda a, b: a - b, (x, mask))
        return self.head(x) * scale


def forget_folders(program):
    """Traces name files, without the folders of the machine that recorded them."""
    for module in program.graph_module.modules():
        for node in module.graph.nodes if isinstance(module, torch.fx.GraphModule) else ():
            if trace := node.meta.get("stack_trace"):
                node.meta["stack_trace"] = re.sub(r'File "[^"]*/(site-packages/)?', r'File "\1', trace)


def main(folder):
    torch.manual_seed(7)
    net = Net().eval()
    x, mask = torch.randn(3, 8), torch.rand(3, 8)
    batch = torch.export.Dim("batch", min=1, max=16)
    shapes = {"x": {0: batch}, "mask": {0: batch}, "scale": None}
    program = torch.export.export(net, (x, mask), {"scale": 2.0}, dynamic_shapes=shapes)
    forget_folders(program)
    os.makedirs(folder, exist_ok=True)
    torch.export.save(program, os.path.join(folder, "net.pt2"))
    loaded = torch.export.load(os.path.join(folder, "net.pt2"))
    told = torch_export.export(torch, loaded, {}, os.path.join(folder, "network.onnx"))
    with open(os.path.join(folder, "told.json"), "w", encoding="utf-8") as file:
        json.dump(told, file, indent=1)
    with torch.no_grad():
        result = net(x, mask, scale=2.0)
    output = {f"out:{told['outputs'][0]}": result.numpy()}
    numpy.savez(os.path.join(folder, "io.npz"), **{"in:x": x.numpy(), "in:mask": mask.numpy()}, **output)


main(sys.argv[2])
