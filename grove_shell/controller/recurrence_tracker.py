"""Detects that a forecast repeats itself (PL-024), or never settles (PL-002)."""

from collections.abc import Hashable
from datetime import datetime
from typing import Final

from grove_core.plan.plan import Plan
from grove_core.plan.recurrence import Cycle, Recurrence, cycles_repeated, round_fingerprint

_FEW: Final = 20


class RecurrenceTracker:
    """Records the plans of a forecast, and the laps between the moments to which the clock is advanced. Mutable."""

    def __init__(self, begun: datetime) -> None:
        """Start at the first moment of the forecast."""
        self._begun = begun
        self._laps: list[Cycle] = []
        self._lap_starts: list[tuple[datetime, int]] = []
        self._images: list[Hashable] = []
        self._moment = begun
        self._plans_at_moment = 0
        self._images_at_moment: set[Hashable] = set()

    def is_endless(self, plan: Plan, at: datetime) -> bool:
        """Return whether a plan equals an earlier one of the same moment, so that the rounds would never end (PL-002).

        Call it for each plan. Plans are compared from the 21st of one moment on; few forecasts have that many.
        """
        if at != self._moment:
            self._moment, self._plans_at_moment = at, 0
            self._images_at_moment.clear()
        self._plans_at_moment += 1
        if self._plans_at_moment <= _FEW:
            return False
        before = len(self._images_at_moment)
        self._images_at_moment.add(round_fingerprint(plan, at, self._begun))
        return len(self._images_at_moment) == before

    def record_plan(self, plan: Plan, at: datetime) -> None:
        """Record a plan of the present lap; plans before the first lap are not recorded."""
        if self._lap_starts:
            self._images.append(round_fingerprint(plan, at, self._begun))

    def begin_lap(self, now: datetime, rounds: int, until: datetime) -> Recurrence | None:
        """Begin a lap; return what repeats until the end if the next laps equal the last ones.

        Args:
            now: when the lap begins.
            rounds: how many rounds are before it.
            until: the end of the forecast.
        """
        if self._lap_starts:
            self._laps.append((now - self._lap_starts[-1][0], tuple(self._images)))
            self._images.clear()
        self._lap_starts.append((now, rounds))
        count = cycles_repeated(self._laps)
        if not count:
            return None
        begun, before = self._lap_starts[-1 - count]
        return Recurrence(before + 1, now - begun, until) if before < rounds else None
