"""Stands in for torch where a program is exported: it gives what torch made of one before (../record.py).

FUSESCOPE_TEST_RECORDING is the folder of the recording: told.json, network.onnx. told.json may also say
"refuses": the words that the exporter fails with; "stands_in_for": the version of this torch; "log": a file, to which a line is added
for each program that is loaded; "waits": a file that the exporter waits for.
"""

import json
import os
import time
import types

FOLDER = os.environ["FUSESCOPE_TEST_RECORDING"]
with open(os.path.join(FOLDER, "told.json"), encoding="utf-8") as file:
    TOLD = json.load(file)

__version__ = TOLD.get("stands_in_for", "2.14.1")
version = types.SimpleNamespace(cuda=None)
TAG = "fusescope.node"


class GraphModule:
    def __init__(self, nodes=(), children=None):
        self.graph, self._children = types.SimpleNamespace(nodes=list(nodes)), children or {}

    def named_modules(self):
        yield "", self
        yield from self._children.items()


fx = types.SimpleNamespace(GraphModule=GraphModule)


class Model(list):
    """The graph: an iterable of nodes. Where a recorded node is in a body, so it is here."""

    def __init__(self, name, nodes):
        super().__init__(nodes)
        self.name, self.metadata_props = name, {}
        self.inputs = [types.SimpleNamespace(name=each) for each in TOLD["inputs"]]
        self.outputs = [types.SimpleNamespace(name=each) for each in TOLD["outputs"]]


def onnx_node(told, number):
    name = told["node"].rsplit("/", 1)[-1]
    notes = {
        "pkg.torch.onnx.fx_node": f"%n{number} : [num_users=1]",
        "pkg.torch.onnx.name_scopes": str(["", told["module"], "op"]) if told["module"] else "['', 'op']",
        "pkg.torch.onnx.stack_trace": told["trace"],
    }
    return types.SimpleNamespace(name=name, metadata_props=notes, attributes={})


def made_of(told_nodes):
    """The network, and the program as torch's passes left it."""
    main, tags, bodies = [], {"": []}, {}
    for number, told in enumerate(told_nodes):
        node, path = onnx_node(told, number), ""
        if "/" in told["node"]:
            holder, path = told["node"].split("/")[0], told["from"].split("/")[0]
            bodies.setdefault((holder, path), []).append(node)
        else:
            main.append(node)
        custom = {TAG: told["from"]} if told["from"] else {}
        tags.setdefault(path, []).append(types.SimpleNamespace(name=f"n{number}", meta={"custom": custom}))
    for (holder, path), nodes in bodies.items():
        holder_node = next(node for node in main if node.name == holder)
        graph = types.SimpleNamespace(type=types.SimpleNamespace(name="GRAPH"), value=Model(path, nodes))
        holder_node.attributes[path] = graph
    module = GraphModule(tags.pop(""), {path: GraphModule(nodes) for path, nodes in tags.items()})
    return Model("main_graph", main), types.SimpleNamespace(graph_module=module)


def load(path):
    if "log" in TOLD:
        with open(TOLD["log"], "a", encoding="utf-8") as log:
            log.write("loaded\n")
    ranges = {
        each["symbol"]: types.SimpleNamespace(lower=each["min"], upper=each["max"]) for each in TOLD["symbols"]
    }
    module = GraphModule()
    return types.SimpleNamespace(graph_module=module, graph=module.graph, range_constraints=ranges)


export = types.SimpleNamespace(load=load)


def onnx_export(*_, **__):
    while "waits" in TOLD and not os.path.exists(TOLD["waits"]):
        time.sleep(0.01)
    if "refuses" in TOLD:
        raise RuntimeError(TOLD["refuses"])
    graph, program = made_of(TOLD["nodes"])

    def save(path):
        with open(os.path.join(FOLDER, "network.onnx"), "rb") as source, open(path, "wb") as target:
            target.write(source.read())

    return types.SimpleNamespace(model=types.SimpleNamespace(graph=graph), exported_program=program, save=save)


onnx = types.SimpleNamespace(export=onnx_export)
