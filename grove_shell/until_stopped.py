"""Processes live until they are told to stop, by a signal or by whoever holds the event."""

import asyncio
import signal
from collections.abc import Awaitable, Callable, Coroutine, Iterable
from typing import Any


async def _without_a_word() -> None:
    """Nobody waits for anything."""


async def until_stopped(
    stop: asyncio.Event,
    work: Iterable[Coroutine[Any, Any, None]],
    farewell: Callable[[], Awaitable[None]] = _without_a_word,
) -> None:
    """Do all of the work until the end is asked for; then say farewell, and let go of what still runs.

    Raises:
        ExceptionGroup: with whatever went wrong in the work, at once.
    """
    for name in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(name, stop.set)
    async with asyncio.TaskGroup() as group:
        running = [group.create_task(one) for one in work]
        await stop.wait()
        await farewell()
        for task in running:
            task.cancel()
