"""What every draw is made of: a function of dice, of who there is, and of a moment in milliseconds."""

from collections.abc import Callable
from random import Random
from typing import TypeAlias

from grove_shell.simulator.random_events.targets import Targets
from grove_shell.simulator.scenario.events import Event
from grove_shell.simulator.scenario.user_events import PodByIndex
from grove_shell.simulator.virtual_time import SECOND

Draw: TypeAlias = Callable[[Random, Targets, int], list[Event]]


def random_span(rng: Random, most: int) -> int:
    """From a second on, in steps of half a second; in milliseconds."""
    return rng.randrange(SECOND, most, 500)


def random_pod(rng: Random, targets: Targets) -> PodByIndex:
    """A pod that is there or may be."""
    return PodByIndex(clique=rng.choice(targets.cliques), index=rng.randrange(3))
