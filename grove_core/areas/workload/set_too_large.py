"""Sets that are too large to be judged (WL-024)."""

from grove_core.areas.workload.rules import WorkloadReason
from grove_core.kernel.decisions import AreaResult
from grove_core.kernel.reasons import Reason
from grove_core.kernel.wants import (
    DesiredChanges,
    FinalizerToDrop,
    StatusToWrite,
    Want,
    Withheld,
)
from grove_core.snapshot.expected_replicas import (
    MOST,
    max_object_count_of_set,
)
from grove_core.snapshot.snapshot import Snapshot


def set_too_large_reason(snapshot: Snapshot) -> Reason | None:
    """Return the reason why a set is too large; None where it is not. Linear in the existing objects."""
    size = max_object_count_of_set(snapshot)
    return WorkloadReason.TOO_LARGE.because(snapshot.root.ref, objects=size, most=MOST) if size > MOST else None


def withhold_if_set_too_large(snapshot: Snapshot, result: AreaResult) -> AreaResult:
    """Return the result for a set; of one that is too large, all but statuses and finalizer removals are withheld.

    Nothing would be created again, so nothing is deleted. Statuses are written, because a breach that was over for a
    while would otherwise count from its beginning once the replicas are corrected.
    """
    because = set_too_large_reason(snapshot)
    if because is None or snapshot.root.deleting:
        return result
    goes_on: list[Want] = []
    held = [Withheld(snapshot.root.ref, (because,))]
    for want in result.wants.wants:
        if isinstance(want, StatusToWrite | FinalizerToDrop):
            goes_on.append(want)
        else:
            held.append(Withheld(want.target, (because, *want.because)))
    return result._replace(wants=DesiredChanges(tuple(goes_on), (*held, *result.wants.withheld)))
