"""The last judgement before a gang is ended: what became ready since then is spared (OP-074)."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from collections.abc import Set as AbstractSet
from typing import Final

from grove_core.areas.gang_termination.questions import BREACH
from grove_core.kernel.conditions import Truth
from grove_core.kernel.refs import Ref
from grove_core.kernel.steps import Attempt, Delete, Outcome, Stage, Step
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


Trial = Callable[[Callable[[Step], str | None]], Callable[[Step], Awaitable[Attempt]]]


class LastLook:
    """Tries the steps of one round, and asks whenever one is about to go out whether its object is still to end.

    The last part of an end takes away its own reason: a scaling group of which some breached cliques are gone is
    breached no more. So once one of those was deleted the others go as well while they are breached themselves.
    """

    def __init__(self, trial: Trial, plan_now: Callable[[], Plan | None]) -> None:
        """Nothing was tried yet.

        Args:
            trial: makes of whoever says why not what tries a step.
            plan_now: of what is known by then; None where the set is gone.
        """
        self._attempt = trial(self.against)
        self._plan_now = plan_now
        self._ended: AbstractSet[Ref] = frozenset()
        self._breached: AbstractSet[Ref] = frozenset()
        self._begun: set[Ref] = set()  # causes of ends whose last part has begun
        self._spared_because = _RECOVERED
        self._good_until = 0.0

    async def attempt(self, step: Step) -> Attempt:
        """Try one; whom nobody would end any more stays."""
        answer = await self._attempt(step)
        if is_end(step) and step.stage is Stage.CAUSE and answer.outcome is Outcome.DONE:
            self._begun |= _cause_of(step)
        return answer

    def against(self, step: Step) -> str | None:
        """Why a step is not to be done any more; None where it is."""
        if not is_end(step):
            return None
        clock = asyncio.get_running_loop().time
        began = clock()
        if began >= self._good_until:
            self._look()
            self._good_until = clock() + _GOOD_FOR * (clock() - began)
        is_last = step.stage is Stage.CAUSE and step.target in self._breached
        goes_on = is_last and not self._begun.isdisjoint(_cause_of(step))
        return None if step.target in self._ended or goes_on else self._spared_because

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


def _cause_of(step: Step) -> set[Ref]:
    """The cause of an end, which stands before what else it rests on (PL-015)."""
    return {ref for ref, _ in step.action.rests_on[:1]} if isinstance(step.action, Delete) else set()
