"""One process of the simulated operator: the reconcile loop of the real one, with a simulated cache and writes."""

import asyncio
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Final, Protocol, TypeAlias

from grove_core.kernel.reasons import Reason
from grove_core.kernel.steps import (
    Attempt,
    AttemptOutcome,
    Create,
    Delete,
    Ensure,
    Step,
    StepStage,
    UnexpectedTargetState,
)
from grove_core.plan.plan import Plan
from grove_core.resources.api_names import GROUP_KIND, SET_KIND
from grove_core.resources.configuration import Configuration
from grove_core.resources.owned_object import clique_of_new_pod
from grove_shell.apply.execute_concurrently import Execute
from grove_shell.apply.planned_round import PlannedReconcileRound, ReconcileRoundListener
from grove_shell.cache.cache_view import Observation
from grove_shell.cache.root_keys import RootKey
from grove_shell.operator.failed_write_retries import FailedWriteRetries
from grove_shell.operator.reconcile_loop import ReconcileLoop
from grove_shell.operator.reconcile_schedule import RootReconcileSchedule, SetWriteThrottle
from grove_shell.simulator.cluster.object_change_detector import Object
from grove_shell.simulator.operator.simulated_api_connection import SimulatedApiConnection, SimulatedOperatorCrash
from grove_shell.simulator.operator.simulated_watches import SimulatedListsAndWatches
from grove_shell.simulator.promise_violation import PromiseViolated, PromiseViolation
from grove_shell.simulator.recording.simulation_history import SimulationActor
from grove_shell.simulator.virtual_loop import VirtualTimeEventLoop
from grove_shell.simulator.virtual_time import SECOND, VirtualTimeQueue

_RELISTED: Final = (SET_KIND, GROUP_KIND, "PodClique", "Pod")
_Withdrawn: TypeAlias = Callable[[Step], str | None]
_Response: TypeAlias = tuple[Attempt, Object | None]


class SimulatedOperatorObserver(Protocol):
    """Gets the actions of an operator; the timeline recorder and the checks are observers."""

    def on_operator_start(self, actor: SimulationActor, configuration: Configuration, objection: Reason | None) -> None:
        """A process started, or exited before its first round because of an objection."""
        ...

    def on_operator_plan(self, actor: SimulationActor, seen: Observation, plan: Plan) -> None:
        """A plan was made; its steps are executed next."""
        ...

    def on_operator_write(self, actor: SimulationActor, seen: Observation, attempt: Attempt) -> None:
        """A step was executed or failed."""
        ...

    def on_operator_crash(self, actor: SimulationActor, writes: int) -> None:
        """The process crashed after this number of writes in its last round."""
        ...


@dataclass(kw_only=True)
class SimulatedOperatorProcess(ReconcileRoundListener):
    """One process, from its start to its end.

    Attributes:
        watches: feed its cache.
        connection: its connection to the API server.
        decide: makes a plan.
        clock: returns the time of day.
        shortest_rest: milliseconds between two rounds of one root.
        delays_statuses: whether statuses wait while objects are written.
        actor, observers: get its actions.
        crash: called where it crashes at a write, with the number of writes of that round.
        rounds: number of rounds so far.
    """

    queue: VirtualTimeQueue
    watches: SimulatedListsAndWatches
    connection: SimulatedApiConnection
    decide: Callable[[Observation], Plan]
    clock: Callable[[], datetime]
    shortest_rest: int
    delays_statuses: bool
    actor: SimulationActor
    observers: Iterable[SimulatedOperatorObserver]
    crash: Callable[[int], None]
    rounds: int = 0

    def __post_init__(self) -> None:
        self._event_loop = VirtualTimeEventLoop(self.queue)  # type: ignore[abstract]  # sockets, threads and processes are missing
        self._seen: Observation | None = None
        self._notified: dict[RootKey, None] = {}
        self._are_pods_listed = False
        self._reconcile_loop = ReconcileLoop(
            cache=self.watches.cache,
            writer=self,
            decide=self._decide,
            listeners=(self,),
            clock=self.clock,
            new_schedule=self._new_schedule,
        )
        self._begin = self._event_loop.call_soon(self._reconcile_loop.start)

    def enqueue(self, root_key: RootKey) -> None:
        """Ask for a round of a root."""
        if not self._notified:
            self._event_loop.call_soon(self._enqueue_notified)
        self._notified[root_key] = None

    def enqueue_all(self) -> None:
        """Ask for a round of every root."""
        for root_key in self.watches.cache.root_keys():
            self.enqueue(root_key)

    def stop_process(self) -> None:
        """End the process; a write in flight still reaches the API server."""
        self._begin.cancel()  # a process that crashes at its start has not begun yet
        self._reconcile_loop.pause()
        self._event_loop.close()

    def _enqueue_notified(self) -> None:
        notified, self._notified = self._notified, {}
        for root_key in notified:
            self._reconcile_loop.enqueue(root_key)

    def _new_schedule(self, enqueue: Callable[[], None]) -> RootReconcileSchedule:
        backlog = FailedWriteRetries(jitter=lambda: 1.0)
        throttle = SetWriteThrottle(delays_statuses=self.delays_statuses)
        return RootReconcileSchedule(
            enqueue, backlog=backlog, throttle=throttle, shortest_rest=self.shortest_rest / SECOND
        )

    def _decide(self, observation: Observation) -> Plan:
        with self._event_loop.raise_first_error():
            return self.decide(observation)

    # a listener of the loop

    def on_round_planned(self, planned_round: PlannedReconcileRound) -> None:
        """Report a plan."""
        self.rounds += 1
        self._seen = planned_round.observation
        with self._event_loop.raise_first_error():
            for observer in self.observers:
                observer.on_operator_plan(self.actor, planned_round.observation, planned_round.plan)

    def on_round_failed(self, root_key: RootKey, words: str) -> None:
        """End the run: a plan breaks a law, or a round breaks off. Raises PromiseViolated in the loop of the run."""
        with self._event_loop.raise_first_error():
            objects = ("/".join(filter(None, root_key)),)
            raise PromiseViolated(PromiseViolation("PL", self.queue.now, objects, f"a round failed: {words}"))

    # the writer of the loop

    def step_executor(self, withdrawn_because: _Withdrawn | None = None) -> Execute:
        """Return what executes the steps of the round that was planned last; without an argument they have no plan."""
        seen = None if withdrawn_because is None else self._seen
        return partial(self._attempt, seen, withdrawn_because, self.connection.attempts)

    async def relist_set(self, _root_key: RootKey) -> None:
        """Read everything that decides about a termination."""
        self.watches.read_kinds(_RELISTED)

    async def _attempt(
        self, seen: Observation | None, withdrawn_because: _Withdrawn | None, writes_before: int, step: Step
    ) -> Attempt:
        is_new_pod = bool(clique_of_new_pod(step))
        if is_new_pod and not self._are_pods_listed:  # OP-106
            self._are_pods_listed = True
            self.watches.read_uncached_pods()
        if withdrawn_because is not None and isinstance(step.action, Create | Delete):
            words = withdrawn_because(step)
            if words is not None:
                return Attempt(step, AttemptOutcome.CONFLICT, words)
        response: asyncio.Future[_Response] = self._event_loop.create_future()
        delay = self.connection.write_delay
        send = partial(self._send, seen, writes_before, step, response, delay - delay // 2)
        if delay:
            self.queue.schedule_after(delay // 2, send)
        else:
            send()
        attempt, found = await response
        self._apply_response(attempt, found)
        if is_new_pod and attempt.outcome is AttemptOutcome.UNREACHABLE:
            self._are_pods_listed = False
        return attempt

    def _send(
        self,
        seen: Observation | None,
        writes_before: int,
        step: Step,
        response: "asyncio.Future[_Response]",
        delay: int,
    ) -> None:
        """Let a write take effect, also when the process that sent it has crashed."""
        try:
            attempt = self.connection.attempt_step(step)
        except SimulatedOperatorCrash:
            self.crash(self.connection.attempts - writes_before)
            return
        if seen is not None:
            with self._event_loop.raise_first_error():
                for observer in self.observers:
                    observer.on_operator_write(self.actor, seen, attempt)
        found = self.connection.find_object(step.target)
        respond = partial(_respond, response, (attempt, found))
        if delay:
            self.queue.schedule_after(delay, respond)
        else:
            respond()

    def _apply_response(self, attempt: Attempt, found: Object | None) -> None:
        """Apply what a response shows of the object, and of the cause of a deletion, to the cache (PL-018)."""
        action, target = attempt.step.action, attempt.step.target
        if self.actor is SimulationActor.SECOND and isinstance(action, Ensure):
            return  # it would take over what a later set of the name shares
        if attempt.outcome is AttemptOutcome.DONE or attempt.unexpected is UnexpectedTargetState.ABSENT:
            if found is not None:
                self.watches.put_object(found)
            elif action.guard is not None:
                self.watches.drop_deleted_object(target, action.guard.uid)
        elif isinstance(action, Delete) and attempt.step.stage is not StepStage.CAUSE:
            for ref, guard in action.rests_on:
                cause = self.connection.find_object(ref)
                if cause is None:
                    self.watches.drop_deleted_object(ref, guard.uid)
                else:
                    self.watches.put_object(cause)


def _respond(response: "asyncio.Future[_Response]", found: _Response) -> None:
    if not response.cancelled():  # the process may have crashed
        response.set_result(found)
