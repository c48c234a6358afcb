"""Some of the daemons of a run, in one process: each with its own watch, rate limiter and state."""

import asyncio
import random
import signal
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing.connection import Connection as Pipe
from typing import Final, assert_never

from grove_core.areas.domain_cliques.daemon.daemon_input import DaemonIdentity, FabricDaemonState, daemon_entry_of_node
from grove_core.areas.domain_cliques.daemon.verdicts import (
    ApplyRequest,
    DaemonAction,
    DaemonRequest,
    PeerMap,
    PodsListed,
    PostRequest,
    PutRequest,
    RequestFailed,
    RequestResult,
    RequestResultKind,
    RequestSucceeded,
    StartFabricAction,
    TooManyRequests,
)
from grove_core.kernel.decisions import Decision
from grove_core.kernel.structs import replace
from grove_core.resources.daemon_entry_lists import DaemonRegistry
from grove_shell.client.api_session import ApiSession
from grove_shell.client.connection_settings import read_connection_settings
from grove_shell.client.rate_limiter import RateLimiter
from grove_shell.converge.cluster.run_watches import CachingWatchDecoder
from grove_shell.converge.run_parameters_and_results import ConvergenceRunParameters
from grove_shell.domain_daemon.daemon_process import SingleObjectWatch
from grove_shell.domain_daemon.daemon_requests import CLIQUES, DOMAINS, REQUEST_TIMEOUT_S, DaemonRequestSender
from grove_shell.domain_daemon.domain_daemon_loop import DomainDaemon, MonotonicClock
from grove_shell.python_gc import exempt_existing_objects_from_gc

IN_FLIGHT: Final = 10_000
_QUIET_S: Final = 0.3
_MAX_DRAIN_S: Final = 10.0


@dataclass(frozen=True, slots=True)
class DaemonPoolTask:
    """The daemons that one process runs.

    Attributes:
        numbers: of the daemons, in the same order.
        start: when the run begins, on the monotonic clock that all processes of a machine share.
    """

    point: ConvergenceRunParameters
    daemons: tuple[DaemonIdentity, ...]
    numbers: tuple[int, ...]
    kubeconfig: str
    start: float


@dataclass(slots=True)
class DaemonPoolCounters:
    """What the daemons of a process counted; times in seconds since the start of the run.

    Attributes:
        pushed: when each daemon first started its fabric daemon.
        viewed: when each daemon first observed its whole clique without duplicate indices.
        refused: error messages of the server.
        faults: of daemons that crashed; such a run is no result (CV-060).
    """

    pushed: list[float] = field(default_factory=list)
    viewed: list[float] = field(default_factory=list)
    writes: int = 0
    conflicts: int = 0
    throttled: int = 0
    timeouts: int = 0
    refused: list[str] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    repicks: int = 0
    uploaded_bytes: int = 0
    watch_events: int = 0
    watch_bytes: int = 0
    decoded: int = 0
    cpu_s: float = 0.0


def daemon_rate_limiter_of_run(point: ConvergenceRunParameters) -> RateLimiter | None:
    """Return a full rate limiter for one client; None if the point has no limit (CV-060)."""
    return RateLimiter(point.rate, point.burst) if point.rate else None


class SimulatedFabricProcess:
    """A fabric daemon without a process that becomes ready after a fixed time; see :class:`FabricProcess`."""

    def __init__(self, ready_after: float) -> None:
        """Start without a fabric daemon; ``ready_after`` is in seconds."""
        self.fabric_state: FabricDaemonState | None = None
        self.on_change: Callable[[], None] = lambda: None
        self._ready_after = ready_after

    async def start(self, index: int, peers: PeerMap) -> None:
        """Start it; if it is stopped before, it does not become ready."""
        started = self.fabric_state = FabricDaemonState(index, peers)
        asyncio.get_running_loop().call_later(self._ready_after, self._set_ready, started.index)

    async def push_peer_map(self, peers: PeerMap) -> None:
        """Store the peer map."""
        if self.fabric_state is not None:
            self.fabric_state = replace(self.fabric_state, peers=peers)

    async def stop(self) -> None:
        """Stop it."""
        self.fabric_state = None

    def _set_ready(self, index: int) -> None:
        if self.fabric_state is not None and self.fabric_state.index == index:
            self.fabric_state = replace(self.fabric_state, ready=True)
            self.on_change()


class ConvergenceExperimentDaemon:
    """One daemon of a run; observes it and counts."""

    def __init__(
        self, task: DaemonPoolTask, position: int, counts: DaemonPoolCounters, decoder: CachingWatchDecoder
    ) -> None:
        point = task.point
        self.identity = task.daemons[position]
        number = task.numbers[position]
        chance = random.Random(f"{point.seed} {number}")  # noqa: S311 - an experiment, no secret
        self._arrives = task.start + chance.random() * point.arrival_s
        self._fabric = SimulatedFabricProcess((1 + chance.random()) * point.readiness_s)
        self._task = task
        self._counts = counts
        self._decoder = decoder
        self._clique_size = point.daemon_count_of_clique(point.clique_number_of_daemon(number))
        self._pushed = self._viewed = False
        self._written_index: int | None = None

    async def run(self, api: ApiSession) -> None:
        """Run from the arrival of the daemon until cancelled."""
        await asyncio.sleep(max(self._arrives - time.monotonic(), 0))
        point, identity = self._task.point, self.identity
        limiter = daemon_rate_limiter_of_run(point)
        sender = DaemonRequestSender(api, identity, limiter, on_send=self._on_send)
        daemon = DomainDaemon(identity, point.daemon_settings, sender, self._fabric, self, MonotonicClock())
        self._fabric.on_change = daemon.decide_again
        sharded = point.protocol.sharded
        ref = identity.registry_ref(sharded=sharded)

        def on_change(version: int, registry: DaemonRegistry | None) -> None:
            self._check_view(registry)
            daemon.on_registry_change(version, registry)

        kind, key = CLIQUES if sharded else DOMAINS, (ref.namespace, ref.name)
        decoder = self._decoder
        watch = SingleObjectWatch(
            api, kind, key, decoder.parse_registry, on_change, limiter=limiter, parse_event=decoder.decode_watch_line
        )
        async with asyncio.TaskGroup() as group:
            group.create_task(watch.run())
            group.create_task(daemon.run())

    def on_decision(self, decision: Decision[DaemonAction]) -> None:
        """See :class:`DomainDaemonObserver`."""
        if isinstance(decision.verdict, StartFabricAction) and not self._pushed:
            self._pushed = True
            self._counts.pushed.append(time.monotonic() - self._task.start)

    def on_request_result(self, request: DaemonRequest, result: RequestResult) -> None:
        """See :class:`DomainDaemonObserver`."""
        counts = self._counts
        match result:
            case RequestSucceeded(registry):
                if isinstance(request, ApplyRequest | PutRequest | PostRequest):
                    counts.writes += 1
                    counts.repicks += self._has_changed_index(registry)
                self._check_view(registry)
            case PodsListed():
                pass
            case TooManyRequests():
                counts.throttled += 1
            case RequestFailed():
                self._count_failure(result)
            case _:
                assert_never(result)

    def _has_changed_index(self, registry: DaemonRegistry | None) -> bool:
        """Return whether a write gave the daemon another index than its write before; ``registry`` is the response."""
        own = None if registry is None else daemon_entry_of_node(self.identity.node, registry.daemon_entries)
        before, self._written_index = self._written_index, self._written_index if own is None else own.index
        return before is not None and before != self._written_index

    def _count_failure(self, result: RequestFailed) -> None:
        match result.kind:
            case RequestResultKind.CONFLICT | RequestResultKind.FIELD_CONFLICT:
                self._counts.conflicts += 1
            case RequestResultKind.NO_RESPONSE:
                self._counts.timeouts += 1
            case RequestResultKind.REFUSED | RequestResultKind.NOT_FOUND:
                self._counts.refused.append(result.detail)
            case _:
                assert_never(result.kind)

    def _on_send(self, length: int) -> None:
        self._counts.uploaded_bytes += length

    def _check_view(self, registry: DaemonRegistry | None) -> None:
        """Record when the daemon first observes its whole clique without duplicate indices."""
        if self._viewed or registry is None:
            return
        count, has_duplicates = self._decoder.entry_count_and_index_conflict(registry, self.identity.clique)
        if count == self._clique_size and not has_duplicates:
            self._viewed = True
            self._counts.viewed.append(time.monotonic() - self._task.start)


def run_experiment_daemon_pool(pipe: Pipe) -> None:
    """Run the daemons of one task; the main function of a process.

    Sends a message when the process is ready, receives a :class:`DaemonPoolTask`, runs it until the next
    message, and sends :class:`DaemonPoolCounters`.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    pipe.send("ready")
    task: DaemonPoolTask = pipe.recv()
    exempt_existing_objects_from_gc()
    pipe.send(asyncio.run(_run_task(task, pipe)))


async def _run_task(task: DaemonPoolTask, pipe: Pipe) -> DaemonPoolCounters:
    counts, decoder = DaemonPoolCounters(), CachingWatchDecoder()
    connection = await read_connection_settings(task.kubeconfig)
    loop, end_requested = asyncio.get_running_loop(), asyncio.Event()
    loop.add_reader(pipe.fileno(), end_requested.set)
    began = time.process_time()
    async with ApiSession(
        connection, timeout=REQUEST_TIMEOUT_S, tries=1, in_flight=IN_FLIGHT, user_agent="grove-converge"
    ) as api:
        daemons = [
            ConvergenceExperimentDaemon(task, position, counts, decoder) for position in range(len(task.daemons))
        ]
        running = [asyncio.create_task(daemon.run(api)) for daemon in daemons]
        end = asyncio.create_task(end_requested.wait())
        await asyncio.wait([*running, end], return_when=asyncio.FIRST_COMPLETED)
        await _drain(decoder)
        for one in running:
            one.cancel()
        for fault in await asyncio.gather(*running, return_exceptions=True):
            if isinstance(fault, Exception):
                counts.faults.append(repr(fault))
    loop.remove_reader(pipe.fileno())
    counts.cpu_s = time.process_time() - began
    counts.watch_events, counts.watch_bytes, counts.decoded = decoder.events, decoder.length, decoder.decoded
    with suppress(EOFError):
        pipe.recv()
    return counts


async def _drain(decoder: CachingWatchDecoder) -> None:
    """Wait until the watches bring no more events."""
    until, before = time.monotonic() + _MAX_DRAIN_S, -1
    while before != decoder.events and time.monotonic() < until:
        before = decoder.events
        await asyncio.sleep(_QUIET_S)
