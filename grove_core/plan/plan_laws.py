"""Checks that a plan is legal. Independent of the planner on purpose: reads only the plan and its snapshot."""

from collections import Counter
from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from typing import assert_never

from grove_core.kernel.refs import Ref
from grove_core.kernel.steps import (
    Apply,
    Create,
    Delete,
    DropFinalizer,
    Ensure,
    Make,
    SetStatus,
    Step,
    StepStage,
    termination_causes,
)
from grove_core.kernel.structs import Struct, replace
from grove_core.plan.plan import Plan, PlannedRootObjects
from grove_core.resources.metadata_readers import Resource
from grove_core.resources.object_metadata import metadata_in
from grove_core.resources.pod import Pod


class BrokenPlanLaw(Struct, frozen=True):
    """One law that a plan breaks.

    Attributes:
        law: the id of the rule, e.g. ``PL-013``.
        where: the target of the step, or the part of the plan.
        expected: what the law requires, as a noun phrase.
        got: what the plan has.
    """

    law: str
    where: str
    expected: str
    got: str

    def __str__(self) -> str:
        return f"{self.where}: expected {self.expected} ({self.law}), got {self.got}"


def broken_laws_in_plan(plan: Plan, seen: PlannedRootObjects) -> tuple[BrokenPlanLaw, ...]:
    """Return the problems of a plan; a plan of this core has none.

    Checks PL-001, PL-003, PL-004, PL-011, PL-013, PL-015, PL-016, PL-018, PL-019 and WL-001. Linear in the plan and in
    the snapshot. Property tests call it for every plan. A program that applies plans to a cluster should call it before
    its first write.
    """
    return tuple(_problems(plan, seen.objects_by_ref()))


def _problems(plan: Plan, known: Mapping[Ref, Resource | Pod]) -> Iterator[BrokenPlanLaw]:
    targets = [step.target for step in plan.steps]
    for target, count in Counter(targets).items():
        if count > 1:
            yield BrokenPlanLaw("PL-013", target.short, "one step", f"{count} steps")
    if list(plan.steps) != sorted(plan.steps, key=lambda step: step.sort_key):
        yield BrokenPlanLaw("PL-001", "steps", "order by stage and target", "another order")
    reasoned = [(step.target, step.because) for step in plan.steps]
    reasoned += [(held.target, held.because) for held in plan.withheld]
    for target, because in reasoned:
        if not because:
            yield BrokenPlanLaw("PL-003", target.short, "a reason", "none")
    uids = frozenset(found.uid for found in known.values() if found.uid)
    causes = {ref for step in plan.steps if isinstance(step.action, Delete) for ref in termination_causes(step.action)}
    for step in plan.steps:
        yield from _problems_of_step(step, known, uids)
        if isinstance(step.action, Apply) and step.target in causes:
            yield BrokenPlanLaw("PL-015", step.target.short, "to stay as it was judged", "other fields")


def _problems_of_step(
    step: Step, known: Mapping[Ref, Resource | Pod], uids: AbstractSet[str]
) -> Iterator[BrokenPlanLaw]:
    found = known.get(step.target)
    if isinstance(step.action, Make):
        yield from _problems_of_creation(step, step.action, uids, is_taken=found is not None)
    elif found is None:
        yield BrokenPlanLaw("PL-004", step.target.short, "an object the root owns", "a foreign object")
    elif step.action.guard != found.guard:
        yield BrokenPlanLaw("PL-004", step.target.short, str(found.guard), str(step.action.guard))
    else:
        finalizers = () if isinstance(found, Pod) else found.finalizers
        yield from _problems_of_action(step, deleting=found.deleting, finalizers=finalizers)


def _problems_of_creation(
    step: Step, action: Make, uids: AbstractSet[str], *, is_taken: bool
) -> Iterator[BrokenPlanLaw]:
    target, made = step.target, metadata_in(action.manifest)
    named = replace(target, namespace=made.namespace_and_name[0] if target.namespace else "", name=made.name)
    if isinstance(action, Create) and is_taken:
        yield BrokenPlanLaw("PL-016", target.short, "a name that is free", "one that is taken")
    if isinstance(action, Ensure) and step.stage is not StepStage.FOUNDATION:
        yield BrokenPlanLaw("PL-016", target.short, "to come before what stands on it", step.stage.name)
    if named != target:
        yield BrokenPlanLaw("PL-016", target.short, "a manifest of that name", named.short)
    if target.namespace and made.controller.uid not in uids:
        yield BrokenPlanLaw("PL-016", target.short, "an owner in the snapshot", made.controller.name)


def _problems_of_action(step: Step, *, deleting: bool, finalizers: tuple[str, ...]) -> Iterator[BrokenPlanLaw]:
    match step.action:
        case SetStatus(fields) if not fields:
            yield BrokenPlanLaw("PL-011", step.target.short, "a field that differs", "an empty status")
        case Delete() if deleting:
            yield BrokenPlanLaw("PL-018", step.target.short, "an object that stays", "one being deleted")
        case DropFinalizer(finalizer) if not deleting or finalizer not in finalizers:
            yield BrokenPlanLaw("WL-001", step.target.short, "a deleted object it holds", finalizer)
        case Create() | Ensure() | Apply() | SetStatus() | Delete() | DropFinalizer():
            pass
        case _:
            assert_never(step.action)
