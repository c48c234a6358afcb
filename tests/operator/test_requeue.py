"""When the next round of a set takes place, in virtual time."""

import asyncio
from datetime import timedelta
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grove_core.kernel.conditions import Condition, ConditionStatus
from grove_core.kernel.frozen import FrozenMap
from grove_core.kernel.refs import Guard, Ref
from grove_core.kernel.steps import Attempt, AttemptOutcome, Create, Delete, SetStatus, Step, StepStage
from grove_core.kernel.structs import replace
from grove_core.plan.plan import Plan
from grove_shell.operator.failed_write_retries import FailedWriteRetries
from grove_shell.operator.reconcile_schedule import RootReconcileSchedule
from tests.property.termination_bases import basis_of
from tests.property.workload.sets import NOW, applied, at_rest, clique_raw, set_raw
from tests.skipped_time import now, run_skipping_time


@given(st.lists(st.floats(-5, 50), min_size=1, max_size=5))
def test_op020_the_earliest_requeue_time_counts(seconds: list[float]) -> None:
    async def scenario() -> list[float]:
        requeued: list[float] = []
        schedule = RootReconcileSchedule(lambda: requeued.append(now()))
        for each in seconds:
            schedule.schedule_round_in(each)
        await asyncio.sleep(60)
        return requeued

    assert run_skipping_time(scenario()) == [max(min(seconds), 0)]


def test_op020_a_moment_that_came_while_the_plan_was_thought_about() -> None:
    async def scenario() -> list[float]:
        requeued: list[float] = []
        schedule = RootReconcileSchedule(lambda: requeued.append(now()))
        schedule.schedule_round_at(NOW - timedelta(milliseconds=50), NOW)
        schedule.schedule_round_in(15)
        await asyncio.sleep(1)
        assert requeued == [0]
        schedule.schedule_round_in(15)
        await asyncio.sleep(60)
        return requeued

    assert run_skipping_time(scenario()) == [0, 16]


def test_op020_none_takes_place_that_was_stopped() -> None:
    async def scenario() -> list[float]:
        requeued: list[float] = []
        schedule = RootReconcileSchedule(lambda: requeued.append(now()))
        schedule.schedule_round_in(1)
        schedule.cancel_scheduled_round()
        schedule.schedule_round_in(3)
        await asyncio.sleep(60)
        return requeued

    assert run_skipping_time(scenario()) == [3]


STEP = Step(StepStage.WORKLOAD, Ref("grove.io/v1alpha1", "PodClique", "ml", "llm-0-a"), Create(FrozenMap({})), ())


def test_op020_a_refusal_whose_time_was_over_while_it_was_thought_about_is_tried_again() -> None:
    """An earlier round replaced the retry, and began a moment too soon."""

    async def scenario() -> list[float]:
        requeued: list[float] = []
        schedule = RootReconcileSchedule(lambda: requeued.append(now()))
        schedule.record_attempts([Attempt(STEP, AttemptOutcome.REFUSED)], immediate=True)
        schedule.backlog.retry_at = now() + 0.1
        assert schedule.attempts_for_next_round(immediate=False)
        schedule.cancel_scheduled_round()
        await asyncio.sleep(0.2)
        schedule.schedule_withheld_retry(immediate=False)
        await asyncio.sleep(60)
        return requeued

    (moment,) = run_skipping_time(scenario())
    assert moment < 1


def test_op023_what_was_not_answered_is_left_alone_for_the_first_pause() -> None:
    async def scenario() -> dict[AttemptOutcome, bool]:
        rests: dict[AttemptOutcome, bool] = {}
        for outcome in AttemptOutcome:
            schedule = RootReconcileSchedule(lambda: None)
            schedule.record_attempts([Attempt(STEP, outcome)], immediate=False)
            rests[outcome] = schedule.not_before > now()
            schedule.cancel_scheduled_round()
        return rests

    assert [outcome for outcome, rest in run_skipping_time(scenario()).items() if rest] == [AttemptOutcome.UNREACHABLE]


_CAUSE = Ref("grove.io/v1alpha1", "PodClique", "ml", "llm-0-b")
_GUARD = Guard("1", "1")
ENDED = replace(STEP, stage=StepStage.CLEANUP, action=Delete(_GUARD, basis=basis_of((_CAUSE, _GUARD))))
SCALED_IN = replace(ENDED, action=Delete(_GUARD))


@pytest.mark.parametrize("outcome", [AttemptOutcome.CONFLICT, AttemptOutcome.UNREACHABLE])
@pytest.mark.parametrize(("step", "moved", "stays"), [(SCALED_IN, False, []), (ENDED, True, []), (ENDED, False, [1])])
@pytest.mark.req("OP-103")
def test_op023_one_round_follows_a_failed_deletion_at_once(
    step: Step, *, moved: bool, stays: list[int], outcome: AttemptOutcome
) -> None:
    """The next one after that only where it is of an end, and what that rests on is as it was."""

    async def scenario() -> tuple[list[float], bool, list[int], list[int]]:
        requeued: list[float] = []
        schedule = RootReconcileSchedule(lambda: requeued.append(now()))
        schedule.record_attempts([Attempt(step, outcome)], immediate=False, has_moved=lambda _step: moved)
        at_once = list(requeued)
        schedule.backlog.retry_at = now() + 10
        stands = [
            [1 for one in schedule.attempts_for_next_round(immediate=again) if one.is_withheld]
            for again in (True, False)
        ]
        schedule.cancel_scheduled_round()
        return at_once, schedule.is_immediate, stands[0], stands[1]

    at_once, again, first, second = run_skipping_time(scenario())
    assert (at_once, again, first) == ([0], True, [1])
    assert second == (stays if outcome is AttemptOutcome.CONFLICT or step == SCALED_IN else [1])


@given(st.lists(st.tuples(st.sampled_from(AttemptOutcome), st.floats(0, 0.1)), max_size=12))
def test_op023_what_fails_meanwhile_puts_no_refusal_off(rounds: list[tuple[AttemptOutcome, float]]) -> None:
    other = replace(STEP, target=replace(STEP.target, name="llm-0-b"))

    async def scenario() -> None:
        schedule = RootReconcileSchedule(lambda: None)
        schedule.record_attempts([Attempt(STEP, AttemptOutcome.REFUSED)], immediate=False)
        until = schedule.backlog.retry_at
        for outcome, pause in rounds:
            await asyncio.sleep(pause)
            stood = [one.step for one in schedule.attempts_for_next_round(immediate=False)]
            assert (STEP in stood) == (now() < until)
            if now() >= until:
                return
            schedule.record_attempts([Attempt(other, outcome)], immediate=False)
        schedule.cancel_scheduled_round()

    run_skipping_time(scenario())


def test_op020_a_short_rest_does_not_end_a_long_one() -> None:
    async def scenario() -> float:
        schedule = RootReconcileSchedule(lambda: None)
        schedule.pause_after_round(2.0)
        schedule.pause_after_round()
        schedule.pause_after_failed_round()
        return schedule.not_before - now()

    assert run_skipping_time(scenario()) == 8


CLIQUE: Final = STEP.target
BREACH: Final = {"type": "MinAvailableBreached", "reason": "Drawn", "message": ""}
AT: Final = "2026-11-20T09:00:00Z"


def status(truth: str, version: str = "1") -> Step:
    """A status that reports a breach."""
    conditions = (FrozenMap({**BREACH, "status": truth, "lastTransitionTime": AT}),)
    return Step(StepStage.STATUS, CLIQUE, SetStatus(FrozenMap({"conditions": conditions}), Guard("u", version)), ())


WELL: Final = at_rest(applied(set_raw(clique_raw("a"))))
STANDS: Final = Condition("MinAvailableBreached", ConditionStatus.TRUE, "Drawn", "", NOW)
SICK: Final = replace(
    WELL,
    cliques=tuple(
        replace(one, ref=CLIQUE, uid="u", status=replace(one.status, conditions=(STANDS,))) for one in WELL.cliques
    ),
)
PLAN: Final = Plan(root=WELL.root.ref, root_uid="r", rules="", steps=(), withheld=(), wake_at=None, findings=())


@pytest.mark.req("GT-067")
@pytest.mark.parametrize("outcome", [AttemptOutcome.REFUSED, AttemptOutcome.CONFLICT, AttemptOutcome.UNREACHABLE])
def test_op103_a_breach_status_is_known_until_it_is_written(outcome: AttemptOutcome) -> None:
    """Through rounds that do not try it, in whatever version of the object, for as long as it stands breached."""
    over, anew = status("False"), status("True", "2")

    async def scenario() -> None:
        schedule = RootReconcileSchedule(lambda: None)
        schedule.record_attempts([Attempt(over, outcome)], immediate=False)
        await asyncio.sleep(1)
        for _ in range(3):
            assert {one.step for one in schedule.attempts_for_next_round(immediate=False)} == {over}
            schedule.forget_unwanted_writes(PLAN, SICK)
            schedule.record_attempts([], immediate=False)
        schedule.record_attempts([Attempt(anew, AttemptOutcome.CONFLICT)], immediate=False)
        schedule.forget_unwanted_writes(PLAN, SICK)
        assert [one.step for one in schedule.attempts_for_next_round(immediate=False)] == [over, anew]
        schedule.forget_unwanted_writes(PLAN, WELL)
        assert not schedule.attempts_for_next_round(immediate=False)
        schedule.record_attempts([Attempt(over, AttemptOutcome.CONFLICT)], immediate=False)
        schedule.record_attempts([Attempt(anew, AttemptOutcome.DONE)], immediate=False)
        assert not schedule.attempts_for_next_round(immediate=False)
        schedule.cancel_scheduled_round()

    run_skipping_time(scenario())


def test_op103_a_clique_that_waited_for_an_unwanted_object_is_reconciled() -> None:
    async def scenario() -> list[float]:
        requeued: list[float] = []
        schedule = RootReconcileSchedule(lambda: requeued.append(now()))
        schedule.record_attempts([Attempt(status("False"), AttemptOutcome.CONFLICT)], immediate=False)
        schedule.cancel_scheduled_round()
        schedule.forget_unwanted_writes(PLAN, WELL)
        schedule.forget_unwanted_writes(PLAN, WELL)
        await asyncio.sleep(60)
        return requeued

    assert run_skipping_time(scenario()) == [0.25]


@pytest.mark.req("OP-023")
@pytest.mark.parametrize("outcome", [AttemptOutcome.CONFLICT, AttemptOutcome.UNREACHABLE])
def test_op103_the_pause_of_a_breach_status_that_fails_in_each_round_grows(outcome: AttemptOutcome) -> None:
    """Its object is not marked as breached, and every plan writes the status again."""
    plan = replace(PLAN, steps=(status("False"),))
    seen = replace(WELL, cliques=tuple(replace(one, ref=CLIQUE, uid="u") for one in WELL.cliques))

    async def scenario() -> list[float]:
        rounds: list[float] = []

        def play_round() -> None:
            rounds.append(now())
            schedule.attempts_for_next_round(immediate=False)
            schedule.forget_unwanted_writes(plan, seen)
            schedule.record_attempts([Attempt(step, outcome) for step in plan.steps], immediate=False)

        schedule = RootReconcileSchedule(play_round, backlog=FailedWriteRetries(jitter=lambda: 1.0))
        play_round()
        await asyncio.sleep(200)
        schedule.cancel_scheduled_round()
        return rounds

    assert run_skipping_time(scenario()) == [0, 0.25, 0.75, 1.75, 3.75, 7.75, 15.75, 31.75, 63.75, 123.75, 183.75]


@pytest.mark.req("GT-067")
def test_op103_an_older_refusal_does_not_come_back_over_what_was_tried_since() -> None:
    refused, over, anew = status("True", "1"), status("False", "2"), status("True", "3")

    async def scenario() -> None:
        schedule = RootReconcileSchedule(lambda: None)
        schedule.record_attempts([Attempt(refused, AttemptOutcome.REFUSED)], immediate=False)
        schedule.record_attempts([Attempt(over, AttemptOutcome.CONFLICT)], immediate=False)
        schedule.record_attempts([Attempt(anew, AttemptOutcome.CONFLICT)], immediate=False)
        await asyncio.sleep(61)
        assert [one.step for one in schedule.attempts_for_next_round(immediate=False)] == [over, anew]
        schedule.cancel_scheduled_round()

    run_skipping_time(scenario())
