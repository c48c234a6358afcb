"""Free capacity of nodes, and the domains that the levels of a topology divide them into (TP-101 to TP-103)."""

from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from grove_core.kernel.frozen import FrozenDict
from grove_core.kernel.structs import replace
from grove_core.resources.cluster_topology import Levels
from grove_core.resources.node import Node, pod_demand_mismatch_reason
from grove_core.resources.pod_demand import PodDemand, PodOnNode
from grove_core.resources.pod_requests import Amounts

CLUSTER_LEVEL: Final = -1
"""The level of the cluster as a whole, above every level of a topology."""


class TopologyDomainNodes(NamedTuple):
    """The nodes with the same label values down to one level.

    Attributes:
        level: index into the levels of the topology, or CLUSTER_LEVEL.
        path: the label values down to that level.
        nodes: indices of the nodes, in the order of their names.
    """

    level: int
    path: tuple[str, ...]
    nodes: tuple[int, ...]

    @property
    def name(self) -> str:
        """The label values, joined by slashes; empty for the whole cluster."""
        return "/".join(self.path)


class FitCheckIndex:
    """Nodes, levels and pod demands as the fit check looks them up. Immutable after construction.

    Attributes:
        nodes: sorted by name.
        levels: of the topology; empty where no topology applies.
        demands: distinct pod demands; other values refer to them by index.
        resources: names of all resources that a demand asks for, in the order of the demands.
        free: node -> free thousandths of each resource.
        requests: demand -> (index of a resource, thousandths) of each resource that it asks for.
        eligible: demand -> node -> whether the node takes such pods at all.
        max_pods: demand -> node -> how many such pods fit on the node if no others are added.
    """

    def __init__(self, nodes: Iterable[Node], levels: Levels, demands: Sequence[PodDemand]) -> None:
        """Cost: nodes times demands."""
        self.nodes = tuple(sorted(nodes, key=lambda node: node.name))
        self.levels = levels
        self.demands = tuple(demands)
        self.resources = tuple(dict.fromkeys(resource for one in demands for resource, _ in one.amounts))
        self.free = [[node.amounts.get(resource, 0) for resource in self.resources] for node in self.nodes]
        index_of = {resource: index for index, resource in enumerate(self.resources)}
        self.requests = [tuple((index_of[resource], amount) for resource, amount in one.amounts) for one in demands]
        self.eligible = _eligible(self.nodes, demands)
        self.max_pods = [
            [
                min([row[index] // amount for index, amount in requests]) if is_eligible else 0
                for row, is_eligible in zip(self.free, eligible_nodes, strict=True)
            ]
            for requests, eligible_nodes in zip(self.requests, self.eligible, strict=True)
        ]
        keys = [level.key for level in levels]
        self._paths = [_domain_path(node, keys) for node in self.nodes]
        self.cluster = TopologyDomainNodes(CLUSTER_LEVEL, (), tuple(range(len(self.nodes))))
        self._subdomains: dict[tuple[tuple[str, ...], int], tuple[TopologyDomainNodes, ...]] = {}

    def level_index_of_label_key(self, key: str) -> int:
        """Return the index of the level with this label key, or CLUSTER_LEVEL."""
        return next((index for index, level in enumerate(self.levels) if level.key == key), CLUSTER_LEVEL)

    def subdomains(self, domain: TopologyDomainNodes, level: int) -> tuple[TopologyDomainNodes, ...]:
        """Return the domains of a level within a domain, sorted; the domain itself if the level is not narrower.

        Cost: the nodes of the domain on the first call, then constant.
        """
        if level <= domain.level:
            return (domain,)
        key = (domain.path, level)
        if key not in self._subdomains:
            found: dict[tuple[str, ...], list[int]] = {}
            for index in domain.nodes:
                path = self._paths[index]
                if path:
                    found.setdefault(path[: level + 1], []).append(index)
            self._subdomains[key] = tuple(
                TopologyDomainNodes(level, path, tuple(found[path])) for path in sorted(found)
            )
        return self._subdomains[key]


def _eligible(nodes: Sequence[Node], demands: Sequence[PodDemand]) -> list[list[bool]]:
    """Demand -> node -> whether the node takes such pods; computed once for demands that differ in amounts only."""
    found: dict[tuple[object, ...], list[bool]] = {}
    for one in demands:
        if one[1:] not in found:
            found[one[1:]] = [not pod_demand_mismatch_reason(node, one) for node in nodes]
    return [found[one[1:]] for one in demands]


class NodesWithoutTopologyLabels(NamedTuple):
    """Nodes that are not part of a topology because they lack a label of one of its levels (TP-111).

    Attributes:
        lacking: (label key, number of nodes without it), in the order of the levels.
        names: of the nodes, sorted.
    """

    lacking: tuple[tuple[str, int], ...]
    names: tuple[str, ...]


NO_UNLABELLED_NODES: Final = NodesWithoutTopologyLabels((), ())


def nodes_without_topology_labels(nodes: Iterable[Node], levels: Levels) -> NodesWithoutTopologyLabels:
    """Return the nodes that lack a label of some level. Linear."""
    keys = [level.key for level in levels]
    unlabelled = [node for node in nodes if not _domain_path(node, keys)] if keys else []
    counts = ((key, sum(not node.labels.get(key) for node in unlabelled)) for key in keys)
    return NodesWithoutTopologyLabels(
        tuple(pair for pair in counts if pair[1]), tuple(sorted(node.name for node in unlabelled))
    )


def _domain_path(node: Node, keys: Sequence[str]) -> tuple[str, ...]:
    """Return the label values of a node, one for each level; empty if it lacks one of the labels (TP-101)."""
    labels = node.labels
    path = tuple([labels.get(key, "") for key in keys])
    return path if all(path) else ()


def free_node_capacity(
    nodes: Iterable[Node], pods: Iterable[PodOnNode], namespace_and_name: tuple[str, str]
) -> list[Node]:
    """Return the nodes with their amounts reduced by what the pods on them ask for (TP-103).

    Args:
        namespace_and_name: of the PodCliqueSet whose own pods are not subtracted.
    """
    taken: dict[str, dict[str, int]] = {}
    for pod in pods:
        if pod.owner != namespace_and_name:
            amounts = taken.setdefault(pod.node, {})
            for resource, amount in pod.amounts.items():
                amounts[resource] = amounts.get(resource, 0) + amount
    return [_reduced_by(node, taken[node.name]) if node.name in taken else node for node in nodes]


def _reduced_by(node: Node, taken: Amounts) -> Node:
    free = {key: max(0, amount - taken.get(key, 0)) for key, amount in node.amounts.items()}
    return replace(node, amounts=FrozenDict(free))
