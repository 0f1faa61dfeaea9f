"""Where Fusescope loses against a peer: layers of both laid over the nodes of the file, kinds of them summed."""
from collections import defaultdict
from dataclasses import dataclass

import onnx


@dataclass
class Loss:
    kind: str  # how many layers there are, of which operators of the file, in order
    own_ms: float
    peer_ms: float
    tactic: str  # of the longest of these layers
    peer_kernel: str

    @property
    def lost_ms(self):
        return self.own_ms - self.peer_ms


def largest_losses(model_path, own_layers, peer_layers, count=3):
    """The `count` kinds of layers that lose most, and the peer's milliseconds that no layer of Fusescope stands for."""
    graph = onnx.load(str(model_path), load_external_data=False).graph
    index_of = {output: index for index, node in enumerate(graph.node) for output in node.output if output}
    index_of |= own_names(graph)
    peer_at = by_node(peer_layers, index_of)
    kinds = defaultdict(lambda: ([], []))
    for layer in own_layers:
        indices = sorted(index_of[name] for name in layer.names if name in index_of)
        own, peer = kinds[kind_of([graph.node[i].op_type for i in indices]) if indices else "conversion"]
        own.append(layer)
        peer += [other for i in indices for other in peer_at.pop(i, [])]
    losses = [Loss(f"{len(own)} x {kind}", time_of(own), time_of(peer), longest_kernel(own), longest_kernel(peer))
              for kind, (own, peer) in kinds.items()]
    losses.sort(key=lambda loss: -loss.lost_ms)
    return losses[:count], time_of(layer for layers in peer_at.values() for layer in layers)


def time_of(layers):
    return sum(layer.ms for layer in layers)


def longest_kernel(layers):
    return max(layers, key=lambda layer: layer.ms).kernel if layers else ""


def by_node(layers, index_of):
    """Layers by index of the file's nodes: of the last that one stands for."""
    places = defaultdict(list)
    for layer in layers:
        own = [index_of[name] for name in layer.names if name in index_of]
        behind = [index_of[name] for name in layer.before if name in index_of]
        if own or behind:
            places[max(own) if own else min(behind)].append(layer)
    return places


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
