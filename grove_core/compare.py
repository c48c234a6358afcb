"""Two rule sets on one set: who ends by one and not by the other, sooner or later, or more often.

What is compared are PodCliques, by name: whether one ends as part of its group's replica or of the whole replica of the
set is told, and is no difference of its own.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from enum import Enum, unique
from typing import TypeAlias

from grove_core.areas.gang_termination.deletions import delays_behind, deletions_by_replica
from grove_core.areas.gang_termination.questions import BREACH, PREDICTION, TERMINATION
from grove_core.kernel.conditions import Truth
from grove_core.kernel.decisions import Health, reasons_on
from grove_core.kernel.reasons import Reason
from grove_core.kernel.refs import Ref
from grove_core.kernel.steps import DeletionImpact, Step, total_impact
from grove_core.plan.forecast import Forecast

_Told: TypeAlias = tuple[Ref, datetime, int] | None  # what sets two ends apart for who reads of them


@unique
class Change(Enum):
    """What becomes of cliques by the second rules, seen from the first; the gravest first."""

    ENDS = "ENDS"
    OFTENER = "OFTENER"
    SOONER = "SOONER"
    LATER = "LATER"
    RARER = "RARER"
    SPARED = "SPARED"


@dataclass(frozen=True, slots=True)
class Termination:
    """The first end of some cliques, with a replica of the set or of a scaling group, as far as a forecast goes.

    Attributes:
        subject: which replica.
        at: when it ends.
        cliques: that go with it then.
        takes: what goes along; None where nobody knows.
        because: why, the causes' reasons.
        times: how often the cliques that this is told of end in all.
    """

    subject: Ref
    at: datetime
    cliques: tuple[Ref, ...]
    takes: DeletionImpact | None
    because: tuple[Reason, ...]
    times: int = 1


@dataclass(frozen=True, slots=True)
class Difference:
    """Cliques that end together by both of two rule sets, and otherwise by the one than by the other.

    Attributes:
        before, after: their end by the first and by the second rules; None where they do not end.
        spared_because: why they do not end by the rules by which they do not, as they see it now.
    """

    change: Change
    cliques: tuple[Ref, ...]
    before: Termination | None
    after: Termination | None
    spared_because: tuple[Reason, ...] = ()


@dataclass(frozen=True, slots=True)
class Comparison:
    """One set, judged by two rule sets.

    Attributes:
        differences: of terminations, the gravest first.
        breaches: whose condition would be another one: (subject, by the first rules, by the second).
        unknown: why nothing can be said by one of them, or by both; empty where everything can.
        alike: how many PodCliques end by both, and at the same time.
        unpredicted: what one of the rule sets does not predict of the set, so that later ends may differ (GF-130).
    """

    root: Ref
    differences: tuple[Difference, ...]
    breaches: tuple[tuple[Ref, str, str], ...]
    unknown: tuple[Reason, ...] = ()
    alike: int = 0
    unpredicted: tuple[Reason, ...] = ()

    @property
    def is_same(self) -> bool:
        """Whether it is known that the same ends at the same time."""
        return not self.differences and not self.unknown and not self.unpredicted


def compare(before: Forecast, after: Forecast) -> Comparison:
    """Compare what two rule sets make of one set. Linear in the steps of both.

    Args:
        before, after: forecasts of the same snapshot, played to the same moment.
    """
    first, second = _ends_in(before), _ends_in(after)
    alike: defaultdict[tuple[Change, _Told, _Told], list[Ref]] = defaultdict(list)
    same = 0
    for clique in {**first, **second}:
        ends = first.get(clique), second.get(clique)
        change = _change(*ends)
        if change is None:
            same += 1
        else:
            alike[change, _told(ends[0]), _told(ends[1])].append(clique)
    found = [
        _difference(change, cliques, (first.get(cliques[0]), second.get(cliques[0])), (before, after))
        for (change, _, _), cliques in alike.items()
    ]
    order = list(Change)
    found.sort(key=lambda one: (order.index(one.change), one.cliques[0].sort_key))
    unknown = dict.fromkeys(reason for told in (before, after) for reason in _unknown_in(told))
    unpredicted = dict.fromkeys(reason for told in (before, after) for reason in reasons_on(PREDICTION, told.findings))
    breaches = tuple(_breaches(before, after))
    return Comparison(before.root, tuple(found), breaches, tuple(unknown), same, tuple(unpredicted))


def _told(end: Termination | None) -> _Told:
    return None if end is None else (end.subject, end.at, end.times)


def _change(before: Termination | None, after: Termination | None) -> Change | None:
    if before is None:
        return Change.ENDS
    if after is None:
        return Change.SPARED
    if before.at != after.at:
        return Change.SOONER if after.at < before.at else Change.LATER
    if before.times != after.times:
        return Change.OFTENER if after.times > before.times else Change.RARER
    return None


def _difference(
    change: Change,
    cliques: Sequence[Ref],
    ends: tuple[Termination | None, Termination | None],
    told: tuple[Forecast, Forecast],
) -> Difference:
    """What becomes of cliques that share both ends."""
    names, (before, after) = tuple(sorted(cliques, key=lambda ref: ref.sort_key)), ends
    spared: tuple[Reason, ...] = ()
    if before is None and after is not None:
        spared = _kept_because(told[0], after.subject, names)
    elif after is None and before is not None:
        spared = _kept_because(told[1], before.subject, names)
    return Difference(change, names, before, after, spared)


def _ends_in(forecast: Forecast) -> Mapping[Ref, Termination]:
    """Every clique that ends in some round for a breach, with its first end, and how often it ends in all."""
    first: dict[Ref, Termination] = {}
    times: defaultdict[Ref, dict[datetime, int]] = defaultdict(dict)
    for round_ in forecast.rounds:
        for subject, steps in deletions_by_replica(round_.steps).items():
            end = _end_of(subject, round_.at, steps)
            for step in steps:
                first.setdefault(step.target, end)
                times[step.target][round_.at] = forecast.times(round_)
    return {clique: replace(end, times=sum(times[clique].values())) for clique, end in first.items()}


def _end_of(subject: Ref, at: datetime, steps: Sequence[Step]) -> Termination:
    delays = dict.fromkeys(reason for step in steps for reason in delays_behind(step))
    return Termination(subject, at, tuple(step.target for step in steps), total_impact(steps), tuple(delays))


def _kept_because(forecast: Forecast, subject: Ref, cliques: Sequence[Ref]) -> tuple[Reason, ...]:
    """Why a replica is kept: its own verdict, or its group's; and why what ends it elsewhere does not here."""
    fates = {one.subject: one for one in forecast.findings if one.question == TERMINATION}
    fate = fates.get(subject) or fates.get(subject.whole)
    own = fate.because if fate is not None else ()
    gone = frozenset(cliques)
    breaches = (one for one in forecast.findings if one.question == BREACH and one.subject in gone)
    return (*own, *(one.because[0] for one in breaches if one.health is not Health.HEALTHY))


def _unknown_in(forecast: Forecast) -> Iterable[Reason]:
    for one in forecast.findings:
        if one.question == TERMINATION and one.verdict == Truth.UNKNOWN.value:
            yield from one.because


def _breaches(before: Forecast, after: Forecast) -> Iterable[tuple[Ref, str, str]]:
    verdicts: Sequence[Mapping[Ref, str]] = [
        {one.subject: one.verdict for one in told.findings if one.question == BREACH} for told in (before, after)
    ]
    first, second = verdicts
    for subject, verdict in first.items():
        if second.get(subject, verdict) != verdict:
            yield subject, verdict, second[subject]
