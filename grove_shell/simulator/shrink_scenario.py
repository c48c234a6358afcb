"""Shrinks a scenario that breaks a promise: fewer events, then shorter spans."""

from collections.abc import Callable
from typing import Any, Final

from pydantic import BaseModel

from grove_shell.simulator.scenario.events import Event
from grove_shell.simulator.scenario.scenario import Scenario

Fails = Callable[[Scenario], bool]

_SPANS: Final = ("span", "down", "back", "ahead", "recovers", "every", "delay")
_NUMBERS: Final = ("writes", "write", "times")
_SMALLEST: Final = 100
MOST_RUNS: Final = 400
"""Limit of the scenarios that are tried."""


def smallest_failing(scenario: Scenario, fails: Fails) -> Scenario:
    """Return the smallest failing scenario found within ``MOST_RUNS`` runs.

    Args:
        scenario: a failing scenario.
        fails: returns whether a scenario breaks the promise.
    """
    search = _Search(scenario, fails)
    search.drop_events()
    search.shorten()
    search.drop_events()
    return search.best


class _Search:
    """Keeps the smallest failing scenario so far."""

    def __init__(self, scenario: Scenario, fails: Fails) -> None:
        self.fails = fails
        self.left = MOST_RUNS
        bare = scenario.model_copy(update={"spec": scenario.spec.model_copy(update={"expect": ()})})
        self.best = scenario
        self._try(bare)

    def drop_events(self) -> None:
        """Leave out halves of the events, then quarters, then single events (delta debugging)."""
        size = max(len(self.best.spec.events) // 2, 1)
        while self.best.spec.events:
            place, dropped = 0, False
            while place < len(self.best.spec.events):
                events = self.best.spec.events
                if self._try(self.best.with_events(events[:place] + events[place + size :])):
                    dropped = True
                else:
                    place += size
            if size == 1 and not dropped:
                return
            size = max(size // 2, 1)

    def shorten(self) -> None:
        """Halve times, spans and numbers, each as long as the scenario still fails."""
        place = 0
        while place < len(self.best.spec.events):
            for change in (_earlier, *(_smaller(name) for name in (*_SPANS, *_NUMBERS))):
                while (less := change(self.best.spec.events[place])) is not None:
                    events = self.best.spec.events
                    if not self._try(self._replaced(events, place, less)):
                        break
            place += 1

    def _replaced(self, events: tuple[Event, ...], place: int, event: Event) -> Scenario:
        changed = (*events[:place], event, *events[place + 1 :])
        return self.best.model_copy(update={"spec": self.best.spec.model_copy(update={"events": changed})})

    def _try(self, scenario: Scenario) -> bool:
        if self.left <= 0 or not self.fails(scenario):
            self.left -= 1
            return False
        self.left -= 1
        self.best = scenario
        return True


def _earlier(event: Event) -> Event | None:
    half = event.at // 2 // _SMALLEST * _SMALLEST
    return event.model_copy(update={"at": half}) if event.at >= _SMALLEST else None


def _smaller(name: str) -> Callable[[Event], Event | None]:
    least = _SMALLEST if name in _SPANS else 1

    def change(event: Event) -> Event | None:
        arguments: Any = event.arguments
        value = getattr(arguments, name, None) if isinstance(arguments, BaseModel) else None
        if not isinstance(value, int) or isinstance(value, bool) or value < 2 * least:
            return None
        half = value // 2 // least * least
        return event.model_copy(update={event.kind: arguments.model_copy(update={name: half})})

    return change
