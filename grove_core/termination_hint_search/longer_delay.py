"""The delays that put a termination off, verified by judging with them (PL-042)."""

from collections.abc import Callable, Iterator, Sequence
from datetime import timedelta
from typing import Final, TypeAlias

from grove_core.areas.gang_termination.breach_delays import breach_delay_end
from grove_core.areas.gang_termination.verdicts import GroupFate, MinAvailableBreach, Wait
from grove_core.kernel.refs import Ref
from grove_core.plan.termination_hints import LongerDelay
from grove_core.snapshot.snapshot import Snapshot
from grove_core.termination_hint_search.changed_snapshots import DelayChange

_SECOND: Final = timedelta(seconds=1)
FateWith: TypeAlias = Callable[[Ref, DelayChange], tuple[tuple[str, ...], GroupFate]]


def longer_delay(
    snapshot: Snapshot, subject: Ref, breaches: Sequence[MinAvailableBreach], fate_with: FateWith
) -> LongerDelay | None:
    """Return the delays that put the termination of a replica off if they are longer; None where none does.

    It is terminated now, or when the first of its delays ends. The shortest delay in whole seconds that is longer than
    what has run at that moment has to lead to a later time. The delay of the set is tried first, then those of scaling
    groups, which only the design has (GT-030), then both.

    Args:
        breaches: of the replica, at least one.
        fate_with: returns the fields that a change edits, and the fate of a replica with it.
    """
    moment = max(snapshot.now, min(breach_delay_end(one.since, one.delay) for one in breaches))
    due = [one for one in breaches if breach_delay_end(one.since, one.delay) <= moment]
    above = max(moment - one.since for one in due) // _SECOND * _SECOND
    for change in _choices(snapshot, subject, due, above + _SECOND):
        fields, fate = fate_with(subject, change)
        if fields and isinstance(fate, Wait) and fate.until > moment:
            return LongerDelay(fields, above)
    return None


def _choices(
    snapshot: Snapshot, subject: Ref, due: Sequence[MinAvailableBreach], delay: timedelta
) -> Iterator[DelayChange]:
    refs = {subject.without_replica, *(one.ref for one in due)}
    groups = frozenset(group.template_name for group in snapshot.groups if group.ref in refs)
    yield DelayChange(delay, of_set=True)
    if groups:
        yield DelayChange(delay, of_set=False, of_groups=groups)
        yield DelayChange(delay, of_set=True, of_groups=groups)
