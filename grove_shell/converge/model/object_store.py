"""The fast object store: a version for each object, and the state of each clique."""

from grove_shell.converge.model.clique_state import CliqueState, EntryState
from grove_shell.converge.model.interfaces import CONTROLLER_NUMBER, DOMAIN_NUMBER, ModelWrite
from grove_shell.converge.model.participants import Participants


class FastObjectStore:
    """An :class:`ObjectStore` that keeps only what decisions depend on; all objects share one version counter."""

    def __init__(self, participants: Participants) -> None:
        self._participants = participants
        self._latest = 1
        self._versions = [0] * (1 + participants.point.cliques)
        self._versions[DOMAIN_NUMBER] = 1
        self._states = [CliqueState({}) for _ in range(participants.point.cliques)]
        self._status: object = None
        self._ready = False

    def version(self, object_number: int) -> int:
        """See :class:`ObjectStore`."""
        return self._versions[object_number]

    @property
    def latest(self) -> int:
        """See :class:`ObjectStore`."""
        return self._latest

    def view(self, object_number: int, clique: int) -> CliqueState | None:
        """See :class:`ObjectStore`."""
        return self._states[clique] if self._versions[object_number] else None

    def changes(self, write: ModelWrite) -> bool:
        """See :class:`ObjectStore`."""
        if write.writer == CONTROLLER_NUMBER:
            return bool(write.content != self._status)
        state = self._states[self._participants.point.clique_of(write.writer)]
        return state.entries.get(write.writer) != EntryState(write.index, write.ready)

    def apply(self, write: ModelWrite) -> None:
        """See :class:`ObjectStore`."""
        self._latest += 1
        self._versions[write.object_number] = self._latest
        if write.writer == CONTROLLER_NUMBER:
            self._status, self._ready = write.content, write.ready
            return
        clique = self._participants.point.clique_of(write.writer)
        entry = EntryState(write.index, write.ready)
        self._states[clique] = self._states[clique].with_entry(write.writer, entry)

    def is_domain_ready(self) -> bool:
        """See :class:`ObjectStore`."""
        return self._ready
