"""Each want becomes one step of its stage (PL-003), in order."""

from typing import Final

import pytest

from grove_core.areas.gang_termination.rules import TerminationReason
from grove_core.kernel.frozen import FrozenMap, frozen
from grove_core.kernel.refs import Guard, Ref
from grove_core.kernel.steps import Action, Apply, Create, Delete, DropFinalizer, Ensure, SetStatus, Step, StepStage
from grove_core.kernel.wants import (
    FieldsToApply,
    FinalizerToDrop,
    ObjectToCreate,
    ObjectToDelete,
    ObjectToEnsure,
    StatusToWrite,
    Want,
)
from grove_core.plan.planner import steps_for_objects_without_root
from grove_core.resources.api_names import GROVE
from tests.property.termination_bases import basis_of, termination_deletion_for

GUARD: Final = Guard("u-1", "7")
SET: Final = Ref(GROVE, "PodCliqueSet", "ml", "llm")
CLIQUE: Final = Ref(GROVE, "PodClique", "ml", "llm-0-a")
BECAUSE: Final = (TerminationReason.SET_BEING_DELETED.because(SET),)


def manifest(name: str = "llm-0-a", *, owner: str = "u-0", namespace: str = "ml") -> FrozenMap:
    owners = [{"uid": owner, "kind": "PodCliqueSet", "name": "llm", "controller": True}] if owner else []
    return frozen({"metadata": {"name": name, "namespace": namespace, "ownerReferences": owners}, "spec": {"a": 1}})


MADE: Final = manifest()
BASIS: Final = basis_of((SET, GUARD))
AS_COMPANION: Final = termination_deletion_for((SET, GUARD))
AS_CAUSE: Final = termination_deletion_for((SET, GUARD), is_cause=True)
FIELDS: Final = FrozenMap({"replicas": 1})


@pytest.mark.req("PL-014")
@pytest.mark.req("PL-021")
@pytest.mark.req("PL-016")
@pytest.mark.parametrize(
    ("want", "stage", "action"),
    [
        (ObjectToCreate(CLIQUE, MADE, BECAUSE), StepStage.WORKLOAD, Create(MADE)),
        (ObjectToCreate(CLIQUE, MADE, BECAUSE, is_foundation=True), StepStage.FOUNDATION, Create(MADE)),
        (ObjectToEnsure(CLIQUE, MADE, BECAUSE), StepStage.FOUNDATION, Ensure(MADE)),
        (FieldsToApply(CLIQUE, GUARD, FIELDS, BECAUSE), StepStage.WORKLOAD, Apply(FIELDS, GUARD)),
        (StatusToWrite(CLIQUE, GUARD, FIELDS, BECAUSE), StepStage.STATUS, SetStatus(FIELDS, GUARD)),
        (
            StatusToWrite(CLIQUE, GUARD, FIELDS, BECAUSE, is_foundation=True),
            StepStage.FOUNDATION,
            SetStatus(FIELDS, GUARD),
        ),
        (
            ObjectToDelete(CLIQUE, GUARD, BECAUSE, termination=AS_COMPANION),
            StepStage.CLEANUP,
            Delete(GUARD, basis=BASIS),
        ),
        (
            ObjectToDelete(CLIQUE, GUARD, BECAUSE, foreground=True, termination=AS_CAUSE),
            StepStage.CAUSE,
            Delete(GUARD, foreground=True, basis=BASIS),
        ),
        (FinalizerToDrop(CLIQUE, GUARD, "hold", BECAUSE), StepStage.CLEANUP, DropFinalizer("hold", GUARD)),
    ],
    ids=["create", "found", "ensure", "apply", "status", "tell", "delete", "end", "release"],
)
def test_pl003_each_want_is_one_step_of_its_stage(want: Want, stage: StepStage, action: Action) -> None:
    assert steps_for_objects_without_root([want]) == (Step(stage, CLIQUE, action, BECAUSE),)


def test_pl001_steps_without_a_root_are_in_order_too() -> None:
    first, second = ObjectToEnsure(CLIQUE, MADE, BECAUSE), FinalizerToDrop(SET, GUARD, "hold", BECAUSE)
    assert [one.target for one in steps_for_objects_without_root([second, first])] == [CLIQUE, SET]
