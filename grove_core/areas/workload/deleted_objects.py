"""Objects of a set that are being deleted: their finalizers, and the versions that were just deleted."""

from collections.abc import Iterable, Iterator

from grove_core.areas.workload.rules import WorkloadReason
from grove_core.kernel.refs import Guard
from grove_core.kernel.steps import AttemptOutcome, Delete
from grove_core.kernel.wants import FinalizerToDrop
from grove_core.resources.api_names import (
    CLIQUE_FINALIZER,
    GROUP_FINALIZER,
)
from grove_core.resources.podclique import PodClique
from grove_core.resources.scaling_group import ScalingGroup
from grove_core.snapshot.snapshot import Snapshot


def finalizer_removals(parts: Iterable[ScalingGroup | PodClique]) -> Iterator[FinalizerToDrop]:
    """Yield the removals of Grove's finalizer from deleted parts, also where their set is gone (WL-001)."""
    for part in parts:
        finalizer = GROUP_FINALIZER if isinstance(part, ScalingGroup) else CLIQUE_FINALIZER
        if part.deleting and finalizer in part.finalizers:
            yield FinalizerToDrop(
                part.ref,
                part.guard,
                finalizer,
                (WorkloadReason.FINALIZER_REMOVED.because(part.ref, finalizer=finalizer),),
            )


def just_deleted_guards(snapshot: Snapshot) -> set[Guard]:
    """Return the versions of objects that were just deleted; the snapshot may still show them (PL-018)."""
    return {
        attempt.step.action.guard
        for attempt in snapshot.attempts
        if attempt.outcome is AttemptOutcome.DONE and isinstance(attempt.step.action, Delete)
    }
