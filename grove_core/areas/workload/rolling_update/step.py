"""The result of one round of the update of one clique or scaling group."""

from dataclasses import dataclass
from typing import Final

from grove_core.kernel.wants import Absent, Withheld


@dataclass(frozen=True, slots=True)
class RolloutStep:
    """One round of the update of a clique or scaling group.

    Attributes:
        runs: whether the update is not complete; the status shows it (WL-224).
        surge: whether there is one additional pod or replica.
        absents: what is deleted.
        held: what is withheld.
    """

    runs: bool = False
    surge: bool = False
    absents: tuple[Absent, ...] = ()
    held: tuple[Withheld, ...] = ()


NO_STEP: Final = RolloutStep()
