"""What the operator may not do to a topology at present, for whoever asks whether it is ready (TP-047)."""

from collections.abc import Callable, Iterator

from grove_shell.controller.look import Follower, Look
from grove_shell.world.homes import Home, is_topology_home


class Standing(Follower):
    """Remembers of each topology what its last plan held back."""

    def __init__(self, holds: Callable[[Home], bool]) -> None:
        """Nothing is held back; ``holds`` says whether something still lives somewhere."""
        self._holds = holds
        self._held: dict[Home, tuple[str, ...]] = {}

    @property
    def notes(self) -> Iterator[str]:
        """One sentence for each thing that is held back."""
        return (note for home, notes in sorted(self._held.items()) if self._holds(home) for note in notes)

    def planned(self, look: Look) -> None:
        """The newest plan counts."""
        if not is_topology_home(look.home):
            return
        self._held.pop(look.home, None)
        if look.plan.withheld:
            self._held[look.home] = tuple(
                f"{held.target.short}: {held.because[0].sentence}" for held in look.plan.withheld
            )

    def gone(self, home: Home) -> None:
        """Nothing of it is held back any more."""
        self._held.pop(home, None)
