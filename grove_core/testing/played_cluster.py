"""Plays a controller on a cluster in memory, event by event, and holds every round against the invariants."""

from collections.abc import Sequence
from typing import Final

from grove_core.kernel.steps import Attempt, AttemptOutcome, Step, is_gang_termination_deletion
from grove_core.kernel.structs import replace
from grove_core.plan.step_batches import execute_steps_sequentially
from grove_core.testing.argument_checks import require_controller, require_drawn_cluster
from grove_core.testing.cluster_changes import ChangingCluster
from grove_core.testing.controller_under_test import Controller, decide_with_controller
from grove_core.testing.events import Event, EventKind
from grove_core.testing.history_lines import line_of_failures, lines_of_round, lines_of_snapshot, time_on_history_line
from grove_core.testing.invariants.invariant import Invariant, InvariantViolated, Round
from grove_core.testing.invariants.invariant_lists import INVARIANTS
from grove_core.testing.random_cluster import RandomCluster

_MOST_QUIET_ROUNDS: Final = 13
_FAILURES: Final = (AttemptOutcome.REFUSED, AttemptOutcome.CONFLICT, AttemptOutcome.UNREACHABLE)


class _Crash(Exception):
    """The operator process ends."""


class PlayedCluster:
    """One cluster with a controller. Mutable.

    Attributes:
        rounds: the reconciles until now.
        lines: what happened until now, for readers.
    """

    def __init__(
        self, start: RandomCluster, controller: Controller, invariants: Sequence[Invariant] = INVARIANTS
    ) -> None:
        """Start without a reconcile.

        Args:
            start: the objects at the beginning.
            controller: what is tested.
            invariants: those that every round is held against.

        Raises:
            TypeError: ``start`` is no drawn cluster, or ``controller`` no controller.
        """
        require_drawn_cluster(start, "a history")
        require_controller(controller)
        self.cluster = ChangingCluster(start)
        self.rounds: list[Round] = []
        self.lines: list[str] = list(lines_of_snapshot(start.snapshot))
        self._controller, self._invariants = controller, tuple(invariants)
        self._attempts: tuple[Attempt, ...] = ()
        self._terminating = frozenset[int]()
        self._writes = 0

    def happen(self, event: Event) -> None:
        """Let an event happen, and reconcile once.

        Raises:
            InvariantViolated: the controller violates an invariant.
        """
        about = self.cluster.happen(event)
        self._line(f"{event.kind.value}{f': {about}' if about else ''}")
        self._reconcile(event)

    def settle(self) -> None:
        """Reconcile until nothing is left to do, let the longest delay pass, and do so again.

        Raises:
            InvariantViolated: the controller violates an invariant.
        """
        self._rest()
        self.happen(Event(EventKind.DELAY_PASSES))
        self._rest()

    def _rest(self) -> None:
        for _ in range(_MOST_QUIET_ROUNDS):
            if not self._reconcile(None) or not self.rounds[-1].plan.steps:
                return

    def _line(self, text: str) -> None:
        self.lines.append(f"{time_on_history_line(self.cluster.now)} {text}")

    def _reconcile(self, event: Event | None) -> bool:
        """Reconcile once; return whether the set still exists."""
        before = self.cluster.server.newest_version
        self.cluster.create_missing(self._terminating)
        seen = self.cluster.snapshot()
        if seen is None:
            return False
        is_quiet = event is None and before == self.cluster.server.newest_version
        snapshot = replace(seen, attempts=self._attempts)
        decision = decide_with_controller(self._controller, snapshot)
        plan = decision.plan
        found = Round(snapshot, plan, is_quiet=is_quiet)
        self.lines.extend(lines_of_round(self.cluster.now, found))
        for invariant in self._invariants:
            if decision.judges(invariant):
                for violation in invariant.check((*self.rounds, found)):
                    raise InvariantViolated(invariant, violation, tuple(self.lines))
        self.rounds.append(found)
        self._terminating = frozenset(found.cliques[ref].replica_index for ref in found.deletions)
        self._writes = 0
        try:
            self._attempts = execute_steps_sequentially(lambda step: self._attempt(step, event), plan.steps)
        except _Crash:
            self._attempts = ()
        if any(one.outcome is not AttemptOutcome.DONE for one in self._attempts):
            self._line(line_of_failures(self._attempts))
        return True

    def _attempt(self, step: Step, event: Event | None) -> Attempt:
        kind, which, amount = (event.kind, event.which, event.amount) if event else (None, 0, 0)
        number = self._writes
        self._writes += 1
        if kind is EventKind.OPERATOR_CRASHES and number == amount % 8:
            self._line(f"it ends after {number} writes")
            raise _Crash
        is_one = kind is EventKind.WRITE_REFUSED and number == amount % 8
        if is_one or kind is EventKind.WRITES_FAIL:
            outcome = AttemptOutcome.REFUSED if is_one else _FAILURES[which % len(_FAILURES)]
            return Attempt(step, outcome, "by the test")
        if kind is EventKind.FRESH_READ_FAILS and is_gang_termination_deletion(step):
            return Attempt(step, AttemptOutcome.NOT_CONFIRMED, "by the test")
        done = self.cluster.server.attempt_step(step)
        lost = kind is EventKind.RESPONSES_LOST
        return Attempt(step, AttemptOutcome.UNREACHABLE, "by the test") if lost else done
