"""The operator: looks at its caches, reconciles, acts; remembers nothing but the answers to its own writes."""

from collections.abc import Callable, Generator, Iterable
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import Final, TypeAlias

from grove_core.areas.mnnvl.preflight import objection_to_start
from grove_core.areas.topology.topology_snapshot import TopologySnapshot
from grove_core.kernel.reasons import Reason
from grove_core.kernel.refs import Ref
from grove_core.kernel.steps import Attempt, Outcome, Step
from grove_core.plan.laws import problems_in
from grove_core.plan.plan import Plan
from grove_core.reconcile import drop_finalizers
from grove_core.reconcile_topology import reconcile_topology
from grove_core.resources.cluster_topology import TOPOLOGY_KINDS
from grove_core.resources.configuration import Configuration, ServedApis
from grove_core.snapshot.expectations import with_own_writes
from grove_core.snapshot.snapshot import Snapshot
from grove_shell.controller.execute_plan import executing_plan
from grove_shell.simulator.cluster.changes import Change
from grove_shell.simulator.cluster.simulated_cluster import SimulatedCluster
from grove_shell.simulator.cluster.topologies import RoundSnapshot, managed_topologies, topology_moment_in
from grove_shell.simulator.operator.api_connection import ApiConnection, OperatorCrash
from grove_shell.simulator.operator.informers import Informers
from grove_shell.simulator.operator.observer import OperatorObserver
from grove_shell.simulator.operator.pending_writes import PendingWrites
from grove_shell.simulator.operator.pod_relist import PodRelist
from grove_shell.simulator.operator.requeue import FIRST_BACKOFF, Requeue, RoundInputs
from grove_shell.simulator.recording.history import Actor
from grove_shell.simulator.scenario.fault_events import CrashOperator
from grove_shell.simulator.scenario.scenario import OperatorSpec
from grove_shell.simulator.violation import Violated, Violation
from grove_shell.simulator.virtual_time import SECOND, millis_until, time_at

Decide: TypeAlias = Callable[[Snapshot], Plan]
DecideTopology: TypeAlias = Callable[[TopologySnapshot], Plan]
Preflight: TypeAlias = Callable[[Configuration, ServedApis], Reason | None]
_Work: TypeAlias = Generator[int, None, None]

_BACK_OFF: Final = 10 * SECOND


class SimulatedOperator:
    """One operator process.

    Attributes:
        configuration: what it was told when it began.
        clock_off: how far its clock is ahead, in milliseconds.
        retired: it does nothing any more.
        memory: of its own writes; all that it knows besides its caches.
    """

    def __init__(
        self,
        cluster: SimulatedCluster,
        start: datetime,
        spec: OperatorSpec,
        decide: Decide,
        *,
        actor: Actor = Actor.OPERATOR,
        decide_topology: DecideTopology = reconcile_topology,
        preflight: Preflight = objection_to_start,
        observers: Iterable[OperatorObserver] = (),
    ) -> None:
        self.cluster = cluster
        self.start = start
        self.spec = spec
        self.decide = decide
        self.actor = actor
        self.decide_topology = decide_topology
        self.preflight = preflight
        self.observers = tuple(observers)
        self.configuration = cluster.server.configuration
        self.informers = Informers(cluster, spec.watch)
        self.connection = ApiConnection(cluster, spec.write)
        self.pod_relist = PodRelist(self.informers)
        self.clock_offset = 0
        self.rounds = 0
        self.pending_writes = PendingWrites()
        self.stopped = False
        self._crash_fault: CrashOperator | None = None
        self._crashes_left = 0
        self._requeue = Requeue(self.schedule_round)
        self._due: int | None = None
        self._not_before = 0
        self._down_until = 0
        self._busy: _Work | None = None
        self._missed = False
        if actor is Actor.OPERATOR and not self._may_start():
            self._down_until = _BACK_OFF
            cluster.queue.schedule(_BACK_OFF, self._begin)

    # when it looks

    def on_changes(self, _changes: Iterable[Change]) -> None:
        """Something changed: it will arrive."""
        self.schedule_round(self.cluster.queue.now + self.spec.watch)

    def schedule_round(self, moment: int) -> None:
        """Look at a moment, unless a look comes earlier anyway."""
        if self.actor is not Actor.OPERATOR:
            return  # an old leader looks when it is told to
        moment = max(moment, self._not_before, self._down_until)
        if self._due is None or moment < self._due:
            self._due = moment
            self.cluster.queue.schedule(moment, lambda: self._look_if_due(moment))

    def _look_if_due(self, moment: int) -> None:
        if self._due == moment:
            self._due = None
            self.look()

    def crash_later(self, fault: CrashOperator) -> None:
        """Let the process end at a write to come, or at once; as often as the fault says."""
        self._crash_fault, self._crashes_left = fault, fault.times
        self._arm()

    def stop_faults(self) -> None:
        """Nothing goes wrong with it any more."""
        self._crash_fault, self._crashes_left = None, 0
        self.connection.stop_faults()

    def _arm(self) -> None:
        fault = self._crash_fault
        if fault is None or not self._crashes_left:
            return
        if fault.write:
            self.connection.crash_at, self.connection.committed = (
                self.connection.attempts + fault.write,
                fault.committed,
            )
        else:
            for observer in self.observers:
                observer.crashed(self.actor, 0)
            self._crash()

    def _crash(self) -> None:
        """The process ends; after a while another one begins with what it lists."""
        fault = self._crash_fault
        if fault is None:
            return
        self._crashes_left -= 1
        self.pending_writes.clear()
        self.pod_relist.forget()
        self._requeue.clear()
        self.connection.crash_at = None
        self._busy, self._missed = None, False  # what is on its way to the server arrives all the same
        self._down_until = self.cluster.queue.now + fault.down
        self._due = None
        self.cluster.queue.schedule(self._down_until, self._begin)

    def _begin(self) -> None:
        if self.cluster.queue.now == self._down_until:
            self.configuration = self.cluster.server.configuration
            if not self._may_start():
                self._down_until = self.cluster.queue.now + _BACK_OFF
                self.cluster.queue.schedule(self._down_until, self._begin)
                return
            self.informers.relist(0)
            self._arm()
            self.schedule_round(self.cluster.queue.now)

    def _may_start(self) -> bool:
        """Whether the process goes on after its preflight; one that ends there is started again after a while."""
        objection = self.preflight(self.configuration, self.cluster.server.served)
        for observer in self.observers:
            observer.on_start(self.actor, self.configuration, objection)
        return objection is None

    # what it does

    def look(self) -> None:
        """One round of every root."""
        now = self.cluster.queue.now
        if now < self._down_until or self.stopped:
            return
        if self._busy is not None:
            self._missed = True
            return
        self._not_before = now + self.spec.round
        self.informers.catch_up()
        self.informers.view.configuration = self.configuration
        roots = [*managed_topologies(self.informers.view), *self.informers.view.roots()]
        self.pending_writes.keep_only(roots)
        self._go_on(self._rounds(roots))

    def _go_on(self, work: _Work) -> None:
        """Work until an answer has to be waited for, or everything is done."""
        self._busy = work
        try:
            for span in work:
                self.cluster.queue.schedule_after(span, lambda: self._answered(work))
                return
        except OperatorCrash:
            self._crash()
            return
        self._busy = None
        following = self.informers.following
        if self._missed or following is not None:
            self.schedule_round(self.cluster.queue.now if self._missed or following is None else following)
            self._missed = False

    def _answered(self, work: _Work) -> None:
        if self._busy is work and not self.stopped:
            self._go_on(work)

    def _rounds(self, roots: list[Ref]) -> _Work:
        """One round of every root, and then what nobody else takes care of; yields how long to wait for an answer."""
        for root in roots:
            yield from self._round(root)
        answers = yield from self._try(drop_finalizers(self.informers.view.leftovers()), None)
        if any(answer.outcome is not Outcome.DONE for answer in answers):
            self.schedule_round(self.cluster.queue.now + FIRST_BACKOFF)

    def _try(self, steps: Iterable[Step], seen: RoundSnapshot | None) -> Generator[int, None, tuple[Attempt, ...]]:
        """Try steps, each when the one before is answered; those of no root's plan are followed by nobody."""
        writes = executing_plan(steps)
        try:
            step = next(writes)
            while True:
                found: list[Attempt] = []
                delay = self.connection.delay
                if delay:
                    self.cluster.queue.schedule_after(delay // 2, partial(self._arrive, step, seen, found))
                    yield delay
                else:
                    found.append(self._attempt(step, seen))
                step = writes.send(found[0])
        except StopIteration as done:
            answers: tuple[Attempt, ...] = done.value
            return answers

    def _arrive(self, step: Step, seen: RoundSnapshot | None, found: list[Attempt]) -> None:
        """A write reaches the server, whatever became of the process that sent it."""
        try:
            found.append(self._attempt(step, seen))
        except OperatorCrash:
            for observer in self.observers:
                observer.crashed(self.actor, self.connection.attempts)
            self._crash()

    def _attempt(self, step: Step, seen: RoundSnapshot | None) -> Attempt:
        answer = self.pod_relist.refusal(step) or self.connection.attempt(step)
        self.pod_relist.take(answer)
        if seen is not None:
            for observer in self.observers:
                observer.on_write(self.actor, seen, answer)
        return answer

    def _round(self, root: Ref) -> _Work:
        now = self.cluster.queue.now
        clock = time_at(self.start, now + self.clock_offset)
        if self._requeue.is_unchanged(root, self._heard(), now):
            return
        seen = self._sight(root, clock)
        if seen is None:
            return
        plan = self.decide_topology(seen) if isinstance(seen, TopologySnapshot) else self.decide(seen)
        self._check(plan, seen)
        for observer in self.observers:
            observer.on_plan(self.actor, seen, plan)
        self.rounds += 1
        before = self.connection.attempts
        try:
            answers = yield from self._try(plan.steps, seen)
        except OperatorCrash:
            for observer in self.observers:
                observer.crashed(self.actor, self.connection.attempts - before)
            raise
        waits = self.pending_writes.has_failed(root)
        self.pending_writes.take(root, self.cluster.queue.now, plan, seen, answers)
        self._wake_after(root, plan, seen, answers, waits=waits)

    def _sight(self, root: Ref, clock: datetime) -> RoundSnapshot | None:
        """What a round is decided on; None of what is gone, and of a topology whose last write is still to arrive."""
        view = self.informers.view
        if root.kind in TOPOLOGY_KINDS:
            failures = self.pending_writes.of_topology(root, self.informers)
            return None if failures is None else topology_moment_in(view, root.name, clock, failures)
        listed = view.observe(root, clock)
        if listed is None:
            return None
        attempts = self.pending_writes.of(root, listed, self.informers)
        return replace(listed, attempts=attempts) if attempts else listed

    def _wake_after(
        self, root: Ref, plan: Plan, seen: RoundSnapshot, answers: tuple[Attempt, ...], *, waits: bool
    ) -> None:
        """Look again when time alone may change something, and when what failed may be tried again.

        Args:
            waits: whether something failed the last time, and so was not tried.
        """
        now = self.cluster.queue.now
        wake_at = None if plan.wake_at is None else millis_until(self.start, plan.wake_at) - self.clock_offset
        self._requeue.after_round(root, self._heard(), wake_at, is_idle=not plan.steps and not seen.attempts)
        failed = any(answer.outcome is not Outcome.DONE for answer in answers)
        self._requeue.after_writes(root, now, failed=failed, waits=waits)

    def _heard(self) -> RoundInputs:
        return RoundInputs(self.informers.version, self.clock_offset)

    def _check(self, plan: Plan, seen: RoundSnapshot) -> None:
        """As whoever applies plans should, before the first write: is it legal for what the operator knows?"""
        problems = problems_in(plan, with_own_writes(seen) if isinstance(seen, Snapshot) else seen)
        if problems:
            message = "; ".join(f"{found.path}: expected {found.expected}, got {found.got}" for found in problems[:3])
            raise Violated(Violation("PL", self.cluster.queue.now, (plan.root.short,), f"an illegal plan: {message}"))
