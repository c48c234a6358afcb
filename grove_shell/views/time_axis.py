"""Round times of an axis from the time of a plan to a later time, with their texts."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Final

_MOST_TICKS: Final = 7
_LEAST_GAP: Final = 0.06  # share of the time between now and the first tick
_DAY: Final = timedelta(days=1)
_STEPS: Final = (
    *(timedelta(seconds=step) for step in (1, 2, 5, 10, 15, 30)),
    *(timedelta(minutes=step) for step in (1, 2, 5, 10, 15, 30, 60, 120, 240, 360, 720)),
    *(timedelta(days=step) for step in (1, 2, 7, 14, 30, 91, 365, 3650, 36_500, 365_000, 3_650_000)),
)


def axis_tick_times(now: datetime, end: datetime, most: int = _MOST_TICKS) -> Iterator[tuple[datetime, str]]:
    """Yield round times after now, at most a few, each with its text."""
    span = end - now
    step = next(one for one in _STEPS if span / one <= most)
    begin = now.replace(hour=0, minute=0, second=0, microsecond=0)
    first = begin + -(-(now - begin) // step) * step
    for number in range((end - first) // step + 1):
        at = first + number * step
        if at - now > span * _LEAST_GAP:
            yield at, _tick_text(at, now, step)


def _tick_text(at: datetime, now: datetime, step: timedelta) -> str:
    """Return a time without seconds where it has none; on another day with that day, or the day alone."""
    if step >= _DAY:
        return at.date().isoformat()
    time = at.strftime("%H:%MZ" if at.second == 0 else "%H:%M:%SZ")
    return time if at.date() == now.date() else f"{at.strftime('%m-%d')} {time}"
