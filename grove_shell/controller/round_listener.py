"""What one look came to, and who hears of it: logs, metrics, Events, the decision log."""

from dataclasses import dataclass

from grove_core.kernel.steps import Attempt
from grove_core.plan.plan import Plan
from grove_shell.cache.cache_view import Observation
from grove_shell.cache.root_keys import RootKey


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedRound:
    """One look at a set or a topology, and what follows from it.

    Attributes:
        name: of the plan, in logs, Events and the decision log alike.
        seen: what it was made of.
        seconds: of thinking.
    """

    root_key: RootKey
    name: str
    seen: Observation
    plan: Plan
    seconds: float


class RoundListener:
    """Who hears of rounds: logs, metrics, Events; what it does not override it does not listen to."""

    def planned(self, look: PlannedRound) -> None:
        """A plan was made, and is tried next."""

    def answered(self, look: PlannedRound, attempts: tuple[Attempt, ...]) -> None:
        """Every step of it was tried."""

    def released(self, root_key: RootKey, attempts: tuple[Attempt, ...]) -> None:
        """What a set that is gone left behind was to be let go of; no plan says so (WL-233)."""

    def failed(self, root_key: RootKey, words: str) -> None:
        """The round broke off."""

    def gone(self, root_key: RootKey) -> None:
        """Nothing is left of what lived there; nor need anybody remember it (O10)."""
