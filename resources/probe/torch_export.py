"""Converts an exported program of torch (.pt2) to an ONNX network. torch exports it, and each node of the network is
related to the node of the program from which it was made.

For this, each node of the program is tagged before, in what torch calls `custom`: a dictionary that all of torch's
own passes preserve, so that the nodes which they make still say from which node they come.
"""

import re

from . import base
from .torch_program import first_lines

# version of the results; networks that were stored by another version are made again
# (core/frontends/torch/kept_network.h)
VERSION = 1
NETWORK = "network.onnx"
OPSET = 18  # in newer versions torch writes operators that compilers support only later
TAG = "fusescope.node"  # in `custom`, and in the metadata of the network's nodes
FX_NODE, TRACE, SCOPES = "pkg.torch.onnx.fx_node", "pkg.torch.onnx.stack_trace", "pkg.torch.onnx.name_scopes"
SYMBOL = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def export(torch, exported, names, outputs, path):
    """Writes the network to `path`. `names` {symbol: name} are the names of extents. `outputs` are the names of the
    outputs in their order; if it is [], they keep torch's names. Returns {version, opset, torch, onnx, onnxscript,
    inputs[], outputs[], symbols[], nodes[]}."""
    packages = {name: base.import_package(name, name).__version__ for name in ("onnx", "onnxscript")}
    symbols = symbols_of(exported, names)
    tag(torch, exported)
    try:
        made = torch.onnx.export(exported, dynamo=True, opset_version=OPSET, verbose=False)
    except MemoryError:
        raise
    except Exception as error:
        raise refused(torch, exported, error) from error
    nodes = tied(torch, made)
    rename(made.model, names)
    name_outputs(made.model.graph, outputs)
    made.save(path)
    return {
        "version": VERSION,
        "opset": OPSET,
        "torch": torch.__version__,
        **packages,
        "inputs": [value.name for value in made.model.graph.inputs],
        "outputs": [value.name for value in made.model.graph.outputs],
        "symbols": symbols,
        "nodes": nodes,
    }


def name_outputs(graph, called):
    """Gives the outputs these names, if their number is right and all are different. An inner value that has such a
    name gets another one. If an input has such a name, nothing is renamed."""
    if len(called) != len(graph.outputs) or len(set(called)) != len(called):
        return
    if {value.name for value in graph.inputs}.intersection(called):
        return
    inside = {**graph.initializers, **{value.name: value for node in graph for value in node.outputs}}
    for value, name in zip(graph.outputs, called):
        other = inside.get(name)
        if other is not None and other is not value and all(other is not output for output in graph.outputs):
            new = next(f"{name}_inside_{i}" for i in range(2, len(inside) + 3) if f"{name}_inside_{i}" not in inside)
            is_constant = graph.initializers.pop(name, None) is not None
            other.name = new
            if is_constant:
                graph.initializers[new] = other
        value.name = name


def symbols_of(exported, names):
    """Returns [{symbol, name, min, max}] for the symbols of the program's inputs; null means that there is no bound.
    Refuses names of symbols that do not exist, and names that are given twice."""
    ranges = {str(symbol): each for symbol, each in exported.range_constraints.items()}
    known = sorted({each for symbol in ranges for each in SYMBOL.findall(symbol)})
    for symbol, name in names.items():
        if symbol not in known:
            there = f"Its open extents are {', '.join(known)}." if known else "All its extents are fixed."
            raise base.Refusal(
                f"The program has no extent {symbol}, so it cannot be called {name}.", kind="asked", help=there
            )
        taken = [each for each in known if each != symbol and names.get(each, each) == name]
        if taken:
            raise base.Refusal(f"{symbol} and {taken[0]} cannot both be called {name}.", kind="asked")
    return [
        {"symbol": symbol, "name": renamed(symbol, names), "min": bound(each.lower), "max": bound(each.upper)}
        for symbol, each in ranges.items()
    ]


def bound(number):
    try:
        return int(number)
    except (TypeError, ValueError, OverflowError, AttributeError):  # the last one is SymPy's, for infinities
        return None  # infinite


def graphs_of(torch, module):
    """Returns (path in the program, graph): the program's own graph, whose path is "", and those of branches and
    loops."""
    for path, each in module.named_modules():
        if isinstance(each, torch.fx.GraphModule):
            yield path, each.graph


def tag(torch, exported):
    exported._guards_code = []  # text that torch would run as code
    for path, graph in graphs_of(torch, exported.graph_module):
        for node in graph.nodes:
            custom = dict(node.meta.get("custom") or {})
            node.meta["custom"] = {**custom, TAG: f"{path}/{node.name}" if path else node.name}


def tied(torch, made):
    """Returns [{node, from, module, trace}] for all nodes of the network, and adds `from` to their metadata. Nodes
    of a body are called HOLDER/NAME. `from` is empty if torch's passes lost it."""
    tags = {
        (path, node.name): str((node.meta.get("custom") or {}).get(TAG, ""))
        for path, graph in graphs_of(torch, made.exported_program.graph_module)
        for node in graph.nodes
    }
    listed = []

    def add(graph, path, holder):
        for node in graph:
            program_node = node.metadata_props.get(FX_NODE, "")[1:].split(" ", 1)[0]
            origin = tags.get((path, program_node), "")
            if origin:
                node.metadata_props[TAG] = origin
            name = f"{holder}{node.name}"
            modules = re.findall(r"'([^']*)'", node.metadata_props.get(SCOPES, ""))
            listed.append(
                {
                    "node": name,
                    "from": origin,
                    "module": modules[-2] if len(modules) > 1 else "",
                    "trace": node.metadata_props.get(TRACE, "").strip(),
                }
            )
            for attribute in node.attributes.values():
                for body in bodies_of(attribute):
                    add(body, body.name or path, f"{name}/")

    add(made.model.graph, "", "")
    return listed


def bodies_of(attribute):
    kind = str(getattr(attribute.type, "name", ""))
    return [attribute.value] if kind == "GRAPH" else list(attribute.value) if kind == "GRAPHS" else []


def renamed(expression, names):
    return SYMBOL.sub(lambda found: names.get(found.group(0), found.group(0)), str(expression))


def rename(model, names):
    """Renames the extents of all values according to `names`, and in what torch notes about their ranges."""
    if not names:
        return
    import onnx_ir as ir

    for value in all_values(model.graph):
        if value.shape is not None:
            dims = [dim if isinstance(dim, int) else ir.SymbolicDim(called(dim.value, names)) for dim in value.shape]
            value.shape = ir.Shape(dims)
    ranges = "pkg.torch.export.ExportedProgram.range_constraints"
    if ranges in model.graph.metadata_props:
        model.graph.metadata_props[ranges] = renamed(model.graph.metadata_props[ranges], names)


def called(symbol, names):
    return None if symbol is None else renamed(symbol, names)


def all_values(graph):
    yield from graph.inputs
    for node in graph.all_nodes():
        yield from node.outputs
        for attribute in node.attributes.values():
            for body in bodies_of(attribute):
                yield from body.inputs


def refused(torch, exported, error):
    """Returns a sentence about torch's failure: the last cause of the chain, and the node that it names."""
    chain = [error]
    while chain[-1].__cause__ is not None and len(chain) < 20:
        chain.append(chain[-1].__cause__)
    named = re.search(r"translating node %(\w+)", "\n".join(str(each) for each in chain))
    about = about_node(exported, named.group(1)) if named else ""
    return base.Refusal(
        f"torch {torch.__version__} cannot export the program to ONNX{about}. {first_lines(chain[-1], 3)}",
        kind="asked",
        help="Write this part of the module with other operators, or use an environment with a newer torch and "
        "onnxscript. The program itself can be opened, to be looked at and planned.",
    )


def about_node(exported, name):
    for node in exported.graph.nodes:
        if node.name == name:
            lines = [line.strip() for line in str(node.meta.get("stack_trace") or "").splitlines()]
            places = [line for line in lines if line.startswith("File ")]
            return f": node {name}, {node.target}" + (f", written in {places[-1]}" if places else "")
    return f": node {name}"
