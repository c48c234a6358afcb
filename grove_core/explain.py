"""From plans to stories: verdicts in the order a person asks for them, reasons as sentences; still data, no colours."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from datetime import datetime
from enum import Enum, unique
from types import MappingProxyType
from typing import Final

from grove_core.areas.gang_termination.endings import deletions_by_replica
from grove_core.areas.gang_termination.field import rules as field
from grove_core.areas.gang_termination.questions import AVAILABILITY, BREACH, PREDICTION, TERMINATION
from grove_core.areas.gang_termination.rules import LACKING, NOTHING_KNOWN, UNWELL, Why
from grove_core.areas.gang_termination.verdicts import DELEGATES, ENDS, KEEPS, SUSPENDS, WAITS
from grove_core.areas.topology.misplaced_pods import MISPLACEMENT
from grove_core.areas.workload import rules as workload
from grove_core.kernel.conditions import Truth
from grove_core.kernel.decisions import Finding, reasons_on
from grove_core.kernel.reasons import Reason
from grove_core.kernel.refs import Ref
from grove_core.kernel.steps import Step, Toll, toll_of
from grove_core.kernel.wants import Withheld
from grove_core.plan.forecast import Forecast
from grove_core.resources.names import index_after
from grove_core.resources.podclique import GROUP_KIND

_GATES: Final = frozenset(
    {
        workload.Why.NOT_IN_GANG_YET,
        workload.Why.GANG_INCOMPLETE,
        workload.Why.BASE_GANG_NOT_PLACED,
        workload.Why.GANGS_NOT_COLLECTED,
    }
)
_LACKING: Final = LACKING | field.LACKING
_NOTHING_KNOWN: Final = NOTHING_KNOWN | field.NOTHING_KNOWN
_UNWELL: Final = UNWELL | field.UNWELL


@unique
class Tone(Enum):
    """How urgent an entry is, the most urgent first."""

    ENDS = "TERMINATE"
    WAITS = "WAIT"
    HELD = "HELD BACK"
    UNKNOWN = "UNKNOWN"
    GATED = "GATED"
    KEEPS = "KEEP"


TONES: Final[Mapping[str, Tone]] = MappingProxyType(
    {
        ENDS: Tone.ENDS,
        WAITS: Tone.WAITS,
        Truth.UNKNOWN.value: Tone.UNKNOWN,
        KEEPS: Tone.KEEPS,
        DELEGATES: Tone.KEEPS,
        SUSPENDS: Tone.KEEPS,
    }
)
"""How a verdict on a termination is told."""


@dataclass(frozen=True, slots=True)
class Cause:
    """One reason behind an entry, told as: who, what is wrong with it, and which clock runs.

    Attributes:
        subject: who.
        sentences: what there is to say about it, most telling first.
        below: the causes behind this one (the breached cliques of a scaling group).
    """

    subject: Ref
    sentences: tuple[str, ...]
    below: tuple["Cause", ...] = ()


@dataclass(frozen=True, slots=True)
class Entry:
    """What becomes of one replica of the set, or of one of its scaling groups.

    Attributes:
        until: when the first of its delays ends or ended; None where none runs.
        deletes: the cliques that go with it, for one that ends.
        toll: what these take along; None where nobody knows.
        degraded: for one that is kept, the cliques that have too few ready pods all the same, and why that is no end.
        averted: when it would end but for the steps of the plan, after which its causes are found (PL-025).
        unwell: whether it is kept although a standalone clique or a scaling group of it is missing (GT-038), or where
            the stored statuses would end it (GF-084).
    """

    tone: Tone
    subject: Ref
    causes: tuple[Cause, ...]
    until: datetime | None = None
    deletes: tuple[Ref, ...] = ()
    toll: Toll | None = None
    degraded: tuple[Cause, ...] = ()
    unwell: bool = False
    averted: datetime | None = None


@dataclass(frozen=True, slots=True)
class Story:
    """What a person should know of one root, the most urgent entries first.

    Attributes:
        unrecorded: how many cliques are spared only because nothing says that they ever were available (GT-015).
        available, replicas: of the set (GT-045); 0 of 0 where nothing can be said.
        unpredicted: what the rule set does not predict of the set, a sentence each (GF-130 to GF-132).
        misplaced: pods outside the domain of a required topology constraint, by PodGang or PodClique (TP-131).
    """

    root: Ref
    entries: tuple[Entry, ...]
    unrecorded: int
    available: int = 0
    replicas: int = 0
    unpredicted: tuple[str, ...] = ()
    misplaced: tuple[Reason, ...] = ()

    @property
    def is_calm(self) -> bool:
        """Whether everything is predicted, is kept, is there and well placed, and has the pods it needs."""
        if self.unpredicted or self.misplaced or self.available < self.replicas:
            return False
        return not any(entry.tone is not Tone.KEEPS or entry.degraded or entry.unwell for entry in self.entries)

    def having(self, tone: Tone) -> tuple[Entry, ...]:
        """The entries of one tone."""
        return tuple(entry for entry in self.entries if entry.tone is tone)


def story_of(forecast: Forecast) -> Story:
    """The story of the first round: every replica's fate, and every scaling group that does something itself.

    What the first look waits to end, and its steps avert, is told as it is found after them (PL-025).
    """
    unpredicted = reasons_on(PREDICTION, forecast.findings)
    averted_ends = () if unpredicted else forecast.averted  # steps that are not predicted avert nothing (GF-133)
    findings = {(one.subject, one.question): one for one in (*forecast.findings, *averted_ends)}.values()
    breaches = {finding.subject: finding for finding in findings if finding.question == BREACH}
    fates = {finding.subject: finding for finding in findings if finding.question == TERMINATION}
    ended = deletions_by_replica(forecast.rounds[0].steps)
    refused = {one.replica for held in forecast.rounds[0].withheld for one in held.terminates}
    pending = {one.subject: one for one in forecast.findings if one.question == TERMINATION}
    averted = {one.subject: pending[one.subject].deadline for one in averted_ends if one.question == TERMINATION}
    entries = [
        replace(
            _entry(fate, breaches, ended.get(fate.subject, ()), refused),
            averted=averted.get(fate.subject),
        )
        for fate in fates.values()
        if _is_told(fate)
    ]
    told = {cause.subject for entry in entries for cause in entry.causes if entry.tone is not Tone.KEEPS}
    spared = {one.subject for one in averted_ends if one.question == BREACH}
    lacking = (one for one in breaches.values() if one.subject not in told and _lacks(one, spared))
    degraded = _degraded(forecast.root, lacking, fates)
    entries = [
        replace(entry, degraded=tuple(degraded.get(entry.subject, ()))) if entry.tone is Tone.KEEPS else entry
        for entry in entries
    ]
    held = [
        Entry(
            Tone.GATED if is_gated(withheld) else Tone.HELD,
            withheld.target,
            tuple(_causes(withheld.because, breaches)),
        )
        for withheld in forecast.rounds[0].withheld
        if not any(reason.rule in _NOTHING_KNOWN for reason in withheld.because)
    ]
    order = list(Tone)
    unrecorded = sum(finding.because[0].rule is Why.AVAILABILITY_NOT_RECORDED for finding in breaches.values())
    return Story(
        forecast.root,
        tuple(sorted((*entries, *held), key=lambda entry: (order.index(entry.tone), entry.subject.sort_key))),
        unrecorded,
        *_availability(forecast.findings),
        unpredicted=tuple(why.sentence for why in unpredicted),
        misplaced=reasons_on(MISPLACEMENT, forecast.findings),
    )


def is_gated(withheld: Withheld) -> bool:
    """Whether what is held back are gates of pods, which open by themselves when capacity is there."""
    return withheld.because[0].rule in _GATES


def is_undecided(withheld: Withheld) -> bool:
    """Whether nobody knows if it should be held back (WL-235)."""
    return withheld.because[0].rule is workload.Why.GANGS_NOT_COLLECTED


def _availability(findings: Iterable[Finding]) -> tuple[int, int]:
    """How many replicas of the set are available, and of how many; nothing of nothing where that is not said."""
    verdict = next((finding.verdict for finding in findings if finding.question == AVAILABILITY), "0/0")
    available, _, replicas = verdict.partition("/")
    return int(available), int(replicas)


def _degraded(root: Ref, lacking: Iterable[Finding], fates: Mapping[Ref, Finding]) -> Mapping[Ref, list[Cause]]:
    """Replica of the set -> those of its cliques that have too few ready pods and of which no entry tells."""
    guards = {
        f"{ref.name}-{ref.replica}-": fate.because[0].sentence
        for ref, fate in fates.items()
        if ref.kind == GROUP_KIND and ref.replica is not None and fate.verdict not in {ENDS, WAITS}
    }
    found: defaultdict[Ref, list[Cause]] = defaultdict(list)
    for breach in lacking:
        name = breach.subject.name
        index = index_after(root.name, name)
        sentences = [breach.because[0].sentence]
        if breach.verdict == Truth.TRUE.value:
            prefixes = (name[: at + 1] for at, letter in enumerate(name) if letter == "-")
            sentences += [guards[prefix] for prefix in prefixes if prefix in guards]
        found[root.at_replica(-1 if index is None else index)].append(Cause(breach.subject, tuple(sentences)))
    return found


def _is_told(finding: Finding) -> bool:
    """Replicas of the set always; of scaling groups those that end or wait by themselves, or are not well."""
    if finding.subject.kind == "PodCliqueSet":
        return True
    return finding.subject.replica is not None and (finding.verdict in {ENDS, WAITS} or _is_unwell(finding))


def _is_unwell(fate: Finding) -> bool:
    return any(reason.rule in _UNWELL for reason in fate.because)


def _entry(fate: Finding, breaches: Mapping[Ref, Finding], deletes: Sequence[Step], refused: AbstractSet[Ref]) -> Entry:
    """One replica; of one that ends either a deletion was held back, or what is not deleted is on its way already."""
    tone = TONES.get(fate.verdict, Tone.UNKNOWN)  # a saved plan may come from rules that know other fates
    if tone is Tone.ENDS and not deletes and fate.subject in refused:
        tone = Tone.HELD
    return Entry(
        tone,
        fate.subject,
        tuple(_causes(fate.because, breaches)),
        fate.deadline,
        tuple(step.target for step in deletes),
        toll_of(deletes),
        unwell=_is_unwell(fate),
    )


def _lacks(breach: Finding, spared: AbstractSet[Ref]) -> bool:
    """Whether a clique has too few ready pods, whatever is made of it; said of cliques, not of groups.

    Args:
        spared: of which that was a breach, and something else is said once the steps are done.
    """
    return breach.subject.kind == "PodClique" and (breach.because[0].rule in _LACKING or breach.subject in spared)


def _causes(because: Iterable[Reason], breaches: Mapping[Ref, Finding]) -> Iterable[Cause]:
    """Return a cause for each reason; before a delay stands the breach that it is of, with the breaches below that."""
    for reason in because:
        breach = breaches.get(reason.subject)
        if breach is None or "until" not in dict(reason.facts):
            yield Cause(reason.subject, (reason.sentence,))
            continue
        first, *rest = breach.because
        below = tuple(Cause(part.subject, (part.sentence,)) for part in rest)
        yield Cause(reason.subject, (first.sentence, reason.sentence), below)
