"""Steps have one order, made of their content."""

from itertools import permutations
from typing import Final

import pytest

from grove_core.areas.gang_termination.rules import TerminationReason
from grove_core.kernel.frozen import FrozenMap
from grove_core.kernel.refs import Guard, Ref
from grove_core.kernel.steps import (
    Action,
    Attempt,
    AttemptOutcome,
    Create,
    Delete,
    DeletionImpact,
    DropFinalizer,
    Ensure,
    SetStatus,
    Step,
    StepStage,
    must_follow_status_write,
    must_precede_creations,
    removes_set_finalizer,
    termination_causes,
    total_deletion_impact,
)
from tests.property.termination_bases import basis_of

GROUP: Final = Ref("grove.io/v1alpha1", "PodCliqueScalingGroup", "ml", "llm-0-g")
POD: Final = Ref("v1", "Pod", "ml", "llm-0-a-x")
EMPTY: Final = FrozenMap({})

GUARD: Final = Guard("uid", "7")
ONE: Final = Ref("grove.io/v1alpha1", "PodClique", "ml", "llm-0-a")
OTHER: Final = Ref("grove.io/v1alpha1", "PodClique", "ml", "llm-0-b")
BECAUSE: Final = (TerminationReason.SET_BEING_DELETED.because(ONE),)


def test_pl001_steps_are_ordered_by_stage_then_target() -> None:
    ordered = [
        Step(StepStage.CLEANUP, ONE, Delete(GUARD), BECAUSE),
        Step(StepStage.CLEANUP, OTHER, DropFinalizer("grove.io/hold", GUARD), BECAUSE),
        Step(StepStage.CAUSE, ONE, Delete(GUARD), BECAUSE),
        Step(StepStage.STATUS, ONE, SetStatus(FrozenMap({"replicas": 1}), GUARD), BECAUSE),
    ]
    for given in permutations(ordered):
        assert sorted(given, key=lambda step: step.sort_key) == ordered


@pytest.mark.req("GT-063")
def test_pl014_a_cause_goes_after_the_rest_and_before_statuses() -> None:
    assert sorted(StepStage) == [
        StepStage.FOUNDATION,
        StepStage.WORKLOAD,
        StepStage.CLEANUP,
        StepStage.CAUSE,
        StepStage.STATUS,
    ]


def test_an_attempt_is_a_step_and_an_answer() -> None:
    step = Step(StepStage.CLEANUP, ONE, Delete(GUARD), BECAUSE)
    assert Attempt(step, AttemptOutcome.DONE) == Attempt(step, AttemptOutcome.DONE, "")
    assert Attempt(step, AttemptOutcome.REFUSED, "quota") != Attempt(step, AttemptOutcome.REFUSED)
    assert len({Attempt(step, outcome) for outcome in AttemptOutcome}) == 5


def test_pl014_two_deletions_belong_together_if_they_rest_on_one_cause() -> None:
    cause, other_cause = (ONE, GUARD), (OTHER, GUARD)
    both, first, second, none = (
        Delete(GUARD, basis=basis_of(*causes)) for causes in ((cause, other_cause), (cause,), (other_cause,), ())
    )
    assert termination_causes(both) & termination_causes(first)
    assert termination_causes(second) & termination_causes(both)
    assert termination_causes(first) & termination_causes(Delete(GUARD, basis=basis_of((ONE, Guard("uid", "8")))))
    assert not termination_causes(first) & termination_causes(second)
    assert not termination_causes(none) & termination_causes(none)
    assert not termination_causes(DropFinalizer("grove.io/hold", GUARD)) & termination_causes(first)
    assert not termination_causes(first) & termination_causes(SetStatus(FrozenMap({}), GUARD))


def test_pl019_what_some_deletions_take_along_is_known_if_it_is_of_each() -> None:
    def deleting(takes: DeletionImpact | None) -> Step:
        return Step(StepStage.CLEANUP, ONE, Delete(GUARD, takes=takes), BECAUSE)

    status = Step(StepStage.STATUS, ONE, SetStatus(FrozenMap({}), GUARD), BECAUSE)
    assert total_deletion_impact([]) == total_deletion_impact([status]) == DeletionImpact()
    assert total_deletion_impact(
        [deleting(DeletionImpact(2, 1, 8)), status, deleting(DeletionImpact(1, 1, 0))]
    ) == DeletionImpact(3, 2, 8)
    assert total_deletion_impact([deleting(DeletionImpact(2, 1, 8)), deleting(None)]) is None


@pytest.mark.req("WF-060")
@pytest.mark.parametrize(
    ("kind", "action", "expected"),
    [
        ("PodCliqueSet", DropFinalizer("grove.io/x", GUARD), True),
        ("PodClique", DropFinalizer("grove.io/x", GUARD), False),
        ("PodCliqueSet", Delete(GUARD), False),
    ],
)
def test_only_a_set_without_its_finalizer_takes_its_parts_along(
    kind: str, action: DropFinalizer | Delete, *, expected: bool
) -> None:
    step = Step(StepStage.CLEANUP, Ref("grove.io/v1alpha1", kind, "ml", "llm"), action, BECAUSE)
    assert removes_set_finalizer(step) is expected


def test_pl019_tolls_add_up() -> None:
    assert DeletionImpact(1, 2, 4) + DeletionImpact(8, 16, 32) == DeletionImpact(9, 18, 36)


def step(action: Action, stage: StepStage, target: Ref = ONE) -> Step:
    return Step(stage, target, action, BECAUSE)


def test_pl021_only_a_status_on_which_others_rest_is_reported_first() -> None:
    written = SetStatus(EMPTY, GUARD)
    assert must_precede_creations(step(written, StepStage.FOUNDATION))
    assert not must_precede_creations(step(written, StepStage.STATUS))
    assert not must_precede_creations(step(Ensure(EMPTY), StepStage.FOUNDATION))


def test_pl021_cliques_and_groups_that_are_made_wait_for_what_is_reported() -> None:
    made = Create(EMPTY)
    assert all(must_follow_status_write(step(made, StepStage.WORKLOAD, target)) for target in (ONE, GROUP))
    assert not must_follow_status_write(step(made, StepStage.WORKLOAD, POD))
    assert not must_follow_status_write(step(SetStatus(EMPTY, GUARD), StepStage.STATUS))
