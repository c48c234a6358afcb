"""The nodes of a cluster as one topology divides them, and what they have free (TP-101 to TP-105)."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final, NamedTuple

from grove_core.resources.cluster_topology import Levels
from grove_core.resources.node import Node, unschedulable_reason
from grove_core.resources.pod_demand import Amounts, PodDemand
from grove_core.resources.pod_on_node import PodOnNode

CLUSTER_LEVEL: Final = -1
"""The level of the cluster as a whole, above every level of a topology."""


class Domain(NamedTuple):
    """Nodes that stand together.

    Attributes:
        level: index into the levels of the topology, or WHOLE.
        path: values of the labels down to that level.
        nodes: indices, in the order of their names.
    """

    level: int
    path: tuple[str, ...]
    nodes: tuple[int, ...]

    @property
    def name(self) -> str:
        """For a sentence; empty for the whole cluster."""
        return "/".join(self.path)


class NodeCapacity:
    """What a search looks at, worked out once. Nothing in it changes.

    Attributes:
        nodes: sorted by name.
        levels: of the topology; empty where none applies.
        demands: what is asked for; others refer to them by index.
        resources: that somebody asks for, in their order.
        free: node -> thousandths of each resource.
        asks: demand -> (index of a resource, thousandths) of each that it asks for.
        room: demand -> node -> how many of its pods an otherwise free node takes.
    """

    def __init__(self, nodes: Iterable[Node], levels: Levels, demands: Sequence[PodDemand]) -> None:
        """Cost: nodes times demands."""
        self.nodes = tuple(sorted(nodes, key=lambda node: node.name))
        self.levels = levels
        self.demands = tuple(demands)
        self.resources = tuple(dict.fromkeys(resource for one in demands for resource, _ in one.amounts))
        self.free = [[node.amounts.get(resource, 0) for resource in self.resources] for node in self.nodes]
        places = {resource: index for index, resource in enumerate(self.resources)}
        self.asks = [tuple((places[resource], amount) for resource, amount in one.amounts) for one in demands]
        self.suits = _eligible(self.nodes, demands)
        self.room = [
            [
                min([row[place] // amount for place, amount in asks]) if suits else 0
                for row, suits in zip(self.free, suited, strict=True)
            ]
            for asks, suited in zip(self.asks, self.suits, strict=True)
        ]
        keys = [level.key for level in levels]
        self._paths = [_domain_path(node, keys) for node in self.nodes]
        self.whole = Domain(CLUSTER_LEVEL, (), tuple(range(len(self.nodes))))
        self._inside: dict[tuple[tuple[str, ...], int], tuple[Domain, ...]] = {}

    def level_of(self, key: str) -> int:
        """The level whose label has this key."""
        return next((index for index, level in enumerate(self.levels) if level.key == key), CLUSTER_LEVEL)

    def inside(self, domain: Domain, level: int) -> tuple[Domain, ...]:
        """The domains of a level that a domain consists of, sorted; the domain itself where that is no narrower.

        Cost: its nodes, the first time.
        """
        if level <= domain.level:
            return (domain,)
        key = (domain.path, level)
        if key not in self._inside:
            found: dict[tuple[str, ...], list[int]] = {}
            for index in domain.nodes:
                path = self._paths[index]
                if path:
                    found.setdefault(path[: level + 1], []).append(index)
            self._inside[key] = tuple(Domain(level, path, tuple(found[path])) for path in sorted(found))
        return self._inside[key]


def _eligible(nodes: Sequence[Node], demands: Sequence[PodDemand]) -> list[list[bool]]:
    """Demand -> node -> whether it takes such pods at all; the same for all that differ in amounts alone."""
    found: dict[tuple[object, ...], list[bool]] = {}
    for one in demands:
        if one[1:] not in found:
            found[one[1:]] = [not unschedulable_reason(node, one) for node in nodes]
    return [found[one[1:]] for one in demands]


class UnlabelledNodes(NamedTuple):
    """Nodes that a topology does not know: they lack labels (TP-112).

    Attributes:
        lacking: key of a label -> how many nodes lack it; in the order of the levels.
        names: of the nodes, sorted.
    """

    lacking: tuple[tuple[str, int], ...]
    names: tuple[str, ...]


NO_UNLABELLED_NODES: Final = UnlabelledNodes((), ())


def unlabelled_nodes(nodes: Iterable[Node], levels: Levels) -> UnlabelledNodes:
    """Those that lack a label of some level; linear."""
    keys = [level.key for level in levels]
    outside = [node for node in nodes if not _domain_path(node, keys)] if keys else []
    counts = ((key, sum(not node.labels.get(key) for node in outside)) for key in keys)
    return UnlabelledNodes(tuple(pair for pair in counts if pair[1]), tuple(sorted(node.name for node in outside)))


def _domain_path(node: Node, keys: Sequence[str]) -> tuple[str, ...]:
    """Where a node stands; empty where it lacks a label of some level (TP-101)."""
    labels = node.labels
    path = tuple([labels.get(key, "") for key in keys])
    return path if all(path) else ()


def free_capacity_of(nodes: Iterable[Node], tenants: Iterable[PodOnNode], of: tuple[str, str]) -> list[Node]:
    """Nodes with what is left of them (TP-103).

    Args:
        of: namespace and name of the set whose own pods take nothing.
    """
    taken: dict[str, dict[str, int]] = {}
    for tenant in tenants:
        if tenant.owner != of:
            there = taken.setdefault(tenant.node, {})
            for resource, amount in tenant.amounts.items():
                there[resource] = there.get(resource, 0) + amount
    return [_reduced_by(node, taken[node.name]) if node.name in taken else node for node in nodes]


def _reduced_by(node: Node, taken: Amounts) -> Node:
    return replace(node, amounts={key: max(0, amount - taken.get(key, 0)) for key, amount in node.amounts.items()})
