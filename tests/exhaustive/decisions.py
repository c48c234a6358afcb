"""A decision about a set in plain values, as a specification gives it; nothing of the product is imported."""

from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

Place: TypeAlias = int | tuple[str, int]


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
        available: name of each PodClique whose ``wasAvailable`` is written -> the value.
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
    available: dict[str, bool] = field(default_factory=dict)
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
