"""Upper bounds on how many gang trees fit into a domain; a bound of zero proves that a tree does not fit (TP-100).

A bound ignores some constraints of a placement, so it may be too high and is never too low.
"""

from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from grove_core.areas.topology.gang_constraint_tree import GangConstraintTree, TreeShape
from grove_core.areas.topology.node_capacity import CLUSTER_LEVEL, FitCheckIndex, TopologyDomainNodes
from grove_core.areas.topology.rules import FitReason
from grove_core.kernel.reasons import Fact, Reason
from grove_core.kernel.refs import Ref
from grove_core.resources.naming_rules import name_list_text, pod_count_text
from grove_core.resources.node import pod_demand_mismatch_reason
from grove_core.resources.pod_demand import resource_amount_text


class _Limit(NamedTuple):
    """One bound: how much a domain has of something, and how much one tree needs.

    Attributes:
        have: what the domain has at most: pods, subtrees, or thousandths of the resource.
        resource: index of the resource; -1 if pods or subtrees are counted.
        demands: the pods that are counted, by their demands.
        least: the least that each of these pods asks of the resource; 0 if amounts are summed.
        subtree: the subtree that is counted; None if pods are counted.
    """

    have: int
    need: int
    resource: int
    demands: tuple[int, ...]
    least: int = 0
    subtree: GangConstraintTree | None = None


class PlacementBoundsByCapacity:
    """Bounds for trees on the domains of one capacity; each bound is computed once."""

    def __init__(self, capacity: FitCheckIndex) -> None:
        self.capacity = capacity
        self._copies: dict[tuple[TreeShape, int, tuple[str, ...]], int] = {}
        self._subtree_counts: dict[tuple[TreeShape, int, tuple[str, ...]], int] = {}
        self._pod_limits_of: dict[tuple[tuple[tuple[int, int], ...], int, tuple[str, ...]], tuple[_Limit, ...]] = {}
        self._eligible: dict[tuple[int, ...], list[bool]] = {}

    def max_trees_in_domain(self, tree: GangConstraintTree, domain: TopologyDomainNodes) -> int:
        """Return an upper bound on how many such trees fit into a domain if nothing else is added to it.

        Cost: the nodes of the domain times the demands, for each level of subtrees.
        """
        if tree.is_uniform:
            return self._uniform_room(tree, domain) // tree.pod_count
        key = (tree.shape, domain.level, domain.path)
        if key not in self._copies:
            self._copies[key] = min(limit.have // limit.need for limit in self._limits(tree, domain))
        return self._copies[key]

    def domains_that_may_fit(self, tree: GangConstraintTree, domain: TopologyDomainNodes) -> list[TopologyDomainNodes]:
        """Return the domains of the tree's level with a bound above zero, the tightest first."""
        found = self.capacity.subdomains(domain, tree.level)
        return sorted(
            (one for one in found if self.max_trees_in_domain(tree, one)),
            key=lambda one: self.max_trees_in_domain(tree, one),
        )

    def why_tree_does_not_fit(
        self, tree: GangConstraintTree, domain: TopologyDomainNodes, subject: Ref
    ) -> tuple[Reason, ...]:
        """Return why the tree fits into no domain of its level within a domain, with the shortage of the best."""
        level = self._level_name(tree.level)
        domains = self.capacity.subdomains(domain, tree.level)
        if tree.level == domain.level == CLUSTER_LEVEL:
            return self._shortage(tree, domain, subject)
        if not domains:
            return (FitReason.NO_DOMAIN.because(subject, level=level, where=self.domain_text(domain)),)
        best = max(domains, key=lambda one: min(limit.have / limit.need for limit in self._limits(tree, one)))
        none = FitReason.NO_DOMAIN_HAS_ROOM.because(
            subject,
            level=level,
            where=f" of {self.domain_text(domain)}" if domain.level != CLUSTER_LEVEL else "",
            pods=f"the {pod_count_text(tree.pod_count)}",
            name=tree.name,
            of=len(domains),
        )
        return (none, *self._shortage(tree, best, subject))

    def _shortage(self, tree: GangConstraintTree, domain: TopologyDomainNodes, subject: Ref) -> tuple[Reason, ...]:
        short = [limit for limit in self._limits(tree, domain) if limit.have < limit.need]
        limit, where = min(short, key=_readability), self.domain_text(domain)
        if limit.subtree is not None and not limit.have:
            return self.why_tree_does_not_fit(limit.subtree, domain, subject)
        if limit.subtree is not None:
            return (
                FitReason.PARTS_SHORT.because(
                    subject,
                    where=where,
                    have=limit.have,
                    need=limit.need,
                    name=limit.subtree.name,
                    level=self._level_name(limit.subtree.level),
                ),
            )
        if limit.resource >= 0 and not limit.least:
            resource = self.capacity.resources[limit.resource]
            free, asked = resource_amount_text(resource, limit.have), resource_amount_text(resource, limit.need)
            return (FitReason.RESOURCE_SHORT.because(subject, where=where, free=free, asked=asked),)
        if limit.least:
            least = resource_amount_text(self.capacity.resources[limit.resource], limit.least)
            return (FitReason.LARGE_SHORT.because(subject, where=where, have=limit.have, need=limit.need, least=least),)
        demand = self.capacity.demands[limit.demands[0]]
        each = ", ".join(resource_amount_text(resource, amount) for resource, amount in demand.amounts[:-1]) or "1 pod"
        cliques = name_list_text(
            sorted({batch.clique for batch in tree.all_pod_batches() if batch.demand == limit.demands[0]})
        )
        obstacles = self._obstacles_text(limit.demands[0], domain)
        facts: dict[str, Fact] = {"where": where, "have": limit.have, "need": limit.need, "cliques": cliques}
        what = "pod" if limit.need == 1 else "pods"
        return (FitReason.PLACES_SHORT.because(subject, **facts, what=what, each=each, refused=obstacles),)

    def _obstacles_text(self, demand: int, domain: TopologyDomainNodes) -> str:
        capacity = self.capacity
        obstacles = (
            pod_demand_mismatch_reason(capacity.nodes[node], capacity.demands[demand])
            for node in domain.nodes
            if not capacity.max_pods[demand][node]
        )
        reasons = Counter(obstacles)
        texts = [
            _obstacle_text(count, obstacle)
            for obstacle, count in sorted(reasons.items(), key=lambda pair: (-pair[1], pair[0]))
        ]
        return f"; of its {len(domain.nodes)} nodes {', '.join(texts)}" if texts else ""

    def _limits(self, tree: GangConstraintTree, domain: TopologyDomainNodes) -> Iterator[_Limit]:
        """Yield all bounds for a tree in a domain; at least one if the tree has a pod."""
        if tree.is_uniform:
            yield _Limit(self._uniform_room(tree, domain), tree.pod_count, -1, tuple(tree.totals))
            return
        key = (tuple(tree.totals.items()), domain.level, domain.path)
        if key not in self._pod_limits_of:
            self._pod_limits_of[key] = tuple(self._pod_limits(tree, domain))
        yield from self._pod_limits_of[key]
        for subtree, times in self._distinct_subtrees(tree):
            yield _Limit(self._subtrees_in(subtree, domain), times, -1, (), subtree=subtree)

    def _uniform_room(self, tree: GangConstraintTree, domain: TopologyDomainNodes) -> int:
        """Return how many pods of a uniform tree fit into a domain; for such a tree this bound is exact."""
        (demand,) = tree.totals
        rooms, nodes = self.capacity.max_pods[demand], domain.nodes
        return rooms[nodes[0]] if len(nodes) == 1 else sum([rooms[node] for node in nodes])

    def _pod_limits(self, tree: GangConstraintTree, domain: TopologyDomainNodes) -> Iterator[_Limit]:
        """Yield the bounds that ignore the subtrees."""
        max_pods, nodes = self.capacity.max_pods, domain.nodes
        for demand, pods in tree.totals.items():
            rooms = max_pods[demand]
            yield _Limit(sum([rooms[node] for node in nodes]), pods, -1, (demand,))
        for resource in range(len(self.capacity.resources)):
            yield from self._resource_limits(tree, domain, resource)

    def _subtrees_in(self, subtree: GangConstraintTree, domain: TopologyDomainNodes) -> int:
        """Return an upper bound on how many such subtrees fit into the narrower domains of a domain."""
        key = (subtree.shape, domain.level, domain.path)
        if key not in self._subtree_counts:
            self._subtree_counts[key] = sum(
                self.max_trees_in_domain(subtree, one) for one in self.capacity.subdomains(domain, subtree.level)
            )
        return self._subtree_counts[key]

    def _resource_limits(
        self, tree: GangConstraintTree, domain: TopologyDomainNodes, resource: int
    ) -> Iterator[_Limit]:
        """Yield the bound on the sum of a resource, and one on the pods that ask for at least an amount of it."""
        demands_by_amount: dict[int, list[int]] = {}
        for demand in tree.totals:
            for index, amount in self.capacity.requests[demand]:
                if index == resource:
                    demands_by_amount.setdefault(amount, []).append(demand)
        if not demands_by_amount or len(tree.totals) == 1:  # with one demand the bound on pods is as tight
            return
        free, demands, pods = self.capacity.free, list[int](), 0
        for least in sorted(demands_by_amount, reverse=True):
            demands += demands_by_amount[least]
            pods += sum(tree.totals[demand] for demand in demands_by_amount[least])
            eligible = self._eligible_nodes(tuple(sorted(demands)))
            have = sum([free[node][resource] // least for node in domain.nodes if eligible[node]])
            yield _Limit(have, pods, resource, tuple(demands), least)
        total = sum(amount * tree.totals[demand] for amount, of in demands_by_amount.items() for demand in of)
        have = sum([free[node][resource] for node in domain.nodes if eligible[node]])
        yield _Limit(have, total, resource, tuple(demands))

    def _eligible_nodes(self, demands: tuple[int, ...]) -> list[bool]:
        if demands not in self._eligible:
            columns = [self.capacity.eligible[demand] for demand in demands]
            self._eligible[demands] = [any(column) for column in zip(*columns, strict=True)]
        return self._eligible[demands]

    def _distinct_subtrees(self, tree: GangConstraintTree) -> Iterator[tuple[GangConstraintTree, int]]:
        times = Counter(subtree.shape for subtree in tree.subtrees)
        first = {subtree.shape: subtree for subtree in reversed(tree.subtrees)}
        return ((first[shape], count) for shape, count in times.items())

    def _level_name(self, level: int) -> str:
        return self.capacity.levels[level].domain if level != CLUSTER_LEVEL else "cluster"

    def domain_text(self, domain: TopologyDomainNodes) -> str:
        """Return the level and name of a domain, for a sentence."""
        return f"{self._level_name(domain.level)} {domain.name}" if domain.level != CLUSTER_LEVEL else "the cluster"


def _obstacle_text(count: int, obstacle: str) -> str:
    """Return a sentence part about a number of nodes; an empty obstacle means too little free capacity."""
    if not obstacle:
        return f"{count} {'has' if count == 1 else 'have'} too little free"
    return f"{count} {'excludes' if count == 1 else 'exclude'} them by {obstacle}"


def _readability(limit: _Limit) -> tuple[bool, bool, bool, float]:
    """Sort key that puts the bound first that is easiest to verify: sums, then pods, subtrees, large pods."""
    return limit.least > 0, limit.subtree is not None, limit.resource < 0, limit.have / limit.need
