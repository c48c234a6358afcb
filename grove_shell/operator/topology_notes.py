"""What the operator may not do to a topology at present, for whoever asks whether it is ready (TP-047)."""

from collections.abc import Callable, Iterator

from grove_shell.cache.root_keys import RootKey, is_topology_key
from grove_shell.controller.round_listener import PlannedRound, RoundListener


class TopologyNotes(RoundListener):
    """Remembers of each topology what its last plan held back."""

    def __init__(self, holds: Callable[[RootKey], bool]) -> None:
        """Nothing is held back; ``holds`` says whether something still lives somewhere."""
        self._holds = holds
        self._held: dict[RootKey, tuple[str, ...]] = {}

    @property
    def notes(self) -> Iterator[str]:
        """One sentence for each thing that is held back."""
        return (note for root_key, notes in sorted(self._held.items()) if self._holds(root_key) for note in notes)

    def planned(self, look: PlannedRound) -> None:
        """The newest plan counts."""
        if not is_topology_key(look.root_key):
            return
        self._held.pop(look.root_key, None)
        if look.plan.withheld:
            self._held[look.root_key] = tuple(
                f"{held.target.short}: {held.because[0].sentence}" for held in look.plan.withheld
            )

    def gone(self, root_key: RootKey) -> None:
        """Nothing of it is held back any more."""
        self._held.pop(root_key, None)
