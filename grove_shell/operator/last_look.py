"""The last judgement before a gang is ended: what became ready since then is spared (OP-074)."""

import asyncio
from collections.abc import Callable, Iterable
from collections.abc import Set as AbstractSet
from typing import Final

from grove_core.kernel.refs import Ref
from grove_core.kernel.steps import Delete, Step
from grove_shell import own_faults

_GOOD_FOR: Final = 4  # times as long as it took: a gang of a thousand parts is not judged a thousand times
_RECOVERED: Final = "it is not to end any more"


def is_end(step: Step) -> bool:
    """Whether it ends a part of a gang for a breach; other deletions rest on nothing (PL-015)."""
    return isinstance(step.action, Delete) and bool(step.action.rests_on)


def ended_by(steps: Iterable[Step]) -> AbstractSet[Ref]:
    """Whom they end."""
    return {step.target for step in steps if is_end(step)}


class LastLook:
    """Says of the steps of one round, whenever one is about to go out, whether a plan of now still ends its object."""

    def __init__(self, ended_now: Callable[[], AbstractSet[Ref]]) -> None:
        """Nothing was asked yet."""
        self._ended_now = ended_now
        self._ended: AbstractSet[Ref] = frozenset()
        self._spared_because = _RECOVERED
        self._good_until = 0.0

    def against(self, step: Step) -> str | None:
        """Why a step is not to be done any more; None where it is."""
        if not is_end(step):
            return None
        clock = asyncio.get_running_loop().time
        began = clock()
        if began >= self._good_until:
            self._look()
            self._good_until = clock() + _GOOD_FOR * (clock() - began)
        return None if step.target in self._ended else self._spared_because

    def _look(self) -> None:
        try:
            self._ended, self._spared_because = self._ended_now(), _RECOVERED
        except Exception as fault:  # noqa: BLE001 - a fault of ours ends nobody, and the next round tells of it (OP-027)
            self._ended, self._spared_because = frozenset(), f"fault of ours: {own_faults.told(fault)}"
