"""What an invariant is: the number and sentence of a rule, and a function over the rounds of a controller."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

from grove_core.kernel.conditions import Condition, condition_of
from grove_core.kernel.refs import Ref
from grove_core.kernel.steps import AttemptOutcome, Delete, SetStatus
from grove_core.plan.plan import Plan
from grove_core.resources.podclique import PodClique
from grove_core.resources.scaling_group import ScalingGroup
from grove_core.resources.status_comparison import object_after_status_write
from grove_core.snapshot.snapshot import Snapshot
from grove_core.testing.invariants.reference_verdicts import RequiredVerdicts, verdicts_required_by_specification


@dataclass(frozen=True)
class Round:
    """One reconcile: what a controller saw and what it planned.

    Attributes:
        snapshot: what it saw, with the attempts of the round before; without them after a crash.
        plan: what it planned.
        is_quiet: whether nothing happened to the cluster since the round before, and no write failed in this one.
    """

    snapshot: Snapshot
    plan: Plan
    is_quiet: bool = False

    @cached_property
    def required(self) -> RequiredVerdicts:
        """The verdicts by the specification."""
        return verdicts_required_by_specification(self.snapshot)

    @cached_property
    def deletions(self) -> tuple[Ref, ...]:
        """The PodCliques that the plan deletes, in the order in which that is attempted."""
        return tuple(step.target for step in self.plan.steps if deletes_clique(step.target, step.action))

    @cached_property
    def cliques(self) -> dict[Ref, PodClique]:
        """The PodCliques of the snapshot."""
        return {clique.ref: clique for clique in self.snapshot.cliques}

    @cached_property
    def failed(self) -> frozenset[Ref]:
        """The targets of writes that failed in the round before, or that the plan withholds."""
        failed = {one.step.target for one in self.snapshot.attempts if one.outcome is not AttemptOutcome.DONE}
        return frozenset(failed | {held.target for held in self.plan.withheld})

    def unwritten_conditions(self, part: PodClique | ScalingGroup, name: str) -> tuple[Condition, ...]:
        """Return the conditions of a type that could not be written to a part in the round before (GT-067).

        Args:
            part: a PodClique or scaling group of the snapshot.
            name: the type of the condition.
        """
        failed = (one.step for one in self.snapshot.attempts if one.outcome is not AttemptOutcome.DONE)
        fields = [
            step.action.fields for step in failed if step.target == part.ref and isinstance(step.action, SetStatus)
        ]
        found = (condition_of(object_after_status_write(part, one).status.conditions, name) for one in fields)
        return tuple(one for one in found if one is not None)


def breachable_parts(snapshot: Snapshot) -> tuple[PodClique | ScalingGroup, ...]:
    """Return the parts of a set that have the condition MinAvailableBreached."""
    return (*snapshot.cliques, *snapshot.groups)


def deletes_clique(target: Ref, action: object) -> bool:
    """Return whether a step deletes a PodClique."""
    return target.kind == "PodClique" and isinstance(action, Delete)


History: TypeAlias = tuple[Round, ...]
"""The rounds of one controller, the oldest first; of a single plan one round."""


@dataclass(frozen=True, slots=True)
class Violation:
    """One violation of an invariant.

    Attributes:
        where: the object, or the part of the plan.
        expected: what the rule requires.
        got: what the plan or the cluster has.
    """

    where: str
    expected: str
    got: str

    def __str__(self) -> str:
        return f"{self.where}: expected {self.expected}, got {self.got}"


@dataclass(frozen=True, slots=True)
class Invariant:
    """One rule that every controller must keep.

    Attributes:
        id: the number of the rule, e.g. ``GT-033``.
        sentence: the sentence of the rule in the specification.
        check: returns how the last round of a history violates the rule; the rounds before it are given for rules
            about time.
        reads_deletions_only: whether it judges which PodCliques are deleted and in which order, and nothing else of a
            plan, so that it holds for a controller that returns deletions, too.
    """

    id: str
    sentence: str
    check: Callable[[History], Iterable[Violation]]
    reads_deletions_only: bool = False

    def violations(self, snapshot: Snapshot, plan: Plan) -> tuple[Violation, ...]:
        """Return how one plan violates the rule."""
        return tuple(self.check((Round(snapshot, plan),)))


class InvariantViolated(AssertionError):
    """A controller violates an invariant.

    Attributes:
        invariant: the violated rule.
        violation: where, what the rule requires, and what there is.
        history: what happened, in order, a line each.
    """

    def __init__(self, invariant: Invariant, violation: Violation, history: tuple[str, ...]) -> None:
        self.invariant, self.violation, self.history = invariant, violation, history
        lines = "\n".join(f"  {line}" for line in history)
        super().__init__(
            f"{invariant.id} is violated: {invariant.sentence}\n"
            f"where:    {violation.where}\nexpected: {violation.expected}\ngot:      {violation.got}\n"
            f"history:\n{lines}"
        )
