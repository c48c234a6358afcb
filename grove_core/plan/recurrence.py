"""What comes again and again in a forecast, so that it is played once and told once (PL-024).

Looks are compared by what they found and what they lead to, with every moment as a distance: a delay that ends once,
at a moment of its own, is another distance in each of them, and keeps them from being alike.
"""

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, TypeAlias

from grove_core.kernel.reasons import Fact, Reason
from grove_core.kernel.refs import Ref
from grove_core.kernel.times import parse_time
from grove_core.plan.plan import Plan

Cycle: TypeAlias = tuple[timedelta, tuple[Hashable, ...]]
"""From one moment at which time alone changes something to the next: how long it takes, the images of its looks."""

_DRAWN: Final = 5
"""How many letters a server draws for the end of a pod's name."""


@dataclass(frozen=True, slots=True)
class Recurrence:
    """The last rounds of a forecast come again and again.

    Attributes:
        since: number of the first round of the lap that is repeated; it ends with the last round.
        every: how long a lap takes.
        until: to where time was let pass.
    """

    since: int
    every: timedelta
    until: datetime

    def times(self, at: datetime) -> int:
        """How often in all there is what a round of the lap does at this moment."""
        return 1 + (self.until - at) // self.every


def round_fingerprint(plan: Plan, at: datetime, begun: datetime) -> Hashable:
    """What a look found and leads to, equal for two looks that differ in their moment and in names drawn by chance.

    Args:
        at: the moment of the look; moments count as distances from it.
        begun: the first moment of the forecast; what was before it never changes, and counts as it is.
    """
    return (
        tuple(
            (_address(found.subject), found.question, found.verdict, _whys(found.because, at, begun))
            for found in plan.findings
        ),
        frozenset((type(step.action), _address(step.target), _whys(step.because, at, begun)) for step in plan.steps),
        frozenset((_address(held.target), _whys(held.because, at, begun)) for held in plan.withheld),
        None if plan.wake_at is None else plan.wake_at - at,
    )


def cycles_repeated(laps: Sequence[Cycle]) -> int:
    """How many of the last laps are, together, as those right before them; the fewest, 0 where there are none."""
    for count in range(1, len(laps) // 2 + 1):
        if laps[-1 - count] == laps[-1] and laps[-2 * count : -count] == laps[-count:]:
            return count
    return 0


def _whys(reasons: Iterable[Reason], at: datetime, begun: datetime) -> Hashable:
    return tuple(
        (why.rule, _address(why.subject), tuple((name, _distant(fact, at, begun)) for name, fact in why.facts))
        for why in reasons
    )


def _distant(fact: Fact, at: datetime, begun: datetime) -> Hashable:
    moment = parse_time(fact) if isinstance(fact, str) else None
    return fact if moment is None or moment <= begun else moment - at


def _address(ref: Ref) -> Ref:
    if ref.kind != "Pod":
        return ref
    return Ref(ref.api_version, ref.kind, ref.namespace, ref.name[:-_DRAWN], ref.replica)
