"""The controller of a model run: it decides after each change from counts of entries, and sends one write at a time."""

from functools import partial
from typing import Final, TypeAlias

from grove_core.areas.domain_cliques.verdicts import RequestResultKind
from grove_core.resources.compute_domain import NOT_READY, READY
from grove_shell.converge.model.model_object_store import NvlinkCliqueState
from grove_shell.converge.model.model_run_context import (
    CONTROLLER_NUMBER,
    DOMAIN_NUMBER,
    DaemonsAndRegistries,
    ModelRunContext,
    ModelWrite,
    ModelWriteResult,
    VirtualRateLimiter,
)
from grove_shell.converge.model.server_watches import CommittedObjectChange
from grove_shell.converge.model.simulated_server import SimulatedServer

_Status: TypeAlias = tuple[str, dict[int, str]]
"""Readiness of the domain, and of each clique that has an object."""
_NO_STATUS: Final[_Status] = ("", {})


class ControllerModel:
    """A clique is Ready if it has daemons and all are; the domain if enough are registered and all are (DC-083)."""

    def __init__(self, participants: DaemonsAndRegistries) -> None:
        self._participants = participants
        self._version = 1
        self._stored = _NO_STATUS
        self._counts: dict[int, tuple[int, int]] = {}
        self._records: dict[int, str] = {}
        self._count = self._ready = 0

    def on_event(self, object_number: int, version: int, clique: int | None, view: NvlinkCliqueState) -> None:
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
        """Return the next write; None if there is nothing to write."""
        ready = self._count >= self._participants.point.nodes and self._ready == self._count
        readiness = READY if ready else NOT_READY
        if (readiness, self._records) == self._stored:
            return None
        status = (readiness, dict(self._records))
        return ModelWrite(
            CONTROLLER_NUMBER, DOMAIN_NUMBER, ready=ready, records=len(status[1]), base=self._version, content=status
        )

    def on_result(self, write: ModelWrite, result: ModelWriteResult) -> None:
        """Apply the result of its write."""
        if result.kind is RequestResultKind.SUCCEEDED:
            self._stored = write.content
            self._version = max(self._version, result.version)


_FIRST_BACKOFF: Final = 5_000
_MAX_BACKOFF: Final = 6_000_000
_MAX_DOUBLINGS: Final = 32


class SimulatedController:
    """Decides once about all changes that arrived while it waited or wrote."""

    def __init__(self, model: ControllerModel, context: ModelRunContext, server: SimulatedServer) -> None:
        self._model = model
        self._context = context
        self._server = server
        self._limiter = VirtualRateLimiter(context.participants.point)
        self._busy = False
        self._changed = False
        self._failures = 0

    def start(self) -> None:
        """Schedule the first decision."""
        self._schedule(_FIRST_BACKOFF)

    def on_change(self, change: CommittedObjectChange) -> None:
        """Apply a watch event."""
        self._model.on_event(change.object_number, change.version, change.clique, change.view)
        self._changed = True
        if not self._busy:
            self._schedule(_FIRST_BACKOFF)

    def _schedule(self, delay: int) -> None:
        self._busy, self._changed = True, False
        self._context.queue.schedule_after(delay, self._decide)

    def _decide(self) -> None:
        self._changed = False
        write = self._model.decide(self._context.queue.now)
        if write is None:
            self._busy = False
            return
        arrives = self._limiter.take(self._context.queue.now) + round(self._context.costs.wire_us)
        self._context.queue.schedule(arrives, partial(self._server.take, write, partial(self._on_result, write)))

    def _on_result(self, write: ModelWrite, result: ModelWriteResult) -> None:
        self._model.on_result(write, result)
        self._busy = False
        if result.kind is RequestResultKind.SUCCEEDED:
            self._failures = 0
            if self._changed:
                self._schedule(_FIRST_BACKOFF)
            return
        delay = min(_FIRST_BACKOFF * 2 ** min(self._failures, _MAX_DOUBLINGS), _MAX_BACKOFF)
        self._failures += 1
        throttled = result.kind is RequestResultKind.TOO_MANY_REQUESTS
        self._schedule(max(delay, self._context.costs.retry_after_ms * 1_000 if throttled else 0))
