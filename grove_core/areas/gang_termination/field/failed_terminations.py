"""Terminations of replicas of a set that are not complete, by the responses to their writes (GF-091, GF-092)."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from datetime import datetime
from types import MappingProxyType
from typing import Final, NamedTuple

from grove_core.kernel.frozen import FrozenMap, list_at
from grove_core.kernel.refs import Guard, Ref
from grove_core.kernel.steps import FAILURES, Delete, SetStatus, Step
from grove_core.kernel.time_formats import parse_time
from grove_core.resources.api_names import TERMINATION_IN_PROGRESS
from grove_core.resources.meta import Resource
from grove_core.resources.podclique import PodClique
from grove_core.snapshot.snapshot import Snapshot


class FailedTerminations(NamedTuple):
    """What could not be written of terminations.

    Attributes:
        causes: replica of the set of which a PodClique could not be deleted -> the causes of its termination.
        unwritten: scaling group whose flag was not written -> the termination that the flag would record.
    """

    causes: Mapping[int, AbstractSet[Ref]] = MappingProxyType({})
    unwritten: Mapping[Ref, "UnwrittenTerminationFlag"] = MappingProxyType({})


class UnwrittenTerminationFlag(NamedTuple):
    """A termination without a flag, because the flag could not be written or the operator never came to write it.

    Attributes:
        at: when the write was tried, or when the delay ended; the terminated breach is not younger than that.
        end_of: the causes of the termination.
    """

    at: datetime
    end_of: tuple[Ref, ...]


_NOTHING: Final = FailedTerminations()


def failed_terminations_in(snapshot: Snapshot) -> FailedTerminations:
    """Return the terminations that are not complete, and the flags that are missing.

    An object that was deleted and created again, with another uid, counts as gone.
    """
    failed = [one.step for one in snapshot.attempts if one.outcome in FAILURES]  # not those that were not tried
    if not failed:
        return _NOTHING
    there = {one.ref: one for one in (snapshot.root, *snapshot.groups, *snapshot.cliques)}
    causes: defaultdict[int, set[Ref]] = defaultdict(set)
    through: dict[int, UnwrittenTerminationFlag] = {}
    for step in failed:
        if not isinstance(step.action, Delete) or not step.action.rests_on:
            continue
        rests_on = tuple(ref for ref, _ in step.action.rests_on)
        lasts = _lasts(step.target, step.action, there)
        for one in step.action.terminates:
            index = one.replica.replica
            if index is None or one.replica != snapshot.root.ref.at_replica(index):
                continue  # a replica of a scaling group: no flag reports its end
            if lasts:
                causes[index].update(rests_on)
            else:
                through[index] = UnwrittenTerminationFlag(one.deadline, rests_on)
    others = through.keys() - causes.keys()
    unwritten = {group.ref: through[group.replica_index] for group in snapshot.groups if group.replica_index in others}
    return FailedTerminations(causes, unwritten | dict(_flags_in(failed, there)))


def _lasts(target: Ref, action: Delete, there: Mapping[Ref, Resource]) -> bool:
    """Return whether a termination still goes on.

    Its first cause exists, and the PodClique that could not be deleted, or one that is a cause, is not being deleted.
    """
    if not _is_there(*action.rests_on[0], there):
        return False
    return any(
        _is_there(ref, guard, there) and isinstance(there[ref], PodClique) and not there[ref].deleting
        for ref, guard in ((target, action.guard), *action.rests_on)
    )


def _is_there(ref: Ref, guard: Guard, there: Mapping[Ref, Resource]) -> bool:
    return ref in there and there[ref].uid == guard.uid


def _flags_in(failed: Iterable[Step], there: Mapping[Ref, Resource]) -> Iterator[tuple[Ref, UnwrittenTerminationFlag]]:
    """Yield the scaling groups whose flag could not be written."""
    for step in failed:
        action = step.action
        if isinstance(action, SetStatus) and action.end_of and _is_there(step.target, action.guard, there):
            at = _flagged_at(action.fields)
            if at is not None:
                yield step.target, UnwrittenTerminationFlag(at, action.end_of)


def _flagged_at(fields: FrozenMap) -> datetime | None:
    """Return the time of the flag in a status; None without a flag."""
    for one in list_at(fields, "conditions"):
        if isinstance(one, FrozenMap) and one.get("type") == TERMINATION_IN_PROGRESS:
            return parse_time(str(one.get("lastTransitionTime")))
    return None
