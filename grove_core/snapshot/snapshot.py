"""What one root can see at one moment; every decision about it is a function of this value alone."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from grove_core.kernel.frozen import FrozenDict, FrozenMap, frozen_dict
from grove_core.kernel.refs import Ref
from grove_core.kernel.steps import Attempt
from grove_core.resources.cluster_topology import ClusterTopology
from grove_core.resources.compute_domain import DOMAIN_KIND, ComputeDomain
from grove_core.resources.configuration import DEFAULT_CONFIGURATION, NOT_DISCOVERED, Configuration, ServedApis
from grove_core.resources.meta import Resource
from grove_core.resources.owned_object import OWNED_KINDS, OwnedObject
from grove_core.resources.pod import Pod
from grove_core.resources.podclique import PodClique
from grove_core.resources.podcliqueset import PodCliqueSet
from grove_core.resources.podgang import PodGang
from grove_core.resources.scaling_group import ScalingGroup

EVERY_KIND: Final = frozenset({"Pod", "PodClique", "PodCliqueScalingGroup", "PodGang", DOMAIN_KIND, *OWNED_KINDS})
"""What a set consists of; who knows all of it need not know the topologies of its cluster."""


_MAPPINGS: Final = ("claim_templates", "named_domains", "named_claims", "strangers", "topologies")


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """A PodCliqueSet with everything it owns, the attempts of the last round, and the clock.

    Attributes:
        cliques: of the set, then of each of its scaling groups; sorted by name among those of one owner.
        others: whatever else the root, its groups and its cliques own: services, roles, claims, autoscalers.
        pods_of: uid of a clique -> its pods; also of cliques that are gone (WL-231, MN-051), perhaps of others.
        now: aware UTC; the only clock there is.
        attempts: what was tried last, and how the world answered.
        not_collected: kinds the source left out (GT-024).
        claim_templates: (namespace, name) -> ``spec`` of a ResourceClaimTemplate.
        complete: kinds of which the source has everything the root owns, so that what is not here is nowhere.
        domains: the ComputeDomains that the root or one of its gangs controls, and those it shares by annotation and
            whose owner is gone, sorted by name; claims of these are among the others.
        named_domains, named_claims: (namespace, name) -> ComputeDomain or ResourceClaim, whoever's it is; may hold
            those of other namespaces too.
        orphans: PodCliques that name the set and whose owner, a set or a scaling group, is gone as far as is seen:
            the garbage collector ends them, so nothing is done about them, but what they hold is in use (MS-051).
        configuration: what the operator is told.
        served: what the API server offers.
        strangers: kind, namespace and name of objects of our kinds that are of no set -> whose they are (WL-027).
        topologies: by name.

    Raises:
        ValueError: ``now`` has no time zone, so that it would be another moment on another machine.
    """

    root: PodCliqueSet
    groups: tuple[ScalingGroup, ...] = ()
    cliques: tuple[PodClique, ...] = ()
    gangs: tuple[PodGang, ...] = ()
    others: tuple[OwnedObject, ...] = ()
    pods_of: Mapping[str, Sequence[Pod]]
    now: datetime
    attempts: tuple[Attempt, ...] = ()
    not_collected: frozenset[str] = frozenset()
    claim_templates: Mapping[tuple[str, str], FrozenMap] = FrozenDict()
    complete: frozenset[str] = frozenset()
    domains: tuple[ComputeDomain, ...] = ()
    named_domains: Mapping[tuple[str, str], ComputeDomain] = FrozenDict()
    named_claims: Mapping[tuple[str, str], OwnedObject] = FrozenDict()
    orphans: tuple[PodClique, ...] = ()
    configuration: Configuration = DEFAULT_CONFIGURATION
    served: ServedApis = NOT_DISCOVERED
    strangers: Mapping[tuple[str, str, str], str] = FrozenDict()
    topologies: Mapping[str, ClusterTopology] = FrozenDict()

    def __post_init__(self) -> None:
        """Refuse a clock that depends on where it is read, and freeze the mappings."""
        if self.now.tzinfo is None:
            raise ValueError(f"now has no time zone: {self.now.isoformat()}; say datetime(..., tzinfo=UTC)")
        if not isinstance(self.pods_of, FrozenDict):
            pods_of = FrozenDict({uid: tuple(pods) for uid, pods in self.pods_of.items()})
            object.__setattr__(self, "pods_of", pods_of)
        for name in _MAPPINGS:
            object.__setattr__(self, name, frozen_dict(getattr(self, name)))

    def pods(self) -> Iterator[tuple[PodClique, Pod]]:
        """Every pod of the root with the clique that controls it (GT-001)."""
        for clique in self.cliques:
            for pod in self.pods_of.get(clique.uid, ()):
                yield clique, pod

    @property
    def root_ref(self) -> Ref:
        """Where the root stands."""
        return self.root.ref

    @property
    def root_uid(self) -> str:
        """Of the root; empty for a manifest that is in no cluster."""
        return self.root.uid

    def known(self) -> dict[Ref, Resource | Pod]:
        """Every object that a step of this root may aim at, pods too, by address."""
        return {**self.targets(), **{pod.ref: pod for _, pod in self.pods()}}

    def targets(self) -> dict[Ref, Resource]:
        """The same without pods."""
        every = (self.root, *self.groups, *self.cliques, *self.gangs, *self.others, *self.domains)
        return {resource.ref: resource for resource in every}
