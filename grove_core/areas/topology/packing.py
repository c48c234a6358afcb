"""Looking for a place for every pod: what is found is a placement, and what is not found proves nothing (TP-100)."""

from collections.abc import Iterable, Iterator
from itertools import groupby
from operator import attrgetter
from typing import Final, NamedTuple

from grove_core.areas.topology.capacity_bounds import CapacityBounds
from grove_core.areas.topology.gang_tree import GangTree, PodBatch, TreeShape
from grove_core.areas.topology.node_capacity import Domain

_DEMAND: Final = attrgetter("demand")


class NodeAssignment(NamedTuple):
    """So many pods of a clique on one node."""

    clique: str
    node: str
    pods: int


class Packing:
    """Pods put on nodes, one after the other; what does not work out is taken back.

    Tightest first: domains that could hold the fewest such bundles, and nodes that have little else to offer.
    """

    def __init__(self, bounds: CapacityBounds, *, roomy: bool = False) -> None:
        """Nothing placed yet; ``roomy`` for the opposite order."""
        self._roomy = roomy
        self._bounds = bounds
        self._ground = bounds.ground
        self._free = [list(row) for row in self._ground.free]
        self._done: list[tuple[int, PodBatch, int]] = []  # node, load, pods
        self._queues: dict[TreeShape, list[Domain]] = {}

    def add(self, bundle: GangTree) -> Domain | None:
        """Find a domain of its level for a bundle, and places in it; None where none was found.

        Cost: the nodes of each domain that was not in vain before, times the demands.
        """
        return self._place(bundle, self._ground.whole, self._queues)

    def places(self) -> tuple[NodeAssignment, ...]:
        """What was placed, sorted."""
        counts: dict[tuple[str, str], int] = {}
        for node, load, pods in self._done:
            key = (load.clique, self._ground.nodes[node].name)
            counts[key] = counts.get(key, 0) + pods
        return tuple(sorted(NodeAssignment(clique, node, pods) for (clique, node), pods in counts.items()))

    def _place(self, bundle: GangTree, domain: Domain, queues: dict[TreeShape, list[Domain]]) -> Domain | None:
        """Free room only shrinks while a domain is being filled: where a shape failed once it is not tried again."""
        queue = queues.get(bundle.shape)
        if queue is None:
            tightest = self._bounds.candidates(bundle, domain)
            queue = queues[bundle.shape] = tightest if self._roomy else tightest[::-1]
        while queue:
            if self._fill(bundle, queue[-1]):
                return queue[-1]
            queue.pop()
        return None

    def _fill(self, bundle: GangTree, domain: Domain) -> bool:
        """Everything of a bundle into one domain, or nothing."""
        before, queues = len(self._done), dict[TreeShape, list[Domain]]()
        if all(self._place(part, domain, queues) is not None for part in bundle.parts) and all(
            self._spread(demand, list(loads), domain) for demand, loads in groupby(bundle.loads, _DEMAND)
        ):
            return True
        for node, load, pods in self._done[before:]:
            self._take(node, load, -pods)
        del self._done[before:]
        return False

    def _spread(self, demand: int, loads: list[PodBatch], domain: Domain) -> bool:
        """Equal pods over the nodes of a domain; nodes with less to offer to others come first."""
        rooms = sorted(self._rooms(demand, domain.nodes), reverse=not self._roomy)
        for load in loads:
            left = load.pods
            while left and rooms:
                spared, room, node = rooms.pop()
                pods = min(room, left)
                self._take(node, load, pods)
                self._done.append((node, load, pods))
                left -= pods
                if room > pods:
                    rooms.append((spared, room - pods, node))
            if left:
                return False
        return True

    def _rooms(self, demand: int, nodes: Iterable[int]) -> Iterator[tuple[int, int, int]]:
        """Of each node that takes some of these pods: what of it they spare, how many it takes, which it is."""
        asks, suits, free = self._ground.asks[demand], self._ground.suits[demand], self._free
        asked = {resource for resource, _ in asks}
        spared = [place for place in range(len(self._ground.resources)) if place not in asked]
        for node in nodes:
            if suits[node]:
                row = free[node]
                room = min([row[resource] // amount for resource, amount in asks])
                if room:
                    yield sum([row[place] > 0 for place in spared]), room, node

    def _take(self, node: int, load: PodBatch, pods: int) -> None:
        row = self._free[node]
        for resource, amount in self._ground.asks[load.demand]:
            row[resource] -= amount * pods
