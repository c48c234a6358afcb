"""One daemon: it sees, decides and acts, one thing after the other.

Rule for this file: it decides nothing itself. What is seen goes into the core's memory, what the core decides is done.
"""

import asyncio
import random
from collections.abc import Callable, Coroutine
from contextlib import suppress
from datetime import datetime, timedelta
from typing import Any, Final, Protocol, TypeVar

from grove_core.areas.domain_cliques.judge import decide
from grove_core.areas.domain_cliques.memory import after_answer, after_event
from grove_core.areas.domain_cliques.protocols import Setup
from grove_core.areas.domain_cliques.situation import Daemon, Glimpse, Memory, Situation
from grove_core.areas.domain_cliques.verdicts import (
    REQUESTS,
    Answer,
    Deed,
    Done,
    Push,
    Register,
    Reply,
    Request,
    Rest,
    Restart,
    Start,
    Wait,
    Yield,
)
from grove_core.kernel.decisions import Decision
from grove_core.resources.daemon_pod import DaemonPod
from grove_shell.fabric_daemon.fabric import FabricManager

T = TypeVar("T")
GRACE: Final = timedelta(seconds=10)
_JITTER: Final = (0.75, 1.25)


class Asking(Protocol):
    """Whoever carries out requests."""

    async def ask(self, request: Request) -> Answer:
        """Send one and wait for its answer."""
        ...


class Witness(Protocol):
    """Whoever is told what a daemon does."""

    def decided(self, decision: Decision[Deed]) -> None:
        """A decision was made; the same one may be made again and again."""
        ...

    def answered(self, request: Request, answer: Answer) -> None:
        """A request was answered, or given up."""
        ...


class FabricDaemon:
    """See the module.

    Attributes:
        memory: what it knows, as the core keeps it.
        pod: its own, as last seen.
    """

    def __init__(
        self,
        me: Daemon,
        setup: Setup,
        asking: Asking,
        fabric: FabricManager,
        witness: Witness,
        clock: Callable[[], datetime],
    ) -> None:
        """Know nothing yet."""
        self.me = me
        self.setup = setup
        self.memory = Memory()
        self.pod: DaemonPod | None = None
        self.fabric = fabric
        self._asking = asking
        self._witness = witness
        self._clock = clock
        self._news = asyncio.Event()
        self._stopping = asyncio.Event()
        self._stop_by: datetime | None = None

    def seen(self, version: int, register: Register | None) -> None:
        """Its register has changed, or was listed."""
        glimpse = Glimpse(version, register)
        self.memory = after_event(
            self.memory,
            self.me,
            self.setup,
            glimpse,
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

    def stop(self, grace: timedelta = GRACE) -> None:
        """Take the entry away and end, within this time (DC-053)."""
        if self._stop_by is None:
            self._stop_by = self._clock() + grace
            self._stopping.set()
            self.look()

    async def run(self) -> Done:
        """Work until a stop is asked for; return the last verdict, which says whether the entry is gone."""
        while True:
            self._news.clear()
            if self._stop_by is not None:
                await self.fabric.stop()  # before anybody else can have its index (DC-125)
            decision = decide(self.situation())
            self._witness.decided(decision)
            if isinstance(decision.verdict, Done):
                return decision.verdict
            await self._do(decision.verdict)

    def situation(self) -> Situation:
        """What it can see now."""
        return Situation(
            me=self.me,
            setup=self.setup,
            memory=self.memory,
            pod=self.pod,
            fabric=self.fabric.state,
            stop_by=self._stop_by,
            now=self._clock(),
        )

    async def _do(self, deed: Deed) -> None:
        match deed:
            case Start(index, peers):
                await self.fabric.start(index, peers)
            case Push(_, peers):
                await self.fabric.push(peers)
            case Restart(index, peers):
                await self.fabric.stop()
                await self.fabric.start(index, peers)
            case Yield(until):
                await self.fabric.stop()
                await self._nap(until)
            case Wait(until):
                await self._nap(until)
            case Rest() | Done():
                await self._nap(None)
            case _:
                assert isinstance(deed, REQUESTS)  # noqa: S101 - what a closed union is narrowed to
                await self._ask(deed)

    async def _ask(self, request: Request) -> None:
        answer = await self._within_grace(self._asking.ask(request))
        answer = answer or Answer(reply=Reply.LOST, detail="there was no time left to wait for an answer")
        self.memory = after_answer(
            self.memory,
            self.me,
            self.setup,
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
