"""The controller, played fast: what it would say of the domain, from counts instead of entries."""

from typing import Final, TypeAlias

from grove_core.areas.domain_cliques.verdicts import ResultKind
from grove_core.resources.daemon_entry import NOT_READY, READY
from grove_shell.converge.model.clique_state import CliqueState
from grove_shell.converge.model.interfaces import CONTROLLER_NUMBER, DOMAIN_NUMBER, ModelWrite, WriteResult
from grove_shell.converge.model.participants import Participants

_Summary: TypeAlias = tuple[str, dict[int, str]]
"""The word for the domain, and one for each clique that has an object."""
_UNSAID: Final[_Summary] = ("", {})


class FastControllerModel:
    """A clique is Ready if it has daemons and all are; the domain if it has enough of them and all are (DC-080 ...)."""

    def __init__(self, participants: Participants) -> None:
        self._participants = participants
        self._version = 1
        self._stored = _UNSAID
        self._counts: dict[int, tuple[int, int]] = {}
        self._records: dict[int, str] = {}
        self._count = self._ready = 0

    def sees(self, object_number: int, version: int, clique: int | None, view: CliqueState) -> None:
        """An event; those of one object come in the order of versions (CV-008)."""
        if object_number == DOMAIN_NUMBER:
            self._version = max(self._version, version)
        if clique is None:
            return
        if object_number == DOMAIN_NUMBER and self._stored == _UNSAID:
            self._stored = (NOT_READY, {})  # the default of the definition, once there is a status at all
        before = self._counts.get(clique, (0, 0))
        self._counts[clique] = (view.count, view.ready)
        if object_number != DOMAIN_NUMBER:
            self._records[clique] = READY if view.ready == view.count else NOT_READY
        self._count += view.count - before[0]
        self._ready += view.ready - before[1]

    def looks(self, at: int) -> ModelWrite | None:  # noqa: ARG002 - counts have no clock
        """What it would write now; None for nothing."""
        ready = self._count >= self._participants.point.nodes and self._ready == self._count
        word = READY if ready else NOT_READY
        if (word, self._records) == self._stored:
            return None
        summary = (word, dict(self._records))
        return ModelWrite(
            CONTROLLER_NUMBER, DOMAIN_NUMBER, ready=ready, records=len(summary[1]), base=self._version, content=summary
        )

    def answered(self, write: ModelWrite, told: WriteResult) -> None:
        """The answer to its write."""
        if told.kind is ResultKind.SUCCEEDED:
            self._stored = write.content
            self._version = max(self._version, told.version)
