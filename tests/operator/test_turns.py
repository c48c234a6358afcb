"""When a set is looked at again, on a clock of its own."""

import asyncio
from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from grove_shell.operator.turns import Turn
from tests.skipped_time import now, run_skipping_time


@given(st.lists(st.floats(-5, 50), min_size=1, max_size=5))
def test_op071_the_earliest_of_all_looks_takes_place(seconds: list[float]) -> None:
    async def scenario() -> list[float]:
        woken: list[float] = []
        turn = Turn(lambda: woken.append(now()))
        for each in seconds:
            turn.look_in(each)
        await asyncio.sleep(60)
        return woken

    assert run_skipping_time(scenario()) == [max(min(seconds), 0)]


def test_op071_a_moment_that_came_while_the_plan_was_thought_about() -> None:
    async def scenario() -> list[float]:
        woken: list[float] = []
        turn = Turn(lambda: woken.append(now()))
        turn.look_at(datetime.now(UTC) - timedelta(milliseconds=50))
        turn.look_in(15)
        await asyncio.sleep(1)
        assert woken == [0]
        turn.look_in(15)
        await asyncio.sleep(60)
        return woken

    assert run_skipping_time(scenario()) == [0, 16]


def test_op071_none_takes_place_that_was_stopped() -> None:
    async def scenario() -> list[float]:
        woken: list[float] = []
        turn = Turn(lambda: woken.append(now()))
        turn.look_in(1)
        turn.stop()
        turn.look_in(3)
        await asyncio.sleep(60)
        return woken

    assert run_skipping_time(scenario()) == [3]
