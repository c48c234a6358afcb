"""The last look before something is ended: what a deletion rests on must still stand on the server (PL-015)."""

import asyncio
from collections.abc import Callable, Coroutine
from functools import partial
from typing import Any

from grove_core.kernel.refs import Guard, Ref
from grove_core.kernel.steps import Attempt, Delete, Outcome, Stage, Step
from grove_shell.client.api import Unreachable
from grove_shell.world.writes import Writes


class Confirming:
    """Tries the steps of one round; every cause is asked for once."""

    def __init__(self, writes: Writes, unless: Callable[[Step], str | None] = lambda _step: None) -> None:
        """Nothing has been asked for yet.

        Args:
            writes: where steps are tried.
            unless: why a step is not to be done any more, asked right before it goes out; None where it is (OP-074).
        """
        self._writes = writes
        self._unless = unless
        self._asked: dict[tuple[Ref, Guard], asyncio.Task[bool]] = {}

    async def attempt(self, step: Step) -> Attempt:
        """Try one write; a companion goes only while the cause is as it was judged."""
        if isinstance(step.action, Delete) and step.stage is not Stage.CAUSE:
            for ref, guard in step.action.rests_on:
                try:
                    stands = await self._once(ref, guard)
                except Unreachable as fault:
                    return Attempt(step, Outcome.UNREACHABLE, str(fault))
                if not stands:
                    return Attempt(step, Outcome.CONFLICT, f"{ref.short}, the cause, has been modified")
        return await self._writes.attempt(step, partial(self._unless, step))

    async def _once(self, ref: Ref, guard: Guard) -> bool:
        if (ref, guard) not in self._asked:
            asking: Coroutine[Any, Any, bool] = self._writes.stands(ref, guard)
            self._asked[ref, guard] = asyncio.ensure_future(asking)
        return await asyncio.shield(self._asked[ref, guard])
