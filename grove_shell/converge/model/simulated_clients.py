"""The clients of a model run: the daemons and the controller, each with one request at a time and a rate limiter."""

import random
from functools import partial
from typing import Any, Final, TypeAlias

from grove_core.areas.domain_cliques.daemon.verdicts import RequestResultKind
from grove_core.resources.compute_domain import NOT_READY, READY
from grove_shell.converge.model.daemon_model import DomainDaemonModel
from grove_shell.converge.model.model_object_store import CommittedObjectChange, ModelNvlinkCliqueState
from grove_shell.converge.model.model_run_context import (
    CONTROLLER_NUMBER,
    DOMAIN_NUMBER,
    DaemonActionWithoutRequest,
    DecideAgainAt,
    ModelDaemonsAndRegistries,
    ModelRunContext,
    ModelWrite,
    ModelWriteResult,
    VirtualRateLimiter,
)
from grove_shell.converge.model.simulated_server import SimulatedApiServer

SECOND = 1_000_000
_JITTER_STEPS = 1_000
_MIN_JITTER, _MAX_JITTER = 750, 1_250


class SimulatedDomainDaemon:
    """One daemon process. Times are in microseconds.

    Attributes:
        arrives_at: when it starts.
        ready_after: how long its fabric daemon needs to become ready.
        starts: how often it has started its fabric daemon.
        viewed_at: when it first observed its whole clique without duplicate indices; None until then.
        pushed_at: when it first started its fabric daemon; None until then.
    """

    def __init__(
        self, number: int, model: DomainDaemonModel, context: ModelRunContext, server: SimulatedApiServer
    ) -> None:
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
        self._clique_size = point.daemon_count_of_clique(point.clique_number_of_daemon(number))
        self.arrives_at = round(self._chance.random() * point.arrival_s * SECOND)
        self.ready_after = round((1 + self._chance.random()) * point.readiness_s * SECOND)
        self.viewed_at: int | None = None
        self.pushed_at: int | None = None

    def list_and_watch(self) -> None:
        """List the registry and watch it."""
        wire = round(self._context.costs.wire_us)
        sent_at = self._limiter.take_token(self._context.queue.now)
        self._context.queue.schedule(
            sent_at + wire, partial(self._server.list_and_watch_registry, self._number, self.on_watch_event)
        )

    def on_watch_event(self, version: int, view: Any) -> None:  # noqa: ANN401 - a view of its model
        """Apply a watch event or the first list."""
        now = self._context.queue.now
        if self.viewed_at is None and view is not None:
            self._check_view(view, now)
        if self._model.on_watch_event(version, view, now, self._jitter()) and not self._busy:
            self._decide()

    def _jitter(self) -> float:
        """A factor in whole thousandths, so that a delay times it is a whole number of microseconds."""
        return (_MIN_JITTER + int(self._chance.random() * (_MAX_JITTER - _MIN_JITTER))) / _JITTER_STEPS

    def _check_view(self, view: Any, now: int) -> None:  # noqa: ANN401 - as above
        if view.count == self._clique_size and not view.has_duplicates:
            self.viewed_at = now

    def _decide(self) -> None:
        queue = self._context.queue
        action = self._model.decide_next_action(queue.now)
        while action is DaemonActionWithoutRequest.START:
            self._model.on_fabric_start()
            if self.pushed_at is None:
                self.pushed_at = queue.now
            self.starts += 1
            queue.schedule_after(self.ready_after, partial(self._on_fabric_ready, self.starts))
            action = self._model.decide_next_action(queue.now)
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
        self._context.counters.uploaded_bytes += self._server.write_body_bytes(write)
        sent_at = self._limiter.take_token(self._context.queue.now)
        arrives = sent_at + round(self._context.costs.wire_us)
        self._context.queue.schedule(
            arrives, partial(self._server.accept_write, write, partial(self._on_result, write))
        )

    def _on_result(self, write: ModelWrite, result: ModelWriteResult) -> None:
        self._busy = False
        now = self._context.queue.now
        if self.viewed_at is None and result.kind is RequestResultKind.SUCCEEDED:
            self._check_view(result.view, now)
        self._model.on_write_result(write, result, now, self._jitter())
        self._decide()


_Status: TypeAlias = tuple[str, dict[int, str]]
"""Readiness of the domain, and of each clique that has an object."""
_NO_STATUS: Final[_Status] = ("", {})


class DomainControllerModel:
    """A clique is Ready if it has daemons and all are; the domain if enough are registered and all are (DC-083)."""

    def __init__(self, participants: ModelDaemonsAndRegistries) -> None:
        self._participants = participants
        self._version = 1
        self._stored = _NO_STATUS
        self._counts: dict[int, tuple[int, int]] = {}
        self._records: dict[int, str] = {}
        self._count = self._ready = 0

    def on_watch_event(
        self, object_number: int, version: int, clique: int | None, view: ModelNvlinkCliqueState
    ) -> None:
        """Apply an event; events of one object arrive in the order of versions (CV-005).

        Args:
            object_number: ``DOMAIN_NUMBER``, or the number of a clique's object.
            version: of the object.
            clique: number of the changed clique; None if only the status of the domain changed.
            view: of that clique.
        """
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

    def decide_next_write(self, at: int) -> ModelWrite | None:  # noqa: ARG002 - counts have no clock
        """Return the next write; None if there is nothing to write."""
        ready = self._count >= self._participants.point.nodes and self._ready == self._count
        readiness = READY if ready else NOT_READY
        if (readiness, self._records) == self._stored:
            return None
        status = (readiness, dict(self._records))
        return ModelWrite(
            CONTROLLER_NUMBER, DOMAIN_NUMBER, ready=ready, records=len(status[1]), base=self._version, content=status
        )

    def on_write_result(self, write: ModelWrite, result: ModelWriteResult) -> None:
        """Apply the result of its write."""
        if result.kind is RequestResultKind.SUCCEEDED:
            self._stored = write.content
            self._version = max(self._version, result.version)


_FIRST_BACKOFF: Final = 5_000
_MAX_BACKOFF: Final = 6_000_000
_MAX_DOUBLINGS: Final = 32


class SimulatedDomainController:
    """Decides once about all changes that arrived while it waited or wrote."""

    def __init__(self, model: DomainControllerModel, context: ModelRunContext, server: SimulatedApiServer) -> None:
        self._model = model
        self._context = context
        self._server = server
        self._limiter = VirtualRateLimiter(context.participants.point)
        self._busy = False
        self._changed = False
        self._failures = 0

    def schedule_first_decision(self) -> None:
        """Schedule the first decision."""
        self._schedule(_FIRST_BACKOFF)

    def on_object_change(self, change: CommittedObjectChange) -> None:
        """Apply a watch event."""
        self._model.on_watch_event(change.object_number, change.version, change.clique, change.view)
        self._changed = True
        if not self._busy:
            self._schedule(_FIRST_BACKOFF)

    def _schedule(self, delay: int) -> None:
        self._busy, self._changed = True, False
        self._context.queue.schedule_after(delay, self._decide)

    def _decide(self) -> None:
        self._changed = False
        write = self._model.decide_next_write(self._context.queue.now)
        if write is None:
            self._busy = False
            return
        arrives = self._limiter.take_token(self._context.queue.now) + round(self._context.costs.wire_us)
        self._context.queue.schedule(
            arrives, partial(self._server.accept_write, write, partial(self._on_result, write))
        )

    def _on_result(self, write: ModelWrite, result: ModelWriteResult) -> None:
        self._model.on_write_result(write, result)
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
