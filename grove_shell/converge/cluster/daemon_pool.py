"""Some of the daemons of a run, in a process of their own: each with its own watch, limiter and memory."""

import asyncio
import gc
import random
import signal
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from multiprocessing.connection import Connection as Pipe
from typing import Final

from grove_core.areas.domain_cliques.daemon_context import DaemonIdentity, FabricState
from grove_core.areas.domain_cliques.rules import Why
from grove_core.areas.domain_cliques.verdicts import (
    Apply,
    DaemonAction,
    DaemonRegistry,
    PeerMap,
    Post,
    Put,
    Request,
    RequestResult,
    ResultKind,
    StartFabric,
)
from grove_core.kernel.decisions import Decision
from grove_shell.client.api import Api
from grove_shell.client.connection import connect
from grove_shell.client.rate_limiter import RateLimiter
from grove_shell.converge.cluster.watch_decoder import WatchDecoder
from grove_shell.converge.points import Point
from grove_shell.domain_daemon.daemon import DomainDaemon
from grove_shell.domain_daemon.kinds import CLIQUES, DOMAINS, registry_of
from grove_shell.domain_daemon.monotonic_clock import REQUEST_TIMEOUT_S, MonotonicClock
from grove_shell.domain_daemon.object_watch import ObjectWatch
from grove_shell.domain_daemon.requests import HttpRequestSender

IN_FLIGHT: Final = 10_000
_INDEX_CHANGES: Final = frozenset({Why.INDEX_CONTESTED, Why.CONTESTED_ELSEWHERE, Why.STALEMATE_ENDED, Why.INDEX_LOST})
_QUIET_S: Final = 0.3
_LONGEST_DRAIN_S: Final = 10.0


@dataclass(frozen=True, slots=True)
class PoolTask:
    """What one process is to play.

    Attributes:
        numbers: of its daemons.
        start: the moment at which the run begins, on the monotonic clock that all processes share.
    """

    point: Point
    daemons: tuple[DaemonIdentity, ...]
    numbers: tuple[int, ...]
    kubeconfig: str
    start: float


@dataclass(slots=True)
class DaemonCounts:
    """What the daemons of a process count; moments in seconds since the start of the run.

    Attributes:
        refused: words of the server.
        faults: of daemons that broke; there is nothing to be learnt from such a run (CV-067).
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


def limiter_of(point: Point) -> RateLimiter | None:
    """Of one client of a run, full; None where nobody is limited (CV-066)."""
    return RateLimiter(point.rate, point.burst) if point.rate else None


class TimedFabric:
    """A fabric daemon that is ready after a while, and runs nothing; see :class:`FabricManager`."""

    def __init__(self, ready_after: float) -> None:
        """Run nothing yet."""
        self.state: FabricState | None = None
        self.changed: Callable[[], None] = lambda: None
        self._ready_after = ready_after

    async def start(self, index: int, peers: PeerMap) -> None:
        """Start it; one that was stopped meanwhile is never ready."""
        made = self.state = FabricState(index, peers)
        asyncio.get_running_loop().call_later(self._ready_after, self._ready, made.index)

    async def push(self, peers: PeerMap) -> None:
        """Take the map."""
        if self.state is not None:
            self.state = replace(self.state, peers=peers)

    async def stop(self) -> None:
        """End it."""
        self.state = None

    def _ready(self, index: int) -> None:
        if self.state is not None and self.state.index == index:
            self.state = replace(self.state, ready=True)
            self.changed()


class PooledDaemon:
    """One daemon of a run, and who counts what it does."""

    def __init__(self, call: PoolTask, place: int, tally: DaemonCounts, streams: WatchDecoder) -> None:
        """Not started."""
        point = call.point
        self.identity = call.daemons[place]
        number = call.numbers[place]
        chance = random.Random(f"{point.seed} {number}")  # noqa: S311 - an experiment, no secret
        self._arrives = call.start + chance.random() * point.arrival_s
        self._fabric = TimedFabric((1 + chance.random()) * point.readiness_s)
        self._call = call
        self._tally = tally
        self._streams = streams
        self._size = point.size_of(point.clique_of(number))
        self._pushed = self._viewed = False
        self._moves = False

    async def run(self, api: Api) -> None:
        """From its arrival until cancelled."""
        await asyncio.sleep(max(self._arrives - time.monotonic(), 0))
        point, identity = self._call.point, self.identity
        bucket = limiter_of(point)
        requests = HttpRequestSender(api, identity, bucket, sent=self._sent)
        daemon = DomainDaemon(identity, point.settings, requests, self._fabric, self, MonotonicClock())
        self._fabric.changed = daemon.look
        sharded = point.protocol.sharded
        ref = identity.registry_ref(sharded=sharded)

        def heard(version: int, registry: DaemonRegistry | None) -> None:
            self._note(registry)
            daemon.seen(version, registry)

        kind, place = CLIQUES if sharded else DOMAINS, (ref.namespace, ref.name)
        following = ObjectWatch(api, kind, place, registry_of, heard, bucket=bucket, read=self._streams.read)
        async with asyncio.TaskGroup() as group:
            group.create_task(following.run())
            group.create_task(daemon.run())

    def decided(self, decision: Decision[DaemonAction]) -> None:
        """See :class:`Witness`."""
        if isinstance(decision.verdict, StartFabric) and not self._pushed:
            self._pushed = True
            self._tally.pushed.append(time.monotonic() - self._call.start)
        self._moves = decision.because[0].rule in _INDEX_CHANGES

    def answered(self, request: Request, answer: RequestResult) -> None:
        """See :class:`Witness`."""
        tally = self._tally
        match answer.kind:
            case ResultKind.DONE if isinstance(request, Apply | Put | Post):
                tally.writes += 1
                tally.repicks += self._moves
            case ResultKind.STALE | ResultKind.OWNED:
                tally.conflicts += 1
            case ResultKind.BUSY:
                tally.throttled += 1
            case ResultKind.LOST:
                tally.timeouts += 1
            case ResultKind.REFUSED | ResultKind.GONE:
                tally.refused.append(answer.detail)
            case _:
                pass
        self._note(answer.registry)

    def _sent(self, length: int) -> None:
        self._tally.uploaded_bytes += length

    def _note(self, registry: DaemonRegistry | None) -> None:
        """When its view first shows its whole clique."""
        if self._viewed or registry is None:
            return
        count, shared = self._streams.members(registry, self.identity.clique)
        if count == self._size and not shared:
            self._viewed = True
            self._tally.viewed.append(time.monotonic() - self._call.start)


def run_pool(pipe: Pipe) -> None:
    """The whole life of a process: it says that it is there, is called, plays, is told to end, and tells its tally."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    pipe.send("here")
    call: PoolTask = pipe.recv()
    gc.collect()
    gc.freeze()
    pipe.send(asyncio.run(_run_task(call, pipe)))


async def _run_task(call: PoolTask, pipe: Pipe) -> DaemonCounts:
    tally, streams = DaemonCounts(), WatchDecoder()
    connection = await connect(call.kubeconfig)
    loop, over = asyncio.get_running_loop(), asyncio.Event()
    loop.add_reader(pipe.fileno(), over.set)
    began = time.process_time()
    async with Api(
        connection, timeout=REQUEST_TIMEOUT_S, tries=1, in_flight=IN_FLIGHT, user_agent="grove-converge"
    ) as api:
        players = [PooledDaemon(call, place, tally, streams) for place in range(len(call.daemons))]
        tasks = [asyncio.create_task(player.run(api)) for player in players]
        ended = asyncio.create_task(over.wait())
        await asyncio.wait([*tasks, ended], return_when=asyncio.FIRST_COMPLETED)
        await _drained(streams)
        for task in tasks:
            task.cancel()
        for fault in await asyncio.gather(*tasks, return_exceptions=True):
            if isinstance(fault, Exception):
                tally.faults.append(repr(fault))
    loop.remove_reader(pipe.fileno())
    tally.cpu_s = time.process_time() - began
    tally.watch_events, tally.watch_bytes, tally.decoded = streams.events, streams.length, streams.decoded
    with suppress(EOFError):
        pipe.recv()
    return tally


async def _drained(streams: WatchDecoder) -> None:
    """Wait until the streams bring nothing more."""
    until, before = time.monotonic() + _LONGEST_DRAIN_S, -1
    while before != streams.events and time.monotonic() < until:
        before = streams.events
        await asyncio.sleep(_QUIET_S)
