"""Ends before which the server has to be asked, and did not say what there is (PL-029)."""

from collections.abc import Iterable, Iterator

from grove_core.areas.gang_termination.endings import ends_named_in
from grove_core.areas.gang_termination.ruling import Ruling
from grove_core.areas.gang_termination.verdicts import Ending
from grove_core.kernel.refs import Ref
from grove_core.kernel.steps import FAILURES, Delete, Outcome
from grove_core.kernel.wants import Absent
from grove_core.snapshot.snapshot import Snapshot


def unless_unasked(ruling: Ruling, snapshot: Snapshot) -> Ruling:
    """The ruling, or, where the server could not be asked, one that ends nothing.

    What an end that has begun took away already is not made again meanwhile (WL-076); of an end that has not, nothing
    is to be seen at all. Linear.
    """
    if all(attempt.outcome is not Outcome.UNASKED for attempt in snapshot.attempts):
        return ruling
    root = snapshot.root.ref
    due = {subject for end in ruling.ends for subject in ends_named_in(root, end.because)}
    not_begun = due.difference(_tried(snapshot), _without_their_cause(root, ruling.ends))
    ending = Ending(
        ruling.ending.replicas - {ref.replica for ref in not_begun if ref.kind == root.kind},
        ruling.ending.parts - {(ref.name, ref.replica) for ref in not_begun},
    )
    return ruling._replace(ends=(), put_off=ruling.ends, ending=ending)


def _tried(snapshot: Snapshot) -> Iterator[Ref]:
    """The replicas of which a part could not be deleted for their end, if that or its cause is there."""
    there = {(clique.ref, clique.uid) for clique in snapshot.cliques}
    for attempt in snapshot.attempts:
        step, action = attempt.step, attempt.step.action
        if attempt.outcome not in FAILURES or not isinstance(action, Delete) or not action.rests_on:
            continue
        if any((ref, guard.uid) in there for ref, guard in ((step.target, action.guard), *action.rests_on)):
            yield from ends_named_in(snapshot.root.ref, step.because)


def _without_their_cause(root: Ref, ends: Iterable[Absent]) -> Iterator[Ref]:
    """The replicas whose cause is on its way out, so that their ends rest on whose replicas they are."""
    for end in ends:
        owners = {ref for ref, _ in end.rests_on}
        for subject in ends_named_in(root, end.because):
            if subject.whole in owners:
                yield subject
