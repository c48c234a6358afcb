"""The objects in short: a version, and the states of the cliques in them."""

from grove_shell.converge.model.clique_state import CliqueState, EntryState
from grove_shell.converge.model.interfaces import CONTROLLER_NUMBER, DOMAIN_NUMBER, ModelWrite
from grove_shell.converge.model.participants import Participants


class FastObjectStore:
    """A store (see :mod:`seams`) that keeps nothing that nobody decides on. One version counts through all objects."""

    def __init__(self, participants: Participants) -> None:
        self._participants = participants
        self._latest = 1
        self._versions = [0] * (1 + participants.point.cliques)
        self._versions[DOMAIN_NUMBER] = 1
        self._states = [CliqueState({}) for _ in range(participants.point.cliques)]
        self._summary: object = None
        self._ready = False

    def version(self, object_number: int) -> int:
        """Of an object; 0 where there is none."""
        return self._versions[object_number]

    @property
    def latest(self) -> int:
        """Of the store as a whole."""
        return self._latest

    def view(self, object_number: int, clique: int) -> CliqueState | None:
        """A clique as an object shows it; None where there is no object."""
        return self._states[clique] if self._versions[object_number] else None

    def changes(self, write: ModelWrite) -> bool:
        """Whether a write would change anything."""
        if write.writer == CONTROLLER_NUMBER:
            return bool(write.content != self._summary)
        state = self._states[self._participants.point.clique_of(write.writer)]
        return state.entries.get(write.writer) != EntryState(write.index, write.ready)

    def carry_out(self, write: ModelWrite) -> None:
        """Make the change, and a new version."""
        self._latest += 1
        self._versions[write.object_number] = self._latest
        if write.writer == CONTROLLER_NUMBER:
            self._summary, self._ready = write.content, write.ready
            return
        clique = self._participants.point.clique_of(write.writer)
        self._states[clique] = self._states[clique].having(write.writer, EntryState(write.index, write.ready))

    def says_ready(self) -> bool:
        """Whether the domain's status says Ready."""
        return self._ready
