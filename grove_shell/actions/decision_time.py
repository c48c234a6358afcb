"""The time that a command decides at: given, that of the input, or the computer's clock (IN-047, IN-081)."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from enum import Enum, unique
from typing import Final, NamedTuple, TypeAlias

from grove_core.document.plan_document import NEWEST_IN_INPUT
from grove_shell.exit_codes import CommandFailed
from grove_shell.reading.input_items import InputItem
from grove_shell.reading.newest_time import NewestInputTime
from grove_shell.reading.pod_batch_decoding import ConsecutivePods

_OLD: Final = timedelta(hours=1)
NO_TIME: Final = "--now dump: nothing in the input has a time; give the time, or --now clock"


@unique
class NowWord(Enum):
    """A word that ``--now`` takes in place of a time."""

    DUMP = "dump"
    CLOCK = "clock"


Now: TypeAlias = datetime | NowWord | None
"""The value of ``--now``; None where it is not given."""


class NoTimeInInput(CommandFailed):
    """``--now dump`` is given, and the input has no time."""


class DecisionTime(NamedTuple):
    """The time to decide at.

    Attributes:
        source: ``input`` where it is the newest time in the input (IN-081); else empty.
    """

    now: datetime
    source: str = ""


def input_time_collector(
    given: Now, count: Callable[[InputItem | ConsecutivePods], None] | None, *, is_live: bool
) -> tuple[NewestInputTime | None, Callable[[InputItem | ConsecutivePods], None] | None]:
    """Return the collector of the times of an input, and what to call for each item.

    The collector is None where the time to decide at does not depend on the items.
    """
    if is_live or isinstance(given, datetime) or given is NowWord.CLOCK:
        return None, count
    times = NewestInputTime(count)
    return times, times.add


def decision_time(given: Now, taken_at: datetime | None, times: NewestInputTime | None) -> DecisionTime:
    """Return the time to decide at.

    Args:
        given: the value of ``--now``.
        taken_at: the time of a snapshot file; None without one, and for a live cluster.
        times: those of the input; None where they were not collected.

    Raises:
        NoTimeInInput: ``--now dump`` is given, and the input has no time.
    """
    clock, newest = datetime.now(UTC), times.newest if times is not None else None
    if isinstance(given, datetime):
        return DecisionTime(given)
    if given is NowWord.CLOCK:
        return DecisionTime(clock)
    if taken_at is not None:
        return DecisionTime(taken_at)
    if given is NowWord.DUMP:
        if newest is None:
            raise NoTimeInInput(NO_TIME)
        return DecisionTime(newest, NEWEST_IN_INPUT)
    if newest is not None and times is not None and times.is_of_files and clock - newest > _OLD:
        return DecisionTime(newest, NEWEST_IN_INPUT)
    return DecisionTime(clock)
