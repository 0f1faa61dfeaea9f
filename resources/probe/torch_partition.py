"""Runs Torch-TensorRT's dry run of an exported program, and finds out why nodes stay in torch.

Upstream prints a report without reasons. Here three of its functions are called through wrappers that listen: from
the function that prints the report we take its counts; where the function that counts operators examines each of
them, they are examined once more; and the function that drops small blocks says which these are. The dry run itself
is not changed.

partition.json:

    total, supported  number of operators of the program after Torch-TensorRT lowered it, and of those that it supports
    engines           [{name, operators, input_types, output_types}], as in upstream's report
    unsupported       {operator: count}, as in upstream's report
    blocks            [{name, is_engine, inputs[{from, is_input, type, is_cast}], operators[]}], in their order. An
                      input is `from` a node of the program, or is itself an input of the program (`is_input`)
    operators         of a block: [{name, target, from, types[], reads[], is_view, cause}]. `from` is the node of the
                      program, or "" if it is lost; `types` are those of its results, and `reads` those of its operands;
                      `cause` is set for an operator that stays in torch, and is null otherwise
    cause             {why, …}: "no_converter"; "validator" with validators[] and words[], and, for a pool whose
                      dilation is a list of ones, `dilation`, `else_taken` (whether a number instead of the list would
                      be accepted) and `else_words`; "open_extents"; "complex"; "asked"; "small_block" with
                      `operators`, the number of operators of the block; "unknown"
    gone              {node of the program: "folded" or "removed"}, for nodes without an operator in the lowered program
                      if the reason is known
"""

import contextlib
import difflib
import functools
import logging

from .base import Refusal
from .torch_program import called, first_lines, made_types, type_name

TAG = "fusescope.node"
NAMED_AT_MOST = 6
IDLE = ("dropout", "detach", "detach_", "alias", "lift_fresh_copy", "clone", "contiguous")
CONVERSION = "torch_tensorrt.dynamo.conversion"


def dry_run(torch, exported, args, kwargs, options):
    from torch_tensorrt.dynamo import _compiler as upstream

    tag(exported)
    inputs = [node.name for node in exported.graph.nodes if node.op == "placeholder"]
    vanishing = may_vanish(exported)
    listener = Listener(torch, options)
    settings = {
        "min_block_size": options["min_block_size"],
        "truncate_double": options["truncate_double"],
        "torch_executed_ops": set(options["torch_executed_ops"]),
        "require_full_compilation": options["require_full_compilation"],
    }
    with listener.listening(upstream):
        try:
            made = upstream.compile(exported, arg_inputs=args, kwarg_inputs=kwargs, dryrun=True, **settings)
        except (Refusal, MemoryError):
            raise
        except Exception as error:
            raise listener.refusal(error) from error
    blocks = blocks_of(torch, made, listener, set(inputs))
    there = {each["from"] for block in blocks for each in block["operators"]}
    gone = {name: why for name, why in vanishing.items() if name not in there}
    return {**listener.counted(), "blocks": blocks, "gone": gone}


def tag(exported):
    """Tags the nodes of a program. All of torch's and Torch-TensorRT's own passes preserve `custom`."""
    for node in exported.graph_module.graph.nodes:
        node.meta["custom"] = {**(node.meta.get("custom") or {}), TAG: node.name}


def may_vanish(exported):
    """Returns {node: "folded" or "removed"} for the nodes of which lowering may leave nothing: what depends on no
    input is calculated in advance, and what does nothing, or is read by nobody, is removed."""
    given = set(exported.graph_signature.user_inputs)
    depends, fates = set(), {}
    for node in exported.graph_module.graph.nodes:
        if node.name in given or any(each.name in depends for each in node.all_input_nodes):
            depends.add(node.name)
            if any(part in IDLE for part in called(node).split(".")[1:2]):
                fates[node.name] = "removed"
        elif node.op == "call_function":
            fates[node.name] = "folded" if node.users else "removed"
    return fates


class Listener:
    """Collects what the dry run reports while it runs."""

    def __init__(self, torch, options):
        self._torch, self._options = torch, options
        self._tracker, self._total, self._supported = None, 0, 0
        self.causes = {}  # counts of operators that are not supported, by their names
        self.names = set()  # number of all operators
        self._small = {}  # names of operators in blocks that were dropped -> the number of operators in the block

    @contextlib.contextmanager
    def listening(self, upstream):
        from torch_tensorrt.dynamo.partitioning import _adjacency_partitioner as adjacency

        partitioner = adjacency.TRTPartitioner
        replaced = [
            (upstream, "dryrun_stats_display", lambda _: self._report),
            (upstream.partitioning, "get_graph_converter_support", self._counting),
            (partitioner, "remove_small_acc_subgraphs", self._dropping),
        ]
        before = [(holder, name, getattr(holder, name)) for holder, name, _ in replaced]
        try:
            for holder, name, around in replaced:
                setattr(holder, name, around(getattr(holder, name)))
            yield
        finally:
            for holder, name, function in before:
                setattr(holder, name, function)

    def _report(self, tracker, _):
        self._tracker = tracker

    def _counting(self, count):
        def counting(graph_module, *args, **kwargs):
            self._supported, self._total = count(graph_module, *args, **kwargs)
            self._ask(graph_module)
            return self._supported, self._total

        return counting

    def _dropping(self, drop):
        def dropping(partitioner, subgraphs):
            blocks = [list(each.nodes) for each in subgraphs if each.is_acc]
            kept = drop(partitioner, subgraphs)
            in_engines = {node.name for each in kept if each.is_acc for node in each.nodes}
            for block in blocks:
                if not any(node.name in in_engines for node in block):
                    self._small.update((node.name, len(block)) for node in block)
            return kept

        return dropping

    def _ask(self, graph_module):
        from torch_tensorrt.dynamo.conversion._ConverterRegistry import DYNAMO_CONVERTERS as registry

        nodes = [node for node in graph_module.graph.nodes if node.op == "call_function"]
        self._check_kept({registry.qualified_name_or_str(node.target) for node in nodes})
        for node in nodes:
            self.names.add(node.name)
            cause = cause_of(registry, node)
            if cause is not None:
                self.causes[node.name] = cause

    def _check_kept(self, names):
        """Checks torch_executed_ops, because upstream accepts any text, and a text that names no operator of the
        lowered program has no effect."""
        for asked in self._options["torch_executed_ops"]:
            if asked in names:
                continue
            near = difflib.get_close_matches(asked, sorted(names), 3, 0.3) or sorted(names)[:NAMED_AT_MOST]
            raise Refusal(
                f"The program has no operator {asked} when Torch-TensorRT has lowered it, so keeping it in torch "
                "would change nothing.",
                kind="asked",
                help=f"The operators of the program include {', '.join(near)}.",
            )

    def cause(self, name):
        """Returns why an operator is outside of all engines."""
        if name in self.causes:
            return self.causes[name]
        if name in self._small:
            return {"why": "small_block", "operators": self._small[name]}
        return {"why": "unknown"}

    def counted(self):
        engines = [] if self._tracker is None else self._tracker.per_subgraph_data
        return {
            "total": self._total,
            "supported": self._supported,
            "engines": [
                {
                    "name": each.subgraph_name,
                    "operators": each.subgraph_op_count,
                    "input_types": [type_name(dtype) for dtype in each.input_dtypes],
                    "output_types": [type_name(dtype) for dtype in each.output_dtypes],
                }
                for each in engines
            ],
            "unsupported": {} if self._tracker is None else dict(self._tracker.unsupported_ops),
        }

    def refusal(self, error):
        if isinstance(error, AssertionError) and "require_full_compilation" in str(error):
            named = [f"{name} ({cause['why'].replace('_', ' ')})" for name, cause in self.causes.items()]
            more = f" and {len(named) - NAMED_AT_MOST} more" if len(named) > NAMED_AT_MOST else ""
            return Refusal(
                f"Torch-TensorRT would not compile the program as a whole: {len(named)} of {self._total} operators stay "
                f"in torch: {', '.join(named[:NAMED_AT_MOST])}{more}.",
                kind="asked",
                help="Without require-full-compilation=on, the plan says why each of them stays there.",
            )
        return Refusal(f"Torch-TensorRT could not divide the program. {first_lines(error)}", kind="asked")


def cause_of(registry, node):
    """Returns why a node is not supported, or None if it is. The checks are in the order in which upstream makes
    them."""
    from torch_tensorrt.dynamo.partitioning._global_partitioner import TorchTensorRTOperatorSupport as support

    if support._has_complex_dtype(node):
        return {"why": "complex"}
    name = registry.qualified_name_or_str(node.target)
    if name in registry.disallowed_targets or node.target in registry.disallowed_targets:
        return {"why": "asked"}
    if node in registry:
        return None
    candidates = [each for known in registry.registries for each in as_list(known.get(node.target, ()))]
    if not candidates:
        return {"why": "no_converter"}
    validators, words, dilation = [], [], None
    for each in candidates:
        validator = getattr(each, "capability_validator", None)
        with heard(words):
            is_taken = validator is None or validator(node, registry.compilation_settings)
        if not is_taken:
            validators.append(name_of(validator))
            dilation = dilation or list_of_ones(validator, node, registry.compilation_settings)
    if not validators:
        return {"why": "open_extents"}
    return {"why": "validator", "validators": once(validators), "words": once(words), **(dilation or {})}


def as_list(converters):
    return converters if isinstance(converters, (list, tuple)) else [converters]


def once(texts):
    return list(dict.fromkeys(texts))


def name_of(validator):
    """Returns the name of a validator as its author wrote it. One without a name is called after its place in the
    source."""
    while isinstance(validator, functools.partial):
        validator = validator.func
    if getattr(validator, "__name__", "") == "<lambda>":
        code = validator.__code__
        file = code.co_filename.replace("\\", "/").rsplit("/", 1)[-1]
        return f"a nameless one in line {code.co_firstlineno} of {file}"
    return getattr(validator, "__qualname__", type(validator).__name__).split(".<locals>")[0]


@contextlib.contextmanager
def heard(words):
    """Collects what converters log meanwhile, which is the only place where validators give reasons."""

    class Ear(logging.Handler):
        def emit(self, record):
            words.append(record.getMessage())

    logger, ear = logging.getLogger(CONVERSION), Ear()
    level, goes_on = logger.level, logger.propagate
    logger.addHandler(ear)
    logger.setLevel(logging.DEBUG)
    logger.propagate = False
    try:
        yield
    finally:
        logger.setLevel(level)
        logger.propagate = goes_on
        logger.removeHandler(ear)


DILATION = 4  # the position of a pool's argument


def list_of_ones(validator, node, settings):
    """Handles the validator of max pools, which compares the dilation with the number 1 and treats a list of ones as
    different. Returns None in all other cases."""
    if name_of(validator) != "max_pool_param_validator" or len(node.args) <= DILATION:
        return None
    dilation = node.args[DILATION]
    if not isinstance(dilation, (list, tuple)) or any(each != 1 for each in dilation):
        return None
    scratch = type(node.graph)()
    arguments = [*node.args[:DILATION], 1, *node.args[DILATION + 1 :]]
    arguments[0] = scratch.placeholder("x")
    asked = scratch.create_node("call_function", node.target, tuple(arguments))
    words = []
    with heard(words):
        is_taken = bool(validator(asked, settings))
    return {"dilation": list(dilation), "else_taken": is_taken, "else_words": words}


def blocks_of(torch, made, listener, inputs):
    """Returns the engines and what is between them. Operators that are in none of Torch-TensorRT's own blocks, for
    example because nothing is supported, are in blocks without a name."""
    children = {name: child for name, child in made.named_children() if isinstance(child, torch.fx.GraphModule)}
    held = {node.name for child in children.values() for node in child.graph.nodes}
    blocks = []
    for node in made.graph.nodes:
        if node.op == "call_module" and node.target in children:
            blocks.append(block_of(node, children[node.target], listener, inputs))
        elif node.op == "call_function" and node.name in listener.names and node.name not in held:
            if not blocks or blocks[-1]["name"]:
                blocks.append({"name": "", "is_engine": False, "inputs": [], "operators": []})
            blocks[-1]["operators"].append(operator_of(node, made, listener.cause(node.name)))
    return blocks


def block_of(call, module, listener, inputs):
    name = str(call.target)
    is_engine = "_run_on_acc" in name
    placeholders = [node for node in module.graph.nodes if node.op == "placeholder"]
    return {
        "name": name,
        "is_engine": is_engine,
        "inputs": [
            {
                "from": origin_of(node) or node.name,
                "is_input": (origin_of(node) or node.name) in inputs,
                "type": "".join(made_types(node)[:1]),
                "is_cast": is_cast(given),
            }
            for node, given in zip(placeholders, call.args)
        ],
        "operators": [
            operator_of(node, module, None if is_engine else listener.cause(node.name))
            for node in module.graph.nodes
            if node.op in ("call_function", "call_method", "call_module")
        ],
    }


def operator_of(node, module, cause):
    read = [made_types(each, getattr(module, str(each.target), None)) for each in node.all_input_nodes]
    return {
        "name": node.name,
        "target": called(node),
        "from": origin_of(node),
        "types": made_types(node),
        "reads": once(each for types in read for each in types),
        "is_view": is_view(node),
        "cause": cause,
    }


def is_cast(argument):
    """Returns whether an engine's input is cast before it, by the nodes that `truncate_double` adds, which are in no
    block."""
    return getattr(argument, "op", "") == "call_function" and "_to_copy" in str(argument.target)


def is_view(node):
    """Returns whether the result is only a view, by torch's schema of the operator, or is taken out of a tuple."""
    schema = getattr(node.target, "_schema", None)
    if schema is None:
        return called(node) == "getitem"
    return any(each.alias_info is not None and not each.alias_info.is_write for each in schema.returns)


def origin_of(node):
    """Returns the node of the program: by our tag, otherwise the oldest one that torch itself remembers."""
    origin = str((node.meta.get("custom") or {}).get(TAG, ""))
    sources = node.meta.get("from_node") or []
    while not origin and sources:
        last = sources[-1]
        sources = last.from_node
        if not sources:
            origin = str(last.name)
    return origin
