"""Runs a process until SIGTERM, SIGINT or an event stops it."""

import asyncio
import signal
from collections.abc import Awaitable, Callable, Coroutine, Iterable
from typing import Any


async def _nothing_to_finish() -> None:
    return


async def run_until_stopped(
    stop: asyncio.Event,
    work: Iterable[Coroutine[Any, Any, None]],
    finish: Callable[[], Awaitable[None]] = _nothing_to_finish,
) -> None:
    """Run coroutines until ``stop`` is set; then await ``finish``, and cancel what still runs.

    Args:
        stop: set by SIGTERM and SIGINT, too.
        finish: an orderly end, awaited before the rest is cancelled.

    Raises:
        ExceptionGroup: at once, with the exceptions of the work.
    """
    for name in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(name, stop.set)
    async with asyncio.TaskGroup() as group:
        running = [group.create_task(one) for one in work]
        await stop.wait()
        await finish()
        for task in running:
            task.cancel()
