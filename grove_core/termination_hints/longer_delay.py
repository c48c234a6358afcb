"""The delays that put a termination off, verified by judging with them (PL-042)."""

from collections.abc import Callable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from datetime import datetime, timedelta
from typing import Final, TypeAlias

from grove_core.areas.gang_termination.breach_delays import breach_delay_end
from grove_core.areas.gang_termination.verdicts import GroupFate, MinAvailableBreach, Wait
from grove_core.kernel.refs import Ref
from grove_core.plan.termination_hints import LongerDelay
from grove_core.snapshot.snapshot import Snapshot
from grove_core.termination_hints.changed_snapshots import with_longer_delay

_SECOND: Final = timedelta(seconds=1)
FateWith: TypeAlias = Callable[[Snapshot, Ref], GroupFate]


def longer_delay(
    snapshot: Snapshot, subject: Ref, breaches: Sequence[MinAvailableBreach], fate_with: FateWith
) -> LongerDelay | None:
    """Return the delays that put the termination of a replica off if they are longer; None where none does.

    It is terminated now, or when the first of its delays ends. The shortest delay in whole seconds that is longer than
    what has run at that moment has to lead to a later time. The delay of the set is tried first, then those of scaling
    groups, which only the design has (GT-030), then both.

    Args:
        breaches: of the replica, at least one.
        fate_with: returns the fate of a replica in a changed snapshot.
    """
    moment = max(snapshot.now, min(breach_delay_end(one.since, one.delay) for one in breaches))
    due = [one for one in breaches if breach_delay_end(one.since, one.delay) <= moment]
    above = max(moment - one.since for one in due) // _SECOND * _SECOND
    for of_set, of_groups in _choices(snapshot, subject, due):
        changed, fields = with_longer_delay(snapshot, above + _SECOND, of_set=of_set, of_groups=of_groups)
        if fields and _is_later(fate_with(changed, subject), moment):
            return LongerDelay(fields, above)
    return None


def _choices(
    snapshot: Snapshot, subject: Ref, due: Sequence[MinAvailableBreach]
) -> Iterator[tuple[bool, frozenset[str]]]:
    """Yield whose delays are made longer: whether that of the set, and those of which scaling groups."""
    refs: AbstractSet[Ref] = {subject.without_replica, *(one.ref for one in due)}
    groups = frozenset(group.template_name for group in snapshot.groups if group.ref in refs)
    yield True, frozenset()
    if groups:
        yield False, groups
        yield True, groups


def _is_later(fate: GroupFate, moment: datetime) -> bool:
    return isinstance(fate, Wait) and fate.until > moment
