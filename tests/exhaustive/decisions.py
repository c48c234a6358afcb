"""A decision in plain values, as a specification gives it, and the same of what the product decides."""

from dataclasses import dataclass, field
from typing import Final, NamedTuple, TypeAlias

from grove_core.areas.gang_termination.termination_result import TerminationResult
from grove_core.areas.gang_termination.verdicts import SetReplicaFates, Terminate, Wait
from grove_core.kernel.frozen import thaw_json
from grove_core.kernel.refs import Ref
from grove_core.kernel.time_formats import parse_time
from grove_core.kernel.wants import StatusToWrite
from tests.exhaustive.states import NOW

Place: TypeAlias = int | tuple[str, int]
QUESTIONS: Final = frozenset({"breach", "termination", "scheduled", "availability"})


class Finding(NamedTuple):
    """A verdict on an object or on a replica of it, and the numbers of the rules that lead to it."""

    subject: str
    question: str
    verdict: str
    rules: frozenset[str]


class Fates(NamedTuple):
    """Replicas that are terminated, and those that are waited for.

    Replicas of the set are named by index, those of scaling groups by (name, index).

    Attributes:
        waiting: replica -> seconds until its delay ends.

    A replica that is skipped while something of it is being deleted (GF-090) is not terminated.
    """

    terminating: set[Place]
    waiting: dict[Place, int]

    @staticmethod
    def nothing() -> "Fates":
        """Return the fates where nothing is terminated or waited for."""
        return Fates(set(), {})


@dataclass
class Decision:
    """What becomes of a set.

    Attributes:
        deletions: name of each PodClique that is deleted -> the rules that say so.
        causes: the names of those among them that are deleted last.
        conditions: name and type -> status and age, of the conditions that are written.
        removed: names of scaling groups of which a condition is removed.
        terminating: replicas that are terminated: of the set by index, and (name of the scaling group, index).
        wake: seconds until time alone changes the decision; None if it never does.
        fates: what is terminated and waited for, without reasons; only of a specification.
        applied: the rules that decide in this state, also those that are no reason of a verdict.
    """

    findings: set[Finding] = field(default_factory=set)
    deletions: dict[str, frozenset[str]] = field(default_factory=dict)
    causes: set[str] = field(default_factory=set)
    conditions: dict[tuple[str, str], tuple[str, int]] = field(default_factory=dict)
    removed: set[str] = field(default_factory=set)
    terminating: set[Place] = field(default_factory=set)
    wake: int | None = None
    fates: Fates = field(default_factory=Fates.nothing, compare=False)
    applied: set[str] = field(default_factory=set, compare=False)

    def find(self, subject: str, question: str, verdict: str, *rules: str) -> None:
        """Add a verdict; its rules count as applied."""
        self.findings.add(Finding(subject, question, verdict, frozenset(rules)))
        self.applied.update(rules)

    def end(self, place: Place) -> None:
        """Add a replica that is terminated."""
        self.terminating.add(place)
        self.fates.terminating.add(place)

    def delete(self, name: str, *rules: str) -> None:
        """Add a deletion, or more rules for it."""
        self.deletions[name] = self.deletions.get(name, frozenset()) | {*rules}
        self.applied.update(rules)


def decision_of(result: TerminationResult) -> Decision:
    """Return a result of gang termination as a decision."""
    found = Decision()
    for one in result.findings:
        if one.question in QUESTIONS:
            rules = frozenset(reason.rule.requirement for reason in one.because)
            found.findings.add(Finding(_name(one.subject), one.question, one.verdict, rules))
    for deletion in result.deletions:
        found.deletions[deletion.target.name] = frozenset(reason.rule.requirement for reason in deletion.because)
        if deletion.is_cause:
            found.causes.add(deletion.target.name)
    for status in result.statuses.wants:
        assert isinstance(status, StatusToWrite)
        fields = thaw_json(status.fields)
        for condition in fields.get("conditions", ()):
            since = parse_time(condition["lastTransitionTime"])
            assert since is not None
            age = int((NOW - since).total_seconds())
            found.conditions[status.target.name, condition["type"]] = (condition["status"], age)
        if fields.get("removedConditions"):
            found.removed.add(status.target.name)
    found.terminating = {*result.terminating.replicas, *result.terminating.parts}
    found.wake = None if result.wake_at is None else int((result.wake_at - NOW).total_seconds())
    return found


def fates_of(fates: SetReplicaFates) -> Fates:
    """Return the fates of a rule set as plain values."""
    every: dict[Place, object] = {one.number: one.fate for one in fates.replicas}
    every |= {(group.group.ref.name, index): fate for group in fates.groups for index, fate in group.fates.items()}
    return Fates(
        {place for place, fate in every.items() if isinstance(fate, Terminate)},
        {place: int((fate.until - NOW).total_seconds()) for place, fate in every.items() if isinstance(fate, Wait)},
    )


def _name(ref: Ref) -> str:
    return ref.name if ref.replica is None else f"{ref.name}[{ref.replica}]"
