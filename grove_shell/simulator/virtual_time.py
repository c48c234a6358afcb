"""Virtual time in whole milliseconds since the start of a scenario: its text form, and the queue of future events."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from heapq import heappop, heappush
from typing import Final

from grove_core.kernel.time_formats import parse_duration, short_duration_text

SECOND: Final = 1_000
MINUTE: Final = 60 * SECOND

_MILLISECOND: Final = timedelta(milliseconds=1)


def milliseconds_of_go_duration(text: str) -> int | None:
    """Return a Go duration in milliseconds, rounded up; None for any other text."""
    span = parse_duration(text)
    return None if span is None else -(-span // _MILLISECOND)


def go_duration_text(span: int) -> str:
    """Return a span as a Go duration without trailing zero units: ``2m30s``, ``5m``, ``250ms``."""
    return short_duration_text(timedelta(milliseconds=span))


def datetime_of_virtual_time(start: datetime, at: int) -> datetime:
    """Return the clock time ``at`` milliseconds after the start."""
    return start + timedelta(milliseconds=at)


@dataclass(slots=True, eq=False)
class ScheduledCallback:
    """A scheduled callback; None after it was cancelled."""

    callback: Callable[[], object] | None


class VirtualTimeQueue:
    """Callbacks by time; those of the same time run in the order in which they were scheduled.

    Attributes:
        now: the current time since the start, in the unit of all scheduled times (milliseconds in the simulator).
    """

    def __init__(self) -> None:
        self.now = 0
        self._heap: list[tuple[int, int, ScheduledCallback]] = []
        self._serial = 0

    def schedule(self, at: int, callback: Callable[[], object]) -> ScheduledCallback:
        """Schedule a callback at a time; at the current time, if that has passed."""
        self._serial += 1
        scheduled = ScheduledCallback(callback)
        heappush(self._heap, (max(at, self.now), self._serial, scheduled))
        return scheduled

    def schedule_after(self, span: int, callback: Callable[[], object]) -> None:
        """Schedule a callback after a span."""
        self.schedule(self.now + span, callback)

    @property
    def next_callback_time(self) -> int | None:
        """The time of the next callback; None for an empty queue."""
        while self._heap and self._heap[0][2].callback is None:
            heappop(self._heap)
        return self._heap[0][0] if self._heap else None

    def run_next(self) -> None:
        """Advance to the next time, and run all callbacks of that time."""
        at = self.next_callback_time
        if at is None:
            return
        self.now = at
        while self._heap and self._heap[0][0] == at:
            callback = heappop(self._heap)[2].callback
            if callback is not None:
                callback()
