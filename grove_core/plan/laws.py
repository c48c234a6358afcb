"""Checks that a plan is legal. Independent of the planner on purpose: reads only the plan and its snapshot."""

from collections import Counter
from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import replace
from typing import assert_never

from grove_core.kernel.errors import ObjectProblem
from grove_core.kernel.frozen import thaw
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
from grove_core.plan.plan import Plan, PlannedRootObjects
from grove_core.resources.json_field_reader import JsonFieldReader
from grove_core.resources.meta import Resource, read_metadata
from grove_core.resources.pod import Pod


def problems_in_plan(plan: Plan, seen: PlannedRootObjects) -> tuple[ObjectProblem, ...]:
    """Return the problems of a plan; a plan of this core has none.

    Checks PL-001, PL-003, PL-004, PL-011, PL-013, PL-015, PL-016, PL-018, PL-019 and WL-001. Linear in the plan and in
    the snapshot. Property tests call it for every plan. A program that applies plans to a cluster should call it before
    its first write.
    """
    return tuple(_problems(plan, seen.known()))


def _problems(plan: Plan, known: Mapping[Ref, Resource | Pod]) -> Iterator[ObjectProblem]:
    targets = [step.target for step in plan.steps]
    for target, count in Counter(targets).items():
        if count > 1:
            yield ObjectProblem(path=target.short, expected="one step (PL-013)", got=f"{count} steps")
    if list(plan.steps) != sorted(plan.steps, key=lambda step: step.sort_key):
        yield ObjectProblem(path="steps", expected="order by stage and target (PL-001)", got="another order")
    reasoned = [(step.target, step.because) for step in plan.steps]
    reasoned += [(held.target, held.because) for held in plan.withheld]
    for target, because in reasoned:
        if not because:
            yield ObjectProblem(path=target.short, expected="a reason (PL-003)", got="none")
    uids = frozenset(found.uid for found in known.values() if found.uid)
    causes = {ref for step in plan.steps if isinstance(step.action, Delete) for ref in termination_causes(step.action)}
    for step in plan.steps:
        yield from _problems_of_step(step, known, uids)
        if isinstance(step.action, Apply) and step.target in causes:
            yield ObjectProblem(
                path=step.target.short, expected="to stay as it was judged (PL-015)", got="other fields"
            )


def _problems_of_step(
    step: Step, known: Mapping[Ref, Resource | Pod], uids: AbstractSet[str]
) -> Iterator[ObjectProblem]:
    found = known.get(step.target)
    if isinstance(step.action, Make):
        yield from _problems_of_creation(step, step.action, uids, is_taken=found is not None)
    elif found is None:
        yield ObjectProblem(path=step.target.short, expected="an object the root owns (PL-004)", got="a foreign object")
    elif step.action.guard != found.guard:
        yield ObjectProblem(path=step.target.short, expected=f"{found.guard} (PL-004)", got=str(step.action.guard))
    else:
        finalizers = () if isinstance(found, Pod) else found.finalizers
        yield from _problems_of_action(step, deleting=found.deleting, finalizers=finalizers)


def _problems_of_creation(
    step: Step, action: Make, uids: AbstractSet[str], *, is_taken: bool
) -> Iterator[ObjectProblem]:
    target = step.target
    metadata = {key: thaw(value) for key, value in action.manifest.items() if key != "spec"}
    made = read_metadata(JsonFieldReader(metadata, "", []), target.api_version, target.kind, None)
    named = made["ref"] if target.namespace else replace(made["ref"], namespace="")
    if isinstance(action, Create) and is_taken:
        yield ObjectProblem(path=target.short, expected="a name that is free (PL-016)", got="one that is taken")
    if isinstance(action, Ensure) and step.stage is not StepStage.FOUNDATION:
        yield ObjectProblem(
            path=target.short, expected="to come before what stands on it (PL-016)", got=step.stage.name
        )
    if named != target:
        yield ObjectProblem(path=target.short, expected="a manifest of that name (PL-016)", got=named.short)
    if target.namespace and made["owner_uid"] not in uids:
        yield ObjectProblem(path=target.short, expected="an owner in the snapshot (PL-016)", got=made["owner_name"])


def _problems_of_action(step: Step, *, deleting: bool, finalizers: tuple[str, ...]) -> Iterator[ObjectProblem]:
    match step.action:
        case SetStatus(fields) if not fields:
            yield ObjectProblem(path=step.target.short, expected="a field that differs (PL-011)", got="an empty status")
        case Delete(rests_on=rests_on, terminates=terminates) if bool(rests_on) != bool(terminates):
            got = f"{len(terminates)} and {len(rests_on)}"
            yield ObjectProblem(path=step.target.short, expected="gangs that end and causes, or none (PL-019)", got=got)
        case Delete() if deleting:
            yield ObjectProblem(
                path=step.target.short, expected="an object that stays (PL-018)", got="one being deleted"
            )
        case DropFinalizer(finalizer) if not deleting or finalizer not in finalizers:
            yield ObjectProblem(path=step.target.short, expected="a deleted object it holds (WL-001)", got=finalizer)
        case Create() | Ensure() | Apply() | SetStatus() | Delete() | DropFinalizer():
            pass
        case _:
            assert_never(step.action)
