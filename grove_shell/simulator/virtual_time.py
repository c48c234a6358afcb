"""Virtual time in whole milliseconds since the start of a scenario, and its text form."""

from datetime import datetime, timedelta
from typing import Final

from grove_core.kernel.time_formats import parse_duration, short_duration

SECOND: Final = 1_000
MINUTE: Final = 60 * SECOND

_MILLISECOND: Final = timedelta(milliseconds=1)


def parse_go_duration(text: str) -> int | None:
    """Return a Go duration in milliseconds, rounded up; None for any other text."""
    span = parse_duration(text)
    return None if span is None else -(-span // _MILLISECOND)


def go_duration_text(span: int) -> str:
    """Return a span as a Go duration without trailing zero units: ``2m30s``, ``5m``, ``250ms``."""
    return short_duration(timedelta(milliseconds=span))


def clock_time_at(start: datetime, at: int) -> datetime:
    """Return the clock time ``at`` milliseconds after the start."""
    return start + timedelta(milliseconds=at)
