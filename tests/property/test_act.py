"""Trying the steps of a plan (PL-014)."""

from dataclasses import dataclass, field

from hypothesis import given
from hypothesis import strategies as st

from grove_core.kernel.steps import Attempt, Outcome, Stage, Step, rest_on_one_cause
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
