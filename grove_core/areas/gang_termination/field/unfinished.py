"""Ends of replicas of a set that are not through, as the answers to their writes tell (GF-091, GF-092)."""

from collections import defaultdict
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from types import MappingProxyType
from typing import Final, NamedTuple

from grove_core.areas.gang_termination.endings import ends_named_in
from grove_core.kernel.refs import Ref
from grove_core.kernel.steps import Delete, Outcome, SetStatus
from grove_core.snapshot.snapshot import Snapshot


class Unfinished(NamedTuple):
    """What could not be done of ends.

    Attributes:
        causes: replica of the set of which a part could not be deleted -> what its end rests on.
        untold: scaling group whose flag could not be written -> what the end rested on that it would tell of.
    """

    causes: Mapping[int, AbstractSet[Ref]] = MappingProxyType({})
    untold: Mapping[Ref, tuple[Ref, ...]] = MappingProxyType({})


_NOTHING: Final = Unfinished()


def unfinished_in(snapshot: Snapshot) -> Unfinished:
    """The ends that are not through. Attempts on what is not there any more, or of other sets, tell of none."""
    failed = [attempt.step for attempt in snapshot.attempts if attempt.outcome is not Outcome.DONE]
    if not failed:
        return _NOTHING
    root = snapshot.root
    there = {one.ref: one.uid for one in (root, *snapshot.groups, *snapshot.cliques)}
    causes: defaultdict[int, set[Ref]] = defaultdict(set)
    untold: dict[Ref, tuple[Ref, ...]] = {}
    for step in failed:
        action = step.action
        if isinstance(action, SetStatus) and action.end_of and there.get(step.target) == action.guard.uid:
            untold[step.target] = action.end_of
        if not isinstance(action, Delete) or not action.rests_on:
            continue
        cause, guard = action.rests_on[0]
        if there.get(cause) != guard.uid:
            continue
        for subject in ends_named_in(root.ref, step.because):
            if subject.replica is not None and subject == root.ref.at_replica(subject.replica):
                causes[subject.replica] |= {ref for ref, _ in action.rests_on}
    return Unfinished(causes, untold)
