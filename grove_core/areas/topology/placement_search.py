"""Greedy search for a placement of gangs on nodes; finding none does not prove that there is none (TP-100)."""

from collections.abc import Iterable, Iterator
from itertools import groupby
from operator import attrgetter
from typing import Final, NamedTuple

from grove_core.areas.topology.capacity_bounds import PlacementBoundsByCapacity
from grove_core.areas.topology.gang_constraint_tree import GangConstraintTree, InterchangeablePods, TreeShape
from grove_core.areas.topology.node_capacity import TopologyDomainNodes

_DEMAND: Final = attrgetter("demand")


class CliquePodsOnNode(NamedTuple):
    """A number of pods of one PodClique on one node."""

    clique: str
    node: str
    pods: int


class PlacementSearch:
    """Assigns the pods of gang trees to nodes, tree by tree; a tree that does not fit is rolled back.

    Tries the tightest domains first, those that could hold the fewest trees of the shape, and within them the nodes
    with the fewest other free resources.
    """

    def __init__(self, bounds: PlacementBoundsByCapacity, *, largest_first: bool = False) -> None:
        """No pods are assigned yet.

        Args:
            largest_first: whether to try domains and nodes in the opposite order.
        """
        self._largest_first = largest_first
        self._bounds = bounds
        self._capacity = bounds.capacity
        self._free = [list(row) for row in self._capacity.free]
        self._placed: list[tuple[int, InterchangeablePods, int]] = []  # node, batch, pods
        self._queues: dict[TreeShape, list[TopologyDomainNodes]] = {}

    def place_tree(self, tree: GangConstraintTree) -> TopologyDomainNodes | None:
        """Assign the pods of a tree to nodes of one domain of its level; return the domain, or None if none was found.

        Cost: the nodes of each domain that did not fail for this shape before, times the demands.
        """
        return self._find_domain(tree, self._capacity.cluster, self._queues)

    def node_assignments(self) -> tuple[CliquePodsOnNode, ...]:
        """Return the assignments so far, sorted."""
        counts: dict[tuple[str, str], int] = {}
        for node, batch, pods in self._placed:
            key = (batch.clique, self._capacity.nodes[node].name)
            counts[key] = counts.get(key, 0) + pods
        return tuple(sorted(CliquePodsOnNode(clique, node, pods) for (clique, node), pods in counts.items()))

    def _find_domain(
        self, tree: GangConstraintTree, domain: TopologyDomainNodes, queues: dict[TreeShape, list[TopologyDomainNodes]]
    ) -> TopologyDomainNodes | None:
        """Place a tree in the first domain that takes it, and drop from the queue the domains that do not.

        The free capacity only shrinks while a domain is filled, so a domain that failed for a shape is not tried again.
        """
        queue = queues.get(tree.shape)
        if queue is None:
            tightest = self._bounds.domains_that_may_fit(tree, domain)
            queue = queues[tree.shape] = tightest if self._largest_first else tightest[::-1]
        while queue:
            if self._fill(tree, queue[-1]):
                return queue[-1]
            queue.pop()
        return None

    def _fill(self, tree: GangConstraintTree, domain: TopologyDomainNodes) -> bool:
        before, queues = len(self._placed), dict[TreeShape, list[TopologyDomainNodes]]()
        if all(self._find_domain(subtree, domain, queues) is not None for subtree in tree.subtrees) and all(
            self._spread(demand, list(batches), domain) for demand, batches in groupby(tree.batches, _DEMAND)
        ):
            return True
        for node, batch, pods in self._placed[before:]:
            self._take(node, batch, -pods)
        del self._placed[before:]
        return False

    def _spread(self, demand: int, batches: list[InterchangeablePods], domain: TopologyDomainNodes) -> bool:
        """Assign pods of one demand to nodes of a domain; return whether all of them found a node."""
        candidates = sorted(self._nodes_with_room(demand, domain.nodes), reverse=not self._largest_first)
        for batch in batches:
            left = batch.pods
            while left and candidates:
                spare, room, node = candidates.pop()
                pods = min(room, left)
                self._take(node, batch, pods)
                self._placed.append((node, batch, pods))
                left -= pods
                if room > pods:
                    candidates.append((spare, room - pods, node))
            if left:
                return False
        return True

    def _nodes_with_room(self, demand: int, nodes: Iterable[int]) -> Iterator[tuple[int, int, int]]:
        """Yield (number of other free resources, number of pods that fit, node) for each node that fits any pod."""
        requests, eligible, free = self._capacity.requests[demand], self._capacity.eligible[demand], self._free
        requested = {resource for resource, _ in requests}
        spare = [resource for resource in range(len(self._capacity.resources)) if resource not in requested]
        for node in nodes:
            if eligible[node]:
                row = free[node]
                room = min([row[resource] // amount for resource, amount in requests])
                if room:
                    yield sum([row[resource] > 0 for resource in spare]), room, node

    def _take(self, node: int, batch: InterchangeablePods, pods: int) -> None:
        row = self._free[node]
        for resource, amount in self._capacity.requests[batch.demand]:
            row[resource] -= amount * pods
