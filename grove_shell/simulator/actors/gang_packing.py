"""Assigns the pods of a gang to nodes with the same value of a node label, as its placement requires (SM-020).

Of several values the one whose nodes have the least room is tried first, then by name. Blocks are placed one after the
other, the largest first, without backtracking: a gang that fits only in another order does not fit.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple, TypeAlias

from grove_core.resources.pod import Pod
from grove_core.resources.podgang import NO_PACK, GangPackConstraint, PodGangConstraints
from grove_shell.simulator.cluster.simulated_nodes import PODS, UNLIMITED, PodResourceRequests, SimulatedNode

Assignment: TypeAlias = list[tuple[Pod, SimulatedNode]]
RequestsOf: TypeAlias = Callable[[Pod], PodResourceRequests]
ChooseNode: TypeAlias = Callable[[PodResourceRequests, Iterable[SimulatedNode]], SimulatedNode | None]


class PodPackingBlock(NamedTuple):
    """Pods that are packed together; inner blocks are packed more closely.

    Attributes:
        pack: the required and the preferred node label.
        pods: the pods outside of inner blocks, in the order of placement.
        blocks: the inner blocks, the largest first.
        placed_nodes: nodes of the pods of the block that are placed already.
    """

    pack: GangPackConstraint
    pods: tuple[Pod, ...]
    blocks: tuple["PodPackingBlock", ...] = ()
    placed_nodes: tuple[SimulatedNode, ...] = ()

    @property
    def pod_count(self) -> int:
        """Number of pods to place."""
        return len(self.pods) + sum(block.pod_count for block in self.blocks)

    def all_pods(self) -> Iterator[Pod]:
        """Yield all pods to place."""
        yield from self.pods
        for block in self.blocks:
            yield from block.all_pods()


def nested_pod_blocks_of_gang(
    placement: PodGangConstraints,
    waiting: Mapping[str, Sequence[Pod]],
    placed_nodes: Mapping[str, Sequence[SimulatedNode]],
) -> PodPackingBlock:
    """Return the pods of a gang as nested blocks.

    Args:
        placement: the placement of the PodGang.
        waiting: name of a PodClique -> its pods to place.
        placed_nodes: name of a PodClique -> nodes of its placed pods.
    """
    packs = dict(placement.cliques)
    grouped = {name for one in placement.packed_groups for name in one.cliques}
    names = dict.fromkeys((*waiting, *placed_nodes))

    def block(pack: GangPackConstraint, names: Iterable[str], parts: Iterable[PodPackingBlock] = ()) -> PodPackingBlock:
        unpacked: list[Pod] = []
        inner = list(parts)
        in_block = [node for part in inner for node in part.placed_nodes]
        for name in names:
            in_block += placed_nodes.get(name, ())
            if name in packs:
                own = PodPackingBlock(packs[name], tuple(waiting.get(name, ())), (), tuple(placed_nodes.get(name, ())))
                inner.append(own)
            else:
                unpacked += waiting.get(name, ())
        ordered = sorted((part for part in inner if part.pod_count), key=lambda part: -part.pod_count)
        return PodPackingBlock(pack, tuple(unpacked), tuple(ordered), tuple(in_block))

    parts = [block(one.pack, one.cliques) for one in placement.packed_groups]
    return block(placement.gang, (name for name in names if name not in grouped), parts)


def node_labels_required_by_placement(placement: PodGangConstraints) -> set[str]:
    """Return the node labels that a placement requires."""
    packs = (placement.gang, *(pack for _, pack in placement.cliques), *(one.pack for one in placement.packed_groups))
    return {pack.required for pack in packs if pack.required}


def assign_nodes_to_pods(
    block: PodPackingBlock,
    nodes: Sequence[SimulatedNode],
    requests_of: RequestsOf,
    best: ChooseNode,
) -> Assignment | None:
    """Return a node for each pod of a block, with the room reserved; None, with nothing reserved, without room.

    Args:
        nodes: that may be chosen; the room of the chosen ones is reserved.
        requests_of: returns what a pod requests.
        best: returns the node for such requests; None where there is no room.
    """
    limited = frozenset(resource for pod in block.all_pods() for resource in requests_of(pod).amounts) - UNLIMITED
    for chosen in _choices(block, nodes, limited):
        found = _within(block, chosen, requests_of, best)
        if found is not None:
            return found
    return None


def _within(
    block: PodPackingBlock,
    nodes: Sequence[SimulatedNode],
    requests_of: RequestsOf,
    best: ChooseNode,
) -> Assignment | None:
    assigned: Assignment = []
    for part in block.blocks:
        found = assign_nodes_to_pods(part, nodes, requests_of, best)
        if found is None:
            release_reserved_node_room(assigned, requests_of)
            return None
        assigned += found
    for pod in block.pods:
        node = best(requests_of(pod), nodes)
        if node is None:
            release_reserved_node_room(assigned, requests_of)
            return None
        node.add_requests(requests_of(pod).amounts)
        assigned.append((pod, node))
    return assigned


def release_reserved_node_room(assigned: Assignment, requests_of: RequestsOf) -> None:
    """Release the room that an assignment reserved."""
    for pod, node in assigned:
        node.add_requests(requests_of(pod).amounts, -1)


def _choices(
    block: PodPackingBlock, nodes: Sequence[SimulatedNode], limited: frozenset[str]
) -> Iterator[Sequence[SimulatedNode]]:
    """Yield the node sets to try for a block: first within a preferred label value, then within the required one."""
    if block.pack == NO_PACK:
        yield nodes
        return
    required, preferred = block.pack
    outer = list(_domains(required, block.placed_nodes, nodes, limited)) if required else [nodes]
    if preferred:
        for place in outer:
            yield from _domains(preferred, block.placed_nodes, place, limited)
    yield from outer


def _domains(
    key: str, placed_nodes: Iterable[SimulatedNode], nodes: Sequence[SimulatedNode], limited: frozenset[str]
) -> Iterator[Sequence[SimulatedNode]]:
    """Yield the nodes of each value of a label; only the value of the placed pods, where there are any."""
    by_value: dict[str, list[SimulatedNode]] = {}
    for node in nodes:
        if key in node.labels:
            by_value.setdefault(node.labels[key], []).append(node)
    values = {node.labels.get(key) for node in placed_nodes}
    if values:
        by_value = {value: found for value, found in by_value.items() if values == {value}}
    for value in sorted(by_value, key=lambda value: (_room(by_value[value], limited), len(value), value)):
        yield by_value[value]


def _room(nodes: Iterable[SimulatedNode], limited: frozenset[str]) -> int:
    """Return what nodes have left of the limited resources that are requested."""
    return sum(
        node.capacity.get(resource, 0) - node.used.get(resource, 0)
        for node in nodes
        if not (node.cordoned or node.unready)
        for resource in limited
    )


def fullest_node(requests: PodResourceRequests, nodes: Iterable[SimulatedNode]) -> SimulatedNode | None:
    """Return the fullest node that has room, the first by name of equal ones; None without."""
    return min(
        _nodes_with_room(requests, nodes),
        key=lambda node: (node.free_resources_after(requests.amounts), len(node.name), node.name),
        default=None,
    )


def fitting_node_with_fewest_pods(
    requests: PodResourceRequests, nodes: Iterable[SimulatedNode]
) -> SimulatedNode | None:
    """Return the node with room and the fewest pods, as kube-scheduler does by default; None without."""
    return min(
        _nodes_with_room(requests, nodes),
        key=lambda node: (node.used.get(PODS, 0), len(node.name), node.name),
        default=None,
    )


def _nodes_with_room(requests: PodResourceRequests, nodes: Iterable[SimulatedNode]) -> Iterator[SimulatedNode]:
    """Yield the ready, uncordoned nodes that have the labels and the room that a pod requests."""
    return (
        node
        for node in nodes
        if not (node.cordoned or node.unready)
        and requests.node_selector_matches(node)
        and node.has_room(requests.amounts)
    )
