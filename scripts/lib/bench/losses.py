"""Where Fusescope loses against ONNX Runtime: layers of both laid over the nodes of the file, kinds of them summed.

A kernel of ONNX Runtime counts where its result is made: at the node of the file whose output, or which itself, has the
name that the kernel has or was made from. One that the file does not know (a reordering that its optimiser put in)
counts where it is read.
"""
from collections import defaultdict
from dataclasses import dataclass

import onnx


@dataclass
class Loss:
    kind: str  # operators of the file, in order, and how many layers there are of it
    own_ms: float
    peer_ms: float
    tactic: str

    @property
    def lost_ms(self):
        return self.own_ms - self.peer_ms


def largest_losses(model_path, own_layers, peer_kernels, optimised, count=3):
    """The `count` kinds of layers that lose most. `own_layers`: (nodes, ms, tactic) each; `peer_kernels`: ms by node
    of `optimised`, the bytes of the network as the peer left it."""
    graph = onnx.load(str(model_path), load_external_data=False).graph
    producer = {output: index for index, node in enumerate(graph.node) for output in node.output if output}
    names = own_names(graph)
    peer_ms = peer_by_node(onnx.load_from_string(optimised).graph, producer | names, peer_kernels)
    kinds = defaultdict(lambda: [0.0, 0.0, 0, ""])
    for nodes, milliseconds, tactic in own_layers:
        indices = sorted(names[name] for name in nodes if name in names)
        kind = kinds[kind_of([graph.node[i].op_type for i in indices]) if indices else "conversions"]
        kind[0] += milliseconds
        kind[1] += sum(peer_ms.pop(i, 0.0) for i in indices)
        kind[2] += 1
        kind[3] = kind[3] or tactic
    losses = [Loss(f"{number} x {kind}", own, peer, tactic) for kind, (own, peer, number, tactic) in kinds.items()]
    rest = sum(peer_ms.values())
    return sorted(losses, key=lambda loss: -loss.lost_ms)[:count], rest


def kind_of(operators, longest=6):
    """Runs of one operator as one, and the middle of a long list left out."""
    parts = []
    for operator in operators:
        if not parts or parts[-1] != operator:
            parts.append(operator)
    if len(parts) > longest:
        parts = [*parts[:longest - 2], "…", parts[-1]]
    return "+".join(parts)


def own_names(graph):
    """Indices of nodes by the names that Fusescope gives them: a nameless one is called after its first output."""
    names = {}
    for index, node in enumerate(graph.node):
        name = node.name or f"node_of_{next((output for output in node.output if output), '')}"
        base, again = name, 2
        while name in names:
            name, again = f"{base}#{again}", again + 1
        names[name] = index
    return names


def peer_by_node(optimised, index_of, kernels):
    """Milliseconds by index of the file's nodes, which `index_of` knows by their names and those of their outputs."""
    place = {}
    readers = defaultdict(list)
    for node in optimised.node:
        for value in node.input:
            readers[value].append(node)
    totals = defaultdict(float)
    for node in reversed(optimised.node):
        made_from = node.name.removesuffix("_nchwc")
        called = [*node.output, made_from, made_from.removesuffix("_bn"), node.name]
        known = [index_of[name] for name in called if name in index_of]
        later = [place[id(reader)] for output in node.output for reader in readers[output] if id(reader) in place]
        at = max(known) if known else min(later, default=None)
        if at is None:
            continue
        place[id(node)] = at
        totals[at] += kernels.get(node.name, 0.0)
    return totals
