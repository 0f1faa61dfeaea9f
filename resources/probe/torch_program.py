"""Loads an exported program of torch (.pt2), relates it to the inputs and outputs of a network, and describes it.

torch itself loads the file and resolves what it refers to, so that only files that the user named are loaded.
"""

import hashlib
import operator
import os
import tempfile

from .base import Refusal

TYPES = {  # torch's names -> those of core/base/data_type.h
    "float64": "f64",
    "float32": "f32",
    "float16": "f16",
    "bfloat16": "bf16",
    "int64": "int64",
    "int32": "int32",
    "int16": "int16",
    "int8": "int8",
    "uint64": "uint64",
    "uint32": "uint32",
    "uint16": "uint16",
    "uint8": "uint8",
    "bool": "bool",
}
OF_TYPE = {ours: torchs for torchs, ours in TYPES.items()}
CHECKS = ("aten._assert_tensor_metadata.default", "aten._assert_scalar.default", "aten._assert_async.msg")


def type_name(dtype):
    """Returns "f32" for torch.float32, and torch's own name for a type that networks do not have."""
    words = str(dtype).rsplit(".", 1)[-1]
    return TYPES.get(words, words)


def first_lines(error, most=12):
    """Returns the first lines of torch's message, which is followed by traces and advice."""
    lines = [line.rstrip() for line in str(error).strip().splitlines() if line.strip()]
    return "\n".join([f"{type(error).__name__}: {lines[0] if lines else 'no reason is given'}", *lines[1:most]])


def keep_within(job_folder):
    """Puts the files that torch stores for itself, such as precompiled headers, into the folder of the job."""
    tempfile.tempdir = tempfile.mkdtemp(prefix="torch-", dir=os.path.dirname(os.path.abspath(job_folder)))


def load(torch, path):
    try:
        return torch.export.load(path)
    except MemoryError:
        raise
    # an unsupported container of the file, an unsupported schema, or an operator that is not registered there
    except Exception as error:
        raise Refusal(
            f"torch {torch.__version__} cannot load the exported program. {first_lines(error)}",
            kind="asked",
            help="Export it again with this torch, or use an environment with the torch that wrote it.",
        ) from None


class Program:
    """A loaded program on one device, whose tensors are accessed by their names in the network."""

    def __init__(self, torch, exported, device, options):
        self._torch, self._device = torch, device
        self._weights = weights_of(torch, exported)
        self._bind(exported, options)
        if device != "cpu":
            exported = on_device(exported, device)
        self._half, self._is_whole = options.get("half"), options.get("half_by") == "whole"
        self.module = exported.module()
        if self._half or device != "cpu":
            remove_checks(self.module)
        if self._half and self._is_whole:
            self.module = self.module.to(self._half_type())

    def _bind(self, exported, options):
        """Finds for each input and output of the network the tensor of the program: by their names, otherwise by
        position."""
        spec = exported.call_spec
        self._spec, self._flat = spec.in_spec, []
        signature = exported.graph_signature
        values = {node.name: node.meta.get("val") for node in exported.graph.nodes}
        examples = flat_examples(self._torch, exported)
        own = []
        for index, entry in enumerate(each for each in signature.input_specs if each.kind.name == "USER_INPUT"):
            value = values.get(entry.arg.name) if hasattr(entry.arg, "name") else None
            is_tensor = isinstance(value, self._torch.Tensor)
            constant = getattr(entry.arg, "value", None)
            example = examples[index] if index < len(examples) else None
            self._flat.append(None if is_tensor else constant)
            if is_tensor:
                own.append((index, entry.arg.name, value, example))
        self._inputs = matched(options["inputs"], own, "input")
        outputs = [
            (index, getattr(entry.arg, "name", ""), values.get(getattr(entry.arg, "name", "")), None)
            for index, entry in enumerate(each for each in signature.output_specs if each.kind.name == "USER_OUTPUT")
        ]
        outputs = [each for each in outputs if isinstance(each[2], self._torch.Tensor)]
        self._outputs = matched(options["outputs"], outputs, "output")

    def _half_type(self):
        return getattr(self._torch, OF_TYPE[self._half])

    def calculating(self):
        """Returns the context in which the program runs: without gradients, and with torch's autocast if floats
        narrower than f32 are requested."""
        import contextlib

        stack = contextlib.ExitStack()
        stack.enter_context(self._torch.no_grad())
        if self._half and not self._is_whole:
            stack.enter_context(self._torch.autocast(self._device.split(":")[0], dtype=self._half_type()))
        return stack

    def arguments(self, tensors):
        """Returns (args, kwargs) made from `tensors`, which have the network's names, on the device."""
        from torch.utils import _pytree

        flat = list(self._flat)
        for told, (index, _, _, _) in self._inputs:
            if told["name"] not in tensors:
                raise Refusal(f"There is no value for the input {told['called']}.")
            value = tensors[told["name"]].to(self._device)
            if self._half and self._is_whole and value.is_floating_point():
                value = value.to(self._half_type())
            flat[index] = value
        return _pytree.tree_unflatten(flat, self._spec)

    def usual_inputs(self):
        """Returns inputs by the network's names: the examples of the program if they have the extents for which it
        is compiled, otherwise zeros."""
        tensors = {}
        for told, (_, _, value, example) in self._inputs:
            dims = told.get("extents") or list(value.shape)
            dims = [int(dim) for dim in dims]
            fits = isinstance(example, self._torch.Tensor) and list(example.shape) == dims
            tensors[told["name"]] = example if fits else self._torch.zeros(dims, dtype=value.dtype)
        return tensors

    def outputs(self, result):
        """Returns outputs by the network's names, in the types that the network declares."""
        from torch.utils import _pytree

        flat = _pytree.tree_leaves(result)
        given = {}
        for told, (index, _, _, _) in self._outputs:
            tensor = flat[index].detach()
            wanted = OF_TYPE.get(told["type"])
            given[told["name"]] = tensor.to(getattr(self._torch, wanted)) if wanted else tensor
        return given

    def weights(self):
        return self._weights

    def observed(self):
        """Returns what each node of the program did in one run on the usual inputs: [{name, target, types, dims,
        is_view, …}]."""
        args, kwargs = self.arguments(self.usual_inputs())
        watcher = interpreter(self._torch, self.module, Watching(self._torch))
        with self.calculating():
            watcher.run(*self._flattened(args, kwargs))
        return watcher.watching.nodes

    def _flattened(self, args, kwargs):
        """Returns the values for the placeholders of the module, in their order."""
        from torch.utils import _pytree

        return _pytree.tree_leaves((args, kwargs))

    def named_run(self, args, kwargs, named):
        """Runs node by node; `named(name)` is a context in which each of them runs."""
        return interpreter(self._torch, self.module, Naming(named)).run(*self._flattened(args, kwargs))


def flat_examples(torch, exported):
    from torch.utils import _pytree

    return [] if exported.example_inputs is None else _pytree.tree_leaves(exported.example_inputs)


def matched(told, own, what):
    """Returns [(what the network says about it, what the program contains)]. Refuses if they contradict each other."""
    if len(told) != len(own):
        raise Refusal(
            f"The network has {len(told)} {what}s, and the exported program has {len(own)} that are tensors: it is not "
            "the program of this network.",
            kind="asked",
        )
    by_name = {each[1]: each for each in own}
    if all(each["called"] in by_name for each in told):
        own = [by_name[each["called"]] for each in told]
    for each, (_, name, value, _) in zip(told, own):
        check_same(each, name, value, what)
    return list(zip(told, own))


def check_same(told, name, value, what):
    type_there, dims_there = type_name(value.dtype), list(value.shape)
    dims = told.get("dims")
    fits = dims is None or (
        len(dims) == len(dims_there)
        and all(a is None or not isinstance(b, int) or a == b for a, b in zip(dims, dims_there))
    )
    if type_there != told["type"] or not fits:
        shown = ", ".join("?" if dim is None else str(dim) for dim in dims or [])
        raise Refusal(
            f"The {what} {told['called']} is {told['type']} [{shown}] in the network, and {name} is {type_there} "
            f"[{', '.join(map(str, dims_there))}] in the exported program: it is not the program of this network.",
            kind="asked",
        )


def on_device(exported, device):
    from torch.export.passes import move_to_device_pass

    return move_to_device_pass(exported, device)


def remove_checks(module):
    """Removes nodes that only check that tensors have the types and device of the export, because other ones may be
    requested."""
    for each in module.modules():
        graph = getattr(each, "graph", None)
        if graph is None:
            continue
        for node in list(graph.nodes):
            if node.op == "call_function" and str(node.target) in CHECKS and not node.users:
                graph.erase_node(node)
        each.recompile()


def weights_of(torch, exported):
    """Returns [{name, type, dims, sha256, transposed}] for parameters, buffers and constants. `transposed` is the
    hash of a matrix with exchanged axes, because exporters write the weights of a product in this form."""
    listed = []
    for name, tensor in {**exported.state_dict, **exported.constants}.items():
        if not isinstance(tensor, torch.Tensor) or type_name(tensor.dtype) not in OF_TYPE:
            continue
        facts = {"name": name, "type": type_name(tensor.dtype), "dims": list(tensor.shape)}
        facts["sha256"] = hashed(torch, tensor)
        if tensor.dim() == 2:
            facts["transposed"] = hashed(torch, tensor.t())
        listed.append(facts)
    return listed


def hashed(torch, tensor):
    flat = tensor.detach().cpu().contiguous().reshape(-1)
    data = flat.view(torch.uint8).numpy() if flat.numel() else b""
    return hashlib.sha256(data).hexdigest()


def interpreter(torch, module, watching):
    """Returns an interpreter that runs `module` node by node. `watching.around(node, run)` runs each node that calls
    something."""

    class Interpreter(torch.fx.Interpreter):
        def run_node(self, node):
            if node.op != "call_function":
                return super().run_node(node)
            arguments, keywords = self.fetch_args_kwargs_from_env(node)
            run = super().run_node
            return watching.around(node, (arguments, keywords), lambda: run(node))

    made = Interpreter(module)
    made.watching = watching
    return made


class Naming:
    def __init__(self, named):
        self._named = named

    def around(self, node, _, run):
        with self._named(node.name):
            return run()


class Watching:
    """Records what nodes did: types and extents of their results, and whether these share memory with what the nodes
    read."""

    def __init__(self, torch):
        self._torch, self.nodes = torch, []

    def around(self, node, arguments, run):
        result = run()
        read, made = self._tensors(arguments), self._tensors(result)
        places = {self._place(tensor) for tensor in read}
        is_view = bool(made) and all(self._place(tensor) in places for tensor in made) and not is_in_place(node)
        entry = about(node)
        entry["types"] = [type_name(tensor.dtype) for tensor in made]
        entry["dims"] = [list(map(int, tensor.shape)) for tensor in made]
        entry["read_types"] = [type_name(tensor.dtype) for tensor in read]
        entry["is_view"] = is_view
        self.nodes.append(entry)
        self.nodes.extend(inside(self._torch, node))
        return result

    def _tensors(self, tree):
        from torch.utils import _pytree

        return [each for each in _pytree.tree_leaves(tree) if isinstance(each, self._torch.Tensor)]

    def _place(self, tensor):
        return tensor.device, tensor.untyped_storage().data_ptr()


def attribute(module, path):
    try:
        return operator.attrgetter(path)(module)
    except AttributeError:
        return None


def is_in_place(node):
    """Returns whether the operator writes into its input, according to torch's schema."""
    schema = getattr(node.target, "_schema", None)
    return schema is not None and any(
        each.alias_info is not None and each.alias_info.is_write for each in schema.arguments
    )


def listed(torch, exported):
    """Describes each node of a program that nobody ran: [{name, target, types, …}]."""
    nodes = []
    for node in exported.graph_module.graph.nodes:
        if node.op == "call_function":
            nodes.append({**about(node), "types": made_types(node)})
            nodes.extend(inside(torch, node))
    return nodes


def inside(torch, node):
    """Returns the nodes of a graph that this node runs, for example one that switches gradients off."""
    listed = []
    for argument in node.all_input_nodes:
        inner = argument.op == "get_attr" and attribute(argument.graph.owning_module, argument.target)
        for each in inner.graph.nodes if isinstance(inner, torch.fx.GraphModule) else ():
            if each.op == "call_function":
                listed.append({**about(each), "within": node.name})
    return listed


def made_types(node, otherwise=None):
    """Returns the types of the tensors that a node makes, as the export recorded them, or those of `otherwise` if it
    recorded none."""
    value = node.meta.get("val", otherwise)
    values = value if isinstance(value, (list, tuple)) else [value]
    return [type_name(each.dtype) for each in values if hasattr(each, "dtype")]


def called(node):
    """Returns what a node calls: "aten.linear.default", "getitem"."""
    if hasattr(node.target, "_schema"):
        return str(node.target)
    return getattr(node.target, "__name__", str(node.target))


def about(node):
    """Returns where a node comes from, as the exporter recorded it."""
    modules = node.meta.get("nn_module_stack") or {}
    paths = [str(entry[0]) for entry in modules.values() if isinstance(entry, (tuple, list)) and entry]
    return {
        "name": node.name,
        "target": called(node),
        "module": paths[-1] if paths else "",
        "trace": str(node.meta.get("stack_trace") or "").strip(),
    }
