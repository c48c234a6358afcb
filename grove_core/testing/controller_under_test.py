"""What is tested: a function from a snapshot to a plan, a rule set, or a function that returns what it deletes."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from grove_core.kernel.refs import Ref
from grove_core.kernel.steps import Delete, Step, StepStage, is_gang_termination_deletion
from grove_core.kernel.structs import replace
from grove_core.plan.plan import Plan
from grove_core.reconcile import reconcile
from grove_core.resources.metadata_readers import Resource
from grove_core.resources.pod import Pod
from grove_core.resources.podclique import PodClique
from grove_core.rule_sets.rule_set import RuleSet
from grove_core.snapshot.snapshot import Snapshot
from grove_core.testing.argument_checks import require_controller, require_deletions, value_text_for_message
from grove_core.testing.history_lines import lines_of_snapshot
from grove_core.testing.invariants.invariant import Invariant

Deletions: TypeAlias = Iterable[Ref | str | PodClique | Pod]
"""What a controller deletes, in this order: references, objects, or names of PodCliques or pods."""

Controller: TypeAlias = RuleSet | Callable[[Snapshot], Plan | Deletions]
"""A rule set, or a function of a snapshot that returns a plan or what it deletes."""


@dataclass(frozen=True, slots=True)
class Decision:
    """A plan, and whether the controller returned deletions alone and the rest is by the design.

    Attributes:
        plan: all steps.
        only_deletions: whether the controller decided about deletions alone.
    """

    plan: Plan
    only_deletions: bool

    def judges(self, invariant: Invariant) -> bool:
        """Return whether an invariant is about what the controller decided."""
        return invariant.reads_deletions_only or not self.only_deletions


def decide_with_controller(controller: Controller, snapshot: Snapshot) -> Decision:
    """Return the decision of a controller.

    Raises:
        ValueError: it deletes an object that the set does not have.
        TypeError: it is no controller, or returns something else.
    """
    if isinstance(controller, RuleSet):
        return Decision(reconcile(snapshot, controller), only_deletions=False)
    require_controller(controller)
    try:
        answer = controller(snapshot)
    except Exception as fault:
        fault.add_note("\n  ".join(("raised by the controller for", *lines_of_snapshot(snapshot))))
        raise
    if isinstance(answer, Plan):
        return Decision(answer, only_deletions=False)
    return Decision(plan_with_replaced_terminations(snapshot, answer), only_deletions=True)


def plan_with_replaced_terminations(snapshot: Snapshot, deletions: Deletions) -> Plan:
    """Return the plan of the design with these deletions in place of its own terminations (LT-006).

    Args:
        snapshot: what the controller saw.
        deletions: in the order in which they are attempted; what is being deleted already is left out.

    Raises:
        ValueError: the set has no such object.
    """
    plan = reconcile(snapshot)
    found = objects_named_by_deletions(snapshot, deletions)
    because = next((one.because for one in plan.findings), ())
    own = [Step(StepStage.CLEANUP, one.ref, Delete(one.guard), because) for one in found if not one.deleting]
    targets = {step.target for step in own}
    kept = [step for step in plan.steps if step.target not in targets and not is_gang_termination_deletion(step)]
    return replace(plan, steps=tuple(sorted((*kept, *own), key=lambda step: step.stage)))


def objects_named_by_deletions(snapshot: Snapshot, deletions: Deletions) -> tuple[Resource | Pod, ...]:
    """Return the objects that some deletions name, each once and in their order.

    Raises:
        ValueError: the set has no such object.
        TypeError: they are no list, or something is no object.
    """
    known = snapshot.objects_by_ref()
    by_name: Mapping[str, Resource | Pod] = {
        **{pod.name: pod for _, pod in snapshot.pods()},
        **{clique.ref.name: clique for clique in snapshot.cliques},
    }
    found: dict[Ref, Resource | Pod] = {}
    for one in require_deletions(deletions):
        if not isinstance(one, str | Ref | PodClique | Pod):
            raise TypeError(
                f"what is deleted is a name, a Ref, a PodClique or a Pod; got {value_text_for_message(one)}"
            )
        name = one if isinstance(one, str | Ref) else one.ref
        there = by_name.get(name) if isinstance(name, str) else known.get(name)
        if there is None:
            text = name if isinstance(name, str) else name.short
            raise ValueError(f"the controller deletes {text}, which the set {snapshot.root.ref.name} does not have")
        found[there.ref] = there
    return tuple(found.values())
