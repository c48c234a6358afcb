"""Concurrent identical calls are one, also where a caller is cancelled (OP-106)."""

import asyncio
import gc

import pytest

from grove_shell.apply.single_flight import SingleFlight


def test_op106_a_caller_that_gives_up_stops_no_other() -> None:
    async def scenario() -> tuple[list[str], int]:
        joined, begins, may_end = SingleFlight[str](), 0, asyncio.Event()

        async def work() -> str:
            nonlocal begins
            begins += 1
            await may_end.wait()
            return "done"

        first, second = (asyncio.ensure_future(joined.call_once("a", work)) for _ in range(2))
        await asyncio.sleep(0)
        first.cancel()
        with pytest.raises(asyncio.CancelledError):
            await first
        other = asyncio.ensure_future(joined.call_once("b", work))
        third = asyncio.ensure_future(joined.call_once("a", work))
        await asyncio.sleep(0)
        may_end.set()
        results = [await second, await third, await other]
        return [*results, await joined.call_once("a", work)], begins

    assert asyncio.run(scenario()) == (["done"] * 4, 3)


def test_op106_the_result_of_an_abandoned_call_is_dropped() -> None:
    async def scenario() -> list[str]:
        joined, reported = SingleFlight[str](), list[str]()
        asyncio.get_running_loop().set_exception_handler(lambda _loop, about: reported.append(about["message"]))

        async def breaks() -> str:
            await asyncio.sleep(0)
            raise KeyError("uid")

        waiting = asyncio.ensure_future(joined.call_once("a", breaks))
        await asyncio.sleep(0)
        waiting.cancel()
        await asyncio.wait([waiting])
        await asyncio.sleep(0)
        gc.collect()
        return reported

    assert asyncio.run(scenario()) == []


def test_op106_what_was_not_to_be_expected_is_raised_and_it_may_be_done_again() -> None:
    async def scenario() -> str:
        joined = SingleFlight[str]()

        async def breaks() -> str:
            raise KeyError("uid")

        async def works() -> str:
            return "done"

        with pytest.raises(KeyError):
            await joined.call_once("a", breaks)
        return await joined.call_once("a", works)

    assert asyncio.run(scenario()) == "done"
