"""Shrinks a scenario that breaks a promise to the events that are needed for it."""

from collections.abc import Callable
from typing import Final

from grove_shell.simulator.scenario.scenario import Scenario

MOST_RUNS: Final = 400
"""Limit of the scenarios that are tried."""


def smallest_failing_scenario(scenario: Scenario, fails: Callable[[Scenario], bool]) -> Scenario:
    """Return the smallest failing scenario found within ``MOST_RUNS`` runs, without its expectations.

    Halves of the events are left out, then quarters, then single ones, until each that is left is needed.

    Args:
        scenario: a failing scenario.
        fails: returns whether a scenario breaks the promise.
    """
    best, left = scenario, MOST_RUNS

    def replaces_best(candidate: Scenario) -> bool:
        nonlocal best, left
        left -= 1
        if left < 0 or not fails(candidate):
            return False
        best = candidate
        return True

    replaces_best(scenario.model_copy(update={"spec": scenario.spec.model_copy(update={"expect": ()})}))
    size = max(len(best.spec.events) // 2, 1)
    while best.spec.events:
        place, dropped = 0, False
        while place < len(best.spec.events):
            events = best.spec.events
            if replaces_best(best.with_events(events[:place] + events[place + size :])):
                dropped = True
            else:
                place += size
        if size == 1 and not dropped:
            break
        size = max(size // 2, 1)
    return best
