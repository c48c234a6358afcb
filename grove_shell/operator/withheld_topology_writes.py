"""Withheld writes to topologies, for ``/readyz`` (TP-047)."""

from collections.abc import Callable, Iterator

from grove_shell.apply.planned_round import PlannedRound, RoundListener
from grove_shell.cache.root_keys import RootKey, is_topology_key


class TopologyNotes(RoundListener):
    """The withheld writes in the last plan of each topology."""

    def __init__(self, holds: Callable[[RootKey], bool]) -> None:
        """Start without a note; ``holds`` returns whether a root still exists."""
        self._holds = holds
        self._held: dict[RootKey, tuple[str, ...]] = {}

    @property
    def notes(self) -> Iterator[str]:
        """One sentence for each withheld write."""
        return (note for root_key, notes in sorted(self._held.items()) if self._holds(root_key) for note in notes)

    def on_planned(self, planned_round: PlannedRound) -> None:
        """Replace the notes of a topology by those of its plan."""
        if not is_topology_key(planned_round.root_key):
            return
        self._held.pop(planned_round.root_key, None)
        if planned_round.plan.withheld:
            self._held[planned_round.root_key] = tuple(
                f"{held.target.short}: {held.because[0].sentence}" for held in planned_round.plan.withheld
            )

    def on_gone(self, root_key: RootKey) -> None:
        """Drop the notes of a topology."""
        self._held.pop(root_key, None)
