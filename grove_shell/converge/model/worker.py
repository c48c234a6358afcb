"""One daemon at work: one thing after the other, one request at a time, and a limiter between it and the server."""

import random
from functools import partial
from typing import Any

from grove_core.areas.domain_cliques.verdicts import Reply
from grove_shell.converge.model.bucket import Bucket
from grove_shell.converge.model.seams import Later, Local, Mind, Told, Write
from grove_shell.converge.model.server import Server
from grove_shell.converge.model.stage import Stage

SECOND = 1_000_000
_FINEST = 1_000
_LEAST, _MOST = 750, 1_250


class Worker:
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
        "_look_at",
        "_mind",
        "_number",
        "_server",
        "_size",
        "_stage",
        "arrives_at",
        "pushed_at",
        "ready_after",
        "starts",
        "viewed_at",
    )

    def __init__(self, number: int, mind: Mind, stage: Stage, server: Server) -> None:
        point = stage.cast.point
        self._number = number
        self._mind = mind
        self._stage = stage
        self._server = server
        self._bucket = Bucket(point)
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
        wire = round(self._stage.costs.wire_us)
        sent = self._bucket.take(self._stage.agenda.now)
        self._stage.agenda.at(sent + wire, partial(self._server.show, self._number, self.hears))

    def hears(self, version: int, view: Any) -> None:  # noqa: ANN401 - as its mind has it
        """An event of its watch, or its first list."""
        now = self._stage.agenda.now
        if self.viewed_at is None and view is not None:
            self._notes(view, now)
        if self._mind.sees(version, view, now, self._jitter()) and not self._busy:
            self._look()

    def _jitter(self) -> float:
        """A factor of whole thousandths, so that a delay times it is a whole number of microseconds."""
        return (_LEAST + int(self._chance.random() * (_MOST - _LEAST))) / _FINEST

    def _notes(self, view: Any, now: int) -> None:  # noqa: ANN401 - as above
        if view.count == self._size and not view.shared:
            self.viewed_at = now

    def _look(self) -> None:
        agenda = self._stage.agenda
        deed = self._mind.looks(agenda.now)
        while deed is Local.START:
            self._mind.started()
            if self.pushed_at is None:
                self.pushed_at = agenda.now
            self.starts += 1
            agenda.after(self.ready_after, partial(self._ready, self.starts))
            deed = self._mind.looks(agenda.now)
        if isinstance(deed, Write):
            self._send(deed)
        elif isinstance(deed, Later) and (self._look_at is None or deed.until < self._look_at):
            self._look_at = deed.until
            agenda.at(deed.until, partial(self._wake, deed.until))

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
        self._mind.is_ready()
        if not self._busy:
            self._look()

    def _send(self, write: Write) -> None:
        """The request is built, and waits for the limiter as it is."""
        self._busy = True
        self._stage.ledger.uploaded_bytes += self._server.body(write)
        sent = self._bucket.take(self._stage.agenda.now)
        arrives = sent + round(self._stage.costs.wire_us)
        self._stage.agenda.at(arrives, partial(self._server.take, write, partial(self._answered, write)))

    def _answered(self, write: Write, told: Told) -> None:
        self._busy = False
        now = self._stage.agenda.now
        if self.viewed_at is None and told.reply is Reply.DONE:
            self._notes(told.view, now)
        self._mind.answered(write, told, now, self._jitter())
        self._look()
