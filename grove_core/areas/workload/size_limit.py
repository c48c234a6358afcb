"""A set that is too large to be looked at part by part stays as it is until its numbers are put right (WL-024)."""

from grove_core.areas.workload.rules import Why
from grove_core.kernel.reasons import Reason
from grove_core.kernel.wants import Desired, Released, Status, Want, Withheld
from grove_core.snapshot.size import MOST, size_of
from grove_core.snapshot.snapshot import Snapshot


def why_too_large(snapshot: Snapshot) -> Reason | None:
    """Why nobody looks at a set part by part; None where it is small enough. Linear in what is there."""
    size = size_of(snapshot)
    return Why.TOO_LARGE.because(snapshot.root.ref, objects=size, most=MOST) if size > MOST else None


def withhold_if_too_large(snapshot: Snapshot, desired: Desired) -> Desired:
    """What is wished of a set, or, of one that is too large and is to stay, only what is told and let go of.

    Nothing of it would be made again, so nothing is ended. Statuses go on: a breach that was over for a while would
    else count from its beginning when the numbers are put right.
    """
    because = why_too_large(snapshot)
    if because is None or snapshot.root.deleting:
        return desired
    goes_on: list[Want] = []
    held = [Withheld(snapshot.root.ref, (because,))]
    for want in desired.wants:
        if isinstance(want, Status | Released):
            goes_on.append(want)
        else:
            held.append(Withheld(want.target, (because, *want.because)))
    return Desired(tuple(goes_on), (*held, *desired.held_back))
