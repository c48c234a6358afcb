"""How often a bundle could stand in a domain at most: where that is not once, it is a proof that it cannot (TP-100).

Each limit counts what every placement needs and leaves out the rest, so it may be too high and is never too low.
"""

from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from grove_core.areas.topology.gang_tree import GangTree, TreeShape
from grove_core.areas.topology.node_capacity import CLUSTER_LEVEL, Domain, NodeCapacity
from grove_core.areas.topology.rules import Fit
from grove_core.kernel.reasons import Fact, Reason
from grove_core.kernel.refs import Ref
from grove_core.resources.names import listed, pods_text
from grove_core.resources.node import unschedulable_reason
from grove_core.resources.pod_demand import amount_text


class _Limit(NamedTuple):
    """Of something there is so much, and one bundle needs so much.

    Attributes:
        resource: index; -1 where pods or parts are counted.
        demands: whose pods are meant.
        least: what each of these pods asks of the resource at least; 0 where it is summed up.
        part: that stands in a narrower domain; None where pods are counted.
    """

    have: int
    need: int
    resource: int
    demands: tuple[int, ...]
    least: int = 0
    part: GangTree | None = None


class CapacityBounds:
    """Limits on one ground; each is worked out once."""

    def __init__(self, ground: NodeCapacity) -> None:
        """Nothing yet."""
        self.ground = ground
        self._copies: dict[tuple[TreeShape, int, tuple[str, ...]], int] = {}
        self._held: dict[tuple[TreeShape, int, tuple[str, ...]], int] = {}
        self._of_pods: dict[tuple[tuple[tuple[int, int], ...], int, tuple[str, ...]], tuple[_Limit, ...]] = {}
        self._suited: dict[tuple[int, ...], list[bool]] = {}

    def copies(self, bundle: GangTree, domain: Domain) -> int:
        """How many such bundles a domain could hold at most, were it theirs alone.

        Cost: its nodes times the demands, and once for each level of parts.
        """
        if bundle.is_plain:
            return self._room(bundle, domain) // bundle.pods
        key = (bundle.shape, domain.level, domain.path)
        if key not in self._copies:
            self._copies[key] = min(limit.have // limit.need for limit in self._limits(bundle, domain))
        return self._copies[key]

    def candidates(self, bundle: GangTree, domain: Domain) -> list[Domain]:
        """The domains of its level in which it could stand, the tightest first."""
        found = self.ground.inside(domain, bundle.level)
        return sorted((one for one in found if self.copies(bundle, one)), key=lambda one: self.copies(bundle, one))

    def why_not(self, bundle: GangTree, domain: Domain, subject: Ref) -> tuple[Reason, ...]:
        """Why no domain of its level in this one holds the bundle; the best one is looked into."""
        level = self._word(bundle.level)
        domains = self.ground.inside(domain, bundle.level)
        if bundle.level == domain.level == CLUSTER_LEVEL:
            return self._shortage(bundle, domain, subject)
        if not domains:
            return (Fit.NO_DOMAIN.because(subject, level=level, where=self.place(domain)),)
        best = max(domains, key=lambda one: min(limit.have / limit.need for limit in self._limits(bundle, one)))
        none = Fit.NONE_HOLDS.because(
            subject,
            level=level,
            where=f" of {self.place(domain)}" if domain.level != CLUSTER_LEVEL else "",
            pods=f"the {pods_text(bundle.pods)}",
            name=bundle.name,
            of=len(domains),
        )
        return (none, *self._shortage(bundle, best, subject))

    def _shortage(self, bundle: GangTree, domain: Domain, subject: Ref) -> tuple[Reason, ...]:
        short = [limit for limit in self._limits(bundle, domain) if limit.have < limit.need]
        limit, where = min(short, key=_readability), self.place(domain)
        if limit.part is not None and not limit.have:
            return self.why_not(limit.part, domain, subject)
        if limit.part is not None:
            return (
                Fit.PARTS_SHORT.because(
                    subject,
                    where=where,
                    have=limit.have,
                    need=limit.need,
                    name=limit.part.name,
                    level=self._word(limit.part.level),
                ),
            )
        if limit.resource >= 0 and not limit.least:
            resource = self.ground.resources[limit.resource]
            free, asked = amount_text(resource, limit.have), amount_text(resource, limit.need)
            return (Fit.RESOURCE_SHORT.because(subject, where=where, free=free, asked=asked),)
        if limit.least:
            least = amount_text(self.ground.resources[limit.resource], limit.least)
            return (Fit.LARGE_SHORT.because(subject, where=where, have=limit.have, need=limit.need, least=least),)
        demand = self.ground.demands[limit.demands[0]]
        each = ", ".join(amount_text(resource, amount) for resource, amount in demand.amounts[:-1]) or "1 pod"
        cliques = listed(sorted({load.clique for load in bundle.cliques() if load.demand == limit.demands[0]}))
        refused = self._refused(limit.demands[0], domain)
        facts: dict[str, Fact] = {"where": where, "have": limit.have, "need": limit.need, "cliques": cliques}
        what = "pod" if limit.need == 1 else "pods"
        return (Fit.PLACES_SHORT.because(subject, **facts, what=what, each=each, refused=refused),)

    def _refused(self, demand: int, domain: Domain) -> str:
        """Why nodes take none of these pods: what turns them away, and how many; then how many are too small."""
        ground = self.ground
        obstacles = (
            unschedulable_reason(ground.nodes[node], ground.demands[demand])
            for node in domain.nodes
            if not ground.room[demand][node]
        )
        reasons = Counter(obstacles)
        told = [
            _obstacle_text(count, obstacle)
            for obstacle, count in sorted(reasons.items(), key=lambda pair: (-pair[1], pair[0]))
        ]
        return f"; of its {len(domain.nodes)} nodes {', '.join(told)}" if told else ""

    def _limits(self, bundle: GangTree, domain: Domain) -> Iterator[_Limit]:
        """Every limit that we know; at least one for a bundle of at least one pod."""
        if bundle.is_plain:
            yield _Limit(self._room(bundle, domain), bundle.pods, -1, tuple(bundle.totals))
            return
        key = (tuple(bundle.totals.items()), domain.level, domain.path)
        if key not in self._of_pods:
            self._of_pods[key] = tuple(self._pod_limits(bundle, domain))
        yield from self._of_pods[key]
        for part, times in self._distinct(bundle):
            yield _Limit(self._parts_in(part, domain), times, -1, (), part=part)

    def _room(self, bundle: GangTree, domain: Domain) -> int:
        """For how many pods there is room, where they are all alike and may be apart: there is no other limit."""
        (demand,) = bundle.totals
        rooms, nodes = self.ground.room[demand], domain.nodes
        return rooms[nodes[0]] if len(nodes) == 1 else sum([rooms[node] for node in nodes])

    def _pod_limits(self, bundle: GangTree, domain: Domain) -> Iterator[_Limit]:
        """Those that leave out which pods go together."""
        room, nodes = self.ground.room, domain.nodes
        for demand, pods in bundle.totals.items():
            rooms = room[demand]
            yield _Limit(sum([rooms[node] for node in nodes]), pods, -1, (demand,))
        for resource in range(len(self.ground.resources)):
            yield from self._resource_limits(bundle, domain, resource)

    def _parts_in(self, part: GangTree, domain: Domain) -> int:
        """How many such parts the narrower domains of one could hold at most."""
        key = (part.shape, domain.level, domain.path)
        if key not in self._held:
            self._held[key] = sum(self.copies(part, one) for one in self.ground.inside(domain, part.level))
        return self._held[key]

    def _resource_limits(self, bundle: GangTree, domain: Domain, resource: int) -> Iterator[_Limit]:
        """Of all that is free; and of pods that ask for so much or more, by whole pods on each node."""
        asked: dict[int, list[int]] = {}
        for demand in bundle.totals:
            for place, amount in self.ground.asks[demand]:
                if place == resource:
                    asked.setdefault(amount, []).append(demand)
        if not asked or len(bundle.totals) == 1:  # then the room for its pods says it all
            return
        free, demands, pods = self.ground.free, list[int](), 0
        for least in sorted(asked, reverse=True):
            demands += asked[least]
            pods += sum(bundle.totals[demand] for demand in asked[least])
            suits = self._suits(tuple(sorted(demands)))
            have = sum([free[node][resource] // least for node in domain.nodes if suits[node]])
            yield _Limit(have, pods, resource, tuple(demands), least)
        total = sum(amount * bundle.totals[demand] for amount, of in asked.items() for demand in of)
        have = sum([free[node][resource] for node in domain.nodes if suits[node]])
        yield _Limit(have, total, resource, tuple(demands))

    def _suits(self, demands: tuple[int, ...]) -> list[bool]:
        """Nodes that take pods of one of these demands, were they empty."""
        if demands not in self._suited:
            columns = [self.ground.suits[demand] for demand in demands]
            self._suited[demands] = [any(column) for column in zip(*columns, strict=True)]
        return self._suited[demands]

    def _distinct(self, bundle: GangTree) -> Iterator[tuple[GangTree, int]]:
        """One part of each shape, and how many there are."""
        times = Counter(part.shape for part in bundle.parts)
        first = {part.shape: part for part in reversed(bundle.parts)}
        return ((first[shape], count) for shape, count in times.items())

    def _word(self, level: int) -> str:
        return self.ground.levels[level].domain if level != CLUSTER_LEVEL else "cluster"

    def place(self, domain: Domain) -> str:
        """A domain for a sentence."""
        return f"{self._word(domain.level)} {domain.name}" if domain.level != CLUSTER_LEVEL else "the cluster"


def _obstacle_text(count: int, obstacle: str) -> str:
    """What so many nodes do; an obstacle is empty where they are full."""
    if not obstacle:
        return f"{count} {'has' if count == 1 else 'have'} too little free"
    return f"{count} {'keeps' if count == 1 else 'keep'} them away by {obstacle}"


def _readability(limit: _Limit) -> tuple[bool, bool, bool, float]:
    """Of several proofs the one that people see at once: a sum, then places, then parts, then large pods."""
    return limit.least > 0, limit.part is not None, limit.resource < 0, limit.have / limit.need
