"""What every draw is made of: a function of dice, of who there is, and of a moment in milliseconds."""

from collections.abc import Callable
from random import Random
from typing import TypeAlias

from grove_shell.simulator.random_events.targets import Cast
from grove_shell.simulator.scenario.events import Event
from grove_shell.simulator.scenario.user_events import PodAt
from grove_shell.simulator.virtual_time import SECOND

Draw: TypeAlias = Callable[[Random, Cast, int], list[Event]]


def span_up_to(dice: Random, most: int) -> int:
    """From a second on, in steps of half a second; in milliseconds."""
    return dice.randrange(SECOND, most, 500)


def some_pod(dice: Random, cast: Cast) -> PodAt:
    """A pod that is there or may be."""
    return PodAt(clique=dice.choice(cast.cliques), index=dice.randrange(3))
