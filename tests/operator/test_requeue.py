"""When the next round of a set takes place, in virtual time."""

import asyncio
from dataclasses import replace
from datetime import timedelta
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grove_core.kernel.conditions import Condition, ConditionStatus
from grove_core.kernel.frozen import FrozenMap
from grove_core.kernel.refs import Guard, Ref
from grove_core.kernel.steps import Attempt, AttemptOutcome, Create, Delete, SetStatus, Step, StepStage
from grove_core.plan.plan import Plan
from grove_shell.operator.reconcile_schedule import ReconcileSchedule
from tests.property.workload.sets import NOW, applied, at_rest, clique_raw, set_raw
from tests.skipped_time import now, run_skipping_time


@given(st.lists(st.floats(-5, 50), min_size=1, max_size=5))
def test_op020_the_earliest_of_all_looks_takes_place(seconds: list[float]) -> None:
    async def scenario() -> list[float]:
        woken: list[float] = []
        turn = ReconcileSchedule(lambda: woken.append(now()))
        for each in seconds:
            turn.schedule_in(each)
        await asyncio.sleep(60)
        return woken

    assert run_skipping_time(scenario()) == [max(min(seconds), 0)]


def test_op020_a_moment_that_came_while_the_plan_was_thought_about() -> None:
    async def scenario() -> list[float]:
        woken: list[float] = []
        turn = ReconcileSchedule(lambda: woken.append(now()))
        turn.schedule_at(NOW - timedelta(milliseconds=50), NOW)
        turn.schedule_in(15)
        await asyncio.sleep(1)
        assert woken == [0]
        turn.schedule_in(15)
        await asyncio.sleep(60)
        return woken

    assert run_skipping_time(scenario()) == [0, 16]


def test_op020_none_takes_place_that_was_stopped() -> None:
    async def scenario() -> list[float]:
        woken: list[float] = []
        turn = ReconcileSchedule(lambda: woken.append(now()))
        turn.schedule_in(1)
        turn.stop()
        turn.schedule_in(3)
        await asyncio.sleep(60)
        return woken

    assert run_skipping_time(scenario()) == [3]


STEP = Step(StepStage.WORKLOAD, Ref("grove.io/v1alpha1", "PodClique", "ml", "llm-0-a"), Create(FrozenMap({})), ())


def test_op020_a_refusal_whose_time_was_over_while_it_was_thought_about_is_tried_again() -> None:
    """An earlier look took the place of the one that tries it again, and began a moment too soon."""

    async def scenario() -> list[float]:
        woken: list[float] = []
        turn = ReconcileSchedule(lambda: woken.append(now()))
        turn.record([Attempt(STEP, AttemptOutcome.REFUSED)], immediate=True)
        turn.backlog.retry_at = now() + 0.1
        assert turn.attempts(immediate=False)
        turn.stop()
        await asyncio.sleep(0.2)
        turn.schedule_withheld_retry(immediate=False)
        await asyncio.sleep(60)
        return woken

    (moment,) = run_skipping_time(scenario())
    assert moment < 1


def test_op023_what_was_not_answered_is_left_alone_for_the_first_pause() -> None:
    async def scenario() -> dict[AttemptOutcome, bool]:
        rests: dict[AttemptOutcome, bool] = {}
        for outcome in AttemptOutcome:
            turn = ReconcileSchedule(lambda: None)
            turn.record([Attempt(STEP, outcome)], immediate=False)
            rests[outcome] = turn.not_before > now()
            turn.stop()
        return rests

    assert [outcome for outcome, rest in run_skipping_time(scenario()).items() if rest] == [AttemptOutcome.UNREACHABLE]


_CAUSE = Ref("grove.io/v1alpha1", "PodClique", "ml", "llm-0-b")
_GUARD = Guard("1", "1")
ENDED = replace(STEP, stage=StepStage.CLEANUP, action=Delete(_GUARD, ((_CAUSE, _GUARD),)))
SCALED_IN = replace(ENDED, action=Delete(_GUARD))


@pytest.mark.parametrize("outcome", [AttemptOutcome.CONFLICT, AttemptOutcome.UNREACHABLE])
@pytest.mark.parametrize(("step", "moved", "stays"), [(SCALED_IN, False, []), (ENDED, True, []), (ENDED, False, [1])])
@pytest.mark.req("OP-103")
def test_op023_one_look_follows_at_once_that_knows_of_a_deletion_in_vain(
    step: Step, *, moved: bool, stays: list[int], outcome: AttemptOutcome
) -> None:
    """The next one after that only where it is of an end, and what that rests on is as it was."""

    async def scenario() -> tuple[list[float], bool, list[int], list[int]]:
        woken: list[float] = []
        turn = ReconcileSchedule(lambda: woken.append(now()))
        turn.record([Attempt(step, outcome)], immediate=False, has_moved=lambda _step: moved)
        at_once = list(woken)
        turn.backlog.retry_at = now() + 10
        stands = [
            [1 for one in turn.attempts(immediate=again) if one.outcome is AttemptOutcome.REFUSED]
            for again in (True, False)
        ]
        turn.stop()
        return at_once, turn.is_immediate, stands[0], stands[1]

    at_once, again, first, second = run_skipping_time(scenario())
    assert (at_once, again, first) == ([0], True, [1])
    assert second == (stays if outcome is AttemptOutcome.CONFLICT or step == SCALED_IN else [1])


@given(st.lists(st.tuples(st.sampled_from(AttemptOutcome), st.floats(0, 0.1)), max_size=12))
def test_op023_what_fails_meanwhile_puts_no_refusal_off(rounds: list[tuple[AttemptOutcome, float]]) -> None:
    other = replace(STEP, target=replace(STEP.target, name="llm-0-b"))

    async def scenario() -> None:
        turn = ReconcileSchedule(lambda: None)
        turn.record([Attempt(STEP, AttemptOutcome.REFUSED)], immediate=False)
        until = turn.backlog.retry_at
        for outcome, pause in rounds:
            await asyncio.sleep(pause)
            stood = [one.step for one in turn.attempts(immediate=False)]
            assert (STEP in stood) == (now() < until)
            if now() >= until:
                return
            turn.record([Attempt(other, outcome)], immediate=False)
        turn.stop()

    run_skipping_time(scenario())


def test_op020_a_short_rest_does_not_end_a_long_one() -> None:
    async def scenario() -> float:
        turn = ReconcileSchedule(lambda: None)
        turn.rest(2.0)
        turn.rest()
        turn.rest_after_failure()
        return turn.not_before - now()

    assert run_skipping_time(scenario()) == 8


CLIQUE: Final = STEP.target
BREACH: Final = {"type": "MinAvailableBreached", "reason": "Drawn", "message": ""}
AT: Final = "2026-11-20T09:00:00Z"


def status(truth: str, version: str = "1") -> Step:
    """What tells of a breach."""
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
def test_op103_what_tells_of_a_breach_is_known_until_it_is_written(outcome: AttemptOutcome) -> None:
    """Through rounds that do not try it, in whatever version of the object, for as long as it stands breached."""
    over, anew = status("False"), status("True", "2")

    async def scenario() -> None:
        turn = ReconcileSchedule(lambda: None)
        turn.record([Attempt(over, outcome)], immediate=False)
        await asyncio.sleep(1)
        for _ in range(3):
            assert {one.step for one in turn.attempts(immediate=False)} == {over}
            turn.drop_unwanted(PLAN, SICK)
            turn.record([], immediate=False)
        turn.record([Attempt(anew, AttemptOutcome.CONFLICT)], immediate=False)
        turn.drop_unwanted(PLAN, SICK)
        assert [one.step for one in turn.attempts(immediate=False)] == [over, anew]
        turn.drop_unwanted(PLAN, WELL)
        assert not turn.attempts(immediate=False)
        turn.record([Attempt(over, AttemptOutcome.CONFLICT)], immediate=False)
        turn.record([Attempt(anew, AttemptOutcome.DONE)], immediate=False)
        assert not turn.attempts(immediate=False)
        turn.stop()

    run_skipping_time(scenario())


def test_op103_who_waited_for_what_nobody_wants_is_looked_at() -> None:
    async def scenario() -> list[float]:
        woken: list[float] = []
        turn = ReconcileSchedule(lambda: woken.append(now()))
        turn.record([Attempt(status("False"), AttemptOutcome.CONFLICT)], immediate=False)
        turn.stop()
        turn.drop_unwanted(PLAN, WELL)
        turn.drop_unwanted(PLAN, WELL)
        await asyncio.sleep(60)
        return woken

    assert run_skipping_time(scenario()) == [0.25]


@pytest.mark.req("GT-067")
def test_op103_an_older_refusal_does_not_come_back_over_what_was_tried_since() -> None:
    refused, over, anew = status("True", "1"), status("False", "2"), status("True", "3")

    async def scenario() -> None:
        turn = ReconcileSchedule(lambda: None)
        turn.record([Attempt(refused, AttemptOutcome.REFUSED)], immediate=False)
        turn.record([Attempt(over, AttemptOutcome.CONFLICT)], immediate=False)
        turn.record([Attempt(anew, AttemptOutcome.CONFLICT)], immediate=False)
        await asyncio.sleep(61)
        assert [one.step for one in turn.attempts(immediate=False)] == [over, anew]
        turn.stop()

    run_skipping_time(scenario())
