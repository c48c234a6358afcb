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
from grove_shell.controller.act import acting
from grove_shell.simulator.cluster.changes import Change
from grove_shell.simulator.cluster.simulated_cluster import Cluster
from grove_shell.simulator.cluster.topologies import Sight, kept_in, moment_in
from grove_shell.simulator.operator.api_connection import Crash, Wire
from grove_shell.simulator.operator.informers import Informers
from grove_shell.simulator.operator.observer import Follower
from grove_shell.simulator.operator.pending_writes import Recollection
from grove_shell.simulator.operator.pod_relist import RollCall
from grove_shell.simulator.operator.requeue import PATIENCE, Heard, Turns
from grove_shell.simulator.recording.history import Actor
from grove_shell.simulator.scenario.fault_events import CrashOperator
from grove_shell.simulator.scenario.scenario import OperatorSpec
from grove_shell.simulator.violation import Violated, Violation
from grove_shell.simulator.virtual_time import SECOND, millis_until, moment_of

Decide: TypeAlias = Callable[[Snapshot], Plan]
Keep: TypeAlias = Callable[[TopologySnapshot], Plan]
Preflight: TypeAlias = Callable[[Configuration, ServedApis], Reason | None]
_Work: TypeAlias = Generator[int, None, None]

_BACK_OFF: Final = 10 * SECOND


class Operator:
    """One operator process.

    Attributes:
        configuration: what it was told when it began.
        clock_off: how far its clock is ahead, in milliseconds.
        retired: it does nothing any more.
        memory: of its own writes; all that it knows besides its caches.
    """

    def __init__(
        self,
        cluster: Cluster,
        start: datetime,
        spec: OperatorSpec,
        decide: Decide,
        *,
        actor: Actor = Actor.OPERATOR,
        keep: Keep = reconcile_topology,
        preflight: Preflight = objection_to_start,
        followers: Iterable[Follower] = (),
    ) -> None:
        self.cluster = cluster
        self.start = start
        self.spec = spec
        self.decide = decide
        self.actor = actor
        self.keep = keep
        self.preflight = preflight
        self.followers = tuple(followers)
        self.configuration = cluster.world.configuration
        self.informers = Informers(cluster, spec.watch)
        self.wire = Wire(cluster, spec.write)
        self.roll_call = RollCall(self.informers)
        self.clock_off = 0
        self.rounds = 0
        self.memory = Recollection()
        self.retired = False
        self._doom: CrashOperator | None = None
        self._doom_left = 0
        self._turns = Turns(self.wake)
        self._due: int | None = None
        self._not_before = 0
        self._down_until = 0
        self._busy: _Work | None = None
        self._missed = False
        if actor is Actor.OPERATOR and not self._may_start():
            self._down_until = _BACK_OFF
            cluster.agenda.at(_BACK_OFF, self._begin)

    # when it looks

    def hear(self, _changes: Iterable[Change]) -> None:
        """Something changed: it will arrive."""
        self.wake(self.cluster.agenda.now + self.spec.watch)

    def wake(self, moment: int) -> None:
        """Look at a moment, unless a look comes earlier anyway."""
        if self.actor is not Actor.OPERATOR:
            return  # an old leader looks when it is told to
        moment = max(moment, self._not_before, self._down_until)
        if self._due is None or moment < self._due:
            self._due = moment
            self.cluster.agenda.at(moment, lambda: self._look_if_due(moment))

    def _look_if_due(self, moment: int) -> None:
        if self._due == moment:
            self._due = None
            self.look()

    def doom(self, fault: CrashOperator) -> None:
        """Let the process end at a write to come, or at once; as often as the fault says."""
        self._doom, self._doom_left = fault, fault.times
        self._arm()

    def calm(self) -> None:
        """Nothing goes wrong with it any more."""
        self._doom, self._doom_left = None, 0
        self.wire.calm()

    def _arm(self) -> None:
        fault = self._doom
        if fault is None or not self._doom_left:
            return
        if fault.write:
            self.wire.crash_at, self.wire.committed = self.wire.tried + fault.write, fault.committed
        else:
            for follower in self.followers:
                follower.crashed(self.actor, 0)
            self._crash()

    def _crash(self) -> None:
        """The process ends; after a while another one begins with what it lists."""
        fault = self._doom
        if fault is None:
            return
        self._doom_left -= 1
        self.memory.clear()
        self.roll_call.forget()
        self._turns.clear()
        self.wire.crash_at = None
        self._busy, self._missed = None, False  # what is on its way to the server arrives all the same
        self._down_until = self.cluster.agenda.now + fault.down
        self._due = None
        self.cluster.agenda.at(self._down_until, self._begin)

    def _begin(self) -> None:
        if self.cluster.agenda.now == self._down_until:
            self.configuration = self.cluster.world.configuration
            if not self._may_start():
                self._down_until = self.cluster.agenda.now + _BACK_OFF
                self.cluster.agenda.at(self._down_until, self._begin)
                return
            self.informers.relist(0)
            self._arm()
            self.wake(self.cluster.agenda.now)

    def _may_start(self) -> bool:
        """Whether the process goes on after its preflight; one that ends there is started again after a while."""
        objection = self.preflight(self.configuration, self.cluster.world.served)
        for follower in self.followers:
            follower.began(self.actor, self.configuration, objection)
        return objection is None

    # what it does

    def look(self) -> None:
        """One round of every root."""
        now = self.cluster.agenda.now
        if now < self._down_until or self.retired:
            return
        if self._busy is not None:
            self._missed = True
            return
        self._not_before = now + self.spec.round
        self.informers.catch_up()
        self.informers.view.configuration = self.configuration
        roots = [*kept_in(self.informers.view), *self.informers.view.roots()]
        self.memory.keep_only(roots)
        self._go_on(self._rounds(roots))

    def _go_on(self, work: _Work) -> None:
        """Work until an answer has to be waited for, or everything is done."""
        self._busy = work
        try:
            for span in work:
                self.cluster.agenda.after(span, lambda: self._answered(work))
                return
        except Crash:
            self._crash()
            return
        self._busy = None
        following = self.informers.following
        if self._missed or following is not None:
            self.wake(self.cluster.agenda.now if self._missed or following is None else following)
            self._missed = False

    def _answered(self, work: _Work) -> None:
        if self._busy is work and not self.retired:
            self._go_on(work)

    def _rounds(self, roots: list[Ref]) -> _Work:
        """One round of every root, and then what nobody else takes care of; yields how long to wait for an answer."""
        for root in roots:
            yield from self._round(root)
        answers = yield from self._try(drop_finalizers(self.informers.view.leftovers()), None)
        if any(answer.outcome is not Outcome.DONE for answer in answers):
            self.wake(self.cluster.agenda.now + PATIENCE)

    def _try(self, steps: Iterable[Step], seen: Sight | None) -> Generator[int, None, tuple[Attempt, ...]]:
        """Try steps, each when the one before is answered; those of no root's plan are followed by nobody."""
        writes = acting(steps)
        try:
            step = next(writes)
            while True:
                found: list[Attempt] = []
                delay = self.wire.delay
                if delay:
                    self.cluster.agenda.after(delay // 2, partial(self._arrive, step, seen, found))
                    yield delay
                else:
                    found.append(self._attempt(step, seen))
                step = writes.send(found[0])
        except StopIteration as done:
            answers: tuple[Attempt, ...] = done.value
            return answers

    def _arrive(self, step: Step, seen: Sight | None, found: list[Attempt]) -> None:
        """A write reaches the server, whatever became of the process that sent it."""
        try:
            found.append(self._attempt(step, seen))
        except Crash:
            for follower in self.followers:
                follower.crashed(self.actor, self.wire.tried)
            self._crash()

    def _attempt(self, step: Step, seen: Sight | None) -> Attempt:
        answer = self.roll_call.refusal(step) or self.wire.attempt(step)
        self.roll_call.take(answer)
        if seen is not None:
            for follower in self.followers:
                follower.wrote(self.actor, seen, answer)
        return answer

    def _round(self, root: Ref) -> _Work:
        now = self.cluster.agenda.now
        clock = moment_of(self.start, now + self.clock_off)
        if self._turns.would_say_the_same(root, self._heard(), now):
            return
        seen = self._sight(root, clock)
        if seen is None:
            return
        plan = self.keep(seen) if isinstance(seen, TopologySnapshot) else self.decide(seen)
        self._check(plan, seen)
        for follower in self.followers:
            follower.planned(self.actor, seen, plan)
        self.rounds += 1
        before = self.wire.tried
        try:
            answers = yield from self._try(plan.steps, seen)
        except Crash:
            for follower in self.followers:
                follower.crashed(self.actor, self.wire.tried - before)
            raise
        waits = self.memory.has_failed(root)
        self.memory.take(root, self.cluster.agenda.now, plan, seen, answers)
        self._wake_after(root, plan, seen, answers, waits=waits)

    def _sight(self, root: Ref, clock: datetime) -> Sight | None:
        """What a round is decided on; None of what is gone, and of a topology whose last write is still to arrive."""
        view = self.informers.view
        if root.kind in TOPOLOGY_KINDS:
            failures = self.memory.of_topology(root, self.informers)
            return None if failures is None else moment_in(view, root.name, clock, failures)
        listed = view.observe(root, clock)
        if listed is None:
            return None
        attempts = self.memory.of(root, listed, self.informers)
        return replace(listed, attempts=attempts) if attempts else listed

    def _wake_after(self, root: Ref, plan: Plan, seen: Sight, answers: tuple[Attempt, ...], *, waits: bool) -> None:
        """Look again when time alone may change something, and when what failed may be tried again.

        Args:
            waits: whether something failed the last time, and so was not tried.
        """
        now = self.cluster.agenda.now
        wake_at = None if plan.wake_at is None else millis_until(self.start, plan.wake_at) - self.clock_off
        self._turns.looked(root, self._heard(), wake_at, is_idle=not plan.steps and not seen.attempts)
        failed = any(answer.outcome is not Outcome.DONE for answer in answers)
        self._turns.tried(root, now, failed=failed, waits=waits)

    def _heard(self) -> Heard:
        return Heard(self.informers.version, self.clock_off)

    def _check(self, plan: Plan, seen: Sight) -> None:
        """As whoever applies plans should, before the first write: is it legal for what the operator knows?"""
        problems = problems_in(plan, with_own_writes(seen) if isinstance(seen, Snapshot) else seen)
        if problems:
            says = "; ".join(f"{found.path}: expected {found.expected}, got {found.got}" for found in problems[:3])
            raise Violated(Violation("PL", self.cluster.agenda.now, (plan.root.short,), f"an illegal plan: {says}"))
