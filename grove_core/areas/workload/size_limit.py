"""A set that is too large is left as it is until its replicas are corrected (WL-024)."""

from grove_core.areas.workload.rules import Why
from grove_core.kernel.area_result import AreaResult
from grove_core.kernel.reasons import Reason
from grove_core.kernel.wants import Desired, Status, Want, Withheld, WithoutFinalizer
from grove_core.snapshot.set_size import MOST, size_of
from grove_core.snapshot.snapshot import Snapshot


def why_too_large(snapshot: Snapshot) -> Reason | None:
    """Return the reason why a set is too large; None where it is not. Linear in the existing objects."""
    size = size_of(snapshot)
    return Why.TOO_LARGE.because(snapshot.root.ref, objects=size, most=MOST) if size > MOST else None


def withhold_if_too_large(snapshot: Snapshot, result: AreaResult) -> AreaResult:
    """Return the result for a set; of one that is too large, all but statuses and finalizer removals are withheld.

    Nothing would be created again, so nothing is deleted. Statuses are written, because a breach that was over for a
    while would otherwise count from its beginning once the replicas are corrected.
    """
    because = why_too_large(snapshot)
    if because is None or snapshot.root.deleting:
        return result
    goes_on: list[Want] = []
    held = [Withheld(snapshot.root.ref, (because,))]
    for want in result.wants.wants:
        if isinstance(want, Status | WithoutFinalizer):
            goes_on.append(want)
        else:
            held.append(Withheld(want.target, (because, *want.because)))
    return result._replace(wants=Desired(tuple(goes_on), (*held, *result.wants.withheld)))
