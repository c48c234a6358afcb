"""Virtual time: whole milliseconds since the start of a scenario, and how people write them."""

from datetime import datetime, timedelta
from typing import Final

from grove_core.kernel.durations import parse_duration, short_duration

SECOND: Final = 1_000
MINUTE: Final = 60 * SECOND

_MILLISECOND: Final = timedelta(milliseconds=1)


def parse_span(text: str) -> int | None:
    """Milliseconds of a Go duration, rounded up; None if it is not one."""
    span = parse_duration(text)
    return None if span is None else -(-span // _MILLISECOND)


def span_text(span: int) -> str:
    """A span as a Go duration without zero tails: ``2m30s``, ``5m``, ``250ms``."""
    return short_duration(timedelta(milliseconds=span))


def time_at(start: datetime, at: int) -> datetime:
    """The moment so many milliseconds after the start."""
    return start + timedelta(milliseconds=at)


def millis_until(start: datetime, moment: datetime) -> int:
    """Milliseconds from the start to a moment, rounded up so that one never looks too early."""
    return -((start - moment) // _MILLISECOND)
