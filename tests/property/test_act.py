"""Trying the steps of a plan (PL-014, PL-021)."""

from dataclasses import dataclass, field, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grove_core.kernel.frozen import FrozenMap
from grove_core.kernel.refs import Guard, Ref
from grove_core.kernel.steps import Apply, Attempt, Create, Outcome, SetStatus, Stage, Step, rest_on_one_cause
from grove_core.reconcile import reconcile
from grove_shell.controller.act import act
from tests.property.strategies.worlds import World, worlds


@dataclass
class Recorder:
    """A place to try steps that fails the ones it is told to."""

    failing: set[int]
    tried: list[Step] = field(default_factory=list)

    def attempt(self, step: Step) -> Attempt:
        self.tried.append(step)
        return Attempt(step, Outcome.CONFLICT if len(self.tried) - 1 in self.failing else Outcome.DONE)


@given(worlds(), st.sets(st.integers(min_value=0, max_value=6)))
def test_pl014_a_cause_outlives_its_companions(world: World, failing: set[int]) -> None:
    steps = reconcile(world.snapshot).steps
    recorder = Recorder(failing)
    attempts = act(recorder, steps)
    assert [attempt.step for attempt in attempts] == recorder.tried
    missed = [step for step in steps if step not in recorder.tried]
    failed = [attempt.step for attempt in attempts if attempt.outcome is not Outcome.DONE] + missed
    for step in steps:
        left = [other for other in failed if other.stage < step.stage and rest_on_one_cause(other.action, step.action)]
        if step.stage is Stage.CAUSE and left:
            assert step in missed
    assert all(step.stage is Stage.CAUSE for step in missed)


@pytest.mark.parametrize("failing", [set(), {0}, {1}])
def test_pl021_nothing_is_made_after_a_status_that_was_not_written(failing: set[int]) -> None:
    """A refused object of the foundation stops nobody; a status that had to come first stops what is made."""
    ref = Ref("grove.io/v1alpha1", "PodCliqueSet", "ml", "llm")
    nothing, guard = FrozenMap({}), Guard("uid", "1")
    steps = (
        Step(Stage.FOUNDATION, replace(ref, kind="ComputeDomain"), Create(nothing), ()),
        Step(Stage.FOUNDATION, ref, SetStatus(nothing, guard), ()),
        Step(Stage.WORKLOAD, replace(ref, kind="PodClique"), Create(nothing), ()),
        Step(Stage.WORKLOAD, replace(ref, kind="PodGang"), Apply(nothing, guard), ()),
    )
    recorder = Recorder(failing)
    act(recorder, steps)
    assert recorder.tried == [step for step in steps if failing != {1} or step.target.kind != "PodClique"]
