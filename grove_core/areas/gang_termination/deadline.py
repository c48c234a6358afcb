"""When a breach may be acted on."""

from datetime import UTC, datetime, timedelta
from typing import Final

from grove_core.kernel.durations import short_duration
from grove_core.kernel.reasons import Reason, Rule
from grove_core.kernel.refs import Ref
from grove_core.kernel.times import format_time

_END_OF_TIME: Final = datetime.max.replace(tzinfo=UTC)


def deadline(since: datetime, delay: timedelta) -> datetime:
    """The moment from which a breach is due.

    GT-032. Source: Gang Termination Design Doc, "Timing and Wait Calculation". Total: a deadline beyond the calendar
    is the end of it.

    Args:
        since: last transition of the breach condition; may lie after now.
        delay: effective termination delay, > 0.
    """
    return since + delay if delay <= _END_OF_TIME - since else _END_OF_TIME


def timing_reason(why: Rule, subject: Ref, since: datetime, delay: timedelta) -> Reason:
    """A reason about a clock that runs or has run out; its facts are absolute."""
    return why.because(
        subject,
        since=format_time(since),
        delay=short_duration(delay),
        until=format_time(deadline(since, delay)),
    )
