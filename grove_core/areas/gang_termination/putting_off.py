"""Ends before which the server has to be asked, and did not say what there is (PL-029)."""

from grove_core.areas.gang_termination.ruling import Ruling
from grove_core.kernel.steps import Outcome
from grove_core.snapshot.snapshot import Snapshot


def unless_unasked(ruling: Ruling, snapshot: Snapshot) -> Ruling:
    """The ruling, or, where the server could not be asked, one that ends nothing.

    Of what is due nothing is made again meanwhile (WL-076): an end that has begun may have taken it, or it is there and
    not shown.
    """
    if all(attempt.outcome is not Outcome.UNASKED for attempt in snapshot.attempts):
        return ruling
    return ruling._replace(ends=(), put_off=ruling.ends)
