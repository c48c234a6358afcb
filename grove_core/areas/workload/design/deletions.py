"""Deletions of a set's objects: those that are too many (WL-200 to WL-202), and all parts of a deleted set (WL-230).

A replica is deleted by its index alone, never because its name is unexpected: an error there must not delete a gang. A
deleted set goes in order: its parts with their pods first, the set last (WL-001, WL-231).
"""

from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from itertools import chain
from types import MappingProxyType
from typing import Final

from grove_core.areas.workload.deleted_objects import finalizer_removals, just_deleted_guards
from grove_core.areas.workload.rules import WorkloadReason
from grove_core.areas.workload.workload_context import WorkloadContext
from grove_core.kernel.refs import Ref
from grove_core.kernel.steps import AttemptOutcome
from grove_core.kernel.wants import DesiredChanges, FinalizerToDrop, ObjectToDelete, StepObstacle, Withheld
from grove_core.resources.api_names import (
    CLAIM_KIND,
    GROUP_KIND,
    MANAGED_BY,
    SET_FINALIZER,
)
from grove_core.resources.domain_sharing_labels import is_shared_domain_claim
from grove_core.snapshot.own_writes import attempted_creations_of_kinds
from grove_core.snapshot.snapshot import Snapshot

_PARTS: Final = MappingProxyType({"PodClique": "PodCliques", GROUP_KIND: "scaling groups", "Pod": "pods"})
_COUNTED: Final = frozenset({"Service", "HorizontalPodAutoscaler", CLAIM_KIND})  # as many as there are replicas


def surplus_replica_deletions(context: WorkloadContext, surge: AbstractSet[str]) -> Iterator[ObjectToDelete]:
    """Yield the deletions of cliques and scaling groups beyond the wanted replicas. Linear.

    ``surge`` names the scaling groups that have, or may have, one additional replica during an update.
    """
    root, wanted = context.root, context.root.spec.replicas
    for group in context.groups.values():
        if group.replica_index >= wanted:
            because = WorkloadReason.SURPLUS_REPLICA.because(root.ref, replica=group.replica_index, replicas=wanted)
            yield ObjectToDelete(group.ref, group.guard, (because,))
    groups = {group.uid: group for group in context.groups.values()}
    for clique in context.cliques.values():
        owner = groups.get(clique.owner_uid)
        if clique.replica_index >= wanted:
            because = WorkloadReason.SURPLUS_REPLICA.because(root.ref, replica=clique.replica_index, replicas=wanted)
            yield ObjectToDelete(clique.ref, clique.guard, (because,))
        elif owner is not None and clique.group_replica_index >= owner.replicas + (owner.ref.name in surge):
            index = clique.group_replica_index
            because = WorkloadReason.SURPLUS_GROUP_REPLICA.because(owner.ref, replica=index, replicas=owner.replicas)
            yield ObjectToDelete(clique.ref, clique.guard, (because,))


def unexpected_object_deletions(
    context: WorkloadContext, expected: AbstractSet[tuple[str, str]]
) -> Iterator[ObjectToDelete | Withheld]:
    """Yield the deletions of PodGangs, Services, autoscalers and claims that the set no longer has (WL-202). Linear.

    The set should have objects of the ``expected`` kinds and names, as far as that is known.
    """
    for gang in context.snapshot.gangs:
        named = gang.labels.get(MANAGED_BY) is not None or not gang.labels
        counts = (
            named and not gang.deleting and context.has_all_objects_of_kinds("Pod")
        )  # without pods it is not known whether an update needs it
        if counts and gang.ref.name in context.foreign_gangs:
            yield Withheld(gang.ref, (WorkloadReason.GANG_OF_ANOTHER_SCHEME.because(gang.ref, gang=gang.ref.name),))
        elif counts and ("PodGang", gang.ref.name) not in expected:
            yield ObjectToDelete(gang.ref, gang.guard, (WorkloadReason.NO_LONGER_PART.because(gang.ref),))
    for other in context.snapshot.others:
        counts = (
            other.ref.kind in _COUNTED and other.managed and not is_shared_domain_claim(other) and not other.deleting
        )
        # The set's own objects depend on its template alone. Claims of cliques and of scaling groups also depend on
        # pods and on the update, so they are only judged where pods are known (WL-028).
        known = other.owner_uid == context.root.uid or context.has_all_objects_of_kinds("Pod")
        if counts and known and (other.ref.kind, other.ref.name) not in expected:
            yield ObjectToDelete(other.ref, other.guard, (WorkloadReason.NO_LONGER_PART.because(other.ref),))


def deleted_set_teardown(snapshot: Snapshot) -> DesiredChanges:
    """Return the deletions of a deleted set's parts, and the removals of Grove's finalizer.

    The set keeps its finalizer until its parts are gone: otherwise a new set with its name would start among its pods.
    The parts are deleted in the foreground: the garbage collector removes their pods first.
    """
    root, just_deleted = snapshot.root, just_deleted_guards(snapshot)
    parts_of_set = chain(finalizer_removals(snapshot.groups), finalizer_removals(snapshot.cliques))
    removals = [want for want in parts_of_set if want.guard not in just_deleted]
    if not root.deleting:
        return DesiredChanges(tuple(removals))
    if SET_FINALIZER not in root.finalizers:
        others = ", ".join(sorted(root.finalizers)) or "the API server"
        withheld = Withheld(root.ref, (WorkloadReason.HELD_BY_OTHERS.because(root.ref, finalizers=others),))
        return DesiredChanges(tuple(removals), (withheld,))
    parts = tuple(_parts_of(snapshot))
    unknown = ", ".join(words for kind, words in _PARTS.items() if kind in snapshot.not_collected)
    if unknown:
        because = WorkloadReason.PARTS_NOT_COLLECTED.because(root.ref, kinds=unknown)
        return DesiredChanges(
            (*parts, *removals), (Withheld(root.ref, (because,), obstacle=StepObstacle.CLIQUES_NOT_COLLECTED),)
        )
    listed = (*snapshot.groups, *snapshot.cliques, *snapshot.orphans)
    remaining = len(listed) + _created_and_not_listed(snapshot, {part.ref for part in listed}) + _pods_left(snapshot)
    if remaining:
        withheld = Withheld(root.ref, (WorkloadReason.PARTS_REMAIN.because(root.ref, remaining=remaining),))
        return DesiredChanges((*parts, *removals), (withheld,))
    drop_finalizers = FinalizerToDrop(
        root.ref,
        root.guard,
        SET_FINALIZER,
        (WorkloadReason.FINALIZER_REMOVED.because(root.ref, finalizer=SET_FINALIZER),),
    )
    return DesiredChanges((*removals, drop_finalizers))


def _created_and_not_listed(snapshot: Snapshot, listed: AbstractSet[Ref]) -> int:
    """Return the number of parts that were just created and that the snapshot does not show yet (PL-018)."""
    created = attempted_creations_of_kinds(snapshot, {"PodClique", GROUP_KIND}, {AttemptOutcome.DONE})
    return sum(ref not in listed for ref, _ in created)


def _pods_left(snapshot: Snapshot) -> int:
    """Return the number of pods whose clique is gone: it was deleted in the background, or a node is lost."""
    root, known = snapshot.root, {clique.uid for clique in (*snapshot.cliques, *snapshot.orphans)}
    return sum(
        bool(pod.gang) and pod.set_name == root.ref.name and pod.namespace == root.ref.namespace
        for uid, pods in snapshot.pods_of.items()
        if uid not in known
        for pod in pods
    )


def _parts_of(snapshot: Snapshot) -> Iterator[ObjectToDelete]:
    """Yield the deletions of the set's scaling groups and standalone cliques; cliques of a group go with the group."""
    groups = {group.uid for group in snapshot.groups}
    for part in (*snapshot.groups, *(clique for clique in snapshot.cliques if clique.owner_uid not in groups)):
        if not part.deleting:
            because = WorkloadReason.DELETED_WITH_SET.because(snapshot.root.ref)
            yield ObjectToDelete(part.ref, part.guard, (because,), foreground=True)
