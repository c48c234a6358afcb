"""The API server and its store: how a write is carried out, how often it has to be tried, and who is told.

A write that names a version is answered 409 if the version is another. A write that names none is tried inside the
server until nobody has come in between: there applies pay for what they do not have to repeat outside.
"""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from grove_core.areas.domain_cliques.verdicts import ResultKind
from grove_shell.converge.model.interfaces import CONTROLLER_NUMBER, DOMAIN_NUMBER, ModelWrite, ObjectStore, WriteResult
from grove_shell.converge.model.model_context import ModelContext
from grove_shell.converge.model.sizes import DOMAIN_BYTES, RECORD_BYTES, SIZES
from grove_shell.converge.model.watches import CommittedChange, Watches

OnList = Callable[[int, Any], None]
OnResult = Callable[[WriteResult], None]
_MILLI = 1_000


@dataclass(slots=True, eq=False)
class _Request:
    """A write on its way through the server.

    Attributes:
        due: when it is given up.
        seen: the version it was worked out on.
        tried: whether it lost a comparison before.
        waiting: for a seat.
    """

    write: ModelWrite
    answer: OnResult
    due: int
    seen: int = 0
    tried: bool = False
    waiting: bool = False


class SimulatedServer:
    """One API server with its store.

    Attributes:
        store_us: processor time that the store took.
    """

    def __init__(self, context: ModelContext, store: ObjectStore, watches: Watches) -> None:
        self._participants = context.participants
        self._costs = context.costs
        self._agenda = context.agenda
        self._processor = context.processor
        self._counters = context.counters
        self._store = store
        self._watches = watches
        self._sizes = SIZES[context.participants.point.protocol]
        self._wire = round(context.costs.wire_us)
        self._counts = [0] * (1 + context.participants.point.cliques)
        self._written: set[int] = set()
        self._free = context.costs.seats
        self._queue: deque[_Request] = deque()
        self.store_us = 0

    def size(self, object_number: int) -> int:
        """Bytes of an object."""
        if object_number == DOMAIN_NUMBER and self._participants.point.protocol.sharded:
            return DOMAIN_BYTES + self._counts[DOMAIN_NUMBER] * RECORD_BYTES
        return self._sizes.stored(self._counts[object_number])

    def body(self, write: ModelWrite) -> int:
        """Bytes that a daemon sends for a write, were it built now."""
        return self._sizes.sent(self._counts[write.object_number] + (write.writer not in self._written))

    def counts_of_registers(self) -> list[int]:
        """Entries in each object that daemons register in."""
        return self._counts[1:] if self._participants.point.protocol.sharded else self._counts[:1]

    def show(self, daemon: int, listed: OnList) -> None:
        """A daemon lists its object, and watches it from there."""
        clique = self._participants.point.clique_of(daemon)
        object_number = self._participants.object_number_of(clique)

        def cost() -> int:
            return round(self._costs.request_us + self._costs.put_ns_per_byte * self.size(object_number) / _MILLI)

        def done() -> None:
            self._watches.begin(daemon)
            version = self._store.version(object_number) or self._store.latest
            answer = partial(listed, version, self._store.view(object_number, clique))
            self._agenda.schedule_after(self._wire, answer)

        self._processor.submit(cost, done)

    def take(self, write: ModelWrite, answer: OnResult) -> None:
        """A write has arrived."""
        now = self._agenda.now
        request = _Request(write, answer, now + self._costs.request_limit_ms * _MILLI)
        if self._free:
            self._free -= 1
            self._work(request)
        else:
            request.waiting = True
            self._queue.append(request)
            self._agenda.schedule_after(self._costs.seat_wait_ms * _MILLI, partial(self._turn_away, request))

    def _turn_away(self, request: _Request) -> None:
        if request.waiting:
            request.waiting = False
            self._counters.throttled += request.write.writer != CONTROLLER_NUMBER
            self._agenda.schedule_after(self._wire, partial(request.answer, WriteResult(ResultKind.TOO_MANY_REQUESTS)))

    def _work(self, request: _Request) -> None:
        self._processor.submit(partial(self._cost, request), partial(self._worked, request))

    def _cost(self, request: _Request) -> int:
        """Work it out on what is stored by now: decode, merge or validate, encode."""
        write, costs = request.write, self._costs
        request.seen = self._store.version(write.object_number)
        applies = write.writer == CONTROLLER_NUMBER or self._participants.point.protocol.uses_apply
        per_byte = costs.merge_ns_per_byte if applies else costs.put_ns_per_byte
        if write.base is not None and write.base != request.seen:
            per_byte = costs.stale_ns_per_byte
        fixed = 0.0 if request.tried else costs.request_us
        return round(fixed + per_byte * self.size(write.object_number) / _MILLI)

    def _worked(self, request: _Request) -> None:
        write = request.write
        if write.base is not None and write.base != self._store.version(write.object_number):
            self._refuse(request)
        elif self._agenda.now > request.due:
            self._counters.timeouts += write.writer != CONTROLLER_NUMBER
            self._end(request, WriteResult(ResultKind.NO_RESPONSE))
        elif not self._store.changes(write):
            self._succeed(request)
        else:
            cost = round(self._costs.store_us)
            self.store_us += cost
            later = partial(self._agenda.schedule_after, round(self._costs.commit_us), partial(self._commit, request))
            self._processor.submit(lambda: cost, later)

    def _commit(self, request: _Request) -> None:
        """The store compares, and swaps."""
        write = request.write
        if request.seen != self._store.version(write.object_number):
            self._counters.cas_failures += 1
            if write.base is not None:
                self._refuse(request)
            else:
                request.tried = True
                self._work(request)
            return
        self._store.carry_out(write)
        self._count(write)
        self._succeed(request)
        self._tell(write)

    def _count(self, write: ModelWrite) -> None:
        if write.writer == CONTROLLER_NUMBER:
            self._counts[DOMAIN_NUMBER] = max(self._counts[DOMAIN_NUMBER], write.records)
        elif write.writer not in self._written:
            self._written.add(write.writer)
            self._counts[write.object_number] += 1

    def _tell(self, write: ModelWrite) -> None:
        store, object_number = self._store, write.object_number
        clique = None if write.writer == CONTROLLER_NUMBER else self._participants.point.clique_of(write.writer)
        view = store.view(object_number, clique) if clique is not None else None
        news = CommittedChange(
            object_number, store.version(object_number), clique, view, store.says_ready(), self.size(object_number)
        )
        self._watches.tell(
            news, [store.view(object_number, one) for one in self._participants.cliques_in(object_number)]
        )

    def _refuse(self, request: _Request) -> None:
        self._counters.conflicts += request.write.writer != CONTROLLER_NUMBER
        self._end(request, WriteResult(ResultKind.CONFLICT))

    def _succeed(self, request: _Request) -> None:
        write = request.write
        if write.writer == CONTROLLER_NUMBER:
            self._counters.controller_writes += 1
            self._end(request, WriteResult(ResultKind.SUCCEEDED, self._store.version(write.object_number)))
            return
        self._counters.writes += 1
        self._counters.repicks += write.moves
        view = self._store.view(write.object_number, self._participants.point.clique_of(write.writer))
        self._end(request, WriteResult(ResultKind.SUCCEEDED, self._store.version(write.object_number), view))

    def _end(self, request: _Request, told: WriteResult) -> None:
        self._agenda.schedule_after(self._wire, partial(request.answer, told))
        while self._queue:
            following = self._queue.popleft()
            if following.waiting:
                following.waiting = False
                self._work(following)
                return
        self._free += 1
