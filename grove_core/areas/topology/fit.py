"""Whether gangs have a place on a ground: yes with a placement, no with a proof, or not decided (TP-100 to TP-110)."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from grove_core.areas.topology.bounds import Bounds
from grove_core.areas.topology.bundle import (
    Bundle,
    Constrained,
    GangAsk,
    Owner,
    bundle_of,
    bundle_of_gang,
    constrained_in,
    demands_of,
)
from grove_core.areas.topology.ground import WHOLE, Domain, Ground
from grove_core.areas.topology.packing import Packing, Place
from grove_core.areas.topology.rules import Fit
from grove_core.areas.topology.verdicts import Fits
from grove_core.kernel.reasons import Reason
from grove_core.kernel.refs import Ref
from grove_core.resources.cluster_topology import Levels
from grove_core.resources.names import all_pods, listed
from grove_core.resources.node import Node
from grove_core.resources.placement import NO_PACK
from grove_core.resources.pod_demand import scarcest_first


class Fitting(NamedTuple):
    """A verdict with what it rests on.

    Attributes:
        domain: in which all of it has a place; empty where it may be anywhere, or has none.
        places: a place for every pod; empty without one.
    """

    verdict: Fits
    because: tuple[Reason, ...]
    domain: str = ""
    places: tuple[Place, ...] = ()


class Promise(NamedTuple):
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
    promises: tuple[Promise, ...]
    whole: Fitting
    started: Fitting | None
    preferred: tuple[tuple[Promise, Fitting], ...]


@dataclass(frozen=True, slots=True)
class SetFit:
    """All gangs of a set on one ground: each for itself, and all of them at once."""

    gangs: tuple[GangFit, ...]
    together: Fitting


def fit_of(gangs: Sequence[GangAsk], nodes: Iterable[Node], levels: Levels, subject: Ref) -> SetFit:
    """Whether the gangs of a set have a place.

    Args:
        gangs: in order.
        nodes: with what they have free.
        levels: of the topology; empty where none applies.
        subject: of the reasons.

    Cost: nodes times demands, for each shape of a gang and each level.
    """
    search = _Search(gangs, nodes, levels, subject)
    alike: dict[tuple[object, ...], list[GangAsk]] = {}
    bundles = [search.bundle(gang) for gang in gangs]
    for gang, bundle in zip(gangs, bundles, strict=True):
        alike.setdefault((bundle.shape, _wishes(gang)), []).append(gang)
    found = tuple(search.gang_fit(same) for same in alike.values())
    return SetFit(found, search.fitting(bundle_of(WHOLE, subject.name, (), bundles, search.ground)))


def _wishes(gang: GangAsk) -> tuple[object, ...]:
    """What tells apart gangs of one shape: what they prefer, and what they need to start."""
    packs = dict(gang.placement.cliques)
    cliques = tuple((one.template, one.minimum, packs.get(one.name, NO_PACK).preferred) for one in gang.cliques)
    return cliques, gang.placement.gang.preferred, tuple(one.pack for one in gang.placement.packed_groups)


class _Search:
    """One ground, and what was found out about it."""

    def __init__(self, gangs: Sequence[GangAsk], nodes: Iterable[Node], levels: Levels, subject: Ref) -> None:
        self.demands = demands_of(gangs)
        self.ground = Ground(nodes, levels, tuple(self.demands))
        self.bounds = Bounds(self.ground)
        self.subject = subject

    def bundle(self, gang: GangAsk, preferring: Owner | None = None, *, minimum: bool = False) -> Bundle:
        return bundle_of_gang(gang, self.ground, self.demands, preferring=preferring, minimum=minimum)

    def gang_fit(self, alike: Sequence[GangAsk]) -> GangFit:
        """Everything about the first of some gangs that are alike."""
        gang = alike[0]
        bundle, least = self.bundle(gang), self.bundle(gang, minimum=True)
        whole = self.fitting(bundle)
        return GangFit(
            names=tuple(one.name for one in alike),
            pods=bundle.pods,
            minimum=least.pods,
            asks=self._asks(bundle),
            promises=tuple(Promise(one.pods, one.name, self._word(one.pack.required)) for one in _required(gang)),
            whole=whole,
            started=self.fitting(least) if whole.verdict is not Fits.FITS and least.pods < bundle.pods else None,
            preferred=tuple(
                (Promise(one.pods, one.name, self._word(one.pack.preferred)), self._preferred(gang, one))
                for one in _preferring(gang)
            ),
        )

    def fitting(self, bundle: Bundle) -> Fitting:
        """The verdict on a bundle that has the whole ground to itself."""
        if not bundle.pods:
            return Fitting(Fits.FITS, (Fit.NOTHING_ASKED.because(self.subject),))
        domains = self.ground.inside(self.ground.whole, bundle.level)
        if not any(self.bounds.copies(bundle, domain) for domain in domains):
            return Fitting(Fits.CANNOT, self.bounds.why_not(bundle, self.ground.whole, self.subject))
        for roomy in (False, True):
            packing = Packing(self.bounds, roomy=roomy)
            domain = packing.add(bundle)
            if domain is not None:
                return self._found(bundle, domain, packing.places())
        return Fitting(Fits.UNDECIDED, (Fit.NOT_FOUND.because(self.subject, pods=all_pods(bundle.pods)),))

    def _found(self, bundle: Bundle, domain: Domain, places: tuple[Place, ...]) -> Fitting:
        """A placement holds unless the pods ask for something that nobody looked at (TP-106)."""
        unseen = sorted({what for demand in bundle.totals for what in self.ground.demands[demand].unseen})
        where = self.bounds.place(domain)
        if unseen:
            because = Fit.NOT_LOOKED_AT.because(self.subject, what=listed(unseen), where=where)
            return Fitting(Fits.UNDECIDED, (because,), domain.name, places)
        found = Fit.HAS_A_PLACE.because(self.subject, pods=all_pods(bundle.pods), where=where)
        return Fitting(Fits.FITS, (found,), domain.name, places)

    def _preferred(self, gang: GangAsk, one: Constrained) -> Fitting:
        return self.fitting(self.bundle(gang, preferring=one.owner))

    def _asks(self, bundle: Bundle) -> tuple[tuple[str, int], ...]:
        asked: dict[str, int] = {}
        for demand, pods in bundle.totals.items():
            for resource, amount in self.ground.demands[demand].amounts:
                asked[resource] = asked.get(resource, 0) + amount * pods
        return tuple(sorted(asked.items(), key=scarcest_first))

    def _word(self, key: str) -> str:
        return next((level.domain for level in self.ground.levels if level.key == key), key)


def _required(gang: GangAsk) -> Iterator[Constrained]:
    return (one for one in constrained_in(gang) if one.pack.required)


def _preferring(gang: GangAsk) -> Iterator[Constrained]:
    """Whoever prefers something; the first where several of one template do."""
    seen: dict[Owner, Constrained] = {}
    for one in constrained_in(gang):
        if one.pack.preferred:
            seen.setdefault(one.owner, one)
    return iter(seen.values())
