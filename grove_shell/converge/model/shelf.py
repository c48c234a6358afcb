"""The objects in short: a version, and the states of the cliques in them."""

from grove_shell.converge.model.cast import Cast
from grove_shell.converge.model.clique_state import CliqueState, Slot
from grove_shell.converge.model.seams import CONTROLLER, DOMAIN, Write


class Shelf:
    """A store (see :mod:`seams`) that keeps nothing that nobody decides on. One version counts through all objects."""

    def __init__(self, cast: Cast) -> None:
        self._cast = cast
        self._latest = 1
        self._versions = [0] * (1 + cast.point.cliques)
        self._versions[DOMAIN] = 1
        self._states = [CliqueState({}) for _ in range(cast.point.cliques)]
        self._summary: object = None
        self._ready = False

    def version(self, thing: int) -> int:
        """Of an object; 0 where there is none."""
        return self._versions[thing]

    @property
    def latest(self) -> int:
        """Of the store as a whole."""
        return self._latest

    def view(self, thing: int, clique: int) -> CliqueState | None:
        """A clique as an object shows it; None where there is no object."""
        return self._states[clique] if self._versions[thing] else None

    def changes(self, write: Write) -> bool:
        """Whether a write would change anything."""
        if write.writer == CONTROLLER:
            return bool(write.content != self._summary)
        state = self._states[self._cast.point.clique_of(write.writer)]
        return state.entries.get(write.writer) != Slot(write.index, write.ready)

    def carry_out(self, write: Write) -> None:
        """Make the change, and a new version."""
        self._latest += 1
        self._versions[write.thing] = self._latest
        if write.writer == CONTROLLER:
            self._summary, self._ready = write.content, write.ready
            return
        clique = self._cast.point.clique_of(write.writer)
        self._states[clique] = self._states[clique].having(write.writer, Slot(write.index, write.ready))

    def says_ready(self) -> bool:
        """Whether the domain's status says Ready."""
        return self._ready
