"""One daemon at work: one thing after the other, one request at a time, and a limiter between it and the server."""

import random
from functools import partial
from typing import Any

from grove_core.areas.domain_cliques.verdicts import ResultKind
from grove_shell.converge.model.interfaces import DaemonModel, LocalAction, ModelWrite, WakeAt, WriteResult
from grove_shell.converge.model.model_context import ModelContext
from grove_shell.converge.model.simulated_server import SimulatedServer
from grove_shell.converge.model.virtual_limiter import VirtualLimiter

SECOND = 1_000_000
_FINEST = 1_000
_LEAST, _MOST = 750, 1_250


class SimulatedDaemon:
    """A daemon's process.

    Attributes:
        arrives_at: when it starts, in microseconds.
        ready_after: how long its fabric daemon needs until it is ready.
        starts: how often it has started its fabric daemon.
        viewed_at: when its view first showed its whole clique and no shared index; None until then.
        pushed_at: when it first started its fabric daemon; None until then.
    """

    __slots__ = (
        "_bucket",
        "_busy",
        "_chance",
        "_context",
        "_look_at",
        "_model",
        "_number",
        "_server",
        "_size",
        "arrives_at",
        "pushed_at",
        "ready_after",
        "starts",
        "viewed_at",
    )

    def __init__(self, number: int, mind: DaemonModel, context: ModelContext, server: SimulatedServer) -> None:
        point = context.participants.point
        self._number = number
        self._model = mind
        self._context = context
        self._server = server
        self._bucket = VirtualLimiter(point)
        self._chance = random.Random(f"{point.seed} {number}")  # noqa: S311 - an experiment, no secret
        self._busy = False
        self.starts = 0
        self._look_at: int | None = None
        self._size = point.size_of(point.clique_of(number))
        self.arrives_at = round(self._chance.random() * point.arrival_s * SECOND)
        self.ready_after = round((1 + self._chance.random()) * point.readiness_s * SECOND)
        self.viewed_at: int | None = None
        self.pushed_at: int | None = None

    def start(self) -> None:
        """List, and watch from there."""
        wire = round(self._context.costs.wire_us)
        sent = self._bucket.take(self._context.agenda.now)
        self._context.agenda.schedule(sent + wire, partial(self._server.show, self._number, self.hears))

    def hears(self, version: int, view: Any) -> None:  # noqa: ANN401 - as its mind has it
        """An event of its watch, or its first list."""
        now = self._context.agenda.now
        if self.viewed_at is None and view is not None:
            self._notes(view, now)
        if self._model.sees(version, view, now, self._jitter()) and not self._busy:
            self._look()

    def _jitter(self) -> float:
        """A factor of whole thousandths, so that a delay times it is a whole number of microseconds."""
        return (_LEAST + int(self._chance.random() * (_MOST - _LEAST))) / _FINEST

    def _notes(self, view: Any, now: int) -> None:  # noqa: ANN401 - as above
        if view.count == self._size and not view.shared:
            self.viewed_at = now

    def _look(self) -> None:
        agenda = self._context.agenda
        action = self._model.looks(agenda.now)
        while action is LocalAction.START:
            self._model.started()
            if self.pushed_at is None:
                self.pushed_at = agenda.now
            self.starts += 1
            agenda.schedule_after(self.ready_after, partial(self._ready, self.starts))
            action = self._model.looks(agenda.now)
        if isinstance(action, ModelWrite):
            self._send(action)
        elif isinstance(action, WakeAt) and (self._look_at is None or action.until < self._look_at):
            self._look_at = action.until
            agenda.schedule(action.until, partial(self._wake, action.until))

    def _wake(self, moment: int) -> None:
        if self._look_at != moment:
            return
        self._look_at = None
        if not self._busy:
            self._look()

    def _ready(self, start: int) -> None:
        """The fabric daemon is ready, unless it was started anew since."""
        if start != self.starts:
            return
        self._model.is_ready()
        if not self._busy:
            self._look()

    def _send(self, write: ModelWrite) -> None:
        """The request is built, and waits for the limiter as it is."""
        self._busy = True
        self._context.counters.uploaded_bytes += self._server.body(write)
        sent = self._bucket.take(self._context.agenda.now)
        arrives = sent + round(self._context.costs.wire_us)
        self._context.agenda.schedule(arrives, partial(self._server.take, write, partial(self._answered, write)))

    def _answered(self, write: ModelWrite, told: WriteResult) -> None:
        self._busy = False
        now = self._context.agenda.now
        if self.viewed_at is None and told.kind is ResultKind.SUCCEEDED:
            self._notes(told.view, now)
        self._model.answered(write, told, now, self._jitter())
        self._look()
