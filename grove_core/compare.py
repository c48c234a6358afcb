"""Compares two forecasts of one set under two rule sets: which PodCliques each of them terminates, when and how often.

PodCliques are compared by name. Whether a PodClique is terminated with a replica of its scaling group or of the set is
shown, but is no difference by itself.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from enum import Enum, unique
from typing import TypeAlias

from grove_core.areas.gang_termination.termination_deletions import termination_deletions_by_replica
from grove_core.areas.workload.field.upgrade_restart import UpgradeRestart
from grove_core.kernel.conditions import ConditionStatus
from grove_core.kernel.decisions import SubjectHealth, reasons_for_question
from grove_core.kernel.questions import BREACH, PREDICTION, TERMINATION
from grove_core.kernel.reasons import Reason
from grove_core.kernel.refs import Ref
from grove_core.kernel.steps import DeletionImpact, Step, gangs_terminated_by, total_deletion_impact
from grove_core.kernel.structs import Struct, replace
from grove_core.plan.forecast import Forecast

_TerminationKey: TypeAlias = tuple[Ref, datetime, int] | None  # equal for PodCliques that are shown together


@unique
class TerminationChangeKind(Enum):
    """How the second rule set differs from the first for some PodCliques, the most severe change first."""

    ENDS = "ENDS"
    OFTENER = "OFTENER"
    SOONER = "SOONER"
    LATER = "LATER"
    RARER = "RARER"
    SPARED = "SPARED"


class FirstTermination(Struct, frozen=True):
    """The first termination of some PodCliques in a forecast, with a replica of the set or of a scaling group.

    Attributes:
        subject: the terminated replica.
        at: when it is terminated.
        cliques: the PodCliques that are deleted with it then.
        takes: the impact; None where it is not known.
        because: the reasons of the delays behind it.
        times: how often these PodCliques are terminated in all.
    """

    subject: Ref
    at: datetime
    cliques: tuple[Ref, ...]
    takes: DeletionImpact | None
    because: tuple[Reason, ...]
    times: int = 1


class TerminationDifference(Struct, frozen=True):
    """PodCliques that each rule set treats alike, and the two rule sets differently.

    Attributes:
        before, after: their termination under the first and the second rule set; None where there is none.
        spared_because: why one rule set does not terminate them, by its findings now; empty where both do.
    """

    change: TerminationChangeKind
    cliques: tuple[Ref, ...]
    before: FirstTermination | None
    after: FirstTermination | None
    spared_because: tuple[Reason, ...] = ()


class RuleSetComparison(Struct, frozen=True):
    """The comparison of two rule sets for one set.

    Attributes:
        differences: of terminations, the most severe first.
        breaches: differing conditions: (subject, status under the first rule set, under the second).
        unknown: why a rule set cannot decide; empty where both can.
        alike: how many PodCliques both terminate at the same time.
        unpredicted: what a rule set does not predict of the set, so that later terminations may differ (GF-134).
        restart: what an upgrade from the first to the second does to the set; None where it begins no update (WF-091).
    """

    root: Ref
    differences: tuple[TerminationDifference, ...]
    breaches: tuple[tuple[Ref, str, str], ...]
    unknown: tuple[Reason, ...] = ()
    alike: int = 0
    unpredicted: tuple[Reason, ...] = ()
    restart: UpgradeRestart | None = None

    @property
    def has_same_terminations(self) -> bool:
        """Whether both rule sets are known to terminate the same PodCliques at the same times."""
        return not self.differences and not self.unknown and not self.unpredicted


def compare_forecasts(before: Forecast, after: Forecast, restart: UpgradeRestart | None = None) -> RuleSetComparison:
    """Compare the forecasts of two rule sets for one set. Linear in the steps of both.

    Args:
        before, after: the forecasts.
        restart: what the upgrade from the first to the second does, if the second forecast begins with that.
    """
    first, second = _terminations_in(before), _terminations_in(after)
    alike: defaultdict[tuple[TerminationChangeKind, _TerminationKey, _TerminationKey], list[Ref]] = defaultdict(list)
    same = 0
    for clique in {**first, **second}:
        pair = first.get(clique), second.get(clique)
        change = _change(*pair)
        if change is None:
            same += 1
        else:
            alike[change, _key_of(pair[0]), _key_of(pair[1])].append(clique)
    found = [
        _difference(change, cliques, (first.get(cliques[0]), second.get(cliques[0])), (before, after))
        for (change, _, _), cliques in alike.items()
    ]
    order = list(TerminationChangeKind)
    found.sort(key=lambda one: (order.index(one.change), one.cliques[0].sort_key))
    unknown = dict.fromkeys(reason for one in (before, after) for reason in _unknown_in(one))
    unpredicted = dict.fromkeys(
        reason for one in (before, after) for reason in reasons_for_question(PREDICTION, one.findings)
    )
    breaches = tuple(_breaches(before, after))
    return RuleSetComparison(before.root, tuple(found), breaches, tuple(unknown), same, tuple(unpredicted), restart)


def _key_of(one: FirstTermination | None) -> _TerminationKey:
    return None if one is None else (one.subject, one.at, one.times)


def _change(before: FirstTermination | None, after: FirstTermination | None) -> TerminationChangeKind | None:
    if before is None:
        return TerminationChangeKind.ENDS
    if after is None:
        return TerminationChangeKind.SPARED
    if before.at != after.at:
        return TerminationChangeKind.SOONER if after.at < before.at else TerminationChangeKind.LATER
    if before.times != after.times:
        return TerminationChangeKind.OFTENER if after.times > before.times else TerminationChangeKind.RARER
    return None


def _difference(
    change: TerminationChangeKind,
    cliques: Sequence[Ref],
    terminations: tuple[FirstTermination | None, FirstTermination | None],
    forecasts: tuple[Forecast, Forecast],
) -> TerminationDifference:
    """The difference for PodCliques whose terminations are equal under each rule set."""
    names, (before, after) = tuple(sorted(cliques, key=lambda ref: ref.sort_key)), terminations
    spared: tuple[Reason, ...] = ()
    if before is None and after is not None:
        spared = _kept_because(forecasts[0], after.subject, names)
    elif after is None and before is not None:
        spared = _kept_because(forecasts[1], before.subject, names)
    return TerminationDifference(change, names, before, after, spared)


def _terminations_in(forecast: Forecast) -> Mapping[Ref, FirstTermination]:
    """The PodCliques that are deleted for a breach, each with its first termination and the number of terminations."""
    first: dict[Ref, FirstTermination] = {}
    times: defaultdict[Ref, dict[datetime, int]] = defaultdict(dict)
    for round_ in forecast.rounds:
        for subject, steps in termination_deletions_by_replica(round_.steps).items():
            termination = _termination_of(subject, round_.at, steps)
            for step in steps:
                first.setdefault(step.target, termination)
                times[step.target][round_.at] = forecast.round_occurrence_count(round_)
    return {clique: replace(one, times=sum(times[clique].values())) for clique, one in first.items()}


def _termination_of(subject: Ref, at: datetime, steps: Sequence[Step]) -> FirstTermination:
    delays = dict.fromkeys(one.delay for step in steps for one in gangs_terminated_by(step) if one.delay is not None)
    return FirstTermination(
        subject, at, tuple(step.target for step in steps), total_deletion_impact(steps), tuple(delays)
    )


def _kept_because(forecast: Forecast, subject: Ref, cliques: Sequence[Ref]) -> tuple[Reason, ...]:
    """Why a replica is kept: the reasons of its verdict, or of its group's, and those of its unhealthy PodCliques."""
    fates = {one.subject: one for one in forecast.findings if one.question == TERMINATION}
    fate = fates.get(subject) or fates.get(subject.without_replica)
    own = fate.because if fate is not None else ()
    gone = frozenset(cliques)
    breaches = (one for one in forecast.findings if one.question == BREACH and one.subject in gone)
    return (*own, *(one.because[0] for one in breaches if one.health is not SubjectHealth.HEALTHY))


def _unknown_in(forecast: Forecast) -> Iterable[Reason]:
    for one in forecast.findings:
        if one.question == TERMINATION and one.verdict == ConditionStatus.UNKNOWN.value:
            yield from one.because


def _breaches(before: Forecast, after: Forecast) -> Iterable[tuple[Ref, str, str]]:
    first, second = _breach_verdicts(before), _breach_verdicts(after)
    for subject, verdict in first.items():
        if second.get(subject, verdict) != verdict:
            yield subject, verdict, second[subject]


def _breach_verdicts(forecast: Forecast) -> Mapping[Ref, str]:
    return {one.subject: one.verdict for one in forecast.findings if one.question == BREACH}
