"""Finds where Fusescope is slower than a peer: the layers of both are mapped to the nodes of the file, and layers of
one kind are summed."""
from collections import defaultdict
from dataclasses import dataclass

import onnx


@dataclass
class Loss:
    kind: str  # the number of layers, and the operators of the file that they represent, in order
    own_ms: float
    peer_ms: float
    tactic: str  # of the longest of these layers
    peer_kernel: str

    @property
    def lost_ms(self):
        return self.own_ms - self.peer_ms


def largest_losses(model_path, own_layers, peer_layers, count=3):
    """Returns the `count` kinds of layers that lose most time, and the peer's milliseconds for which Fusescope has
    no layer."""
    graph = onnx.load(str(model_path), load_external_data=False).graph
    index_of = {output: index for index, node in enumerate(graph.node) for output in node.output if output}
    own_names_of = own_names(graph)
    groups, elsewhere = common_cover([(layer, known(layer.names, index_of | own_names_of)) for layer in own_layers],
                                     places(peer_layers, graph, index_of | own_names_of))
    kinds = defaultdict(lambda: (0, [], []))
    for group in groups:
        kind = " | ".join(kind_of([graph.node[i].op_type for i in sorted(indices)]) or "conversion"
                          for _, indices in group.own)
        number, own, peer = kinds[kind]
        kinds[kind] = (number + 1, own + [layer for layer, _ in group.own], peer + group.peer)
    losses = [Loss(f"{number} x {kind}", time_of(own), time_of(peer), longest_kernel(own), longest_kernel(peer))
              for kind, (number, own, peer) in kinds.items()]
    losses.sort(key=lambda loss: -loss.lost_ms)
    return losses[:count], elsewhere


def known(names, index_of):
    return {index_of[name] for name in names if name in index_of}


def places(layers, graph, index_of):
    """Yields each of a peer's layers with the nodes of the file that it represents.

    If the file contains none of its names, there are two cases. A conversion that was inserted belongs to the layer
    that reads it. A layer that was made from a node without another layer belongs to that node, whose result the
    next layer reads.
    """
    taken = set().union(*(known(layer.names, index_of) for layer in layers))
    for layer in layers:
        indices = known(layer.names, index_of)
        behind = known(layer.before, index_of)
        if not indices and behind:
            made = {index_of[value] for i in behind for value in graph.node[i].input if value in index_of} - taken
            indices = {max(made)} if layer.names and made else {min(behind)}
        yield layer, indices


@dataclass
class Group:
    """Layers of both sides that represent the same nodes. The groups are the smallest such sets."""
    own: list  # (layer, indices of nodes), in the order of the file
    peer: list


def common_cover(own, peer):
    """Returns the groups, and the peer's milliseconds that are in none of them."""
    groups = [Group([(layer, indices)], []) for layer, indices in own]
    group_at = {i: group for group in groups for i in group.own[0][1]}
    elsewhere = 0.0
    for layer, indices in peer:
        met = list({id(group_at[i]): group_at[i] for i in sorted(indices) if i in group_at}.values())
        if not met:
            elsewhere += layer.ms
            continue
        first = met[0]
        first.peer.append(layer)
        for other in met[1:]:
            first.own += other.own
            first.peer += other.peer
            group_at.update((i, first) for _, nodes in other.own for i in nodes)
            groups.remove(other)
    for group in groups:
        group.own.sort(key=lambda pair: min(pair[1], default=-1))
    return groups, elsewhere


def time_of(layers):
    return sum(layer.ms for layer in layers)


def longest_kernel(layers):
    return max(layers, key=lambda layer: layer.ms).kernel if layers else ""


def kind_of(operators, longest=6):
    """Returns the operators with repetitions joined, and with the middle of a long list left out."""
    parts = []
    for operator in operators:
        if not parts or parts[-1] != operator:
            parts.append(operator)
    if len(parts) > longest:
        parts = [*parts[:longest - 2], "…", parts[-1]]
    return "+".join(parts)


def own_names(graph):
    """Returns the indices of nodes by the names that Fusescope gives them: a node without a name is named after its
    first output."""
    names = {}
    for index, node in enumerate(graph.node):
        name = node.name or f"node_of_{next((output for output in node.output if output), '')}"
        base, again = name, 2
        while name in names:
            name, again = f"{base}#{again}", again + 1
        names[name] = index
    return names
