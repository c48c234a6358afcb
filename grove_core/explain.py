"""From plans to stories: verdicts in the order a person asks for them, reasons as sentences; still data, no colours."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import Enum, unique

from grove_core.areas.gang_termination.findings import BREACH, TERMINATION
from grove_core.areas.gang_termination.rules import Why
from grove_core.kernel.decisions import Finding
from grove_core.kernel.reasons import Reason
from grove_core.kernel.refs import Ref
from grove_core.kernel.steps import Delete, Step
from grove_core.kernel.times import parse_time
from grove_core.plan.forecast import Forecast


@unique
class Tone(Enum):
    """How urgent an entry is, the most urgent first."""

    ENDS = "TERMINATE"
    WAITS = "WAIT"
    HELD = "HELD BACK"
    UNKNOWN = "UNKNOWN"
    KEEPS = "KEEP"


@dataclass(frozen=True, slots=True)
class Cause:
    """One reason behind an entry, told as: who, what is wrong with it, and which clock runs.

    Attributes:
        subject: who.
        sentences: what there is to say about it, most telling first.
        until: when its delay ends or ended; None where no clock runs.
        below: the causes behind this one (the breached cliques of a scaling group).
    """

    subject: Ref
    sentences: tuple[str, ...]
    until: datetime | None = None
    below: tuple["Cause", ...] = ()


@dataclass(frozen=True, slots=True)
class Entry:
    """What becomes of one replica of the set, or of one of its scaling groups.

    Attributes:
        deletes: the cliques that go with it, for one that ends.
        degraded: for one that is kept, the cliques that have too few ready pods all the same, and why that is no end.
    """

    tone: Tone
    subject: Ref
    causes: tuple[Cause, ...]
    deletes: tuple[Ref, ...] = ()
    degraded: tuple[Cause, ...] = ()


@dataclass(frozen=True, slots=True)
class Story:
    """What a person should know of one root, the most urgent entries first.

    Attributes:
        unrecorded: how many cliques are spared only because nothing says that they ever were available (GT-015).
    """

    root: Ref
    entries: tuple[Entry, ...]
    unrecorded: int

    @property
    def is_calm(self) -> bool:
        """Whether everything is kept, and everything has the pods it needs."""
        return all(entry.tone is Tone.KEEPS and not entry.degraded for entry in self.entries)

    def having(self, tone: Tone) -> tuple[Entry, ...]:
        """The entries of one tone."""
        return tuple(entry for entry in self.entries if entry.tone is tone)


def story_of(forecast: Forecast) -> Story:
    """The story of the first round: every replica's fate, and every scaling group that does something itself."""
    breaches = {finding.subject: finding for finding in forecast.findings if finding.question == BREACH}
    steps = forecast.rounds[0].steps
    entries = [
        _entry(finding, breaches, steps)
        for finding in forecast.findings
        if finding.question == TERMINATION and _is_told(finding)
    ]
    held = [
        Entry(Tone.HELD, withheld.target, tuple(_causes(withheld.because, breaches)))
        for withheld in forecast.rounds[0].withheld
        if not any(reason.rule is Why.NOT_COLLECTED for reason in withheld.because)
    ]
    order = list(Tone)
    unrecorded = sum(
        any(reason.rule is Why.AVAILABILITY_NOT_RECORDED for reason in finding.because)
        for finding in breaches.values()
    )
    return Story(
        forecast.root,
        tuple(sorted((*entries, *held), key=lambda entry: (order.index(entry.tone), entry.subject.sort_key))),
        unrecorded,
    )


def first_guards(findings: Iterable[Finding], subject: Ref) -> tuple[Finding, ...]:
    """What kept an object from being ended: its own verdicts on termination, each with the first guard that held.

    ``subject`` is a set, a scaling group or a clique; replicas of it count as itself.
    """
    return tuple(
        finding
        for finding in findings
        if finding.question == TERMINATION and finding.subject.short.partition("[")[0] == subject.short
    )


def _is_told(finding: Finding) -> bool:
    """Replicas of the set always; scaling groups only where they act or wait themselves."""
    if finding.subject.kind == "PodCliqueSet":
        return True
    return finding.subject.replica is not None and finding.verdict in {"Terminate", "Wait"}


def _entry(finding: Finding, breaches: Mapping[Ref, Finding], steps: Iterable[Step]) -> Entry:
    tone = {"Terminate": Tone.ENDS, "Wait": Tone.WAITS, "Unknown": Tone.UNKNOWN}.get(finding.verdict, Tone.KEEPS)
    deletes: tuple[Ref, ...] = ()
    if tone is Tone.ENDS:
        deletes = tuple(
            step.target for step in steps if isinstance(step.action, Delete) and _ended_by(step, finding.subject)
        )
    degraded: tuple[Cause, ...] = ()
    if tone is Tone.KEEPS:
        prefix = f"{finding.subject.name}-{finding.subject.replica}-"
        degraded = tuple(
            Cause(breach.subject, (breach.because[0].sentence,))
            for breach in breaches.values()
            if breach.subject.name.startswith(prefix) and _is_degraded(breach)
        )
    return Entry(tone, finding.subject, tuple(_causes(finding.because, breaches)), deletes, degraded)


def _is_degraded(breach: Finding) -> bool:
    """Whether a clique has too few ready pods, whatever is made of it; said of cliques, not of groups."""
    return breach.subject.kind == "PodClique" and breach.because[0].rule in {
        Why.NEVER_AVAILABLE,
        Why.AVAILABILITY_NOT_RECORDED,
        Why.UPDATE_IN_PROGRESS,
        Why.INSUFFICIENT_READY_PODS,
    }


def _ended_by(step: Step, subject: Ref) -> bool:
    """Whether the deletion names the end of this replica among its reasons."""
    for reason in step.because:
        facts = dict(reason.facts)
        if reason.rule is Why.GANG_TERMINATED and subject.kind == "PodCliqueSet":
            if facts["replica"] == subject.replica:
                return True
        elif reason.rule is Why.GROUP_REPLICA_TERMINATED and subject.kind != "PodCliqueSet":
            if facts["replica"] == subject.replica and facts["group"] == f"{subject.kind}/{subject.name}":
                return True
    return False


def _causes(because: Iterable[Reason], breaches: Mapping[Ref, Finding]) -> Iterable[Cause]:
    for reason in because:
        facts = dict(reason.facts)
        until = parse_time(str(facts["until"])) if "until" in facts else None
        breach = breaches.get(reason.subject)
        if until is None or breach is None:
            yield Cause(reason.subject, (reason.sentence,), until)
            continue
        first, *rest = breach.because
        below = tuple(Cause(part.subject, (part.sentence,)) for part in rest)
        yield Cause(reason.subject, (first.sentence, reason.sentence), until, below)
