"""The type of a draw: a function that returns random events, and helpers for it."""

from collections.abc import Callable
from random import Random
from typing import TypeAlias

from grove_shell.simulator.random_events.targets import Targets
from grove_shell.simulator.scenario.events import Event
from grove_shell.simulator.scenario.user_events import PodTarget
from grove_shell.simulator.virtual_time import SECOND

Draw: TypeAlias = Callable[[Random, Targets, int], list[Event]]
"""Returns random events from a random number generator, the possible targets, and a time in milliseconds."""


def random_span(rng: Random, most: int) -> int:
    """Return a random span from 1 s to ``most``, in steps of half a second, in milliseconds."""
    return rng.randrange(SECOND, most, 500)


def random_pod(rng: Random, targets: Targets) -> PodTarget:
    """Return a random PodClique and index; the pod may not exist."""
    return PodTarget(clique=rng.choice(targets.cliques), index=rng.randrange(3))
