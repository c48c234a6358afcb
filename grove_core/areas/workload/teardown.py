"""Deletes a set in order: its parts with their pods first, the set last (WL-001, WL-230, WL-231)."""

from collections.abc import Iterable, Iterator
from collections.abc import Set as AbstractSet
from itertools import chain
from types import MappingProxyType
from typing import Final

from grove_core.areas.workload.rules import WorkloadReason
from grove_core.kernel.refs import Guard, Ref
from grove_core.kernel.steps import AttemptOutcome, Delete
from grove_core.kernel.wants import DesiredChanges, FinalizerToDrop, ObjectToDelete, StepObstacle, Withheld
from grove_core.resources.api_names import CLIQUE_FINALIZER, GROUP_FINALIZER, SET_FINALIZER
from grove_core.resources.podclique import GROUP_KIND, PodClique
from grove_core.resources.scaling_group import ScalingGroup
from grove_core.snapshot.own_writes import attempted_creations
from grove_core.snapshot.snapshot import Snapshot

_PARTS: Final = MappingProxyType({"PodClique": "PodCliques", GROUP_KIND: "scaling groups", "Pod": "pods"})


def desired_teardown_changes(snapshot: Snapshot) -> DesiredChanges:
    """Return the deletions of a deleted set's parts, and the removals of Grove's finalizer.

    The set keeps its finalizer until its parts are gone: otherwise a new set with its name would start among its pods.
    The parts are deleted in the foreground: the garbage collector removes their pods first.
    """
    root, just_deleted = snapshot.root, _just_deleted(snapshot)
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
        root.ref, root.guard, SET_FINALIZER, (WorkloadReason.LET_GO.because(root.ref, finalizer=SET_FINALIZER),)
    )
    return DesiredChanges((*removals, drop_finalizers))


def finalizer_removals(parts: Iterable[ScalingGroup | PodClique]) -> Iterator[FinalizerToDrop]:
    """Return the removals of Grove's finalizer from deleted parts, also where their set is gone (WL-001)."""
    for part in parts:
        finalizer = GROUP_FINALIZER if isinstance(part, ScalingGroup) else CLIQUE_FINALIZER
        if part.deleting and finalizer in part.finalizers:
            yield FinalizerToDrop(
                part.ref, part.guard, finalizer, (WorkloadReason.LET_GO.because(part.ref, finalizer=finalizer),)
            )


def _created_and_not_listed(snapshot: Snapshot, listed: AbstractSet[Ref]) -> int:
    """Return the number of parts that were just created and that the snapshot does not show yet (PL-018)."""
    created = attempted_creations(snapshot, {"PodClique", GROUP_KIND}, {AttemptOutcome.DONE})
    return sum(ref not in listed for ref, _ in created)


def _just_deleted(snapshot: Snapshot) -> set[Guard]:
    """Return the versions of objects that were just deleted; the snapshot may still show them (PL-018)."""
    return {
        attempt.step.action.guard
        for attempt in snapshot.attempts
        if attempt.outcome is AttemptOutcome.DONE and isinstance(attempt.step.action, Delete)
    }


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
    """Return the deletions of the set's scaling groups and standalone cliques; cliques of a group go with the group."""
    groups = {group.uid for group in snapshot.groups}
    for part in (*snapshot.groups, *(clique for clique in snapshot.cliques if clique.owner_uid not in groups)):
        if not part.deleting:
            because = WorkloadReason.GOES_WITH_SET.because(snapshot.root.ref)
            yield ObjectToDelete(part.ref, part.guard, (because,), foreground=True)
