"""When breaches are due, what several breaches together lead to, and when to look again."""

from collections.abc import Collection, Iterable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Final, assert_never

from grove_core.areas.gang_termination.verdicts import (
    Delegate,
    GroupFate,
    Keep,
    MinAvailableBreach,
    SetReplicaFates,
    Suspend,
    Terminate,
    Wait,
)
from grove_core.kernel.reasons import Reason, Rule
from grove_core.kernel.refs import Ref
from grove_core.kernel.time_formats import format_time, short_duration_text

_END_OF_TIME: Final = datetime.max.replace(tzinfo=UTC)


def breach_delay_end(since: datetime, delay: timedelta) -> datetime:
    """Return the moment from which a breach is due (GT-032).

    Source: Gang Termination Design Doc, "Timing and Wait Calculation". A deadline beyond the last date that Python can
    represent becomes that date, and is never due.

    Args:
        since: last transition of the breach condition; may lie after now.
        delay: effective termination delay, > 0.
    """
    return since + delay if delay <= _END_OF_TIME - since else _END_OF_TIME


def _is_over(end: datetime, now: datetime) -> bool:
    return end <= now and end < _END_OF_TIME


def earliest_due_breach(breaches: Iterable[MinAvailableBreach]) -> MinAvailableBreach:
    """Return the breach whose delay ends first, by name among equals (GT-063)."""
    return min(breaches, key=lambda breach: (breach_delay_end(breach.since, breach.delay), breach.ref.sort_key))


def replica_fate_of_breaches(breaches: Iterable[MinAvailableBreach], now: datetime) -> Terminate | Wait:
    """Return the fate of a replica with these breaches, at least one: it is terminated if one of them is due."""
    first = min(breach_delay_end(breach.since, breach.delay) for breach in breaches)
    return Terminate() if _is_over(first, now) else Wait(first)


def termination_time_of_fate(fate: GroupFate, breaches: Collection[MinAvailableBreach]) -> datetime | None:
    """Return when the first delay ends or ended, if the fate is to wait or to terminate; None for any other fate."""
    if not is_termination_fate(fate):
        return None
    return min(breach_delay_end(breach.since, breach.delay) for breach in breaches)


def is_termination_fate(fate: GroupFate) -> bool:
    """Return whether a fate is to terminate now or when a delay ends."""
    match fate:
        case Terminate() | Wait():
            return True
        case Keep() | Delegate() | Suspend():
            return False
        case _:
            assert_never(fate)


def scaling_group_fate(fates: Collection[GroupFate]) -> GroupFate:
    """Return the fate of a group from the fates of its replicas, at least one.

    It terminates if a replica is terminated; else it waits for the earliest replica that waits; else it has the fate
    that its replicas share.
    """
    if Terminate() in fates:
        return Terminate()
    waits = [fate for fate in fates if isinstance(fate, Wait)]
    return min(waits, key=lambda wait: wait.until) if waits else next(iter(fates))


def due_breaches_or_all(breaches: Sequence[MinAvailableBreach], now: datetime) -> Sequence[MinAvailableBreach]:
    """Return the breaches whose delay has ended; where none has, all of them."""
    return [breach for breach in breaches if _is_over(breach_delay_end(breach.since, breach.delay), now)] or breaches


def constituents_behind_fate(fate: GroupFate, breaches: Sequence[MinAvailableBreach], now: datetime) -> tuple[Ref, ...]:
    """Return the constituents whose breaches lead to a termination or to waiting for one; nothing for another fate."""
    if not is_termination_fate(fate):
        return ()
    return tuple(dict.fromkeys(breach.ref for breach in due_breaches_or_all(breaches, now)))


def breach_delay_reasons(
    breaches: Sequence[MinAvailableBreach], now: datetime, *, ended: Rule, running: Rule
) -> tuple[Reason, ...]:
    """Return a reason for each delay that has ended; where none has, for each that runs.

    Args:
        ended, running: the rules for a delay that has ended, and for one that runs.
    """
    why = ended if isinstance(replica_fate_of_breaches(breaches, now), Terminate) else running
    return tuple(breach_delay_reason(why, breach) for breach in due_breaches_or_all(breaches, now))


def breach_delay_reason(why: Rule, breach: MinAvailableBreach) -> Reason:
    """Return the reason about a delay that runs or has ended; its facts are absolute times."""
    subject, since, delay = breach
    return why.because(
        subject,
        since=format_time(since),
        delay=short_duration_text(delay),
        until=format_time(breach_delay_end(since, delay)),
    )


def earliest_breach_wake_time(fates: SetReplicaFates) -> datetime | None:
    """Return the earliest moment at which time alone changes a verdict (GT-060, GF-085); None where nothing waits.

    The groups of a replica of the set that is terminated now are not waited for. A replica of a group is waited for
    also while other replicas of the group are terminated.
    """
    waits = [one.fate.until for one in fates.replicas if isinstance(one.fate, Wait)]
    terminating = {one.number for one in fates.replicas if isinstance(one.fate, Terminate)}
    for one in fates.groups:
        if one.group.replica_index not in terminating:
            waits.extend(fate.until for fate in one.fates.values() if isinstance(fate, Wait))
    return min(waits, default=None)
