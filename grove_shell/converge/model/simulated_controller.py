"""The controller process of a model run: it decides after each change, and sends one write at a time."""

from functools import partial
from typing import Final

from grove_core.areas.domain_cliques.verdicts import ResultKind
from grove_shell.converge.model.interfaces import ControllerModel, ModelWrite, WriteResult
from grove_shell.converge.model.model_context import ModelContext
from grove_shell.converge.model.simulated_server import SimulatedServer
from grove_shell.converge.model.virtual_limiter import VirtualLimiter
from grove_shell.converge.model.watches import CommittedChange

_FIRST_BACKOFF: Final = 5_000
_MAX_BACKOFF: Final = 6_000_000
_MAX_DOUBLINGS: Final = 32


class SimulatedController:
    """Decides once about all changes that arrived while it waited or wrote."""

    def __init__(self, model: ControllerModel, context: ModelContext, server: SimulatedServer) -> None:
        self._model = model
        self._context = context
        self._server = server
        self._limiter = VirtualLimiter(context.participants.point)
        self._busy = False
        self._changed = False
        self._failures = 0

    def start(self) -> None:
        """Schedule the first decision."""
        self._schedule(_FIRST_BACKOFF)

    def on_change(self, change: CommittedChange) -> None:
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

    def _on_result(self, write: ModelWrite, result: WriteResult) -> None:
        self._model.on_result(write, result)
        self._busy = False
        if result.kind is ResultKind.SUCCEEDED:
            self._failures = 0
            if self._changed:
                self._schedule(_FIRST_BACKOFF)
            return
        delay = min(_FIRST_BACKOFF * 2 ** min(self._failures, _MAX_DOUBLINGS), _MAX_BACKOFF)
        self._failures += 1
        throttled = result.kind is ResultKind.TOO_MANY_REQUESTS
        self._schedule(max(delay, self._context.costs.retry_after_ms * 1_000 if throttled else 0))
