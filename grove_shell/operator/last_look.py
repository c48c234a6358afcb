"""The last judgement before a gang is ended: what became ready since then is spared (OP-074)."""

from collections.abc import Awaitable, Callable, Iterable
from collections.abc import Set as AbstractSet

from grove_core.kernel.refs import Ref
from grove_core.kernel.steps import Attempt, Delete, Outcome, Step
from grove_shell import own_faults


def is_end(step: Step) -> bool:
    """Whether it ends a part of a gang for a breach; other deletions rest on nothing (PL-015)."""
    return isinstance(step.action, Delete) and bool(step.action.rests_on)


def ended_by(steps: Iterable[Step]) -> AbstractSet[Ref]:
    """Whom they end."""
    return {step.target for step in steps if is_end(step)}


class LastLook:
    """Tries the steps of one round; before the first end it asks once whom a plan of now still ends."""

    def __init__(
        self, attempt: Callable[[Step], Awaitable[Attempt]], ended_now: Callable[[], AbstractSet[Ref]]
    ) -> None:
        """Nothing was tried yet."""
        self._attempt = attempt
        self._ended_now = ended_now
        self._ended: AbstractSet[Ref] | None = None
        self._spared_because = "it is not to end any more"

    async def attempt(self, step: Step) -> Attempt:
        """Try one; whom nobody would end any more stays."""
        if is_end(step):
            if self._ended is None:
                self._ended = self._looked()
            if step.target not in self._ended:
                return Attempt(step, Outcome.CONFLICT, self._spared_because)
        return await self._attempt(step)

    def _looked(self) -> AbstractSet[Ref]:
        try:
            return self._ended_now()
        except Exception as fault:  # noqa: BLE001 - a fault of ours ends nobody, and the next round tells of it (OP-027)
            self._spared_because = f"fault of ours: {own_faults.told(fault)}"
            return frozenset()
