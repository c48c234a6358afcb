"""One daemon: it sees, decides and acts, one thing after the other.

Rule for this file: it decides nothing itself. What is seen goes into the core's memory, what the core decides is done.
"""

import asyncio
import random
from collections.abc import Callable, Coroutine
from contextlib import suppress
from datetime import datetime, timedelta
from typing import Any, Final, Protocol, TypeVar

from grove_core.areas.domain_cliques.daemon_context import (
    DaemonContext,
    DaemonIdentity,
    DaemonState,
    RegistryObservation,
)
from grove_core.areas.domain_cliques.judge import decide
from grove_core.areas.domain_cliques.protocols import DaemonSettings
from grove_core.areas.domain_cliques.state_updates import after_event, after_result
from grove_core.areas.domain_cliques.verdicts import (
    REQUESTS,
    DaemonAction,
    DaemonRegistry,
    Idle,
    PushPeers,
    Request,
    RequestResult,
    RestartFabric,
    ResultKind,
    StandBy,
    StartFabric,
    Stopped,
    Wait,
)
from grove_core.kernel.decisions import Decision
from grove_core.resources.daemon_pod import DaemonPod
from grove_shell.domain_daemon.fabric_process import FabricProcess

T = TypeVar("T")
GRACE_PERIOD: Final = timedelta(seconds=10)
_JITTER: Final = (0.75, 1.25)


class RequestSender(Protocol):
    """Whoever carries out requests."""

    async def ask(self, request: Request) -> RequestResult:
        """Send one and wait for its answer."""
        ...


class DaemonObserver(Protocol):
    """Whoever is told what a daemon does."""

    def decided(self, decision: Decision[DaemonAction]) -> None:
        """A decision was made; the same one may be made again and again."""
        ...

    def answered(self, request: Request, answer: RequestResult) -> None:
        """A request was answered, or given up."""
        ...


class DomainDaemon:
    """See the module.

    Attributes:
        memory: what it knows, as the core keeps it.
        pod: its own, as last seen.
    """

    def __init__(
        self,
        identity: DaemonIdentity,
        settings: DaemonSettings,
        asking: RequestSender,
        fabric: FabricProcess,
        witness: DaemonObserver,
        clock: Callable[[], datetime],
    ) -> None:
        """Know nothing yet."""
        self.identity = identity
        self.settings = settings
        self.state = DaemonState()
        self.pod: DaemonPod | None = None
        self.fabric = fabric
        self._asking = asking
        self._witness = witness
        self._clock = clock
        self._news = asyncio.Event()
        self._stopping = asyncio.Event()
        self._stop_by: datetime | None = None

    def seen(self, version: int, registry: DaemonRegistry | None) -> None:
        """Its register has changed, or was listed."""
        observation = RegistryObservation(version, registry)
        self.state = after_event(
            self.state,
            self.identity,
            self.settings,
            observation,
            now=self._clock(),
            jitter=random.uniform(*_JITTER),  # noqa: S311 - a pause is no secret
        )
        self.look()

    def pod_seen(self, _version: int, pod: DaemonPod | None) -> None:
        """Its pod has changed, or was listed."""
        self.pod = pod
        self.look()

    def look(self) -> None:
        """Something changed: decide anew."""
        self._news.set()

    def stop(self, grace: timedelta = GRACE_PERIOD) -> None:
        """Take the entry away and end, within this time (DC-053)."""
        if self._stop_by is None:
            self._stop_by = self._clock() + grace
            self._stopping.set()
            self.look()

    async def run(self) -> Stopped:
        """Work until a stop is asked for; return the last verdict, which says whether the entry is gone."""
        while True:
            self._news.clear()
            if self._stop_by is not None:
                await self.fabric.stop()  # before anybody else can have its index (DC-125)
            decision = decide(self.context())
            self._witness.decided(decision)
            if isinstance(decision.verdict, Stopped):
                return decision.verdict
            await self._do(decision.verdict)

    def context(self) -> DaemonContext:
        """What it can see now."""
        return DaemonContext(
            identity=self.identity,
            settings=self.settings,
            state=self.state,
            pod=self.pod,
            fabric=self.fabric.state,
            stop_deadline=self._stop_by,
            now=self._clock(),
        )

    async def _do(self, action: DaemonAction) -> None:
        match action:
            case StartFabric(index, peers):
                await self.fabric.start(index, peers)
            case PushPeers(_, peers):
                await self.fabric.push(peers)
            case RestartFabric(index, peers):
                await self.fabric.stop()
                await self.fabric.start(index, peers)
            case StandBy(until):
                await self.fabric.stop()
                await self._nap(until)
            case Wait(until):
                await self._nap(until)
            case Idle() | Stopped():
                await self._nap(None)
            case _:
                assert isinstance(action, REQUESTS)  # noqa: S101 - what a closed union is narrowed to
                await self._ask(action)

    async def _ask(self, request: Request) -> None:
        answer = await self._within_grace(self._asking.ask(request))
        answer = answer or RequestResult(kind=ResultKind.LOST, detail="there was no time left to wait for an answer")
        self.state = after_result(
            self.state,
            self.identity,
            self.settings,
            request,
            answer,
            now=self._clock(),
            jitter=random.uniform(*_JITTER),  # noqa: S311 - no secret
        )
        self._witness.answered(request, answer)

    async def _within_grace(self, work: Coroutine[Any, Any, T]) -> T | None:
        """Its result; None where the daemon is stopping and its time is over (DC-057)."""
        task = asyncio.ensure_future(work)
        stopping = asyncio.ensure_future(self._stopping.wait())
        try:
            await asyncio.wait({task, stopping}, return_when=asyncio.FIRST_COMPLETED)
            if not task.done() and self._stop_by is not None:
                await asyncio.wait({task}, timeout=max((self._stop_by - self._clock()).total_seconds(), 0))
            return task.result() if task.done() else None
        finally:
            stopping.cancel()
            if not task.done():
                task.cancel()
                with suppress(asyncio.CancelledError):
                    await task

    async def _nap(self, until: datetime | None) -> None:
        """Until there are news, or then; no longer than a stopping daemon has."""
        moments = [moment for moment in (until, self._stop_by) if moment is not None]
        seconds = max((min(moments) - self._clock()).total_seconds(), 0) if moments else None
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._news.wait()
