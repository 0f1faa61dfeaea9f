"""Stands in for torch where a program is exported: it gives what torch made of one before (../record.py).

FUSESCOPE_TEST_RECORDING is the folder of the recording: told.json, network.onnx, net.pt2. told.json may also say
"refuses": the words that the exporter fails with; "stands_in_for": the version of this torch; "log": a file, to which a line is added
for each program that is loaded; "waits": a file that the exporter waits for. Of a module that is exported: "not_strict",
"strict": the words that this way fails with; "breaks" [{reason, line}] and "recompiles" [{reason, line}] in the script;
of TorchScript: "arguments" [{name, type, default}] of forward(), "converter": the words that it fails with, null where it works.
"""

import json
import os
import shutil
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


class Tensor:
    def __init__(self, *dims, **_):
        self.shape = dims


class Module:
    """Whoever exports it runs it, as torch does."""

    training = True

    def eval(self):
        self.training = False

    def __call__(self, *args, **kwargs):
        return self.forward(*args, **kwargs)


nn = types.SimpleNamespace(Module=Module)


class no_grad:
    def __enter__(self):
        return self

    def __exit__(self, *_):
        return False


def load(path):
    if "log" in TOLD:
        with open(TOLD["log"], "a", encoding="utf-8") as log:
            log.write("loaded\n")
    ranges = {
        each["symbol"]: types.SimpleNamespace(lower=each["min"], upper=each["max"]) for each in TOLD["symbols"]
    }
    module = GraphModule()
    return types.SimpleNamespace(graph_module=module, graph=module.graph, range_constraints=ranges)


def export_module(module, args, kwargs, dynamic_shapes=None, strict=False):
    module(*args, **kwargs)
    words = TOLD.get("strict" if strict else "not_strict")
    if words is not None:
        raise RuntimeError(words)
    return "program"


def save(program, path):
    shutil.copyfile(os.path.join(FOLDER, "net.pt2"), path)


export = types.SimpleNamespace(load=load, export=export_module, save=save)


# TorchScript.

float32 = types.SimpleNamespace(is_floating_point=True)
int64 = types.SimpleNamespace(is_floating_point=False)


class Generator:
    def manual_seed(self, _):
        return self


class Random(Tensor):
    def to(self, _):
        return self


def rand(dims, generator):
    return Random(*dims)


def zeros(dims, dtype):
    return Tensor(*dims)


def load_script(file, map_location):
    if "log" in TOLD:
        with open(TOLD["log"], "a", encoding="utf-8") as log:
            log.write("TorchScript\n")
    arguments = [types.SimpleNamespace(name="self", type="Net", has_default_value=lambda: False)]
    for each in TOLD["arguments"]:
        has_default = "default" in each
        arguments.append(
            types.SimpleNamespace(
                name=each["name"],
                type=each["type"],
                has_default_value=lambda has=has_default: has,
                default_value=each.get("default"),
            )
        )
    module = Module()
    module.forward = types.SimpleNamespace(schema=types.SimpleNamespace(arguments=arguments))
    return module


jit = types.SimpleNamespace(load=load_script)


def onnx_export(*arguments, **options):
    if options.get("dynamo") is False:
        shutil.copyfile(os.path.join(FOLDER, "network.onnx"), arguments[2])
        return None
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
