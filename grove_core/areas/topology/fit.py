"""Whether gangs have a place on a ground: yes with a placement, no with a proof, or not decided (TP-100 to TP-110)."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from grove_core.areas.topology.capacity_bounds import CapacityBounds
from grove_core.areas.topology.gang_tree import (
    ConstrainedPart,
    ConstraintOwner,
    GangRequest,
    GangTree,
    constrained_parts_of,
    demand_indices,
    gang_tree_of,
    tree_of,
)
from grove_core.areas.topology.node_capacity import CLUSTER_LEVEL, Domain, NodeCapacity
from grove_core.areas.topology.packing import NodeAssignment, Packing
from grove_core.areas.topology.rules import Fit
from grove_core.areas.topology.verdicts import FitVerdict
from grove_core.kernel.reasons import Reason
from grove_core.kernel.refs import Ref
from grove_core.resources.cluster_topology import Levels
from grove_core.resources.names import all_pods, listed
from grove_core.resources.node import Node
from grove_core.resources.placement import NO_PACK
from grove_core.resources.pod_demand import scarcest_first


class FitResult(NamedTuple):
    """A verdict with what it rests on.

    Attributes:
        domain: in which all of it has a place; empty where it may be anywhere, or has none.
        places: a place for every pod; empty without one.
    """

    verdict: FitVerdict
    because: tuple[Reason, ...]
    domain: str = ""
    places: tuple[NodeAssignment, ...] = ()


class Colocation(NamedTuple):
    """What a constraint guarantees, or prefers: so many pods of something in one domain of a level."""

    pods: int
    of: str
    level: str


@dataclass(frozen=True, slots=True, kw_only=True)
class GangFit:
    """Gangs that are alike, each for itself on the whole ground.

    Attributes:
        names: of all of them; what is said of one clique or another is said of those of the first.
        pods, minimum: all of one gang, and those that it needs to start.
        asks: resource -> thousandths that one gang asks for.
        promises: what its required domains guarantee.
        started: whether at least the pods that it needs to start have a place; None where all have, or all are needed.
        preferred: what it prefers, and whether that could be.
    """

    names: tuple[str, ...]
    pods: int
    minimum: int
    asks: tuple[tuple[str, int], ...]
    guaranteed: tuple[Colocation, ...]
    all_pods: FitResult
    minimum_pods: FitResult | None
    preferred: tuple[tuple[Colocation, FitResult], ...]


@dataclass(frozen=True, slots=True)
class SetFit:
    """All gangs of a set on one ground: each for itself, and all of them at once."""

    gangs: tuple[GangFit, ...]
    all_gangs: FitResult


def fit_gangs(gangs: Sequence[GangRequest], nodes: Iterable[Node], levels: Levels, subject: Ref) -> SetFit:
    """Whether the gangs of a set have a place.

    Args:
        gangs: in order.
        nodes: with what they have free.
        levels: of the topology; empty where none applies.
        subject: of the reasons.

    Cost: nodes times demands, for each shape of a gang and each level.
    """
    search = _FitSearch(gangs, nodes, levels, subject)
    alike: dict[tuple[object, ...], list[GangRequest]] = {}
    bundles = [search.bundle(gang) for gang in gangs]
    for gang, bundle in zip(gangs, bundles, strict=True):
        alike.setdefault((bundle.shape, _preferences(gang)), []).append(gang)
    found = tuple(search.gang_fit(same) for same in alike.values())
    return SetFit(found, search.fitting(tree_of(CLUSTER_LEVEL, subject.name, (), bundles, search.ground)))


def _preferences(gang: GangRequest) -> tuple[object, ...]:
    """What tells apart gangs of one shape: what they prefer, and what they need to start."""
    packs = dict(gang.placement.cliques)
    cliques = tuple((one.template, one.minimum, packs.get(one.name, NO_PACK).preferred) for one in gang.cliques)
    return cliques, gang.placement.gang.preferred, tuple(one.pack for one in gang.placement.packed_groups)


class _FitSearch:
    """One ground, and what was found out about it."""

    def __init__(self, gangs: Sequence[GangRequest], nodes: Iterable[Node], levels: Levels, subject: Ref) -> None:
        self.demands = demand_indices(gangs)
        self.ground = NodeCapacity(nodes, levels, tuple(self.demands))
        self.bounds = CapacityBounds(self.ground)
        self.subject = subject

    def bundle(
        self, gang: GangRequest, preferring: ConstraintOwner | None = None, *, minimum: bool = False
    ) -> GangTree:
        return gang_tree_of(gang, self.ground, self.demands, preferring=preferring, minimum=minimum)

    def gang_fit(self, alike: Sequence[GangRequest]) -> GangFit:
        """Everything about the first of some gangs that are alike."""
        gang = alike[0]
        bundle, least = self.bundle(gang), self.bundle(gang, minimum=True)
        whole = self.fitting(bundle)
        return GangFit(
            names=tuple(one.name for one in alike),
            pods=bundle.pods,
            minimum=least.pods,
            asks=self._asks(bundle),
            guaranteed=tuple(
                Colocation(one.pods, one.name, self._word(one.pack.required)) for one in _parts_with_requirement(gang)
            ),
            all_pods=whole,
            minimum_pods=self.fitting(least)
            if whole.verdict is not FitVerdict.FITS and least.pods < bundle.pods
            else None,
            preferred=tuple(
                (Colocation(one.pods, one.name, self._word(one.pack.preferred)), self._preferred(gang, one))
                for one in _parts_with_preference(gang)
            ),
        )

    def fitting(self, bundle: GangTree) -> FitResult:
        """The verdict on a bundle that has the whole ground to itself."""
        if not bundle.pods:
            return FitResult(FitVerdict.FITS, (Fit.NOTHING_ASKED.because(self.subject),))
        domains = self.ground.inside(self.ground.whole, bundle.level)
        if not any(self.bounds.copies(bundle, domain) for domain in domains):
            return FitResult(FitVerdict.CANNOT, self.bounds.why_not(bundle, self.ground.whole, self.subject))
        for roomy in (False, True):
            packing = Packing(self.bounds, roomy=roomy)
            domain = packing.add(bundle)
            if domain is not None:
                return self._found(bundle, domain, packing.places())
        return FitResult(FitVerdict.UNDECIDED, (Fit.NOT_FOUND.because(self.subject, pods=all_pods(bundle.pods)),))

    def _found(self, bundle: GangTree, domain: Domain, places: tuple[NodeAssignment, ...]) -> FitResult:
        """A placement holds unless the pods ask for something that nobody looked at (TP-106)."""
        unseen = sorted({what for demand in bundle.totals for what in self.ground.demands[demand].unseen})
        where = self.bounds.place(domain)
        if unseen:
            because = Fit.NOT_LOOKED_AT.because(self.subject, what=listed(unseen), where=where)
            return FitResult(FitVerdict.UNDECIDED, (because,), domain.name, places)
        found = Fit.HAS_A_PLACE.because(self.subject, pods=all_pods(bundle.pods), where=where)
        return FitResult(FitVerdict.FITS, (found,), domain.name, places)

    def _preferred(self, gang: GangRequest, one: ConstrainedPart) -> FitResult:
        return self.fitting(self.bundle(gang, preferring=one.owner))

    def _asks(self, bundle: GangTree) -> tuple[tuple[str, int], ...]:
        asked: dict[str, int] = {}
        for demand, pods in bundle.totals.items():
            for resource, amount in self.ground.demands[demand].amounts:
                asked[resource] = asked.get(resource, 0) + amount * pods
        return tuple(sorted(asked.items(), key=scarcest_first))

    def _word(self, key: str) -> str:
        return next((level.domain for level in self.ground.levels if level.key == key), key)


def _parts_with_requirement(gang: GangRequest) -> Iterator[ConstrainedPart]:
    return (one for one in constrained_parts_of(gang) if one.pack.required)


def _parts_with_preference(gang: GangRequest) -> Iterator[ConstrainedPart]:
    """Whoever prefers something; the first where several of one template do."""
    seen: dict[ConstraintOwner, ConstrainedPart] = {}
    for one in constrained_parts_of(gang):
        if one.pack.preferred:
            seen.setdefault(one.owner, one)
    return iter(seen.values())
