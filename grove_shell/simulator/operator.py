"""The operator: looks at its caches, reconciles, acts; remembers nothing but the answers to its own writes."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final, Protocol, TypeAlias

from grove_core.kernel.refs import Ref
from grove_core.kernel.steps import Attempt, Outcome, Step
from grove_core.plan.laws import problems_in
from grove_core.plan.plan import Plan
from grove_core.reconcile import let_go
from grove_core.snapshot.expectations import with_own_writes
from grove_core.snapshot.snapshot import Snapshot
from grove_shell.controller.act import act
from grove_shell.simulator.changes import Change
from grove_shell.simulator.cluster import Cluster
from grove_shell.simulator.events import CrashOperator
from grove_shell.simulator.history import Actor
from grove_shell.simulator.informers import Informers
from grove_shell.simulator.recollection import Recollection
from grove_shell.simulator.scenario import OperatorSpec
from grove_shell.simulator.spans import MINUTE, SECOND, millis_until, moment_of
from grove_shell.simulator.violation import Violated, Violation
from grove_shell.simulator.wire import Crash, Wire

Decide: TypeAlias = Callable[[Snapshot], Plan]

_PATIENCE: Final = SECOND
_LONGEST_PATIENCE: Final = MINUTE


class Following(Protocol):
    """Who follows what an operator does: the storyteller, and the checks."""

    def planned(self, actor: Actor, snapshot: Snapshot, plan: Plan) -> None:
        """A plan was made, and will be tried now."""
        ...

    def wrote(self, actor: Actor, snapshot: Snapshot, attempt: Attempt) -> None:
        """A step was tried."""
        ...

    def crashed(self, actor: Actor, writes: int) -> None:
        """The process ended, after so many writes of its last round."""
        ...


class Operator:
    """One operator process.

    Attributes:
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
        followers: Iterable[Following] = (),
    ) -> None:
        self.cluster = cluster
        self.start = start
        self.spec = spec
        self.decide = decide
        self.actor = actor
        self.followers = tuple(followers)
        self.informers = Informers(cluster, spec.watch)
        self.wire = Wire(cluster)
        self.clock_off = 0
        self.rounds = 0
        self.memory = Recollection()
        self.retired = False
        self._settled: dict[Ref, tuple[int, int, int | None]] = {}
        self._doom: CrashOperator | None = None
        self._doom_left = 0
        self._patience: dict[Ref, int] = {}
        self._due: int | None = None
        self._not_before = 0
        self._down_until = 0

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
        self._patience.clear()
        self._settled.clear()
        self.wire.crash_at = None
        self._down_until = self.cluster.agenda.now + fault.down
        self._due = None
        self.cluster.agenda.at(self._down_until, self._begin)

    def _begin(self) -> None:
        if self.cluster.agenda.now == self._down_until:
            self.informers.relist(0)
            self._arm()
            self.wake(self.cluster.agenda.now)

    # what it does

    def look(self) -> None:
        """One round of every root."""
        now = self.cluster.agenda.now
        if now < self._down_until or self.retired:
            return
        self._not_before = now + self.spec.round
        self.informers.catch_up()
        roots = self.informers.view.roots()
        self.memory.keep_only(roots)
        try:
            for root in roots:
                self._round(root)
            for answer in act(self.wire, let_go(self.informers.view.leftovers())):
                if answer.outcome is not Outcome.DONE:
                    self.wake(now + _PATIENCE)
        except Crash:
            self._crash()
            return
        following = self.informers.following
        if following is not None:
            self.wake(following)

    def _round(self, root: Ref) -> None:
        now = self.cluster.agenda.now
        clock = moment_of(self.start, now + self.clock_off)
        if self._would_say_the_same(root):
            return
        listed = self.informers.view.observe(root, clock)
        if listed is None:
            return
        attempts = self.memory.of(root, listed, self.informers)
        snapshot = replace(listed, attempts=attempts) if attempts else listed
        plan = self.decide(snapshot)
        self._check(plan, snapshot)
        for follower in self.followers:
            follower.planned(self.actor, snapshot, plan)
        self.rounds += 1
        before = self.wire.tried
        try:
            answers = act(_Followed(self, snapshot), plan.steps)
        except Crash:
            for follower in self.followers:
                follower.crashed(self.actor, self.wire.tried - before)
            raise
        self.memory.take(root, now, answers)
        self._wake_after(root, plan, snapshot, answers)

    def _would_say_the_same(self, root: Ref) -> bool:
        """Whether nothing arrived since a look that had nothing to do, and time alone changes nothing yet (PL-008)."""
        version, off, wake_at = self._settled.get(root, (-1, 0, None))
        if version != self.informers.version or off != self.clock_off:
            return False
        if wake_at is None or self.cluster.agenda.now < wake_at:
            if wake_at is not None:
                self.wake(wake_at)
            return True
        return False

    def _wake_after(self, root: Ref, plan: Plan, snapshot: Snapshot, answers: tuple[Attempt, ...]) -> None:
        """Look again when time alone may change something, and when what failed may be tried again."""
        now = self.cluster.agenda.now
        wake_at = None if plan.wake_at is None else millis_until(self.start, plan.wake_at) - self.clock_off
        if wake_at is not None:
            self.wake(wake_at)
        self._settled.pop(root, None)
        if not plan.steps and not snapshot.attempts:
            self._settled[root] = (self.informers.version, self.clock_off, wake_at)
        failed = any(answer.outcome is not Outcome.DONE for answer in answers)
        waits = any(attempt.outcome is not Outcome.DONE for attempt in snapshot.attempts)
        if failed or waits:
            patience = min(self._patience.get(root, _PATIENCE // 2) * 2, _LONGEST_PATIENCE) if failed else _PATIENCE
            self._patience[root] = patience
            self.wake(now + patience)
        else:
            self._patience.pop(root, None)

    def _check(self, plan: Plan, snapshot: Snapshot) -> None:
        """As whoever applies plans should, before the first write: is it legal for what the operator knows?"""
        problems = problems_in(plan, with_own_writes(snapshot))
        if problems:
            says = "; ".join(f"{found.path}: expected {found.expected}, got {found.got}" for found in problems[:3])
            raise Violated(Violation("PL", self.cluster.agenda.now, (plan.root.short,), f"an illegal plan: {says}"))


@dataclass(slots=True)
class _Followed:
    """The wire of an operator, under the eyes of its followers."""

    operator: Operator
    snapshot: Snapshot

    def attempt(self, step: Step) -> Attempt:
        """Try one write."""
        answer = self.operator.wire.attempt(step)
        for follower in self.operator.followers:
            follower.wrote(self.operator.actor, self.snapshot, answer)
        return answer
