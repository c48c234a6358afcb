"""Work that several want at once is done once."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Generic, TypeVar

_Result = TypeVar("_Result")


class Joined(Generic[_Result]):
    """What is under way; who wants the same meanwhile waits for it, and who gives up stops nobody."""

    def __init__(self) -> None:
        """Nothing is under way."""
        self._under_way: dict[str, asyncio.Task[_Result]] = {}

    async def once(self, about: str, work: Callable[[], Awaitable[_Result]]) -> _Result:
        """What it comes to; ``work`` raises nothing that is to be expected, for nobody may wait for it any more."""
        if about not in self._under_way:
            self._under_way[about] = asyncio.ensure_future(self._done(about, work))
        return await asyncio.shield(self._under_way[about])

    async def _done(self, about: str, work: Callable[[], Awaitable[_Result]]) -> _Result:
        try:
            return await work()
        finally:
            del self._under_way[about]
