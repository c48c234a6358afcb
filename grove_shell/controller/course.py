"""The way a forecast takes through time, and whether it goes round in circles (PL-024)."""

from collections.abc import Hashable
from datetime import datetime

from grove_core.plan.plan import Plan
from grove_core.plan.recurrence import Lap, Recurrence, image_of, laps_repeated


class Course:
    """Takes down every look after the first moment that time let pass."""

    def __init__(self, begun: datetime) -> None:
        self._begun = begun
        self._laps: list[Lap] = []
        self._starts: list[tuple[datetime, int]] = []
        self._images: list[Hashable] = []

    def sees(self, plan: Plan, at: datetime) -> None:
        """A look, which is part of the lap that runs; what is before the first lap is part of none."""
        if self._starts:
            self._images.append(image_of(plan, at, self._begun))

    def passed(self, now: datetime, rounds: int, until: datetime) -> Recurrence | None:
        """A lap begins, with the round after those there are; what comes again if the one before it goes on for ever.

        Args:
            now: when it begins.
            rounds: how many there are before it.
            until: to where time may pass.
        """
        if self._starts:
            self._laps.append((now - self._starts[-1][0], tuple(self._images)))
            self._images.clear()
        self._starts.append((now, rounds))
        count = laps_repeated(self._laps)
        if not count:
            return None
        begun, before = self._starts[-1 - count]
        return Recurrence(before + 1, now - begun, until) if before < rounds else None
