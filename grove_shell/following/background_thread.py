"""Runs plans in a thread of their own, so that the screen responds while one is made."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from queue import SimpleQueue
from threading import Thread
from typing import Any, TypeVar

T = TypeVar("T")


class SerialBackgroundThread:
    """Runs functions one after the other. It ends with the process: a plan that still runs delays no exit."""

    def __init__(self) -> None:
        self._waiting: SimpleQueue[tuple[Callable[[], Any], asyncio.Future[Any]]] = SimpleQueue()
        Thread(target=self._work, daemon=True, name="plans").start()

    async def run(self, function: Callable[[], T]) -> T:
        """Run a function and return its result; one that is cancelled before its turn does not run.

        Raises:
            Exception: whatever the function raises.
        """
        future: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        self._waiting.put((function, future))
        return await future

    def _work(self) -> None:
        while True:
            function, future = self._waiting.get()
            if future.cancelled():
                continue
            try:
                result, fault = function(), None
            except Exception as raised:  # noqa: BLE001 - it is raised again in the task that awaits it
                result, fault = None, raised
            with suppress(RuntimeError):  # the loop is closed: nothing awaits it any more
                future.get_loop().call_soon_threadsafe(_finish, future, result, fault)


def _finish(future: asyncio.Future[Any], result: object, fault: Exception | None) -> None:
    if future.cancelled():
        return
    if fault is not None:
        future.set_exception(fault)
    else:
        future.set_result(result)
