"""The last look before something is ended: what a deletion rests on must still stand on the server (PL-015)."""

import asyncio
from collections.abc import Callable
from functools import partial

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
        self._asked: dict[tuple[Ref, Guard], asyncio.Task[bool | Unreachable]] = {}

    async def attempt(self, step: Step) -> Attempt:
        """Try one write; a companion goes only while the cause is as it was judged."""
        if isinstance(step.action, Delete) and step.stage is not Stage.CAUSE:
            for ref, guard in step.action.rests_on:
                stands = await self._once(ref, guard)
                if isinstance(stands, Unreachable):
                    return Attempt(step, Outcome.UNREACHABLE, str(stands))
                if not stands:
                    return Attempt(step, Outcome.CONFLICT, f"{ref.short}, the cause, has been modified")
        return await self._writes.attempt(step, partial(self._unless, step))

    async def _once(self, ref: Ref, guard: Guard) -> bool | Unreachable:
        if (ref, guard) not in self._asked:
            self._asked[ref, guard] = asyncio.ensure_future(self._ask(ref, guard))
        return await asyncio.shield(self._asked[ref, guard])

    async def _ask(self, ref: Ref, guard: Guard) -> bool | Unreachable:
        """Nothing is raised: at the end of the process nobody may wait for it any more."""
        try:
            return await self._writes.stands(ref, guard)
        except Unreachable as fault:
            return fault
