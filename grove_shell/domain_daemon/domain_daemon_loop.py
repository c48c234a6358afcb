"""The loop of one daemon: it observes, decides and acts, one action at a time.

It decides nothing itself: events and results update the state of the core, and the core decides.
"""

import asyncio
import random
import time
from collections.abc import Callable, Coroutine
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import Any, Final, Protocol, TypeVar, assert_never

from grove_core.areas.domain_cliques.daemon.daemon_input import (
    DaemonIdentity,
    DaemonInput,
    ObservedDaemonRegistry,
    RegistrationState,
)
from grove_core.areas.domain_cliques.daemon.judge import next_daemon_action
from grove_core.areas.domain_cliques.daemon.registration_protocols import DaemonRegistrationSettings
from grove_core.areas.domain_cliques.daemon.registration_state_updates import (
    registration_state_after_event,
    registration_state_after_result,
)
from grove_core.areas.domain_cliques.daemon.verdicts import (
    REQUEST_TYPES,
    DaemonAction,
    DaemonRequest,
    IdleAction,
    PushPeersAction,
    RequestFailed,
    RequestResult,
    RequestResultKind,
    RestartFabricAction,
    StartFabricAction,
    StopFabricAction,
    StoppedAction,
    WaitAction,
)
from grove_core.kernel.decisions import Decision
from grove_core.resources.compute_domain import DaemonPod
from grove_core.resources.daemon_entry_lists import DaemonRegistry
from grove_shell.domain_daemon.daemon_requests import DaemonRequestSender
from grove_shell.domain_daemon.fabric_process import FabricProcess


class MonotonicClock:
    """Returns the wall time at its creation plus the monotonic time since, so that setting the clock delays nothing."""

    def __init__(self) -> None:
        self._start = datetime.now(UTC)
        self._started = time.monotonic()

    def __call__(self) -> datetime:
        """Return the present time, aware UTC."""
        return self._start + timedelta(seconds=time.monotonic() - self._started)


T = TypeVar("T")
GRACE_PERIOD: Final = timedelta(seconds=10)


class DomainDaemonObserver(Protocol):
    """Is notified of what a daemon does."""

    def on_decision(self, decision: Decision[DaemonAction]) -> None:
        """Handle a decision; the same decision may be made many times in a row."""
        ...

    def on_request_result(self, request: DaemonRequest, result: RequestResult) -> None:
        """Handle the result of a request."""
        ...


class DomainDaemon:
    """One daemon of a ComputeDomain.

    Attributes:
        state: as the core keeps it between decisions.
        pod: the daemon's own pod as last observed.
    """

    def __init__(
        self,
        identity: DaemonIdentity,
        settings: DaemonRegistrationSettings,
        sender: DaemonRequestSender,
        fabric: FabricProcess,
        observer: DomainDaemonObserver,
        clock: Callable[[], datetime],
    ) -> None:
        self.identity = identity
        self.settings = settings
        self.state = RegistrationState()
        self.pod: DaemonPod | None = None
        self.fabric = fabric
        self._sender = sender
        self._observer = observer
        self._clock = clock
        self._changed = asyncio.Event()
        self._stopping = asyncio.Event()
        self._stop_deadline: datetime | None = None

    def on_registry_change(self, version: int, registry: DaemonRegistry | None) -> None:
        """Apply a list or watch event of the registry; None if it does not exist."""
        observation = ObservedDaemonRegistry(version, registry)
        now = self._clock()
        self.state = registration_state_after_event(
            self.state, self.identity, self.settings, observation, now=now, jitter=_jitter()
        )
        self.decide_again()

    def on_pod_change(self, _version: int, pod: DaemonPod | None) -> None:
        """Apply a list or watch event of the daemon's own pod; None if it does not exist."""
        self.pod = pod
        self.decide_again()

    def decide_again(self) -> None:
        """Make the loop decide again."""
        self._changed.set()

    def stop(self, grace_period: timedelta = GRACE_PERIOD) -> None:
        """Make the daemon remove its entry and end, within the grace period (DC-053)."""
        if self._stop_deadline is None:
            self._stop_deadline = self._clock() + grace_period
            self._stopping.set()
            self.decide_again()

    async def run(self) -> StoppedAction:
        """Work until the daemon has stopped; return the last verdict, with whether its entry remains."""
        while True:
            self._changed.clear()
            if self._stop_deadline is not None:
                await self.fabric.stop()  # before another daemon can take its index (DC-124)
            decision = next_daemon_action(self.decision_input())
            self._observer.on_decision(decision)
            if isinstance(decision.verdict, StoppedAction):
                return decision.verdict
            await self._carry_out(decision.verdict)

    def decision_input(self) -> DaemonInput:
        """Return the input of the next decision."""
        return DaemonInput(
            identity=self.identity,
            settings=self.settings,
            state=self.state,
            pod=self.pod,
            fabric=self.fabric.fabric_state,
            stop_deadline=self._stop_deadline,
            now=self._clock(),
        )

    async def _carry_out(self, action: DaemonAction) -> None:
        if isinstance(action, REQUEST_TYPES):
            await self._send(action)
            return
        match action:
            case StartFabricAction(index, peers):
                await self.fabric.start(index, peers)
            case PushPeersAction(_, peers):
                await self.fabric.push_peer_map(peers)
            case RestartFabricAction(index, peers):
                await self.fabric.stop()
                await self.fabric.start(index, peers)
            case StopFabricAction(until):
                await self.fabric.stop()
                await self._wait(until)
            case WaitAction(until):
                await self._wait(until)
            case IdleAction() | StoppedAction():
                await self._wait(None)
            case _:
                assert_never(action)

    async def _send(self, request: DaemonRequest) -> None:
        result = await self._within_grace_period(self._sender.send_request(request))
        if result is None:
            result = RequestFailed(RequestResultKind.NO_RESPONSE, "the grace period ended before the response")
        now = self._clock()
        self.state = registration_state_after_result(
            self.state, self.identity, self.settings, request, result, now=now, jitter=_jitter()
        )
        self._observer.on_request_result(request, result)

    async def _within_grace_period(self, work: Coroutine[Any, Any, T]) -> T | None:
        """Return the result; None if the daemon is stopping and its deadline passed first (DC-057)."""
        task = asyncio.ensure_future(work)
        stopping = asyncio.ensure_future(self._stopping.wait())
        try:
            await asyncio.wait({task, stopping}, return_when=asyncio.FIRST_COMPLETED)
            if not task.done() and self._stop_deadline is not None:
                await asyncio.wait({task}, timeout=max((self._stop_deadline - self._clock()).total_seconds(), 0))
            return task.result() if task.done() else None
        finally:
            stopping.cancel()
            if not task.done():
                task.cancel()
                with suppress(asyncio.CancelledError):
                    await task

    async def _wait(self, until: datetime | None) -> None:
        times = [time for time in (until, self._stop_deadline) if time is not None]
        seconds = max((min(times) - self._clock()).total_seconds(), 0) if times else None
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._changed.wait()


def _jitter() -> float:
    return random.uniform(0.75, 1.25)  # noqa: S311 - a pause is no secret
