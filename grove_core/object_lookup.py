"""Finds an object of a root by kind and name: its PodCliques, its address, and whether the root has it."""

from types import MappingProxyType
from typing import Final

from grove_core.areas.mnnvl.design.judge import compute_domain_ref_of_replica
from grove_core.areas.mnnvl_scopes.judge import shared_domain_ref
from grove_core.kernel.refs import Ref
from grove_core.resources.api_names import (
    AUTOSCALING,
    CLAIM_KIND,
    CLAIMS,
    COMPOSITE_KIND,
    COMPOSITES,
    CORE,
    DOMAIN_KIND,
    GROUP_KIND,
    GROVE,
    POD_GROUP_KIND,
    RBAC,
    SCHEDULER,
    WORKLOAD_KIND,
    WORKLOADS,
)
from grove_core.resources.mnnvl_groups import mnnvl_domains_of_groups
from grove_core.resources.naming_rules import (
    GroupReplicaKey,
    composite_pod_group_names,
    replica_index_of_compute_domain,
)
from grove_core.resources.owned_object import OWNED_KINDS
from grove_core.resources.podclique import PodClique
from grove_core.snapshot.snapshot import Snapshot

_VERSIONS: Final = MappingProxyType(
    {
        **dict.fromkeys(("Pod", "Secret", "Service", "ServiceAccount"), CORE),
        **dict.fromkeys(("Role", "RoleBinding"), RBAC),
        **dict.fromkeys((WORKLOAD_KIND, POD_GROUP_KIND), WORKLOADS),
        "HorizontalPodAutoscaler": AUTOSCALING,
        "PodGang": SCHEDULER,
        CLAIM_KIND: CLAIMS,
        COMPOSITE_KIND: COMPOSITES,
    }
)
KINDS_WITHOUT_PODS: Final = frozenset({*OWNED_KINDS} - {POD_GROUP_KIND, COMPOSITE_KIND})
"""Kinds of objects of a set that consist of no PodCliques: Services, Roles, autoscalers, claims and the like."""


def podcliques_of_object(snapshot: Snapshot, kind: str, name: str) -> tuple[PodClique, ...]:
    """Return the PodCliques that an object of a root consists of or belongs to; empty if there is no such object."""
    if kind == "PodCliqueSet":
        return snapshot.cliques if snapshot.root.ref.name == name else ()
    if kind == "Pod":
        return tuple(clique for clique, pod in snapshot.pods() if pod.name == name)
    if kind == GROUP_KIND:
        uids = {group.uid for group in snapshot.groups if group.ref.name == name}
        return tuple(clique for clique in snapshot.cliques if clique.owner_uid in uids)
    if kind in KINDS_WITHOUT_PODS:
        return ()
    named = {name}
    if kind == "PodGang":
        named = {group.name for gang in snapshot.gangs if gang.ref.name == name for group in gang.groups}
        return tuple(one for one in snapshot.cliques if one.ref.name in named or one.gang == name)
    if kind == COMPOSITE_KIND:
        return tuple(clique for clique in snapshot.cliques if name in _composites_above(clique))
    return tuple(clique for clique in snapshot.cliques if clique.ref.name in named)


def _composites_above(clique: PodClique) -> tuple[str, ...]:
    """The CompositePodGroups that a PodClique in groups is below: that of its gang, and that of its group replica."""
    is_member = clique.is_in_scaling_group
    replica = GroupReplicaKey(clique.owner_name, clique.group_replica_index) if is_member else None
    return composite_pod_group_names(clique.gang, replica, is_scaled=bool(clique.base_gang))


def snapshot_has_object(snapshot: Snapshot, kind: str, name: str) -> bool:
    """Return whether a root has an object of that kind and name."""
    every = (snapshot.root, *snapshot.groups, *snapshot.gangs, *snapshot.others)
    if kind == DOMAIN_KIND:
        return compute_domain_ref(snapshot, name) is not None
    return bool(podcliques_of_object(snapshot, kind, name)) or any(
        (one.ref.kind, one.ref.name) == (kind, name) for one in every
    )


def replica_of_domain(snapshot: Snapshot, name: str) -> int | None:
    """Return the replica of the root that a ComputeDomain belongs to, whether it exists or should exist."""
    root = snapshot.root.ref.name
    there = any(domain.ref.name == name for domain in snapshot.domains)
    index = replica_index_of_compute_domain(root, name)
    return index if index is not None and (there or index < snapshot.root.spec.replicas) else None


def compute_domain_ref(snapshot: Snapshot, name: str) -> Ref | None:
    """Return the address of a ComputeDomain that the root needs or has, by any operator's names; None without one."""
    root, replica = snapshot.root, replica_of_domain(snapshot, name)
    shared = shared_domain_ref(snapshot, name)
    if shared is not None or replica is not None:
        return shared or compute_domain_ref_of_replica(snapshot, replica or 0)
    required = mnnvl_domains_of_groups(root.annotations, root.spec.template, root.spec.replicas)
    refs = (*(one.ref_in(root.ref) for one in required), *(domain.ref for domain in snapshot.domains))
    return next((ref for ref in refs if ref.name == name), None)


def ref_by_kind_and_name(snapshot: Snapshot, kind: str, name: str) -> Ref:
    """Return the address of an object in the namespace of the root, in the version that this operator writes."""
    return Ref(_VERSIONS.get(kind, GROVE), kind, snapshot.root.ref.namespace, name)
