"""An uncached read of the cause before a gang termination deletes anything (PL-015)."""

import asyncio
from collections.abc import Callable
from functools import partial

from grove_core.kernel.refs import Guard, Ref
from grove_core.kernel.steps import Attempt, Delete, Outcome, Stage, Step
from grove_shell.apply.step_executor import StepExecutor
from grove_shell.client.api import Unreachable


class ConfirmedExecutor:
    """Executes the steps of one round; every cause is read once."""

    def __init__(self, writes: StepExecutor, unless: Callable[[Step], str | None] = lambda _step: None) -> None:
        """Start without a read.

        Args:
            writes: executes a step.
            unless: returns why a step is withdrawn, called right before its request is sent; None to send it (OP-074).
        """
        self._writes = writes
        self._unless = unless
        self._asked: dict[tuple[Ref, Guard], asyncio.Task[bool | Unreachable]] = {}

    async def attempt(self, step: Step) -> Attempt:
        """Execute a step; a deletion with a cause only while the server has the cause as it was judged."""
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
        """Return the error instead of raising it: at the end of the process nothing may await the task."""
        try:
            return await self._writes.is_unchanged(ref, guard)
        except Unreachable as fault:
            return fault
