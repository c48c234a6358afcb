"""Verdicts on PodCliques by specs/gang_termination.md, as arithmetic; nothing of the product is imported."""

from typing import NamedTuple

from tests.exhaustive.states import Clique, Stored


class Breach(NamedTuple):
    """A breach that may be acted on: seconds until its delay ends, kind, name."""

    left: int
    kind: str
    name: str


class Judged(NamedTuple):
    """A PodClique that is not being deleted, with its verdict.

    Attributes:
        age: of its condition after this decision.
        part: index of the replica of its scaling group; -1 for a standalone one.
    """

    name: str
    clique: Clique
    status: str
    rule: str
    age: int
    part: int

    @property
    def breached(self) -> bool:
        return self.status == "True"

    @property
    def available(self) -> bool:
        return sum(pod.ready for pod in self.clique.pods) >= self.clique.needed

    @property
    def became_available(self) -> bool | None:
        """The ``wasAvailable`` that is written; None if it stays as it is (GT-016)."""
        stored = self.clique.was
        now = self.available and self.clique.needed > 0 and not self.clique.updating
        if now or stored:
            return None if stored else True
        return False if stored is None and not self.clique.recorded else None

    @property
    def scheduled(self) -> bool:
        return sum(pod.scheduled for pod in self.clique.pods) >= self.clique.needed


def age_of(stored: Stored | None, status: str) -> int:
    """Return the age of a condition after the decision (GT-019)."""
    return stored.age if stored is not None and stored.status == status else 0


def judge_clique(name: str, clique: Clique, part: int) -> Judged:
    """Return the verdict on one PodClique (GT-011 to GT-016, GT-068)."""
    ready = sum(pod.ready for pod in clique.pods)
    staying = sum(pod.ready and not pod.preempted for pod in clique.pods)
    reported = clique.breach is not None and clique.breach.reason == "PodsPreempted"
    if ready >= clique.needed:
        status, rule = "False", "GT-068" if staying < clique.needed else "GT-011"
    elif clique.recorded and clique.was is None:
        status, rule = "False", "GT-015"
    elif not (clique.recorded and clique.was):
        status, rule = "False", "GT-012"
    elif clique.updating:
        status, rule = "Unknown", "GT-013"
    else:
        preempted = reported or any(pod.preempted for pod in clique.pods)
        status, rule = "True", "GT-068" if preempted else "GT-014"
    return Judged(name, clique, status, rule, age_of(clique.breach, status), part)
