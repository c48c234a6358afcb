"""The API server and its store: how a write is executed, how often it is tried, and which watchers get an event.

A write with a version gets 409 if the object has another version. A write without a version is tried again inside the
server until no other write came first. Server-side apply pays there for the retries that its client is spared.
"""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from grove_core.areas.domain_cliques.daemon.verdicts import RequestResultKind
from grove_shell.converge.model.model_object_store import CommittedObjectChange, ModelObjectStore, ModelServerWatches
from grove_shell.converge.model.model_run_context import (
    CONTROLLER_NUMBER,
    DOMAIN_NUMBER,
    ModelRunContext,
    ModelWrite,
    ModelWriteResult,
)
from grove_shell.converge.model.server_costs import DOMAIN_BYTES, RECORD_BYTES, SIZES

OnList = Callable[[int, Any], None]
OnResult = Callable[[ModelWriteResult], None]
_MILLI = 1_000


@dataclass(slots=True, eq=False)
class _Request:
    """A write in the server.

    Attributes:
        deadline: when it fails with 504.
        base: the version its present try is based on.
        is_retry: whether an earlier try lost its comparison.
        is_queued: whether it waits for a seat.
    """

    write: ModelWrite
    on_result: OnResult
    deadline: int
    base: int = 0
    is_retry: bool = False
    is_queued: bool = False


class SimulatedApiServer:
    """One API server with its store.

    Attributes:
        store_us: processor time of the store.
    """

    def __init__(self, context: ModelRunContext, store: ModelObjectStore, watches: ModelServerWatches) -> None:
        self._participants = context.participants
        self._costs = context.costs
        self._events = context.queue
        self._processor = context.processor
        self._counters = context.counters
        self._store = store
        self._watches = watches
        self._sizes = SIZES[context.participants.point.protocol]
        self._wire = round(context.costs.wire_us)
        self._counts = [0] * (1 + context.participants.point.clique_count)
        self._registered: set[int] = set()
        self._free_seats = context.costs.seats
        self._waiting: deque[_Request] = deque()
        self.store_us = 0

    def object_bytes(self, object_number: int) -> int:
        """Return the bytes of an object."""
        if object_number == DOMAIN_NUMBER and self._participants.point.protocol.sharded:
            return DOMAIN_BYTES + self._counts[DOMAIN_NUMBER] * RECORD_BYTES
        return self._sizes.stored_object_bytes(self._counts[object_number])

    def write_body_bytes(self, write: ModelWrite) -> int:
        """Return the bytes that a daemon sends for a write, built now."""
        return self._sizes.write_body_bytes(self._counts[write.object_number] + (write.writer not in self._registered))

    def entry_count_of_each_object(self) -> list[int]:
        """Return the number of entries of each object in which daemons register."""
        return self._counts[1:] if self._participants.point.protocol.sharded else self._counts[:1]

    def list_and_watch_registry(self, daemon: int, on_list: OnList) -> None:
        """List the registry of a daemon, and start its watch."""
        clique = self._participants.point.clique_number_of_daemon(daemon)
        object_number = self._participants.registry_object_number_of(clique)

        def cost() -> int:
            return round(
                self._costs.request_us + self._costs.put_ns_per_byte * self.object_bytes(object_number) / _MILLI
            )

        def done() -> None:
            self._watches.start_watch(daemon)
            version = self._store.version_of_object(object_number) or self._store.latest_version
            response = partial(on_list, version, self._store.clique_view(object_number, clique))
            self._events.schedule_after(self._wire, response)

        self._processor.submit_job(cost, done)

    def accept_write(self, write: ModelWrite, on_result: OnResult) -> None:
        """Accept a write; it waits if all seats are taken."""
        now = self._events.now
        request = _Request(write, on_result, now + self._costs.request_limit_ms * _MILLI)
        if self._free_seats:
            self._free_seats -= 1
            self._try(request)
        else:
            request.is_queued = True
            self._waiting.append(request)
            self._events.schedule_after(self._costs.seat_wait_ms * _MILLI, partial(self._reject_if_queued, request))

    def _reject_if_queued(self, request: _Request) -> None:
        if request.is_queued:
            request.is_queued = False
            self._counters.throttled += request.write.writer != CONTROLLER_NUMBER
            result = ModelWriteResult(RequestResultKind.TOO_MANY_REQUESTS)
            self._events.schedule_after(self._wire, partial(request.on_result, result))

    def _try(self, request: _Request) -> None:
        self._processor.submit_job(partial(self._cost, request), partial(self._tried, request))

    def _cost(self, request: _Request) -> int:
        """Processor time to decode, merge or validate, and encode, with the object as stored now."""
        write, costs = request.write, self._costs
        request.base = self._store.version_of_object(write.object_number)
        is_apply = write.writer == CONTROLLER_NUMBER or self._participants.point.protocol.uses_apply
        per_byte = costs.merge_ns_per_byte if is_apply else costs.put_ns_per_byte
        if write.base is not None and write.base != request.base:
            per_byte = costs.stale_ns_per_byte
        fixed = 0.0 if request.is_retry else costs.request_us
        return round(fixed + per_byte * self.object_bytes(write.object_number) / _MILLI)

    def _tried(self, request: _Request) -> None:
        write = request.write
        if write.base is not None and write.base != self._store.version_of_object(write.object_number):
            self._conflict(request)
        elif self._events.now > request.deadline:
            self._counters.timeouts += write.writer != CONTROLLER_NUMBER
            self._end(request, ModelWriteResult(RequestResultKind.NO_RESPONSE))
        elif not self._store.changes_anything(write):
            self._succeed(request)
        else:
            cost = round(self._costs.store_us)
            self.store_us += cost
            commit = partial(self._events.schedule_after, round(self._costs.commit_us), partial(self._commit, request))
            self._processor.submit_job(lambda: cost, commit)

    def _commit(self, request: _Request) -> None:
        """Store the write if its object has not changed since it was read; else answer a conflict, or try again."""
        write = request.write
        if request.base != self._store.version_of_object(write.object_number):
            self._counters.cas_failures += 1
            if write.base is not None:
                self._conflict(request)
            else:
                request.is_retry = True
                self._try(request)
            return
        self._store.apply_write(write)
        self._count(write)
        self._succeed(request)
        self._publish(write)

    def _count(self, write: ModelWrite) -> None:
        if write.writer == CONTROLLER_NUMBER:
            self._counts[DOMAIN_NUMBER] = max(self._counts[DOMAIN_NUMBER], write.records)
        elif write.writer not in self._registered:
            self._registered.add(write.writer)
            self._counts[write.object_number] += 1

    def _publish(self, write: ModelWrite) -> None:
        store, object_number = self._store, write.object_number
        clique = (
            None
            if write.writer == CONTROLLER_NUMBER
            else self._participants.point.clique_number_of_daemon(write.writer)
        )
        change = CommittedObjectChange(
            object_number=object_number,
            version=store.version_of_object(object_number),
            clique=clique,
            view=store.clique_view(object_number, clique) if clique is not None else None,
            is_domain_ready=store.is_domain_ready(),
            size=self.object_bytes(object_number),
        )
        views = [
            store.clique_view(object_number, one) for one in self._participants.cliques_registered_in(object_number)
        ]
        self._watches.send_change_to_watchers(change, views)

    def _conflict(self, request: _Request) -> None:
        self._counters.conflicts += request.write.writer != CONTROLLER_NUMBER
        self._end(request, ModelWriteResult(RequestResultKind.CONFLICT))

    def _succeed(self, request: _Request) -> None:
        write = request.write
        if write.writer == CONTROLLER_NUMBER:
            self._counters.controller_writes += 1
            self._end(
                request,
                ModelWriteResult(RequestResultKind.SUCCEEDED, self._store.version_of_object(write.object_number)),
            )
            return
        self._counters.writes += 1
        self._counters.repicks += write.moves
        view = self._store.clique_view(
            write.object_number, self._participants.point.clique_number_of_daemon(write.writer)
        )
        self._end(
            request,
            ModelWriteResult(RequestResultKind.SUCCEEDED, self._store.version_of_object(write.object_number), view),
        )

    def _end(self, request: _Request, result: ModelWriteResult) -> None:
        """Send the result, and give the seat to the next request that still waits."""
        self._events.schedule_after(self._wire, partial(request.on_result, result))
        while self._waiting:
            waiting = self._waiting.popleft()
            if waiting.is_queued:
                waiting.is_queued = False
                self._try(waiting)
                return
        self._free_seats += 1
