"""Changes of objects that the Go operator does not watch: they wait for the next reconcile of their set (WF-047)."""

from typing import Final

from grove_core.areas.workload.field.rules import GoOperatorWorkloadReason
from grove_core.kernel.decisions import AreaResult
from grove_core.kernel.wants import DesiredChanges, Withheld
from grove_core.snapshot.snapshot import Snapshot

_WATCHED: Final = frozenset({"PodCliqueSet", "PodClique", "PodCliqueScalingGroup", "Pod"})
"""Kinds a change of which leads to a reconcile of their set, by way of the statuses of its PodCliques."""


def withhold_changes_of_unwatched_objects(snapshot: Snapshot, result: AreaResult) -> AreaResult:
    """Return the result for a set; changes of unwatched objects are withheld where nothing else is due. Linear.

    A running update or delay reconciles the set every few seconds, so nothing is withheld meanwhile. Nor is it where
    the input lacks objects that are watched: something may be due for them.
    """
    wants = result.wants.wants
    root = snapshot.root
    is_timed = result.wake_at is not None or result.requeue_at is not None or root.status.updating
    is_known = snapshot.complete >= _WATCHED - {root.ref.kind}
    if not wants or root.deleting or is_timed or not is_known or any(want.target.kind in _WATCHED for want in wants):
        return result
    held = (
        Withheld(want.target, (GoOperatorWorkloadReason.NEXT_RECONCILE_AWAITED.because(want.target), *want.because))
        for want in wants
    )
    return result._replace(wants=DesiredChanges((), (*result.wants.withheld, *held)))
