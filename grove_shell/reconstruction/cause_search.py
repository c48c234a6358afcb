"""Searches the cause of a deletion by the operator in the plans for the states before it (AF-007, AF-008)."""

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from typing import Final, NamedTuple

from grove_core.deletion_reasons import DeletionReasons, deletion_reasons_in_plan, findings_on_object
from grove_core.in_memory.forecasts import steps_of_coming_rounds
from grove_core.kernel.refs import Ref
from grove_core.kernel.steps import Step
from grove_shell.client.api_kinds import KINDS
from grove_shell.reconstruction.deletion_causes import DeletionCause, DeletionCauseClass
from grove_shell.reconstruction.recorded_objects import ObjectKey, RecordedObjects, SetKey
from grove_shell.reconstruction.set_rebuilder import SetAtPastTime, SetRebuilder

SEARCHED: Final = timedelta(seconds=10)
ROUND: Final = timedelta(seconds=1)
_MOST_STATES: Final = 60
_MOST_FOLLOWED: Final = 8
_INSTANT: Final = timedelta(microseconds=1)


_UNKNOWN_PARTS: Final[Mapping[bool, tuple[tuple[str, str], ...]]] = {
    True: (),
    False: (("set", "the set existed before the record begins, and no dump has its parts from before"),),
}


class _Round(NamedTuple):
    """The plan of which the last deletion of a set was a part."""

    used: datetime
    decided_on: datetime
    rebuilt: SetAtPastTime


class CauseSearch:
    """Searches causes in the states of a record."""

    def __init__(self, objects: RecordedObjects, sets: SetRebuilder) -> None:
        self._objects = objects
        self._sets = sets
        self._rounds: dict[SetKey, _Round] = {}

    def cause_by_rules(self, key: ObjectKey, uid: str, root: SetKey, times: tuple[datetime, datetime]) -> DeletionCause:
        """Return the cause of a deletion if it was the operator's.

        The states are searched from that at the request, then that before its response, then earlier ones: a write that
        was answered after the request may have been stored before it.

        Args:
            times: when the request was received, and when it was answered.
        """
        received, answered = times
        last = self._rounds.get(root)
        if last is not None and received - last.used <= ROUND:
            found = _reasons(last.rebuilt, key, uid)
            if found is not None:
                self._rounds[root] = last._replace(used=max(received, last.used))
                return _cause_of(found, last.decided_on, last.rebuilt)
        at_request = self._sets.rebuilt(root, received, received)
        found = _reasons(at_request, key, uid)
        if at_request is not None and found is not None:
            return self._found(root, received, received, at_request, found)
        earlier = self._objects.change_times(root, received - SEARCHED, received)[:_MOST_STATES]
        for end in (answered, *earlier):
            rebuilt = self._sets.rebuilt(root, end - _INSTANT, min(end, received))
            found = _reasons(rebuilt, key, uid)
            if rebuilt is not None and found is not None:
                return self._found(root, received, min(end, received), rebuilt, found)
        for end in (received, *earlier[:_MOST_FOLLOWED]):
            rebuilt = self._sets.rebuilt(root, end - _INSTANT, end)
            later = () if rebuilt is None else tuple(steps_of_coming_rounds(rebuilt.snapshot, rebuilt.rules))
            found = _reasons(rebuilt, key, uid, later)
            if rebuilt is not None and found is not None:
                return _cause_of(found, end, rebuilt)
        return _not_explained(key, at_request)

    def _found(
        self, root: SetKey, received: datetime, decided_on: datetime, rebuilt: SetAtPastTime, found: DeletionReasons
    ) -> DeletionCause:
        self._rounds[root] = _Round(received, decided_on, rebuilt)
        return _cause_of(found, decided_on, rebuilt)


def ref_of(key: ObjectKey) -> Ref:
    """Return the address of a recorded object as decisions have it."""
    kind = KINDS.get(key.kind)
    return Ref(kind.api_version if kind is not None else "", key.kind, key.namespace, key.name)


def _reasons(
    rebuilt: SetAtPastTime | None, key: ObjectKey, uid: str, later: Iterable[Step] = ()
) -> DeletionReasons | None:
    return None if rebuilt is None else deletion_reasons_in_plan(rebuilt.plan, ref_of(key), uid, later)


def _cause_of(found: DeletionReasons, decided_on: datetime, rebuilt: SetAtPastTime) -> DeletionCause:
    kind = DeletionCauseClass.TERMINATION if found.terminates else DeletionCauseClass.RULES
    return DeletionCause(kind=kind, reasons=found, decided_on=decided_on, rules=rebuilt.rules.name)


def _not_explained(key: ObjectKey, rebuilt: SetAtPastTime | None) -> DeletionCause:
    """Return what is known of a deletion that no plan has: not explained, or not known where states are missing."""
    if rebuilt is None:
        return DeletionCause(
            kind=DeletionCauseClass.NOT_KNOWN, gaps=(("set", "the record does not show the set before it"),)
        )
    gaps, name = tuple(sorted(rebuilt.gaps.items())) or _UNKNOWN_PARTS[rebuilt.is_whole], rebuilt.rules.name
    cliques = [one for one in rebuilt.snapshot.cliques if one.ref == ref_of(key)]
    within = cliques[0].enclosing_replicas(rebuilt.snapshot.root.ref) if cliques else ()
    verdicts = findings_on_object(rebuilt.plan, ref_of(key), tuple(within))
    return DeletionCause(
        kind=DeletionCauseClass.NOT_KNOWN if gaps else DeletionCauseClass.NOT_EXPLAINED,
        verdicts=verdicts,
        gaps=gaps,
        rules=name,
    )
