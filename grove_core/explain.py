"""From plans to stories: verdicts in the order a person asks for them, reasons as sentences; still data, no colours."""

from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from datetime import datetime
from enum import Enum, unique
from types import MappingProxyType
from typing import Final

from grove_core.areas.gang_termination.findings import BREACH, TERMINATION
from grove_core.areas.gang_termination.rules import Why
from grove_core.kernel.conditions import Truth
from grove_core.kernel.decisions import Finding
from grove_core.kernel.reasons import Reason
from grove_core.kernel.refs import Ref
from grove_core.kernel.steps import Delete, Step
from grove_core.kernel.times import parse_time
from grove_core.plan.forecast import Forecast
from grove_core.resources.podclique import GROUP_KIND

_ENDS_WITH: Final[Mapping[str, Why]] = MappingProxyType(
    {"PodCliqueSet": Why.GANG_TERMINATED, GROUP_KIND: Why.GROUP_REPLICA_TERMINATED}
)


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
    fates = [finding for finding in forecast.findings if finding.question == TERMINATION]
    steps = forecast.rounds[0].steps
    entries = [_entry(finding, breaches, steps) for finding in fates if _is_told(finding)]
    told = {cause.subject for entry in entries for cause in entry.causes if entry.tone is not Tone.KEEPS}
    entries = [
        replace(entry, degraded=_degraded(entry.subject, breaches.values(), fates, told))
        if entry.tone is Tone.KEEPS
        else entry
        for entry in entries
    ]
    held = [
        Entry(Tone.HELD, withheld.target, tuple(_causes(withheld.because, breaches)))
        for withheld in forecast.rounds[0].withheld
        if not any(reason.rule is Why.NOT_COLLECTED for reason in withheld.because)
    ]
    order = list(Tone)
    unrecorded = sum(
        any(reason.rule is Why.AVAILABILITY_NOT_RECORDED for reason in finding.because) for finding in breaches.values()
    )
    return Story(
        forecast.root,
        tuple(sorted((*entries, *held), key=lambda entry: (order.index(entry.tone), entry.subject.sort_key))),
        unrecorded,
    )


def _degraded(
    replica: Ref, breaches: Iterable[Finding], fates: Iterable[Finding], told: AbstractSet[Ref]
) -> tuple[Cause, ...]:
    """The cliques of a kept replica that have too few ready pods, unless an entry of their group tells of them."""
    groups = {f"{fate.subject.name}-{fate.subject.replica}-": fate for fate in fates if fate.subject.kind == GROUP_KIND}
    found = []
    for breach in breaches:
        name = breach.subject.name
        if breach.subject in told or not name.startswith(f"{replica.name}-{replica.replica}-") or not _lacks(breach):
            continue
        guards = [fate for prefix, fate in groups.items() if name.startswith(prefix)]
        kept = tuple(fate.because[0].sentence for fate in guards if breach.verdict == Truth.TRUE.value)
        found.append(Cause(breach.subject, (breach.because[0].sentence, *kept)))
    return tuple(found)


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
    return Entry(tone, finding.subject, tuple(_causes(finding.because, breaches)), deletes)


def _lacks(breach: Finding) -> bool:
    """Whether a clique has too few ready pods, whatever is made of it; said of cliques, not of groups."""
    return breach.subject.kind == "PodClique" and breach.because[0].rule in {
        Why.NEVER_AVAILABLE,
        Why.AVAILABILITY_NOT_RECORDED,
        Why.UPDATE_IN_PROGRESS,
        Why.INSUFFICIENT_READY_PODS,
    }


def _ended_by(step: Step, subject: Ref) -> bool:
    """Whether the deletion names the end of this replica among its reasons."""
    ended = [dict(reason.facts) for reason in step.because if reason.rule is _ENDS_WITH[subject.kind]]
    owner = f"{subject.kind}/{subject.name}"
    return any(facts["replica"] == subject.replica and facts.get("group", owner) == owner for facts in ended)


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
