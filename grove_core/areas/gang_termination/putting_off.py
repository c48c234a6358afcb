"""Ends before which the server has to be asked, and did not say what there is (PL-029)."""

from collections.abc import Iterable, Iterator

from grove_core.areas.gang_termination.endings import ends_named_in
from grove_core.areas.gang_termination.ruling import Ruling
from grove_core.areas.gang_termination.verdicts import Ending
from grove_core.kernel.refs import Ref
from grove_core.kernel.steps import FAILURES, Attempt, Delete, Outcome
from grove_core.kernel.wants import Absent
from grove_core.snapshot.snapshot import Snapshot


def unless_unasked(ruling: Ruling, snapshot: Snapshot) -> Ruling:
    """The ruling, or, where the server could not be asked, one that ends nothing.

    What an end that has begun took away already is not made again meanwhile (WL-076); of an end that has not, nothing
    is to be seen at all. Linear.
    """
    if all(attempt.outcome is not Outcome.UNASKED for attempt in snapshot.attempts):
        return ruling
    ending = _named(snapshot.root.ref, _begun(ruling.ends, snapshot.attempts))
    return ruling._replace(ends=(), put_off=ruling.ends, ending=ending)


def _begun(ends: Iterable[Absent], attempts: Iterable[Attempt]) -> Iterator[Absent]:
    """The deletions of ends of which a deletion was tried, and not done."""
    tried = {
        (ref, guard.uid)
        for attempt in attempts
        if attempt.outcome in FAILURES and isinstance(attempt.step.action, Delete)
        for ref, guard in attempt.step.action.rests_on
    }
    for end in ends if tried else ():
        if any((ref, guard.uid) in tried for ref, guard in end.rests_on):
            yield end


def _named(root: Ref, ends: Iterable[Absent]) -> Ending:
    """The replicas that end with some deletions."""
    found = {subject for end in ends for subject in ends_named_in(root, end.because)}
    whole = {ref.replica for ref in found if ref.replica is not None and ref == root.at_replica(ref.replica)}
    parts = {(ref.name, ref.replica) for ref in found if ref.replica is not None and ref.kind != root.kind}
    return Ending(frozenset(whole), frozenset(parts))
