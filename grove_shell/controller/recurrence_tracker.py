"""The way a forecast takes through time, and whether it goes round in circles (PL-024)."""

from collections.abc import Hashable
from datetime import datetime
from typing import Final

from grove_core.plan.plan import Plan
from grove_core.plan.recurrence import Lap, Recurrence, image_of, laps_repeated

_FEW: Final = 20


class RecurrenceTracker:
    """Takes down every look after the first moment that time let pass."""

    def __init__(self, begun: datetime) -> None:
        self._begun = begun
        self._laps: list[Lap] = []
        self._starts: list[tuple[datetime, int]] = []
        self._images: list[Hashable] = []
        self._moment = begun
        self._at_once = 0
        self._among_many: set[Hashable] = set()

    def goes_nowhere(self, plan: Plan, at: datetime) -> bool:
        """Whether a look is as another one at the same moment, so that none would ever be the last (PL-002).

        Asked of each look. Only where there are many at one moment are they held against each other: few need as many.
        """
        if at != self._moment:
            self._moment, self._at_once = at, 0
            self._among_many.clear()
        self._at_once += 1
        if self._at_once <= _FEW:
            return False
        before = len(self._among_many)
        self._among_many.add(image_of(plan, at, self._begun))
        return len(self._among_many) == before

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
