"""Two rule sets on one set: who ends by one and not by the other, sooner or later, or more often.

What is compared are PodCliques, by name: whether one ends as part of its group's replica or of the whole replica of the
set is told, and is no difference of its own.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from enum import Enum, unique
from typing import Final, NamedTuple

from grove_core.areas.gang_termination.endings import ended_by
from grove_core.areas.gang_termination.findings import BREACH, TERMINATION
from grove_core.kernel.conditions import Truth
from grove_core.kernel.reasons import Reason
from grove_core.kernel.refs import Ref
from grove_core.kernel.steps import Delete, Step, Toll
from grove_core.plan.forecast import Forecast, Round

_HEALTHY: Final = "SufficientReadyPods"


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
    """The end of a replica, of the set or of a scaling group, as far as a forecast goes.

    Attributes:
        subject: which replica.
        at: when it ends first.
        cliques: that go with it then.
        takes: what goes along; None where nobody knows.
        because: why, the causes' reasons.
        times: how often it ends.
    """

    subject: Ref
    at: datetime
    cliques: tuple[Ref, ...]
    takes: Toll | None
    because: tuple[Reason, ...]
    times: int


@dataclass(frozen=True, slots=True)
class Difference:
    """Cliques that end together by one of two rule sets, and otherwise by the other.

    Attributes:
        cliques: those of the replica for which that is so.
        before, after: the end of their replica by the first and by the second rules; None where they do not end.
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
    """

    root: Ref
    differences: tuple[Difference, ...]
    breaches: tuple[tuple[Ref, str, str], ...]
    unknown: tuple[Reason, ...] = ()

    @property
    def is_same(self) -> bool:
        """Whether it is known that the same ends at the same time."""
        return not self.differences and not self.unknown


class _Fate(NamedTuple):
    """What becomes of one clique: when it ends first, as part of what, and how often."""

    at: datetime
    end: Termination
    times: int


def compare(before: Forecast, after: Forecast) -> Comparison:
    """Compare what two rule sets make of one set. Linear in the steps of both.

    Args:
        before, after: forecasts of the same snapshot, played to the same moment.
    """
    first, second = _fates_in(before), _fates_in(after)
    alike: defaultdict[tuple[Change, Ref], list[Ref]] = defaultdict(list)
    for clique in {**first, **second}:
        change = _change(first.get(clique), second.get(clique))
        if change is not None:
            shown = second.get(clique) or first[clique]
            alike[change, shown.end.subject].append(clique)
    found = [_difference(change, cliques, (first, second), (before, after)) for (change, _), cliques in alike.items()]
    order = list(Change)
    found.sort(key=lambda one: (order.index(one.change), one.cliques[0].sort_key))
    unknown = dict.fromkeys(reason for told in (before, after) for reason in _unknown_in(told))
    return Comparison(before.root, tuple(found), tuple(_breaches(before, after)), tuple(unknown))


def _change(before: _Fate | None, after: _Fate | None) -> Change | None:
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
    fates: tuple[Mapping[Ref, _Fate], Mapping[Ref, _Fate]],
    told: tuple[Forecast, Forecast],
) -> Difference:
    names = tuple(sorted(cliques, key=lambda ref: ref.sort_key))
    before, after = (found[names[0]].end if names[0] in found else None for found in fates)
    spared: tuple[Reason, ...] = ()
    if before is None and after is not None:
        spared = _kept_because(told[0], after.subject, names)
    elif after is None and before is not None:
        spared = _kept_because(told[1], before.subject, names)
    return Difference(change, names, before, after, spared)


def _fates_in(forecast: Forecast) -> Mapping[Ref, _Fate]:
    """Every clique that ends in some round for a breach, with its first end."""
    ends: dict[Ref, Termination] = {}
    rounds: defaultdict[Ref, list[tuple[Round, Ref]]] = defaultdict(list)
    for round_ in forecast.rounds:
        for subject, steps in ended_by(forecast.root, round_.steps).items():
            one = ends.get(subject)
            times = forecast.times(round_)
            ends[subject] = (
                _end_of(subject, round_.at, steps, times) if one is None else replace(one, times=one.times + times)
            )
            for step in steps:
                rounds[step.target].append((round_, subject))
    found: dict[Ref, _Fate] = {}
    for clique, seen in rounds.items():
        round_, subject = seen[0]
        moments = {one.at: forecast.times(one) for one, _ in seen}
        found[clique] = _Fate(round_.at, ends[subject], sum(moments.values()))
    return found


def _end_of(subject: Ref, at: datetime, steps: Sequence[Step], times: int) -> Termination:
    tolls = [step.action.takes for step in steps if isinstance(step.action, Delete)]
    known = [toll for toll in tolls if toll is not None]
    reasons = dict.fromkeys(reason for step in steps for reason in step.because if "until" in dict(reason.facts))
    takes = sum(known, Toll()) if len(known) == len(tolls) else None
    return Termination(subject, at, tuple(step.target for step in steps), takes, tuple(reasons), times)


def _kept_because(forecast: Forecast, subject: Ref, cliques: Sequence[Ref]) -> tuple[Reason, ...]:
    """Why a replica is kept: its own verdict, or its group's; and why what ends it elsewhere does not here."""
    whole = Ref(subject.api_version, subject.kind, subject.namespace, subject.name)
    fates = {one.subject: one for one in forecast.findings if one.question == TERMINATION}
    fate = fates.get(subject) or fates.get(whole)
    own = fate.because if fate is not None else ()
    gone = frozenset(cliques)
    breaches = (one.because for one in forecast.findings if one.question == BREACH and one.subject in gone)
    return (*own, *(because[0] for because in breaches if because[0].rule.code != _HEALTHY))


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
