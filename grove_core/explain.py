"""Explanations of a forecast: an entry for each replica, the most urgent first, with reasons as sentences."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from typing import Final

from grove_core.areas.gang_termination.forecast_terminations import (
    findings_after_predicted_steps,
    findings_with_averted_replaced,
)
from grove_core.areas.gang_termination.termination_deletions import termination_deletions_by_replica
from grove_core.areas.gang_termination.termination_findings import constituents_behind_termination
from grove_core.areas.gang_termination.verdicts import TERMINATES, WAITS
from grove_core.forecast_explanation import (
    NOTICES,
    RANK_OF_URGENCY,
    URGENCY_BY_VERDICT,
    EntryUrgency,
    ExplainedCause,
    ExplainedReplica,
    ForecastExplanation,
    withholds_scheduling_gate_removal,
)
from grove_core.kernel.conditions import ConditionStatus
from grove_core.kernel.decisions import ExistingAndWantedCounts, Finding, SubjectHealth
from grove_core.kernel.questions import AVAILABILITY, BREACH, TERMINATION
from grove_core.kernel.reasons import Reason
from grove_core.kernel.refs import Ref
from grove_core.kernel.steps import Step, total_deletion_impact
from grove_core.kernel.wants import StepObstacle, Withheld
from grove_core.plan.forecast import Forecast
from grove_core.plan.termination_hints import hints_by_replica

_LACKING: Final = frozenset({SubjectHealth.LACKING, SubjectHealth.UNRECORDED})
_NO_SHARE: Final = ExistingAndWantedCounts(0, 0)
_TERMINATED: Final = frozenset({EntryUrgency.TERMINATES, EntryUrgency.WAITS})


def explanation_of_forecast(forecast: Forecast) -> ForecastExplanation:
    """Return the explanation of the first round of a forecast.

    It has an entry for every replica of the set, for each replica of a scaling group that is terminated, waits or is
    not well, and for each withheld step. A termination that the first round waits for and that its steps avert or
    postpone has the causes and the time that are found after these steps (PL-025).
    """
    averted = findings_after_predicted_steps(forecast.findings, forecast.averted)
    findings = findings_with_averted_replaced(forecast.findings, forecast.averted)
    first = forecast.rounds[0]
    breaches = {one.subject: one for one in findings if one.question == BREACH}
    entries = [*_replica_entries(forecast, findings, averted, breaches), *_withheld_entries(first.withheld, breaches)]
    share = next((one.share for one in forecast.findings if one.question == AVAILABILITY and one.share), _NO_SHARE)
    return ForecastExplanation(
        forecast.root,
        tuple(sorted(entries, key=lambda entry: (RANK_OF_URGENCY[entry.urgency], entry.subject.sort_key))),
        unrecorded=sum(one.health is SubjectHealth.UNRECORDED for one in breaches.values()),
        available=share.there,
        replicas=share.wanted,
        notices=tuple(one for one in forecast.findings if one.question in NOTICES),
    )


def _replica_entries(
    forecast: Forecast, findings: Iterable[Finding], averted: Iterable[Finding], breaches: Mapping[Ref, Finding]
) -> Iterator[ExplainedReplica]:
    """An entry for each replica that has something to report."""
    fates = [one for one in findings if one.question == TERMINATION]
    shown = [fate for fate in fates if _is_shown(fate)]
    steps = termination_deletions_by_replica(forecast.rounds[0].steps)
    blocked = {one.replica for held in forecast.rounds[0].withheld for one in held.terminates}
    averted_ones = {one.subject for one in averted if one.question == TERMINATION}
    pending = (one for one in forecast.findings if one.question == TERMINATION and one.subject in averted_ones)
    deadlines = {one.subject: one.deadline for one in pending}
    tones = {fate.subject: _tone_of(fate, steps, blocked) for fate in shown}
    urgent = (fate for fate in shown if tones[fate.subject] is not EntryUrgency.KEEPS)
    reported = {ref for fate in urgent for ref in constituents_behind_termination(fate, breaches)}
    recovered = {one.subject for one in averted if one.question == BREACH}
    hints = hints_by_replica(forecast.hints)
    degraded = _degraded((one for one in breaches.values() if one.subject not in reported), recovered, fates)
    for fate in shown:
        subject, deletions = fate.subject, steps.get(fate.subject, ())
        yield ExplainedReplica(
            tones[subject],
            subject,
            tuple(_causes(fate.because, (why for why in fate.because if why.subject in fate.causes), breaches)),
            fate.deadline,
            tuple(step.target for step in deletions),
            total_deletion_impact(deletions),
            degraded=tuple(degraded.get(subject, ())) if tones[subject] is EntryUrgency.KEEPS else (),
            unwell=fate.health is SubjectHealth.LACKING,
            averted=deadlines.get(subject),
            hints=hints.get(subject) if tones[subject] in _TERMINATED else None,
        )


def _withheld_entries(withheld: Iterable[Withheld], breaches: Mapping[Ref, Finding]) -> Iterator[ExplainedReplica]:
    for held in withheld:
        if held.obstacle is not StepObstacle.SET_NOT_JUDGED:  # the findings on the set report it
            urgency = EntryUrgency.GATED if withholds_scheduling_gate_removal(held) else EntryUrgency.HELD
            delays = (one.delay for one in held.terminates)
            yield ExplainedReplica(urgency, held.target, tuple(_causes(held.because, delays, breaches)))


def _is_shown(fate: Finding) -> bool:
    """Whether a replica gets an entry: of a set always, of a scaling group where it acts itself or is not well."""
    if fate.subject.kind == "PodCliqueSet":
        return True
    return fate.subject.replica is not None and (
        fate.verdict in {TERMINATES, WAITS} or fate.health is SubjectHealth.LACKING
    )


def _tone_of(fate: Finding, steps: Mapping[Ref, list[Step]], blocked: AbstractSet[Ref]) -> EntryUrgency:
    """The urgency of a replica; one that is terminated without a deletion is withheld, or is being deleted already."""
    # A saved plan may come from rules with other verdicts.
    urgency = URGENCY_BY_VERDICT.get(fate.verdict, EntryUrgency.UNKNOWN)
    is_withheld = urgency is EntryUrgency.TERMINATES and not steps.get(fate.subject) and fate.subject in blocked
    return EntryUrgency.HELD if is_withheld else urgency


def _degraded(
    breaches: Iterable[Finding], recovered: AbstractSet[Ref], fates: Iterable[Finding]
) -> Mapping[Ref, list[ExplainedCause]]:
    """Replica of the set -> its PodCliques with too few ready pods that no other entry reports.

    Args:
        breaches: findings on PodCliques and scaling groups.
        recovered: subjects of breaches that the steps of the plan avert.
        fates: findings on terminations; a scaling group that does not act on a breach says why.
    """
    guards = {
        fate.subject: fate.because[0]
        for fate in fates
        if fate.subject.kind != "PodCliqueSet"
        and fate.subject.replica is not None
        and fate.verdict not in {TERMINATES, WAITS}
    }
    found: defaultdict[Ref, list[ExplainedCause]] = defaultdict(list)
    for breach in breaches:
        if not breach.within or not (breach.health in _LACKING or breach.subject in recovered):
            continue
        because = [breach.because[0]]
        if breach.verdict == ConditionStatus.TRUE.value:
            because += [guards[replica] for replica in breach.within if replica in guards]
        found[breach.within[-1]].append(ExplainedCause(breach.subject, tuple(because)))
    return found


def _causes(
    because: Iterable[Reason], delays: Iterable[Reason | None], breaches: Mapping[Ref, Finding]
) -> Iterator[ExplainedCause]:
    """A cause for each reason; one about a delay begins with the breach that it is for, and has its causes below it.

    Args:
        delays: those of the reasons that name the delay of a breach.
    """
    of_breaches = frozenset(delays)
    for reason in because:
        breach = breaches.get(reason.subject) if reason in of_breaches else None
        if breach is None:
            yield ExplainedCause(reason.subject, (reason,))
            continue
        first, *rest = breach.because
        below = tuple(ExplainedCause(part.subject, (part,)) for part in rest)
        yield ExplainedCause(reason.subject, (first, reason), below)
