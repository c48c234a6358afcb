"""Deletions by the Go operator: what a set and its groups have too much of, and a deleted set (WF-050 to WF-060)."""

from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from typing import Final

from grove_core.areas.workload.deleted_objects import finalizer_removals, just_deleted_guards
from grove_core.areas.workload.field.rules import GoOperatorWorkloadReason
from grove_core.areas.workload.rules import WorkloadReason
from grove_core.areas.workload.workload_context import WorkloadContext
from grove_core.kernel.wants import DesiredChanges, FinalizerToDrop, ObjectToDelete, Withheld
from grove_core.resources.api_names import CLAIM_KIND, DOMAIN_FINALIZER, SET_FINALIZER
from grove_core.resources.domain_sharing_labels import is_shared_domain_claim
from grove_core.resources.labels import SET_REPLICA
from grove_core.resources.naming_rules import scaling_group_name
from grove_core.snapshot.snapshot import Snapshot

_AUTOSCALER: Final = "HorizontalPodAutoscaler"


def surplus_deletions_by_go_operator(context: WorkloadContext) -> Iterator[ObjectToDelete]:
    """Yield the deletions of standalone cliques, scaling groups and members beyond the wanted replicas. Linear."""
    yield from _surplus_cliques(context)
    yield from _surplus_groups(context)
    yield from _surplus_members(context)


def _surplus_cliques(context: WorkloadContext) -> Iterator[ObjectToDelete]:
    """Yield standalone cliques of surplus replicas; none unless there are more cliques than wanted (WF-050)."""
    root, wanted = context.root, context.root.spec.replicas
    existing = [clique for clique in context.snapshot.cliques if clique.owner_uid == root.uid]
    if len(existing) <= wanted * len(root.shape.standalone):
        return
    for clique in existing:
        if clique.replica_index >= wanted and not clique.deleting:
            because = GoOperatorWorkloadReason.SURPLUS_CLIQUE.because(
                root.ref, replica=clique.replica_index, replicas=wanted
            )
            yield ObjectToDelete(clique.ref, clique.guard, (because,))


def _surplus_groups(context: WorkloadContext) -> Iterator[ObjectToDelete]:
    """Yield the scaling groups that the set does not have; their cliques are garbage-collected (WF-051)."""
    root, wanted = context.root, context.root.spec.replicas
    names = {scaling_group_name(root.ref.name, index, short) for index in range(wanted) for short in root.shape.groups}
    for group in context.groups.values():
        if group.ref.name not in names:
            because = GoOperatorWorkloadReason.SURPLUS_GROUP.because(
                root.ref, replica=group.replica_index, replicas=wanted
            )
            yield ObjectToDelete(group.ref, group.guard, (because,))


def _surplus_members(context: WorkloadContext) -> Iterator[ObjectToDelete]:
    """Yield the cliques of surplus replicas of scaling groups.

    The operator counts the replicas that exist and deletes the indices from ``replicas`` to that count (WF-052).
    """
    groups = {group.uid: group for group in context.groups.values()}
    indices: dict[str, set[int]] = {}
    for clique in context.cliques.values():
        if clique.owner_uid in groups:
            indices.setdefault(clique.owner_uid, set()).add(clique.group_replica_index)
    for clique in context.cliques.values():
        group = groups.get(clique.owner_uid)
        if group is not None and group.replicas <= clique.group_replica_index < len(indices[group.uid]):
            because = GoOperatorWorkloadReason.SURPLUS_MEMBERS.because(
                group.ref, replica=clique.group_replica_index, replicas=group.replicas
            )
            yield ObjectToDelete(clique.ref, clique.guard, (because,))


def unexpected_object_deletions_by_go_operator(
    context: WorkloadContext, expected: AbstractSet[tuple[str, str]]
) -> Iterator[ObjectToDelete | Withheld]:
    """Yield the deletions of PodGangs, autoscalers and claims that the set no longer has (WF-053). Linear.

    A Service of a replica that is gone stays (WF-054).
    """
    root = context.root
    for gang in context.gangs.values() if context.has_all_objects_of_kinds("PodGang") else ():
        if gang.ref.name in context.foreign_gangs:
            yield Withheld(gang.ref, (WorkloadReason.GANG_OF_ANOTHER_SCHEME.because(gang.ref, gang=gang.ref.name),))
        elif ("PodGang", gang.ref.name) not in expected:
            yield ObjectToDelete(
                gang.ref, gang.guard, (GoOperatorWorkloadReason.NOT_IN_SET_ANY_MORE.because(gang.ref),)
            )
    for other in context.snapshot.others:
        if other.deleting or not other.managed or (other.ref.kind, other.ref.name) in expected:
            continue
        if other.ref.kind == "Service" and other.owner_uid == root.uid:
            index = str(other.labels.get(SET_REPLICA.primary, ""))
            because = GoOperatorWorkloadReason.SERVICE_LEAKED.because(other.ref, replica=index)
            yield Withheld(other.ref, (because,))
        elif other.ref.kind in {_AUTOSCALER, CLAIM_KIND} and not is_shared_domain_claim(other):
            known = other.owner_uid == root.uid or context.has_all_objects_of_kinds("Pod")
            if known:
                because = GoOperatorWorkloadReason.NOT_IN_SET_ANY_MORE.because(other.ref)
                yield ObjectToDelete(other.ref, other.guard, (because,))


def deleted_set_release(snapshot: Snapshot) -> DesiredChanges:
    """Return the removals of Grove's finalizer; a deleted set goes at once, before its parts and pods (WF-060)."""
    just_deleted = just_deleted_guards(snapshot)
    removals = [
        want
        for want in (*finalizer_removals(snapshot.groups), *finalizer_removals(snapshot.cliques))
        if want.guard not in just_deleted
    ]
    root = snapshot.root
    if not root.deleting or SET_FINALIZER not in root.finalizers or _has_domains_to_release(snapshot):
        return DesiredChanges(tuple(removals))
    pods = [pod for _, pod in snapshot.pods() if not pod.deleting]
    counts = {"pods": len(pods), "ready": sum(pod.ready for pod in pods), "gpus": sum(pod.gpus for pod in pods)}
    because = GoOperatorWorkloadReason.SET_RELEASED.because(root.ref, cliques=len(snapshot.cliques), **counts)
    release = FinalizerToDrop(root.ref, root.guard, SET_FINALIZER, (because,))
    return DesiredChanges((*removals, release))


def _has_domains_to_release(snapshot: Snapshot) -> bool:
    """Return whether ComputeDomains of the set have the operator's finalizer, which goes before that of the set."""
    owned = (domain for domain in snapshot.domains if domain.owner_uid == snapshot.root.uid)
    return snapshot.configuration.mnnvl.enabled and any(DOMAIN_FINALIZER in domain.finalizers for domain in owned)
