"""Work that several want at once is done once."""

import asyncio
from collections.abc import Awaitable, Callable, Hashable
from typing import Generic, TypeVar

_Result = TypeVar("_Result")


class Joined(Generic[_Result]):
    """What is under way; who wants the same meanwhile waits for it, and who gives up stops nobody."""

    def __init__(self) -> None:
        """Nothing is under way."""
        self._under_way: dict[Hashable, asyncio.Task[_Result]] = {}

    async def once(self, about: Hashable, work: Callable[[], Awaitable[_Result]]) -> _Result:
        """What it comes to; raises what ``work`` raises, for whoever waits."""
        if about not in self._under_way:
            task = self._under_way[about] = asyncio.ensure_future(self._done(about, work))
            task.add_done_callback(_is_heard)
        return await asyncio.shield(self._under_way[about])

    async def _done(self, about: Hashable, work: Callable[[], Awaitable[_Result]]) -> _Result:
        try:
            return await work()
        finally:
            del self._under_way[about]


def _is_heard(done: asyncio.Task[_Result]) -> None:
    if not done.cancelled():
        done.exception()  # whoever waited has heard of it
