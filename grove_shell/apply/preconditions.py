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

    def __init__(
        self, writes: StepExecutor, withdrawn_because: Callable[[Step], str | None] = lambda _step: None
    ) -> None:
        """Start without a read.

        Args:
            writes: executes a step.
            withdrawn_because: called right before a request is sent; returns why it is withdrawn, None to send it
                (OP-074).
        """
        self._writes = writes
        self._withdrawn_because = withdrawn_because
        self._reads: dict[tuple[Ref, Guard], asyncio.Task[bool | Unreachable]] = {}

    async def attempt(self, step: Step) -> Attempt:
        """Execute a step; a deletion with a cause only while the server has the cause as it was judged."""
        if isinstance(step.action, Delete) and step.stage is not Stage.CAUSE:
            for ref, guard in step.action.rests_on:
                unchanged = await self._once(ref, guard)
                if isinstance(unchanged, Unreachable):
                    return Attempt(step, Outcome.UNREACHABLE, str(unchanged))
                if not unchanged:
                    return Attempt(step, Outcome.CONFLICT, f"{ref.short}, the cause, has been modified")
        return await self._writes.attempt(step, partial(self._withdrawn_because, step))

    async def _once(self, ref: Ref, guard: Guard) -> bool | Unreachable:
        if (ref, guard) not in self._reads:
            self._reads[ref, guard] = asyncio.ensure_future(self._read(ref, guard))
        return await asyncio.shield(self._reads[ref, guard])

    async def _read(self, ref: Ref, guard: Guard) -> bool | Unreachable:
        """Return the error instead of raising it: at the end of the process nothing may await the task."""
        try:
            return await self._writes.is_unchanged(ref, guard)
        except Unreachable as fault:
            return fault
