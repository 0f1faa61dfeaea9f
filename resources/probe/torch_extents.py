"""Returns the names that the author of a module gave to its open extents. A program contains symbols (s77) and not
these names, so that they are taken from the dynamic shapes with which it was exported."""

import inspect

from .torch_script import attempt


def named(torch, loaded, program):
    """Returns {symbol: name} for the extents that consist of one symbol. Returns nothing if torch's own helpers are
    not those that are known here, because names are not essential."""
    names, _ = attempt(lambda: named_now(torch, loaded, program))
    return names or {}


def named_now(torch, loaded, program):
    from torch.utils import _pytree

    values = {node.name: node.meta.get("val") for node in program.graph.nodes if node.op == "placeholder"}
    leaves, _ = _pytree.tree_flatten_with_path((loaded.args, loaded.kwargs))
    parameters = list(inspect.signature(loaded.module.forward).parameters)
    names = {}
    for (path, _), placeholder in zip(leaves, program.graph_signature.user_inputs):
        value = values.get(placeholder) if isinstance(placeholder, str) else None
        spec, _ = attempt(lambda: spec_at(loaded.dynamic_shapes, [key_of(each) for each in path], parameters))  # noqa: B023
        for axis, name in names_of_axes(spec).items():
            if isinstance(value, torch.Tensor) and axis < value.dim() and not isinstance(value.shape[axis], int):
                names.setdefault(str(value.shape[axis].node.expr), name)
    symbols = {str(symbol) for symbol in program.range_constraints}
    taken = list(names.values())
    return {
        symbol: name
        for symbol, name in names.items()
        if symbol.isidentifier() and name.isidentifier() and taken.count(name) == 1 and name not in symbols
    }


def key_of(entry):
    """Returns the key of one step of a path in a tree: a position in a sequence, or a key of a dict."""
    return getattr(entry, "idx", getattr(entry, "key", None))


def spec_at(dynamic_shapes, path, parameters):
    """Returns the specification of the leaf at `path` of (args, kwargs), by the name of its parameter or by its
    position."""
    where, key, *inner = path
    place = key if where == 0 else parameters.index(key)
    if isinstance(dynamic_shapes, dict):
        spec = dynamic_shapes.get(parameters[place])
    else:
        spec = dynamic_shapes[place] if isinstance(dynamic_shapes, (tuple, list)) else None
    for step in inner:
        if isinstance(spec, dict):
            spec = spec.get(step)
        else:
            spec = spec[step] if isinstance(spec, (tuple, list)) and step < len(spec) else None
    return spec


def names_of_axes(spec):
    """Returns {axis: name} for {axis: Dim} or for a sequence of them. A dimension that torch chose itself has no
    name."""
    axes = spec.items() if isinstance(spec, dict) else enumerate(spec if isinstance(spec, (tuple, list)) else ())
    named = {axis: dim if isinstance(dim, str) else getattr(dim, "__name__", "") for axis, dim in axes}
    return {axis: name for axis, name in named.items() if isinstance(axis, int) and isinstance(name, str) and name}
