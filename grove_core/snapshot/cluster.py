"""The indexed objects of a cluster, from which the snapshot of each root is taken."""

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from functools import cached_property
from typing import Final, TypeAlias, TypeVar

from grove_core.kernel.frozen import FrozenDict, FrozenMap
from grove_core.kernel.steps import Attempt
from grove_core.kernel.structs import Struct
from grove_core.resources.cluster_topology import ClusterTopology
from grove_core.resources.compute_domain import ComputeDomain
from grove_core.resources.configuration import DEFAULT_CONFIGURATION, NOT_DISCOVERED, Configuration, ServedApis
from grove_core.resources.metadata_readers import Resource
from grove_core.resources.owned_object import OwnedObject
from grove_core.resources.pod import Pod
from grove_core.resources.podclique import PodClique
from grove_core.resources.podcliqueset import PodCliqueSet
from grove_core.resources.podgang import PodGang
from grove_core.resources.scaling_group import ScalingGroup
from grove_core.snapshot.snapshot import Snapshot

Gap: TypeAlias = tuple[str, str]  # (kind, namespace)
EVERYWHERE: Final = ""  # as the namespace of a gap
_OWNERS_OF_SHARED: Final = frozenset({"PodCliqueSet", "PodGang"})


R = TypeVar("R", bound=Resource)


class IndexedCluster(Struct, frozen=True, dict=True):
    """The objects of a cluster by the uid of their controller; each list is sorted by name.

    **Shape**: uid of the controller -> its objects. Pods are in no order, since nothing depends on it (PL-001).

    Attributes:
        outlived: (namespace, possible name of their set) -> pods whose PodClique is gone, by the uid of the PodClique.
        gaps: kinds of which the source left something out, each with the namespace (GT-024).
        complete: kinds of which the source has everything, each with the namespace (WL-010).
        claim_templates: (namespace, name) -> ``spec`` of a ResourceClaimTemplate.
        domains: (namespace, name) -> ComputeDomain, also those without an owner.
        domains_of: by the uid of their controller.
        claims: (namespace, name) -> ResourceClaim, also those without an owner.
        shared_of: (namespace, name of a set) -> the ComputeDomains and claims that its parts share by annotation.
        configuration, served: the same for every root.
        leaving_of, leaving_groups_of: (namespace, name of a set) -> its PodCliques and scaling groups that are being
            deleted and whose owner is gone already.
        orphans_of: (namespace, name of a set) -> PodCliques that are not being deleted and whose owner, a set or a
            scaling group, is gone.
        foreign_owners: (kind, namespace, name) of objects that belong to no set, of kinds that sets own -> a text that
            names their owner (WL-027).
        topologies: by name.
        shadowed_topologies: by name; ClusterTopologyBindings whose name a ClusterTopology has, too.
        is_part: whether the source may leave out namespaces.
    """

    sets: tuple[PodCliqueSet, ...]
    groups_of: FrozenDict[str, tuple[ScalingGroup, ...]]
    cliques_of: FrozenDict[str, tuple[PodClique, ...]]
    gangs_of: FrozenDict[str, tuple[PodGang, ...]]
    others_of: FrozenDict[str, tuple[OwnedObject, ...]]
    pods_of: FrozenDict[str, tuple[Pod, ...]]
    outlived: FrozenDict[tuple[str, str], FrozenDict[str, tuple[Pod, ...]]] = FrozenDict()
    gaps: frozenset[Gap] = frozenset()
    complete: frozenset[Gap] = frozenset()
    claim_templates: FrozenDict[tuple[str, str], FrozenMap] = FrozenDict()
    domains: FrozenDict[tuple[str, str], ComputeDomain] = FrozenDict()
    domains_of: FrozenDict[str, tuple[ComputeDomain, ...]] = FrozenDict()
    claims: FrozenDict[tuple[str, str], OwnedObject] = FrozenDict()
    shared_of: FrozenDict[tuple[str, str], tuple[ComputeDomain | OwnedObject, ...]] = FrozenDict()
    configuration: Configuration = DEFAULT_CONFIGURATION
    served: ServedApis = NOT_DISCOVERED
    leaving_of: FrozenDict[tuple[str, str], tuple[PodClique, ...]] = FrozenDict()
    leaving_groups_of: FrozenDict[tuple[str, str], tuple[ScalingGroup, ...]] = FrozenDict()
    orphans_of: FrozenDict[tuple[str, str], tuple[PodClique, ...]] = FrozenDict()
    foreign_owners: FrozenDict[tuple[str, str, str], str] = FrozenDict()
    topologies: FrozenDict[str, ClusterTopology] = FrozenDict()
    shadowed_topologies: FrozenDict[str, ClusterTopology] = FrozenDict()
    is_part: bool = False

    def snapshot_of(self, root: PodCliqueSet, now: datetime, attempts: tuple[Attempt, ...] = ()) -> Snapshot:
        """Return the snapshot of a root. Its objects are shared with the cluster and not copied."""
        named = (root.ref.namespace, root.ref.name)
        cliques = (*self.owned_cliques(root), *self.leaving_of.get(named, ()))
        groups = (*self.groups_of.get(root.uid, ()), *self.leaving_groups_of.get(named, ()))
        orphans = self.orphans_of.get(named, ())
        gangs = self.gangs_of.get(root.uid, ())
        unowned = self._unowned((root, *gangs), named) if self.shared_of else ()
        domains = self._domains_of((root, *gangs)) if self.domains_of else ()
        others = self._others_of((root, *groups, *cliques, *gangs)) if self.others_of else ()
        return Snapshot(
            root=root,
            groups=groups,
            cliques=cliques,
            gangs=gangs,
            others=(*others, *(item for item in unowned if isinstance(item, OwnedObject))),
            domains=(*domains, *(item for item in unowned if isinstance(item, ComputeDomain))),
            named_domains=self.domains,
            named_claims=self.claims,
            orphans=orphans,
            configuration=self.configuration,
            served=self.served,
            pods_of=self._pods_for(named, (*cliques, *orphans)),
            now=now,
            attempts=attempts,
            not_collected=_kinds_in(root.ref.namespace, self._gaps_in) if self.gaps else frozenset(),
            complete=_kinds_in(root.ref.namespace, self._complete_in) if self.complete else frozenset(),
            claim_templates=self.claim_templates,
            foreign_owners=self.foreign_owners,
            topologies=self.topologies,
        )

    def owned_cliques(self, root: PodCliqueSet) -> Iterator[PodClique]:
        """Yield the PodCliques of a set and of its scaling groups, without those whose owner is gone."""
        for owner in (root, *self.groups_of.get(root.uid, ())):
            yield from self.cliques_of.get(owner.uid, ())

    @cached_property
    def _gaps_in(self) -> Mapping[str, frozenset[str]]:
        return _kinds_by_namespace(self.gaps)

    @cached_property
    def _complete_in(self) -> Mapping[str, frozenset[str]]:
        return _kinds_by_namespace(self.complete)

    def _pods_for(self, named: tuple[str, str], cliques: Iterable[PodClique]) -> FrozenDict[str, tuple[Pod, ...]]:
        """The pods of these PodCliques, and the pods that may be of this set and whose PodClique is gone."""
        found = {clique.uid: pods for clique in cliques if (pods := self.pods_of.get(clique.uid)) is not None}
        return FrozenDict({**self.outlived.get(named, {}), **found})

    def _unowned(self, owners: Iterable[Resource], named: tuple[str, str]) -> tuple[ComputeDomain | OwnedObject, ...]:
        """The shared domains and claims of a set whose owner is neither the set nor one of its gangs (MS-043)."""
        known = {owner.uid for owner in owners}
        shared = self.shared_of.get(named, ())
        return tuple(item for item in shared if item.owner_uid not in known and item.owner_kind in _OWNERS_OF_SHARED)

    def _domains_of(self, owners: Iterable[Resource]) -> tuple[ComputeDomain, ...]:
        found = (domain for owner in owners for domain in self.domains_of.get(owner.uid, ()))
        return tuple(sorted(found, key=name_first_sort_key))

    def _others_of(self, owners: Iterable[Resource]) -> tuple[OwnedObject, ...]:
        return tuple(other for owner in owners for other in self.others_of.get(owner.uid, ()))


def _kinds_by_namespace(pairs: frozenset[Gap]) -> Mapping[str, frozenset[str]]:
    found: dict[str, set[str]] = {}
    for kind, namespace in pairs:
        found.setdefault(namespace, set()).add(kind)
    return {namespace: frozenset(kinds) for namespace, kinds in found.items()}


def _kinds_in(namespace: str, found: Mapping[str, frozenset[str]]) -> frozenset[str]:
    return found.get(EVERYWHERE, frozenset()) | found.get(namespace, frozenset())


def name_first_sort_key(item: Resource) -> tuple[str, str, str]:
    """The sort key of objects; the name comes first, since it is unique among most objects of one owner."""
    return (item.ref.name, item.ref.namespace, item.uid)
