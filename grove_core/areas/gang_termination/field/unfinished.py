"""Ends of replicas of a set that are not through, as the answers to their writes tell (GF-091, GF-092)."""

from collections import defaultdict
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from datetime import datetime
from types import MappingProxyType
from typing import Final, NamedTuple

from grove_core.areas.gang_termination.endings import ends_named_in
from grove_core.kernel.frozen import FrozenMap, list_of
from grove_core.kernel.refs import Guard, Ref
from grove_core.kernel.steps import Delete, Outcome, SetStatus
from grove_core.kernel.times import parse_time
from grove_core.resources.keys import TERMINATION_IN_PROGRESS
from grove_core.resources.podclique import PodClique
from grove_core.snapshot.snapshot import Snapshot


class Unfinished(NamedTuple):
    """What could not be done of ends.

    Attributes:
        causes: replica of the set of which a part could not be deleted -> what its end rests on.
        untold: scaling group whose flag could not be written -> when that was tried, and what the end rested on.
    """

    causes: Mapping[int, AbstractSet[Ref]] = MappingProxyType({})
    untold: Mapping[Ref, "Untold"] = MappingProxyType({})


class Untold(NamedTuple):
    """A flag that could not be written."""

    at: datetime
    end_of: tuple[Ref, ...]


_NOTHING: Final = Unfinished()


def unfinished_in(snapshot: Snapshot) -> Unfinished:
    """The ends that are not through. Attempts on what is gone, is going or was another's tell of none."""
    failed = [attempt.step for attempt in snapshot.attempts if attempt.outcome is not Outcome.DONE]
    if not failed:
        return _NOTHING
    root = snapshot.root
    there = {one.ref: one for one in (root, *snapshot.groups, *snapshot.cliques)}

    def is_there(ref: Ref, guard: Guard) -> bool:
        return ref in there and there[ref].uid == guard.uid

    def stays(ref: Ref) -> bool:
        return isinstance(there[ref], PodClique) and not there[ref].deleting

    causes: defaultdict[int, set[Ref]] = defaultdict(set)
    untold: dict[Ref, Untold] = {}
    for step in failed:
        action = step.action
        if isinstance(action, SetStatus) and action.end_of and is_there(step.target, action.guard):
            at = _flagged_at(action.fields)
            untold |= {} if at is None else {step.target: Untold(at, action.end_of)}
        if not isinstance(action, Delete) or not action.rests_on:
            continue
        parts = ((step.target, action.guard), *action.rests_on)
        if not is_there(*action.rests_on[0]) or not any(is_there(*part) and stays(part[0]) for part in parts):
            continue
        for subject in ends_named_in(root.ref, step.because):
            if subject.replica is not None and subject == root.ref.at_replica(subject.replica):
                causes[subject.replica] |= {ref for ref, _ in action.rests_on}
    return Unfinished(causes, untold)


def _flagged_at(fields: FrozenMap) -> datetime | None:
    """When a status says that a replica was ended."""
    for one in list_of(fields, "conditions"):
        if isinstance(one, FrozenMap) and one.get("type") == TERMINATION_IN_PROGRESS:
            return parse_time(str(one.get("lastTransitionTime")))
    return None
