"""The fast model of the controller: it computes the status of the domain from counts instead of entries."""

from typing import Final, TypeAlias

from grove_core.areas.domain_cliques.verdicts import ResultKind
from grove_core.resources.daemon_entry import NOT_READY, READY
from grove_shell.converge.model.clique_state import CliqueState
from grove_shell.converge.model.interfaces import CONTROLLER_NUMBER, DOMAIN_NUMBER, ModelWrite, WriteResult
from grove_shell.converge.model.participants import Participants

_Status: TypeAlias = tuple[str, dict[int, str]]
"""Readiness of the domain, and of each clique that has an object."""
_NO_STATUS: Final[_Status] = ("", {})


class FastControllerModel:
    """A clique is Ready if it has daemons and all are; the domain if enough are registered and all are (DC-083).

    See :class:`ControllerModel`.
    """

    def __init__(self, participants: Participants) -> None:
        self._participants = participants
        self._version = 1
        self._stored = _NO_STATUS
        self._counts: dict[int, tuple[int, int]] = {}
        self._records: dict[int, str] = {}
        self._count = self._ready = 0

    def on_event(self, object_number: int, version: int, clique: int | None, view: CliqueState) -> None:
        """Apply an event; events of one object arrive in the order of versions (CV-005)."""
        if object_number == DOMAIN_NUMBER:
            self._version = max(self._version, version)
        if clique is None:
            return
        if object_number == DOMAIN_NUMBER and self._stored == _NO_STATUS:
            self._stored = (NOT_READY, {})  # the default of the definition, once the domain has a status
        before = self._counts.get(clique, (0, 0))
        self._counts[clique] = (view.count, view.ready)
        if object_number != DOMAIN_NUMBER:
            self._records[clique] = READY if view.ready == view.count else NOT_READY
        self._count += view.count - before[0]
        self._ready += view.ready - before[1]

    def decide(self, at: int) -> ModelWrite | None:  # noqa: ARG002 - counts have no clock
        """See :class:`ControllerModel`."""
        ready = self._count >= self._participants.point.nodes and self._ready == self._count
        readiness = READY if ready else NOT_READY
        if (readiness, self._records) == self._stored:
            return None
        status = (readiness, dict(self._records))
        return ModelWrite(
            CONTROLLER_NUMBER, DOMAIN_NUMBER, ready=ready, records=len(status[1]), base=self._version, content=status
        )

    def on_result(self, write: ModelWrite, result: WriteResult) -> None:
        """See :class:`ControllerModel`."""
        if result.kind is ResultKind.SUCCEEDED:
            self._stored = write.content
            self._version = max(self._version, result.version)
