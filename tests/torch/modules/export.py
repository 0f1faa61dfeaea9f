"""export.py FOLDER: writes of each module NAME.pt2, NAME.npz with what it gives for its example inputs (as in: and out:
arrays are called elsewhere: by output, in order), and NAME.json with what torch itself says of its inputs.

Prints the names of the modules, a line each.
"""

import json
import os
import sys

import numpy
import torch

import modules


def types_of_inputs(program):
    """[{name, type, dims}] of the inputs that are tensors; a dim is a number, or [expression of symbols, min, max]."""
    values = {node.name: node.meta.get("val") for node in program.graph.nodes}
    told = []
    for spec in program.graph_signature.input_specs:
        value = values.get(getattr(spec.arg, "name", ""))
        if spec.kind.name != "USER_INPUT" or not isinstance(value, torch.Tensor):
            continue
        dims = []
        for extent in value.shape:
            if isinstance(extent, int):
                dims.append(extent)
                continue
            expression = extent.node.expr
            bounds = program.range_constraints.get(expression)
            dims.append([str(expression), whole(bounds.lower), whole(bounds.upper)])
        told.append({"name": spec.arg.name, "type": str(value.dtype).removeprefix("torch."), "dims": dims})
    return told


def whole(bound):
    """A bound as a number; null where there is none."""
    try:
        return int(bound)
    except (OverflowError, TypeError, ValueError, AttributeError):
        return None


def names_of_outputs(program):
    return [spec.arg.name for spec in program.graph_signature.output_specs if spec.kind.name == "USER_OUTPUT"]


def arrays(program, outputs):
    flat, _ = torch.utils._pytree.tree_flatten(outputs)
    names = names_of_outputs(program)
    return {f"out:{name}": value.detach().float().numpy() if value.dtype == torch.bfloat16 else value.detach().numpy()
            for name, value in zip(names, flat, strict=True)}


def main(folder):
    torch.manual_seed(7)
    for name, make in modules.MODULES.items():
        example = make()
        program = torch.export.export(example.module, example.args, example.kwargs, dynamic_shapes=example.dynamic,
                                      strict=False)
        path = os.path.join(folder, name)
        torch.export.save(program, path + ".pt2")
        with torch.no_grad():
            outputs = example.module(*example.args, **example.kwargs)
        numpy.savez(path + ".npz", **arrays(program, outputs))
        with open(path + ".json", "w", encoding="utf-8") as file:
            json.dump({"inputs": types_of_inputs(program), "outputs": names_of_outputs(program)}, file)
        print(name, flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
