"""Coalesces concurrent identical calls into one."""

import asyncio
from collections.abc import Awaitable, Callable, Hashable
from typing import Generic, TypeVar

_Result = TypeVar("_Result")


class SingleFlight(Generic[_Result]):
    """The calls in progress; a caller that is cancelled does not cancel the call for the others."""

    def __init__(self) -> None:
        """Start without a call in progress."""
        self._running: dict[Hashable, asyncio.Task[_Result]] = {}

    async def call_once(self, key: Hashable, work: Callable[[], Awaitable[_Result]]) -> _Result:
        """Return the result of ``work``, or of a call with an equal key in progress; raises what the call raises."""
        if key not in self._running:
            task = self._running[key] = asyncio.ensure_future(self._call(key, work))
            task.add_done_callback(_retrieve)
        return await asyncio.shield(self._running[key])

    async def _call(self, key: Hashable, work: Callable[[], Awaitable[_Result]]) -> _Result:
        try:
            return await work()
        finally:
            del self._running[key]


def _retrieve(done: asyncio.Task[_Result]) -> None:
    if not done.cancelled():
        done.exception()  # every caller has seen it; asyncio would log it
