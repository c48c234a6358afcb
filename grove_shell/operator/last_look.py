"""The last judgement before a gang is ended: what became ready since then is spared (OP-074)."""

import asyncio
from collections.abc import Callable, Iterable
from collections.abc import Set as AbstractSet
from typing import Final

from grove_core.areas.gang_termination.questions import BREACH
from grove_core.kernel.conditions import Truth
from grove_core.kernel.refs import Ref
from grove_core.kernel.steps import Delete, Step, causes_of
from grove_core.plan.plan import Plan
from grove_shell import own_faults

_GOOD_FOR: Final = 4  # times as long as it took: a gang of a thousand parts is not judged a thousand times
_RECOVERED: Final = "it is not to end any more"
_YES: Final = Truth.TRUE.value


def is_end(step: Step) -> bool:
    """Whether it ends a part of a gang for a breach; other deletions rest on nothing (PL-015)."""
    return isinstance(step.action, Delete) and bool(step.action.rests_on)


def ended_by(steps: Iterable[Step]) -> AbstractSet[Ref]:
    """Whom they end."""
    return {step.target for step in steps if is_end(step)}


class LastLook:
    """Says of the steps of one round, whenever one is about to go out, whether its object is still to end.

    An end that has begun takes away its own reason, part by part: a scaling group of which some breached cliques are
    gone is breached no more. So once a deletion went out, another one for the same causes goes as well while the object
    or one of these is breached.
    """

    def __init__(self, plan_now: Callable[[], Plan | None]) -> None:
        """Nothing was asked yet.

        Args:
            plan_now: of what is known by then; None where the set is gone.
        """
        self._plan_now = plan_now
        self._ended: AbstractSet[Ref] = frozenset()
        self._breached: AbstractSet[Ref] = frozenset()
        self._begun: set[Ref] = set()
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
        causes = causes_of(step.action)
        goes_on = not self._begun.isdisjoint(causes) and not self._breached.isdisjoint({step.target, *causes})
        if step.target not in self._ended and not goes_on:
            return self._spared_because
        self._begun |= causes
        return None

    def _look(self) -> None:
        self._ended = self._breached = frozenset()
        self._spared_because = _RECOVERED
        try:
            plan = self._plan_now()
        except Exception as fault:  # noqa: BLE001 - a fault of ours ends nobody, and the next round tells of it (OP-027)
            self._spared_because = f"fault of ours: {own_faults.told(fault)}"
            return
        if plan is not None:
            self._ended = ended_by(plan.steps)
            judged = (finding for finding in plan.findings if finding.question == BREACH)
            self._breached = {finding.subject for finding in judged if finding.verdict == _YES}
