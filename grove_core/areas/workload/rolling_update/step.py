"""What an update does to one clique or one scaling group in one round."""

from dataclasses import dataclass
from typing import Final

from grove_core.kernel.wants import Absent, Withheld


@dataclass(frozen=True, slots=True)
class RolloutStep:
    """One round of the update of a part.

    Attributes:
        runs: whether the update of the part is still to be finished; its status says so (WL-224).
        surge: whether it has one pod or replica more for the time being.
        absents, held: what goes, and what has to wait.
    """

    runs: bool = False
    surge: bool = False
    absents: tuple[Absent, ...] = ()
    held: tuple[Withheld, ...] = ()


NO_STEP: Final = RolloutStep()
