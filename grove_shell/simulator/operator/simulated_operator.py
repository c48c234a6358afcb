"""The simulated operator process: reconciles from its caches, executes the plans, and keeps only its own writes."""

from collections.abc import Callable, Generator, Iterable
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import Final, TypeAlias

from grove_core.areas.mnnvl.admit import objection_to_start
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
from grove_core.snapshot.own_writes import with_own_writes
from grove_core.snapshot.snapshot import Snapshot
from grove_shell.apply.execute_plan import executing_plan
from grove_shell.simulator.cluster.changes import Change
from grove_shell.simulator.cluster.simulated_cluster import SimulatedCluster
from grove_shell.simulator.cluster.topologies import RoundSnapshot, managed_topologies, topology_snapshot_in
from grove_shell.simulator.operator.api_connection import ApiConnection, OperatorCrash
from grove_shell.simulator.operator.informers import Informers
from grove_shell.simulator.operator.observer import OperatorObserver
from grove_shell.simulator.operator.pending_writes import PendingWrites
from grove_shell.simulator.operator.pod_relist import PodRelist
from grove_shell.simulator.operator.requeue import FIRST_BACKOFF, Requeue, RoundInputs
from grove_shell.simulator.recording.history import Actor
from grove_shell.simulator.scenario.fault_events import CrashOperator
from grove_shell.simulator.scenario.scenario import OperatorSpec
from grove_shell.simulator.violation import Violation, ViolationFound
from grove_shell.simulator.virtual_time import SECOND, millis_until, time_at

Decide: TypeAlias = Callable[[Snapshot], Plan]
DecideTopology: TypeAlias = Callable[[TopologySnapshot], Plan]
Preflight: TypeAlias = Callable[[Configuration, ServedApis], Reason | None]
_Round: TypeAlias = Generator[int, None, None]

_RESTART_AFTER: Final = 10 * SECOND


class SimulatedOperator:
    """One operator process.

    Attributes:
        configuration: the configuration at its start.
        clock_offset: milliseconds that its clock is ahead.
        rounds: number of rounds so far, over all roots.
        stopped: whether it does nothing any more.
        pending_writes: its own writes; all that it knows besides its caches.
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
        self._scheduled_at: int | None = None
        self._not_before = 0
        self._down_until = 0
        self._in_progress: _Round | None = None
        self._round_requested = False
        if actor is Actor.OPERATOR and not self._passes_preflight():
            self._down_until = _RESTART_AFTER
            cluster.queue.schedule(_RESTART_AFTER, self._start)

    # when it reconciles

    def on_changes(self, _changes: Iterable[Change]) -> None:
        """Schedule a round for when the changes arrive in the cache."""
        self.schedule_round(self.cluster.queue.now + self.spec.watch)

    def schedule_round(self, at: int) -> None:
        """Schedule a round at a time, unless one is scheduled earlier."""
        if self.actor is not Actor.OPERATOR:
            return  # the fault schedules the rounds of an old leader
        at = max(at, self._not_before, self._down_until)
        if self._scheduled_at is None or at < self._scheduled_at:
            self._scheduled_at = at
            self.cluster.queue.schedule(at, lambda: self._reconcile_if_scheduled(at))

    def _reconcile_if_scheduled(self, at: int) -> None:
        if self._scheduled_at == at:
            self._scheduled_at = None
            self.reconcile_all()

    def crash_later(self, fault: CrashOperator) -> None:
        """Crash at a later write or at once, as often as the fault requires."""
        self._crash_fault, self._crashes_left = fault, fault.times
        self._arm_crash()

    def stop_faults(self) -> None:
        """Remove all faults of the process and its connection."""
        self._crash_fault, self._crashes_left = None, 0
        self.connection.stop_faults()

    def _arm_crash(self) -> None:
        fault, connection = self._crash_fault, self.connection
        if fault is None or not self._crashes_left:
            return
        if fault.write:
            connection.crash_at, connection.committed = connection.attempts + fault.write, fault.committed
        else:
            for observer in self.observers:
                observer.on_crash(self.actor, 0)
            self._crash()

    def _crash(self) -> None:
        """Lose all state of the process, and start another one after its down time."""
        fault = self._crash_fault
        if fault is None:
            return
        self._crashes_left -= 1
        self.pending_writes.clear()
        self.pod_relist.clear()
        self._requeue.clear()
        self.connection.crash_at = None
        self._in_progress, self._round_requested = None, False  # a write in flight still reaches the API server
        self._down_until = self.cluster.queue.now + fault.down
        self._scheduled_at = None
        self.cluster.queue.schedule(self._down_until, self._start)

    def _start(self) -> None:
        if self.cluster.queue.now == self._down_until:
            self.configuration = self.cluster.server.configuration
            if not self._passes_preflight():
                self._down_until = self.cluster.queue.now + _RESTART_AFTER
                self.cluster.queue.schedule(self._down_until, self._start)
                return
            self.informers.relist(0)
            self._arm_crash()
            self.schedule_round(self.cluster.queue.now)

    def _passes_preflight(self) -> bool:
        """Return whether the process passes its preflight; Kubernetes restarts one that exits."""
        objection = self.preflight(self.configuration, self.cluster.server.served)
        for observer in self.observers:
            observer.on_start(self.actor, self.configuration, objection)
        return objection is None

    # what it does

    def reconcile_all(self) -> None:
        """Run one round of every root, unless a round is in progress: then the next one follows at once."""
        now = self.cluster.queue.now
        if now < self._down_until or self.stopped:
            return
        if self._in_progress is not None:
            self._round_requested = True
            return
        self._not_before = now + self.spec.round
        self.informers.catch_up()
        self.informers.view.configuration = self.configuration
        roots = [*managed_topologies(self.informers.view), *self.informers.view.roots()]
        self.pending_writes.drop_all_but(roots)
        self._continue(self._rounds(roots))

    def _continue(self, work: _Round) -> None:
        """Run until a response is outstanding or everything is done."""
        self._in_progress = work
        try:
            for span in work:
                self.cluster.queue.schedule_after(span, lambda: self._on_response(work))
                return
        except OperatorCrash:
            self._crash()
            return
        self._in_progress = None
        arrival = self.informers.next_arrival
        if self._round_requested or arrival is not None:
            self.schedule_round(self.cluster.queue.now if self._round_requested or arrival is None else arrival)
            self._round_requested = False

    def _on_response(self, work: _Round) -> None:
        if self._in_progress is work and not self.stopped:
            self._continue(work)

    def _rounds(self, roots: list[Ref]) -> _Round:
        """Reconcile every root, then drop finalizers of objects without a root; yields the delay of each response."""
        for root in roots:
            yield from self._round(root)
        attempts = yield from self._execute(drop_finalizers(self.informers.view.leftovers()), None)
        if any(attempt.outcome is not Outcome.DONE for attempt in attempts):
            self.schedule_round(self.cluster.queue.now + FIRST_BACKOFF)

    def _execute(
        self, steps: Iterable[Step], snapshot: RoundSnapshot | None
    ) -> Generator[int, None, tuple[Attempt, ...]]:
        """Execute steps, each after the response to the one before; observers get those with a snapshot."""
        writes = executing_plan(steps)
        try:
            step = next(writes)
            while True:
                found: list[Attempt] = []
                delay = self.connection.delay
                if delay:
                    self.cluster.queue.schedule_after(delay // 2, partial(self._arrive, step, snapshot, found))
                    yield delay
                else:
                    found.append(self._attempt(step, snapshot))
                step = writes.send(found[0])
        except StopIteration as done:
            attempts: tuple[Attempt, ...] = done.value
            return attempts

    def _arrive(self, step: Step, snapshot: RoundSnapshot | None, found: list[Attempt]) -> None:
        """Let a write take effect, also when the process that sent it has crashed."""
        try:
            found.append(self._attempt(step, snapshot))
        except OperatorCrash:
            for observer in self.observers:
                observer.on_crash(self.actor, self.connection.attempts)
            self._crash()

    def _attempt(self, step: Step, snapshot: RoundSnapshot | None) -> Attempt:
        attempt = self.pod_relist.refusal(step) or self.connection.attempt(step)
        self.pod_relist.on_attempt(attempt)
        if snapshot is not None:
            for observer in self.observers:
                observer.on_write(self.actor, snapshot, attempt)
        return attempt

    def _round(self, root: Ref) -> _Round:
        now = self.cluster.queue.now
        clock = time_at(self.start, now + self.clock_offset)
        if self._requeue.is_unchanged(root, self._inputs(), now):
            return
        snapshot = self._snapshot(root, clock)
        if snapshot is None:
            return
        plan = self.decide_topology(snapshot) if isinstance(snapshot, TopologySnapshot) else self.decide(snapshot)
        self._check(plan, snapshot)
        for observer in self.observers:
            observer.on_plan(self.actor, snapshot, plan)
        self.rounds += 1
        before = self.connection.attempts
        try:
            attempts = yield from self._execute(plan.steps, snapshot)
        except OperatorCrash:
            for observer in self.observers:
                observer.on_crash(self.actor, self.connection.attempts - before)
            raise
        had_failures = self.pending_writes.has_failed(root)
        self.pending_writes.remember(root, self.cluster.queue.now, plan, snapshot, attempts)
        self._requeue_root(root, plan, snapshot, attempts, had_failures=had_failures)

    def _snapshot(self, root: Ref, clock: datetime) -> RoundSnapshot | None:
        """Return the snapshot of a round; None for a deleted root, and for a topology with a write in flight."""
        view = self.informers.view
        if root.kind in TOPOLOGY_KINDS:
            failures = self.pending_writes.of_topology(root, self.informers)
            return None if failures is None else topology_snapshot_in(view, root.name, clock, failures)
        listed = view.observe(root, clock)
        if listed is None:
            return None
        attempts = self.pending_writes.of_set(root, listed, self.informers)
        return replace(listed, attempts=attempts) if attempts else listed

    def _requeue_root(
        self, root: Ref, plan: Plan, snapshot: RoundSnapshot, attempts: tuple[Attempt, ...], *, had_failures: bool
    ) -> None:
        """Schedule the next round of a root: at the time of its plan, and after the backoff of a failed write.

        Args:
            root: the root that was reconciled.
            plan: the plan of this round.
            snapshot: the snapshot of this round.
            attempts: what was executed of the plan.
            had_failures: whether writes failed in the round before, and so were not tried in this one.
        """
        now = self.cluster.queue.now
        wake_at = None if plan.wake_at is None else millis_until(self.start, plan.wake_at) - self.clock_offset
        self._requeue.after_round(root, self._inputs(), wake_at, is_idle=not plan.steps and not snapshot.attempts)
        failed = any(attempt.outcome is not Outcome.DONE for attempt in attempts)
        self._requeue.after_writes(root, now, failed=failed, waits=had_failures)

    def _inputs(self) -> RoundInputs:
        return RoundInputs(self.informers.version, self.clock_offset)

    def _check(self, plan: Plan, snapshot: RoundSnapshot) -> None:
        """Check the laws of plans before the first write. Raises ViolationFound."""
        problems = problems_in(plan, with_own_writes(snapshot) if isinstance(snapshot, Snapshot) else snapshot)
        if problems:
            message = "; ".join(f"{found.path}: expected {found.expected}, got {found.got}" for found in problems[:3])
            raise ViolationFound(
                Violation("PL", self.cluster.queue.now, (plan.root.short,), f"an illegal plan: {message}")
            )
