"""The backlog of failed writes of one root."""

from typing import Final
from unittest import mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grove_core.kernel.frozen import FrozenMap
from grove_core.kernel.refs import Guard, Ref
from grove_core.kernel.steps import Attempt, AttemptOutcome, Create, Delete, Step, StepStage
from grove_core.kernel.structs import replace
from grove_shell.operator import failed_write_retries
from grove_shell.operator.failed_write_retries import FailedWriteRetries

CLIQUE: Final = Ref("grove.io/v1alpha1", "PodClique", "ml", "llm-0-a")
CREATE: Final = Step(StepStage.WORKLOAD, CLIQUE, Create(FrozenMap({})), ())
DELETE: Final = replace(CREATE, stage=StepStage.CLEANUP, action=Delete(Guard("1", "1")))
STEPS: Final = [replace(step, target=replace(CLIQUE, name=name)) for step in (CREATE, DELETE) for name in "ab"]
FAILURES: Final = [AttemptOutcome.REFUSED, AttemptOutcome.CONFLICT, AttemptOutcome.UNREACHABLE]


@pytest.mark.req("OP-103")
@given(
    st.lists(
        st.lists(st.tuples(st.sampled_from(STEPS), st.sampled_from(FAILURES)), unique_by=lambda one: one[0].target)
    )
)
def test_op023_each_write_has_its_last_failure(rounds: list[list[tuple[Step, AttemptOutcome]]]) -> None:
    backlog, last = FailedWriteRetries(retry_at=1.0), dict[Step, AttemptOutcome]()
    for tried in rounds:
        backlog.record_attempts(Attempt(step, outcome) for step, outcome in tried)
        last |= dict(tried)
        withheld = {one.step for one in backlog.attempts_for_next_round(0.0, immediate=False) if one.is_withheld}
        assert withheld == {step for step, outcome in last.items() if outcome is AttemptOutcome.REFUSED}
        assert backlog.has_waiting_write == bool(withheld)
        assert backlog.withheld_targets == {step.target for step in withheld}


@pytest.mark.parametrize("outcome", [AttemptOutcome.CONFLICT, AttemptOutcome.UNREACHABLE])
@pytest.mark.parametrize("step", [CREATE, DELETE], ids=["creation", "deletion"])
def test_op023_a_failed_deletion_is_withheld_for_one_round(step: Step, outcome: AttemptOutcome) -> None:
    backlog = FailedWriteRetries()
    assert backlog.record_attempts([Attempt(step, outcome)]) is isinstance(step.action, Delete)
    first, second = (backlog.attempts_for_next_round(0.0, immediate=immediate) for immediate in (True, False))
    reported = [False] if isinstance(step.action, Delete) else []
    assert [one.is_withheld for one in first] == ([True, *reported] if reported else [])
    assert [one.is_withheld for one in second] == reported
    assert {one.outcome for one in (*first, *second)} <= {outcome}
    assert not backlog.has_waiting_write


def test_op023_after_its_pause_a_refused_deletion_is_reported_and_not_withheld() -> None:
    backlog = FailedWriteRetries()
    backlog.record_attempts([Attempt(DELETE, AttemptOutcome.REFUSED)])
    with mock.patch.object(failed_write_retries, "uniform", return_value=1.0):
        assert [backlog.take_next_backoff_seconds(0.0, keep_time=False) for _ in range(10)] == [
            0.25,
            0.5,
            1,
            2,
            4,
            8,
            16,
            32,
            60,
            60,
        ]
    assert [one.is_withheld for one in backlog.attempts_for_next_round(59.0, immediate=False)] == [True, False]
    assert [one.is_withheld for one in backlog.attempts_for_next_round(60.0, immediate=False)] == [False]
    assert not backlog.has_waiting_write
