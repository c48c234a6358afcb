"""The snapshot of one PodCliqueSet; every decision about the set is a function of this value alone."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Final, TypeVar

from grove_core.kernel.frozen import FrozenDict, FrozenMap
from grove_core.kernel.refs import Ref
from grove_core.kernel.steps import Attempt
from grove_core.kernel.structs import Struct, replace
from grove_core.resources.api_names import DOMAIN_KIND
from grove_core.resources.cluster_topology import ClusterTopology
from grove_core.resources.compute_domain import ComputeDomain
from grove_core.resources.configuration import DEFAULT_CONFIGURATION, NOT_DISCOVERED, Configuration, ServedApis
from grove_core.resources.metadata_readers import Resource
from grove_core.resources.naming_rules import parse_replica_index
from grove_core.resources.owned_object import OWNED_KINDS, OwnedObject
from grove_core.resources.pod import Pod
from grove_core.resources.podclique import PodClique
from grove_core.resources.podcliqueset import PodCliqueSet
from grove_core.resources.podgang import PodGang
from grove_core.resources.scaling_group import ScalingGroup

EVERY_KIND: Final = frozenset({"Pod", "PodClique", "PodCliqueScalingGroup", "PodGang", DOMAIN_KIND, *OWNED_KINDS})
"""The kinds of the parts of a set; a set can be planned where a source has all objects of these kinds."""


class Snapshot(Struct, frozen=True, kw_only=True):
    """A PodCliqueSet with everything it owns, the attempts of the last round, and the clock.

    Attributes:
        cliques: of the set, then of each of its scaling groups; sorted by name within one owner.
        others: everything else that the root, its groups and its cliques own: services, roles, claims, autoscalers.
        pods_of: uid of a PodClique -> its pods; also of PodCliques that are gone (WL-231, MN-051), and possibly of
            other sets.
        now: aware UTC; the only clock of a decision.
        attempts: the steps that were attempted last, with their outcomes.
        not_collected: kinds that the source left out (GT-024).
        claim_templates: (namespace, name) -> ``spec`` of a ResourceClaimTemplate.
        complete: kinds of which the source has everything that the root owns; an object of them that is not in the
            snapshot does not exist.
        domains: the ComputeDomains that the root or one of its gangs controls, and those that it shares by annotation
            and whose owner is gone, sorted by name; claims of these are among the others.
        named_domains, named_claims: (namespace, name) -> ComputeDomain or ResourceClaim of any owner; may contain other
            namespaces.
        orphans: PodCliques that name the set and whose owner, a set or a scaling group, is not in the source. The
            garbage collector deletes them, so no step targets them, but the objects they use are in use (MS-051).
        configuration: of the operator.
        served: the API groups and kinds that the API server serves.
        foreign_owners: (kind, namespace, name) of objects that belong to no set, of kinds that sets own -> a text that
            names their owner (WL-027).
        topologies: by name.

    Raises:
        ValueError: ``now`` has no time zone, so its meaning would depend on the machine.
    """

    root: PodCliqueSet
    groups: tuple[ScalingGroup, ...] = ()
    cliques: tuple[PodClique, ...] = ()
    gangs: tuple[PodGang, ...] = ()
    others: tuple[OwnedObject, ...] = ()
    pods_of: FrozenDict[str, tuple[Pod, ...]] = FrozenDict()
    now: datetime
    attempts: tuple[Attempt, ...] = ()
    not_collected: frozenset[str] = frozenset()
    claim_templates: FrozenDict[tuple[str, str], FrozenMap] = FrozenDict()
    complete: frozenset[str] = frozenset()
    domains: tuple[ComputeDomain, ...] = ()
    named_domains: FrozenDict[tuple[str, str], ComputeDomain] = FrozenDict()
    named_claims: FrozenDict[tuple[str, str], OwnedObject] = FrozenDict()
    orphans: tuple[PodClique, ...] = ()
    configuration: Configuration = DEFAULT_CONFIGURATION
    served: ServedApis = NOT_DISCOVERED
    foreign_owners: FrozenDict[tuple[str, str, str], str] = FrozenDict()
    topologies: FrozenDict[str, ClusterTopology] = FrozenDict()

    def __post_init__(self) -> None:
        """Check the time zone of ``now``."""
        if self.now.tzinfo is None:
            raise ValueError(f"now has no time zone: {self.now.isoformat()}; say datetime(..., tzinfo=UTC)")

    def pods(self) -> Iterator[tuple[PodClique, Pod]]:
        """Yield every pod of the root with the PodClique that controls it (GT-001)."""
        for clique in self.cliques:
            for pod in self.pods_of.get(clique.uid, ()):
                yield clique, pod

    @property
    def root_ref(self) -> Ref:
        """The address of the root."""
        return self.root.ref

    @property
    def root_uid(self) -> str:
        """The uid of the root; empty for a manifest that is in no cluster."""
        return self.root.uid

    def objects_by_ref(self) -> dict[Ref, Resource | Pod]:
        """Return every object that a step of this root may target, pods included, by address."""
        return {**self.objects_without_pods_by_ref(), **{pod.ref: pod for _, pod in self.pods()}}

    def objects_without_pods_by_ref(self) -> dict[Ref, Resource]:
        """Return every object that a step of this root may target, without pods, by address."""
        every = (self.root, *self.groups, *self.cliques, *self.gangs, *self.others, *self.domains)
        return {resource.ref: resource for resource in every}


def uncollected_part_kinds(snapshot: Snapshot) -> tuple[str, ...]:
    """Return the kinds of parts that the set has and that were not collected (GT-024, GF-009)."""
    if not snapshot.not_collected:
        return ()
    grouped = bool(snapshot.root.spec.template.pod_clique_scaling_groups)
    parts = ("PodClique", "PodCliqueScalingGroup", "Pod") if grouped else ("PodClique", "Pod")
    return tuple(kind for kind in parts if kind in snapshot.not_collected)


def foreign_gang_names_in(snapshot: Snapshot) -> frozenset[str]:
    """Return the names of such PodGangs that a live pod or PodClique of the set refers to by label. Linear.

    Known names are ``{set}-{replica}`` and ``{set}-{replica}-{group}-{number}``.
    """
    unknown = {gang.ref.name for gang in snapshot.gangs if not gang.deleting and not _is_known(snapshot, gang.ref.name)}
    if not unknown:
        return frozenset()
    named = {clique.gang for clique in snapshot.cliques if not clique.deleting}
    named |= {pod.gang for _, pod in snapshot.pods() if not pod.deleting}
    return frozenset(unknown & named)


def _is_known(snapshot: Snapshot, name: str) -> bool:
    rest = name.removeprefix(f"{snapshot.root.ref.name}-")
    replica, _, scaled = rest.partition("-")
    if rest == name or parse_replica_index(replica) is None:
        return False
    group, _, number = scaled.rpartition("-")
    groups = {one.name for one in snapshot.root.spec.template.pod_clique_scaling_groups}
    return not scaled or (group in groups and parse_replica_index(number) is not None)


V = TypeVar("V")


def trim_snapshot(snapshot: Snapshot) -> Snapshot:
    """Return the snapshot without pods of other sets and without other namespaces; every decision stays the same.

    Pods of PodCliques that are gone stay, since they may still use what the root shares (MN-051).
    """
    root = snapshot.root.ref
    own = {clique.uid for clique in snapshot.cliques}
    return replace(
        snapshot,
        pods_of=FrozenDict(
            (uid, pods) for uid, pods in snapshot.pods_of.items() if uid in own or pods_may_belong_to_set(root, pods)
        ),
        claim_templates=_within(snapshot.claim_templates, root.namespace),
        named_domains=_within(snapshot.named_domains, root.namespace),
        named_claims=_within(snapshot.named_claims, root.namespace),
        foreign_owners=FrozenDict(
            (key, owner) for key, owner in snapshot.foreign_owners.items() if key[1] == root.namespace
        ),
    )


def pods_may_belong_to_set(root: Ref, pods: Sequence[Pod]) -> bool:
    """Whether pods of an unknown PodClique may belong to a set, by their set label or the name of their gang."""
    return any(
        pod.namespace == root.namespace and (pod.set_name == root.name or pod.gang.startswith(f"{root.name}-"))
        for pod in pods
    )


def _within(found: Mapping[tuple[str, str], V], namespace: str) -> FrozenDict[tuple[str, str], V]:
    return FrozenDict((key, value) for key, value in found.items() if key[0] == namespace)
