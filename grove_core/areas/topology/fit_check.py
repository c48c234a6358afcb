"""Fit check: whether gangs fit on nodes; yes with a placement, no with a proof, or undecided (TP-100 to TP-109)."""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from grove_core.areas.topology.capacity_bounds import PlacementBoundsByCapacity
from grove_core.areas.topology.gang_constraint_tree import (
    ConstrainedPart,
    ConstraintOwner,
    GangConstraintTree,
    GangToPlace,
    constrained_parts_of,
    gang_constraint_tree,
    pod_demand_indices,
    tree_of_pod_batches,
)
from grove_core.areas.topology.node_capacity import CLUSTER_LEVEL, FitCheckIndex, TopologyDomainNodes
from grove_core.areas.topology.placement_search import CliquePodsOnNode, PlacementSearch
from grove_core.areas.topology.rules import FitReason
from grove_core.areas.topology.verdicts import FitVerdict
from grove_core.kernel.reasons import Reason
from grove_core.kernel.refs import Ref
from grove_core.kernel.structs import Struct
from grove_core.resources.cluster_topology import Levels
from grove_core.resources.naming_rules import all_of_pods_text, name_list_text
from grove_core.resources.node import Node
from grove_core.resources.pod_demand import resource_sort_key
from grove_core.resources.podgang import NO_PACK


class GangTreeFit(NamedTuple):
    """The verdict on a gang tree, with a placement if one was found.

    Attributes:
        domain: name of the domain that takes all pods; empty if they may be on any node, or if none was found.
        assignments: a node for every pod; empty if no placement was found.
    """

    verdict: FitVerdict
    because: tuple[Reason, ...]
    domain: str = ""
    assignments: tuple[CliquePodsOnNode, ...] = ()


class PodColocation(NamedTuple):
    """A statement that a number of pods of a gang, group replica or PodClique share one domain of a level.

    Attributes:
        of: name of the gang, group replica or PodClique.
        level: domain of the level, such as ``rack``.
    """

    pods: int
    of: str
    level: str


class GangFit(Struct, frozen=True, kw_only=True):
    """The fit of equal gangs, each of them judged with all nodes to itself.

    Attributes:
        names: of the gangs; names of PodCliques in the other attributes are those of the first gang.
        pods, minimum: number of pods of one gang, and of those that it needs to start.
        requested: (resource, thousandths) that one gang asks for.
        guaranteed: the pods that its required domains put together.
        result: whether all pods of one gang fit.
        minimum_result: whether the pods that it needs to start fit; None if all pods fit, or if it needs all of them.
        preferred: the pods that its preferred domains put together, and whether they fit so.
    """

    names: tuple[str, ...]
    pods: int
    minimum: int
    requested: tuple[tuple[str, int], ...]
    guaranteed: tuple[PodColocation, ...]
    result: GangTreeFit
    minimum_result: GangTreeFit | None
    preferred: tuple[tuple[PodColocation, GangTreeFit], ...]


class PodCliqueSetFit(Struct, frozen=True):
    """The fit of the gangs of a set: each with all nodes to itself, and all gangs at once.

    Attributes:
        gangs: equal gangs are one entry.
    """

    gangs: tuple[GangFit, ...]
    result: GangTreeFit


def check_gangs_fit_on_nodes(
    gangs: Sequence[GangToPlace], nodes: Iterable[Node], levels: Levels, subject: Ref
) -> PodCliqueSetFit:
    """Return whether the gangs of a set fit on nodes, each by itself and all at once.

    Cost: nodes times demands, for each shape of a gang and each level.

    Args:
        nodes: with the amounts that are free for the gangs.
        levels: of the topology; empty where none applies.
        subject: the set, which the reasons are about.
    """
    search = _FitSearch(gangs, nodes, levels, subject)
    alike: dict[tuple[object, ...], list[GangToPlace]] = {}
    trees = [search.tree(gang) for gang in gangs]
    for gang, tree in zip(gangs, trees, strict=True):
        alike.setdefault((tree.shape, _preferences(gang)), []).append(gang)
    found = tuple(search.gang_fit(same) for same in alike.values())
    return PodCliqueSetFit(
        found, search.result_for(tree_of_pod_batches(CLUSTER_LEVEL, subject.name, (), trees, search.capacity))
    )


def _preferences(gang: GangToPlace) -> tuple[object, ...]:
    """Return what distinguishes gangs of one shape: their preferred domains, and how many pods they need to start."""
    packs = dict(gang.placement.cliques)
    cliques = tuple((one.template, one.minimum, packs.get(one.name, NO_PACK).preferred) for one in gang.cliques)
    return cliques, gang.placement.gang.preferred, tuple(one.pack for one in gang.placement.packed_groups)


class _FitSearch:
    """The fit check of a set on the nodes and levels of one topology."""

    def __init__(self, gangs: Sequence[GangToPlace], nodes: Iterable[Node], levels: Levels, subject: Ref) -> None:
        self.demands = pod_demand_indices(gangs)
        self.capacity = FitCheckIndex(nodes, levels, tuple(self.demands))
        self.bounds = PlacementBoundsByCapacity(self.capacity)
        self.subject = subject

    def tree(
        self, gang: GangToPlace, preferring: ConstraintOwner | None = None, *, minimum: bool = False
    ) -> GangConstraintTree:
        return gang_constraint_tree(gang, self.capacity, self.demands, preferring=preferring, minimum=minimum)

    def gang_fit(self, alike: Sequence[GangToPlace]) -> GangFit:
        """Return the fit of equal gangs, judged by the first of them."""
        gang = alike[0]
        tree, minimum = self.tree(gang), self.tree(gang, minimum=True)
        result = self.result_for(tree)
        return GangFit(
            names=tuple(one.name for one in alike),
            pods=tree.pod_count,
            minimum=minimum.pod_count,
            requested=self._requested(tree),
            guaranteed=tuple(
                self._colocation(one, one.pack.required) for one in constrained_parts_of(gang) if one.pack.required
            ),
            result=result,
            minimum_result=self.result_for(minimum)
            if result.verdict is not FitVerdict.FITS and minimum.pod_count < tree.pod_count
            else None,
            preferred=tuple(
                (self._colocation(one, one.pack.preferred), self.result_for(self.tree(gang, preferring=one.owner)))
                for one in _parts_with_preference(gang)
            ),
        )

    def result_for(self, tree: GangConstraintTree) -> GangTreeFit:
        """Return whether a tree fits if it has all nodes to itself."""
        if not tree.pod_count:
            return GangTreeFit(FitVerdict.FITS, (FitReason.NOTHING_ASKED.because(self.subject),))
        domains = self.capacity.subdomains(self.capacity.cluster, tree.level)
        if not any(self.bounds.max_trees_in_domain(tree, domain) for domain in domains):
            return GangTreeFit(
                FitVerdict.CANNOT, self.bounds.why_tree_does_not_fit(tree, self.capacity.cluster, self.subject)
            )
        for largest_first in (False, True):
            packing = PlacementSearch(self.bounds, largest_first=largest_first)
            domain = packing.place_tree(tree)
            if domain is not None:
                return self._found(tree, domain, packing.node_assignments())
        return GangTreeFit(
            FitVerdict.UNDECIDED, (FitReason.NOT_FOUND.because(self.subject, pods=all_of_pods_text(tree.pod_count)),)
        )

    def _found(
        self, tree: GangConstraintTree, domain: TopologyDomainNodes, assignments: tuple[CliquePodsOnNode, ...]
    ) -> GangTreeFit:
        """Return the result for a placement; undecided if the pods ask for something not checked here (TP-106)."""
        unchecked = sorted({what for demand in tree.totals for what in self.capacity.demands[demand].unchecked})
        where = self.bounds.domain_text(domain)
        if unchecked:
            because = FitReason.NOT_LOOKED_AT.because(self.subject, what=name_list_text(unchecked), where=where)
            return GangTreeFit(FitVerdict.UNDECIDED, (because,), domain.name, assignments)
        found = FitReason.HAS_A_PLACE.because(self.subject, pods=all_of_pods_text(tree.pod_count), where=where)
        return GangTreeFit(FitVerdict.FITS, (found,), domain.name, assignments)

    def _requested(self, tree: GangConstraintTree) -> tuple[tuple[str, int], ...]:
        amounts: dict[str, int] = {}
        for demand, pods in tree.totals.items():
            for resource, amount in self.capacity.demands[demand].amounts:
                amounts[resource] = amounts.get(resource, 0) + amount * pods
        return tuple(sorted(amounts.items(), key=resource_sort_key))

    def _colocation(self, part: ConstrainedPart, key: str) -> PodColocation:
        level = next((level.domain for level in self.capacity.levels if level.key == key), key)
        return PodColocation(part.pods, part.name, level)


def _parts_with_preference(gang: GangToPlace) -> Iterator[ConstrainedPart]:
    seen: dict[ConstraintOwner, ConstrainedPart] = {}
    for one in constrained_parts_of(gang):
        if one.pack.preferred:
            seen.setdefault(one.owner, one)
    return iter(seen.values())
