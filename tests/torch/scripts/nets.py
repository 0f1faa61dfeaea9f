"""Networks whose functions `import` calls. Run as a program, nets.py FOLDER, it writes what each gives for its example inputs
(NAME.npz, in:ARGUMENT and out:), and TorchScript files of one of them."""

import os
import sys

import torch
from torch import nn
from torch.export import Dim

print("printed while the script runs")


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem, self.norm, self.head = nn.Linear(8, 16), nn.BatchNorm1d(16), nn.Linear(16, 4)

    def forward(self, x):
        return self.head(torch.relu(self.norm(self.stem(x))))


class Printing(nn.Module):
    def forward(self, x, scale):
        y = torch.relu(x)
        print("the sum is", y.sum())
        return y * scale


class Choice(nn.Module):
    def forward(self, x):
        if x.sum() > 0:
            return x * 2
        return x - 1


class Steps(nn.Module):
    def step(self, x):
        torch._dynamo.graph_break()
        return x * 2

    def forward(self, x):
        return self.step(x).sum() + self.step(x[:2]).sum()


class Raises(nn.Module):
    def forward(self, x):
        return x @ torch.ones(3, 3)


def seeded(make):
    torch.manual_seed(7)
    net = make()
    return net, torch.randn(3, 8)


def module():
    net, x = seeded(Net)
    return net, (x,)


def fx_graph():
    net, x = seeded(Net)
    return torch.fx.symbolic_trace(net.eval()), x


def dynamic():
    net, x = seeded(Net)
    return net, (x,), {}, {"x": {0: Dim("batch", min=1, max=64)}}


def as_dict():
    net, x = seeded(Printing)
    return {"module": net, "args": (x,), "kwargs": {"scale": torch.tensor(2.0)}}


def choice():
    net, x = seeded(Choice)
    return net, (x,)


def steps():
    net, x = seeded(Steps)
    return net, (x,)


def raises():
    net, x = seeded(Raises)
    return net, (x,)


def narrow():
    net, x = seeded(Net)
    return net, (x,), {}, {"x": {1: Dim("width", min=2, max=64)}}


def main(folder):
    import numpy

    for make in (module, fx_graph, dynamic, as_dict, steps):
        given = make()
        net, args, kwargs = (*given, {})[:3] if isinstance(given, tuple) else list(given.values())
        args = args if isinstance(args, tuple) else (args,)
        if not isinstance(net, torch.fx.GraphModule):
            net.eval()
        with torch.no_grad():
            result = net(*args, **kwargs)
        inputs = {"in:x": args[0].numpy(), **{f"in:{name}": value.numpy() for name, value in kwargs.items()}}
        numpy.savez(os.path.join(folder, make.__name__ + ".npz"), **inputs, out=result.numpy())
    net, x = seeded(Net)
    net.eval()
    torch.jit.save(torch.jit.script(net), os.path.join(folder, "scripted.pt"))
    torch.jit.save(torch.jit.trace(net, x), os.path.join(folder, "traced.pt"))
    torch.save(net.state_dict(), os.path.join(folder, "weights.pt"))


if __name__ == "__main__":
    main(sys.argv[1])
