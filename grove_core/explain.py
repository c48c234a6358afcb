"""Explanations of a forecast: an entry for each replica, the most urgent first, with reasons as sentences."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from datetime import UTC, datetime
from enum import Enum, unique
from types import MappingProxyType
from typing import Final

from grove_core.areas.gang_termination.termination_deletions import termination_deletions_by_replica
from grove_core.areas.gang_termination.termination_findings import (
    AVAILABILITY,
    BREACH,
    LATE_START,
    LEAVING,
    LOST_NODE,
    PREDICTION,
    SCALED,
    TERMINATION,
    averted_by_predicted_steps,
    findings_with_averted,
)
from grove_core.areas.gang_termination.verdicts import DELEGATES, KEEPS, SUSPENDS, TERMINATES, WAITS
from grove_core.areas.topology.wants import MISPLACEMENT
from grove_core.areas.workload.verdicts import DEFECT, FAILED_WRITE, FOREIGN_GATE, STALE_GANG
from grove_core.kernel.conditions import ConditionStatus
from grove_core.kernel.decisions import ExistingAndWanted, Finding, SubjectHealth, reasons_for_question
from grove_core.kernel.reasons import Reason
from grove_core.kernel.refs import Ref
from grove_core.kernel.steps import DeletionImpact, Step, total_deletion_impact
from grove_core.kernel.structs import Struct
from grove_core.kernel.wants import StepObstacle, Withheld
from grove_core.plan.forecast import Forecast
from grove_core.plan.termination_hints import TerminationHints, hints_by_replica

_UNDECIDED: Final = frozenset({StepObstacle.GANGS_NOT_COLLECTED, StepObstacle.GROUPS_NOT_COLLECTED})
_GATES: Final = frozenset({StepObstacle.GATE, StepObstacle.GANGS_NOT_COLLECTED})
_LACKING: Final = frozenset({SubjectHealth.LACKING, SubjectHealth.UNRECORDED})
_NO_SHARE: Final = ExistingAndWanted(0, 0)


@unique
class ReplicaUrgency(Enum):
    """How urgent an entry is, the most urgent first."""

    ENDS = "TERMINATE"
    WAITS = "WAIT"
    HELD = "HELD BACK"
    UNKNOWN = "UNKNOWN"
    GATED = "GATED"
    KEEPS = "KEEP"


URGENCY_BY_VERDICT: Final[Mapping[str, ReplicaUrgency]] = MappingProxyType(
    {
        TERMINATES: ReplicaUrgency.ENDS,
        WAITS: ReplicaUrgency.WAITS,
        ConditionStatus.UNKNOWN.value: ReplicaUrgency.UNKNOWN,
        KEEPS: ReplicaUrgency.KEEPS,
        DELEGATES: ReplicaUrgency.KEEPS,
        SUSPENDS: ReplicaUrgency.KEEPS,
    }
)
"""The urgency of each verdict on a termination."""

_NEVER: Final = datetime.max.replace(tzinfo=UTC)
_TERMINATED: Final = frozenset({ReplicaUrgency.ENDS, ReplicaUrgency.WAITS})
_RANK_OF_URGENCY: Final[Mapping[ReplicaUrgency, int]] = MappingProxyType(
    {urgency: place for place, urgency in enumerate(ReplicaUrgency)}
)


class ExplainedCause(Struct, frozen=True):
    """One reason behind an entry: the subject, what is wrong with it, and the delay that runs.

    Attributes:
        sentences: about the subject, the most important first.
        below: the causes behind this one (the breached PodCliques of a scaling group).
    """

    subject: Ref
    sentences: tuple[str, ...]
    below: tuple["ExplainedCause", ...] = ()


class ExplainedReplica(Struct, frozen=True):
    """What happens to one replica of the set, or of one of its scaling groups.

    Attributes:
        until: when the first of its delays ends or ended; None where none runs.
        deletes: the PodCliques that are deleted with it, where it is terminated.
        impact: the pods and GPUs of these; None where they are not known.
        degraded: of a replica that is kept: its PodCliques with too few ready pods, and why that is no termination.
        averted: when it would be terminated but for the steps of the plan, which avert or postpone that; the causes
            are those after these steps (PL-025).
        unwell: whether it is kept although a PodClique or scaling group of it is missing (GT-038), or where the stored
            statuses would terminate it (GF-084).
    """

    urgency: ReplicaUrgency
    subject: Ref
    causes: tuple[ExplainedCause, ...]
    until: datetime | None = None
    deletes: tuple[Ref, ...] = ()
    impact: DeletionImpact | None = None
    degraded: tuple[ExplainedCause, ...] = ()
    unwell: bool = False
    averted: datetime | None = None
    hints: TerminationHints | None = None


class ForecastExplanation(Struct, frozen=True):
    """The explanation of one root, the most urgent entries first.

    Attributes:
        unrecorded: how many PodCliques are kept only because no record says that they ever were available (GT-015).
        available, replicas: of the set (GT-044); 0 and 0 where they are not known.
        unpredicted: what the rule set does not predict about the set, a sentence each (GF-134).
        lost: pods on nodes that do not answer, by PodClique (GF-015).
        leaving: PodCliques that are breached once their pods that are being deleted are gone (GT-113).
        scaled: PodCliques that are below their minimum on purpose, or that a termination scales back (GT-110, GF-125).
        failed_writes: objects of which a write failed that is still to be done (WL-255).
        defects: what the Go operator does wrong in an update, and what to do instead (WF-170).
        foreign_gates: PodCliques with pods that a foreign scheduling gate holds (WL-246).
        stale_gangs: PodCliques whose scheduled pods the scheduler evicts, not the operator (WL-257).
        late_starts: parts that would be terminated when their pods start at last (GF-124).
        misplaced: pods outside the domain of a required topology constraint, by PodGang or PodClique (TP-131).
    """

    root: Ref
    entries: tuple[ExplainedReplica, ...]
    unrecorded: int
    available: int = 0
    replicas: int = 0
    unpredicted: tuple[str, ...] = ()
    misplaced: tuple[Reason, ...] = ()
    lost: tuple[Finding, ...] = ()
    leaving: tuple[Finding, ...] = ()
    late_starts: tuple[Finding, ...] = ()
    scaled: tuple[Finding, ...] = ()
    foreign_gates: tuple[Finding, ...] = ()
    stale_gangs: tuple[Finding, ...] = ()
    defects: tuple[Finding, ...] = ()
    failed_writes: tuple[Finding, ...] = ()

    @property
    def needs_no_attention(self) -> bool:
        """Whether everything is predicted, kept, present and well placed, and has the pods that it needs."""
        if self.unpredicted or self.misplaced or self.lost or self.late_starts or self.scaled:
            return False
        if self.failed_writes or self.stale_gangs or self.leaving or self.available < self.replicas:
            return False
        return not any(
            entry.urgency is not ReplicaUrgency.KEEPS or entry.degraded or entry.unwell for entry in self.entries
        )

    def entries_of_urgency(self, urgency: ReplicaUrgency) -> tuple[ExplainedReplica, ...]:
        """Return the entries of one urgency."""
        return tuple(entry for entry in self.entries if entry.urgency is urgency)

    @property
    def urgency_rank(self) -> tuple[int, datetime]:
        """Return a sort key: its most urgent entry, the earliest end of a delay among equals (CL-115)."""
        first = min((_RANK_OF_URGENCY[entry.urgency] for entry in self.entries), default=len(_RANK_OF_URGENCY))
        ends = (entry.until for entry in self.entries if entry.until is not None)
        return first, min(ends, default=_NEVER)


def explanation_of_forecast(forecast: Forecast) -> ForecastExplanation:
    """Return the explanation of the first round of a forecast.

    It has an entry for every replica of the set, for each replica of a scaling group that is terminated, waits or is
    not well, and for each withheld step. A termination that the first round waits for and that its steps avert or
    postpone has the causes and the time that are found after these steps (PL-025).
    """
    unpredicted = reasons_for_question(PREDICTION, forecast.findings)
    averted = averted_by_predicted_steps(forecast.findings, forecast.averted)
    findings = findings_with_averted(forecast.findings, forecast.averted)
    first = forecast.rounds[0]
    breaches = {one.subject: one for one in findings if one.question == BREACH}
    entries = [*_replica_entries(forecast, findings, averted, breaches), *_withheld_entries(first.withheld, breaches)]
    share = next((one.share for one in forecast.findings if one.question == AVAILABILITY and one.share), _NO_SHARE)
    return ForecastExplanation(
        forecast.root,
        tuple(sorted(entries, key=lambda entry: (_RANK_OF_URGENCY[entry.urgency], entry.subject.sort_key))),
        unrecorded=sum(one.health is SubjectHealth.UNRECORDED for one in breaches.values()),
        available=share.there,
        replicas=share.wanted,
        unpredicted=tuple(why.sentence for why in unpredicted),
        misplaced=reasons_for_question(MISPLACEMENT, forecast.findings),
        scaled=tuple(one for one in forecast.findings if one.question == SCALED),
        foreign_gates=tuple(one for one in forecast.findings if one.question == FOREIGN_GATE),
        stale_gangs=tuple(one for one in forecast.findings if one.question == STALE_GANG),
        defects=tuple(one for one in forecast.findings if one.question == DEFECT),
        failed_writes=tuple(one for one in forecast.findings if one.question == FAILED_WRITE),
        late_starts=tuple(one for one in forecast.findings if one.question == LATE_START),
        lost=tuple(one for one in forecast.findings if one.question == LOST_NODE),
        leaving=tuple(one for one in forecast.findings if one.question == LEAVING),
    )


def withholds_scheduling_gate_removal(withheld: Withheld) -> bool:
    """Whether what is withheld is the opening of pods' scheduling gates, which follows by itself with capacity."""
    return withheld.obstacle in _GATES


def is_withheld_as_undecided(withheld: Withheld) -> bool:
    """Whether the input does not show if the step may be taken (WL-235, SC-027)."""
    return withheld.obstacle in _UNDECIDED


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
    urgent = (fate for fate in shown if tones[fate.subject] is not ReplicaUrgency.KEEPS)
    reported = {reason.subject for fate in urgent for reason in fate.because}
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
            degraded=tuple(degraded.get(subject, ())) if tones[subject] is ReplicaUrgency.KEEPS else (),
            unwell=fate.health is SubjectHealth.LACKING,
            averted=deadlines.get(subject),
            hints=hints.get(subject) if tones[subject] in _TERMINATED else None,
        )


def _withheld_entries(withheld: Iterable[Withheld], breaches: Mapping[Ref, Finding]) -> Iterator[ExplainedReplica]:
    for held in withheld:
        if held.obstacle is not StepObstacle.SET_NOT_JUDGED:  # the findings on the set report it
            urgency = ReplicaUrgency.GATED if withholds_scheduling_gate_removal(held) else ReplicaUrgency.HELD
            delays = (one.delay for one in held.terminates)
            yield ExplainedReplica(urgency, held.target, tuple(_causes(held.because, delays, breaches)))


def _is_shown(fate: Finding) -> bool:
    """Whether a replica gets an entry: of a set always, of a scaling group where it acts itself or is not well."""
    if fate.subject.kind == "PodCliqueSet":
        return True
    return fate.subject.replica is not None and (
        fate.verdict in {TERMINATES, WAITS} or fate.health is SubjectHealth.LACKING
    )


def _tone_of(fate: Finding, steps: Mapping[Ref, list[Step]], blocked: AbstractSet[Ref]) -> ReplicaUrgency:
    """The urgency of a replica; one that is terminated without a deletion is withheld, or is being deleted already."""
    # A saved plan may come from rules with other verdicts.
    urgency = URGENCY_BY_VERDICT.get(fate.verdict, ReplicaUrgency.UNKNOWN)
    is_withheld = urgency is ReplicaUrgency.ENDS and not steps.get(fate.subject) and fate.subject in blocked
    return ReplicaUrgency.HELD if is_withheld else urgency


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
        fate.subject: fate.because[0].sentence
        for fate in fates
        if fate.subject.kind != "PodCliqueSet"
        and fate.subject.replica is not None
        and fate.verdict not in {TERMINATES, WAITS}
    }
    found: defaultdict[Ref, list[ExplainedCause]] = defaultdict(list)
    for breach in breaches:
        if not breach.within or not (breach.health in _LACKING or breach.subject in recovered):
            continue
        sentences = [breach.because[0].sentence]
        if breach.verdict == ConditionStatus.TRUE.value:
            sentences += [guards[replica] for replica in breach.within if replica in guards]
        found[breach.within[-1]].append(ExplainedCause(breach.subject, tuple(sentences)))
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
            yield ExplainedCause(reason.subject, (reason.sentence,))
            continue
        first, *rest = breach.because
        below = tuple(ExplainedCause(part.subject, (part.sentence,)) for part in rest)
        yield ExplainedCause(reason.subject, (first.sentence, reason.sentence), below)
