"""Two rule sets on one set: who ends by one and not by the other, and who ends sooner or later."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import Enum, unique
from typing import Final

from grove_core.areas.gang_termination.endings import ended_by
from grove_core.areas.gang_termination.findings import BREACH, TERMINATION
from grove_core.kernel.reasons import Reason
from grove_core.kernel.refs import Ref
from grove_core.kernel.steps import Delete, Toll
from grove_core.plan.forecast import Forecast

_HEALTHY: Final = "SufficientReadyPods"


@unique
class Change(Enum):
    """What becomes of a replica by the second rules, seen from the first; the gravest first."""

    ENDS = "ENDS"
    SOONER = "SOONER"
    LATER = "LATER"
    SPARED = "SPARED"


@dataclass(frozen=True, slots=True)
class End:
    """When a replica ends first, as far as a forecast goes.

    Attributes:
        cliques: that go with it.
        takes: what goes along; None where nobody knows.
        because: why, the causes' reasons.
        times: how often it ends.
    """

    at: datetime
    cliques: tuple[Ref, ...]
    takes: Toll | None
    because: tuple[Reason, ...]
    times: int


@dataclass(frozen=True, slots=True)
class Difference:
    """One replica, of the set or of a scaling group, of which two rule sets make different things.

    Attributes:
        before, after: its end by the first and by the second rules; None where it does not end.
        spared_because: why it does not end by the rules by which it does not, as they see it now.
    """

    subject: Ref
    change: Change
    before: End | None
    after: End | None
    spared_because: tuple[Reason, ...] = ()


@dataclass(frozen=True, slots=True)
class Comparison:
    """One set, judged by two rule sets.

    Attributes:
        differences: of terminations, the gravest first.
        breaches: whose condition would be another one: (subject, by the first rules, by the second).
    """

    root: Ref
    differences: tuple[Difference, ...]
    breaches: tuple[tuple[Ref, str, str], ...]

    @property
    def is_same(self) -> bool:
        """Whether the same ends at the same time."""
        return not self.differences


def compare(before: Forecast, after: Forecast) -> Comparison:
    """Compare what two rule sets make of one set. Linear in the steps of both.

    Args:
        before, after: forecasts of the same snapshot, played to the same moment.
    """
    first, second = _ends_in(before), _ends_in(after)
    found = (_difference(subject, first, second, (before, after)) for subject in {**first, **second})
    order = list(Change)
    differing = [one for one in found if one is not None]
    differing.sort(key=lambda one: (order.index(one.change), one.subject.sort_key))
    return Comparison(before.root, tuple(differing), tuple(_breaches(before, after)))


def _difference(
    subject: Ref, first: Mapping[Ref, End], second: Mapping[Ref, End], told: tuple[Forecast, Forecast]
) -> Difference | None:
    before, after = first.get(subject), second.get(subject)
    if before is None:
        return Difference(subject, Change.ENDS, before, after, _kept_because(told[0], subject, after))
    if after is None:
        return Difference(subject, Change.SPARED, before, after, _kept_because(told[1], subject, before))
    if before.at == after.at:
        return None
    return Difference(subject, Change.SOONER if after.at < before.at else Change.LATER, before, after)


def _ends_in(forecast: Forecast) -> Mapping[Ref, End]:
    """Every replica that ends in some round, with its first end."""
    found: dict[Ref, End] = {}
    for round_ in forecast.rounds:
        for subject, steps in ended_by(forecast.root, round_.steps).items():
            if subject in found:
                one = found[subject]
                found[subject] = End(one.at, one.cliques, one.takes, one.because, one.times + 1)
                continue
            tolls = [step.action.takes for step in steps if isinstance(step.action, Delete)]
            known = [toll for toll in tolls if toll is not None]
            reasons = dict.fromkeys(
                reason for step in steps for reason in step.because if "until" in dict(reason.facts)
            )
            takes = sum(known, Toll()) if len(known) == len(tolls) else None
            found[subject] = End(round_.at, tuple(step.target for step in steps), takes, tuple(reasons), 1)
    return found


def _kept_because(forecast: Forecast, subject: Ref, end: End | None) -> tuple[Reason, ...]:
    """Why a replica is kept: its own verdict, or its group's; and why what ends it elsewhere does not here."""
    whole = Ref(subject.api_version, subject.kind, subject.namespace, subject.name)
    fates = {one.subject: one for one in forecast.findings if one.question == TERMINATION}
    fate = fates.get(subject) or fates.get(whole)
    own = fate.because if fate is not None else ()
    gone = frozenset(end.cliques if end is not None else ())
    breaches = (one.because for one in forecast.findings if one.question == BREACH and one.subject in gone)
    return (*own, *(because[0] for because in breaches if because[0].rule.code != _HEALTHY))


def _breaches(before: Forecast, after: Forecast) -> Iterable[tuple[Ref, str, str]]:
    verdicts: Sequence[Mapping[Ref, str]] = [
        {one.subject: one.verdict for one in told.findings if one.question == BREACH} for told in (before, after)
    ]
    first, second = verdicts
    for subject, verdict in first.items():
        if second.get(subject, verdict) != verdict:
            yield subject, verdict, second[subject]
