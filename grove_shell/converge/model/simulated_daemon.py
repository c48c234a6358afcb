"""The daemon process of a model run: one request at a time, with a rate limiter before the server."""

import random
from functools import partial
from typing import Any

from grove_core.areas.domain_cliques.verdicts import RequestResultKind
from grove_shell.converge.model.daemon_model import DaemonModel
from grove_shell.converge.model.model_run_context import (
    ActionWithoutRequest,
    DecideAgainAt,
    ModelRunContext,
    ModelWrite,
    ModelWriteResult,
    VirtualRateLimiter,
)
from grove_shell.converge.model.simulated_server import SimulatedServer

SECOND = 1_000_000
_JITTER_STEPS = 1_000
_MIN_JITTER, _MAX_JITTER = 750, 1_250


class SimulatedDaemon:
    """One daemon process. Times are in microseconds.

    Attributes:
        arrives_at: when it starts.
        ready_after: how long its fabric daemon needs to become ready.
        starts: how often it has started its fabric daemon.
        viewed_at: when it first observed its whole clique without duplicate indices; None until then.
        pushed_at: when it first started its fabric daemon; None until then.
    """

    __slots__ = (
        "_busy",
        "_chance",
        "_clique_size",
        "_context",
        "_limiter",
        "_model",
        "_number",
        "_server",
        "_wake_at",
        "arrives_at",
        "pushed_at",
        "ready_after",
        "starts",
        "viewed_at",
    )

    def __init__(self, number: int, model: DaemonModel, context: ModelRunContext, server: SimulatedServer) -> None:
        point = context.participants.point
        self._number = number
        self._model = model
        self._context = context
        self._server = server
        self._limiter = VirtualRateLimiter(point)
        self._chance = random.Random(f"{point.seed} {number}")  # noqa: S311 - an experiment, no secret
        self._busy = False
        self.starts = 0
        self._wake_at: int | None = None
        self._clique_size = point.clique_size_of(point.clique_of(number))
        self.arrives_at = round(self._chance.random() * point.arrival_s * SECOND)
        self.ready_after = round((1 + self._chance.random()) * point.readiness_s * SECOND)
        self.viewed_at: int | None = None
        self.pushed_at: int | None = None

    def start(self) -> None:
        """List the registry and watch it."""
        wire = round(self._context.costs.wire_us)
        sent_at = self._limiter.take(self._context.queue.now)
        self._context.queue.schedule(sent_at + wire, partial(self._server.list_and_watch, self._number, self.on_event))

    def on_event(self, version: int, view: Any) -> None:  # noqa: ANN401 - a view of its model
        """Apply a watch event or the first list."""
        now = self._context.queue.now
        if self.viewed_at is None and view is not None:
            self._check_view(view, now)
        if self._model.on_event(version, view, now, self._jitter()) and not self._busy:
            self._decide()

    def _jitter(self) -> float:
        """A factor in whole thousandths, so that a delay times it is a whole number of microseconds."""
        return (_MIN_JITTER + int(self._chance.random() * (_MAX_JITTER - _MIN_JITTER))) / _JITTER_STEPS

    def _check_view(self, view: Any, now: int) -> None:  # noqa: ANN401 - as above
        if view.count == self._clique_size and not view.has_duplicates:
            self.viewed_at = now

    def _decide(self) -> None:
        queue = self._context.queue
        action = self._model.decide(queue.now)
        while action is ActionWithoutRequest.START:
            self._model.on_fabric_start()
            if self.pushed_at is None:
                self.pushed_at = queue.now
            self.starts += 1
            queue.schedule_after(self.ready_after, partial(self._on_fabric_ready, self.starts))
            action = self._model.decide(queue.now)
        if isinstance(action, ModelWrite):
            self._send(action)
        elif isinstance(action, DecideAgainAt) and (self._wake_at is None or action.until < self._wake_at):
            self._wake_at = action.until
            queue.schedule(action.until, partial(self._wake, action.until))

    def _wake(self, at: int) -> None:
        if self._wake_at != at:
            return
        self._wake_at = None
        if not self._busy:
            self._decide()

    def _on_fabric_ready(self, start: int) -> None:
        """Mark the fabric daemon as ready, unless it was restarted in the meantime."""
        if start != self.starts:
            return
        self._model.on_fabric_ready()
        if not self._busy:
            self._decide()

    def _send(self, write: ModelWrite) -> None:
        """Build the request now; it waits for the limiter unchanged (CV-005)."""
        self._busy = True
        self._context.counters.uploaded_bytes += self._server.body_size(write)
        sent_at = self._limiter.take(self._context.queue.now)
        arrives = sent_at + round(self._context.costs.wire_us)
        self._context.queue.schedule(arrives, partial(self._server.take, write, partial(self._on_result, write)))

    def _on_result(self, write: ModelWrite, result: ModelWriteResult) -> None:
        self._busy = False
        now = self._context.queue.now
        if self.viewed_at is None and result.kind is RequestResultKind.SUCCEEDED:
            self._check_view(result.view, now)
        self._model.on_result(write, result, now, self._jitter())
        self._decide()
