"""The event loop in virtual time: order, timers that are cancelled, tasks that end with the loop, and errors."""

import asyncio
from contextlib import suppress

import pytest

from grove_shell.simulator.virtual_loop import VirtualTimeEventLoop
from grove_shell.simulator.virtual_time import VirtualTimeQueue


def started() -> tuple[VirtualTimeQueue, VirtualTimeEventLoop]:
    queue = VirtualTimeQueue()
    return queue, VirtualTimeEventLoop(queue)  # type: ignore[abstract]  # what no task of ours calls is left out


def run(queue: VirtualTimeQueue) -> None:
    while queue.next_callback_time is not None:
        queue.run_next()


def test_sm010_timers_are_events_of_the_queue() -> None:
    queue, loop = started()
    seen: list[tuple[str, int]] = []

    async def sleeps(name: str, seconds: float) -> None:
        await asyncio.sleep(seconds)
        seen.append((name, queue.now))

    for name, seconds in (("b", 0.2), ("a", 0.1001), ("c", 0.2)):
        loop.create_task(sleeps(name, seconds))
    queue.schedule(150, lambda: seen.append(("queue", queue.now)))
    run(queue)
    assert seen == [("a", 101), ("queue", 150), ("b", 200), ("c", 200)]


def test_sm010_a_cancelled_timer_is_no_event() -> None:
    queue, loop = started()

    async def waits() -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(1), asyncio.timeout(60):
                await loop.create_future()

    task = loop.create_task(waits())
    run(queue)
    assert task.done()
    assert queue.now == 1000


def test_sm011_the_tasks_of_a_crashed_process_end() -> None:
    queue, loop = started()
    seen: list[str] = []

    async def works() -> None:
        try:
            await asyncio.sleep(10)
            seen.append("went on")
        finally:
            seen.append("ended")

    loop.create_task(works())
    queue.schedule(1000, loop.close)
    run(queue)
    assert seen == ["ended"]
    assert queue.now == 1000


def test_sm064_an_error_ends_the_run_although_a_task_catches_it() -> None:
    queue, loop = started()

    async def catches() -> None:
        with suppress(ValueError), loop.raise_first_error():
            raise ValueError("broken")
        await asyncio.sleep(1)

    loop.create_task(catches())
    with pytest.raises(ValueError, match="broken"):
        run(queue)
    loop.close()
