"""The rules of specs/gang_termination_field.md as arithmetic on small values; nothing of the product is imported.

Written from the sentences of the rules. Where a sentence and the code disagree, the comparison of all states fails.
Terminations of which a step failed (GF-091, GF-092) are no part of a state.
"""

from collections.abc import Callable, Iterator
from typing import NamedTuple

from tests.exhaustive.states import Clique, Group, State, Stored, alone_name, group_name, member_name

GRACE = 5
BREACHED, SCHEDULED, FLAG = "MinAvailableBreached", "PodCliqueScheduled", "GangTerminationInProgress"


class Judged(NamedTuple):
    """A PodClique with the conditions by which terminations are decided; an age of 0 is a condition of now.

    Attributes:
        rules: behind its breach, and behind its placement.
        guard: the rule by which its breach is not acted on; empty without one.
    """

    name: str
    clique: Clique
    breach: Stored | None
    placed: Stored | None
    rules: tuple[str, str]
    guard: str
    part: int

    @property
    def breached(self) -> bool:
        return is_true(self.breach)

    @property
    def acting(self) -> bool:
        return self.breached and not self.guard

    @property
    def ready(self) -> int:
        return 0 if self.clique.deleting else sum(pod.ready for pod in self.clique.pods)


def is_true(stored: Stored | None) -> bool:
    return stored is not None and stored.status == "True"


def is_late(stored: Stored, created: int) -> bool:
    """Return whether a condition changed more than 5 seconds after its object was created (GF-040, GF-041)."""
    return created - stored.age > GRACE


def written(before: Stored | None, status: str) -> Stored:
    """Return a condition as it is written; its age stays while its status does (GT-019)."""
    return Stored(status, before.age if before is not None and before.status == status else 0)


def judge_clique(name: str, clique: Clique, part: int, generation: str, *, looks: bool) -> Judged:
    """Return a PodClique with its conditions (GF-012 to GF-040).

    Args:
        looks: whether the operator computes its status anew; else the stored one counts (GF-084).
    """
    breach, placed, rules = clique.breach, clique.placed, ("GF-021", "GF-021")
    if clique.deleting:
        rules = ("GF-029", "GF-029")
    elif looks and clique.observed:
        scheduled = sum(pod.scheduled for pod in clique.pods)
        healthy = scheduled - sum(pod.crashed and not pod.ready for pod in clique.pods)
        if clique.updating and not clique.old_name:
            status, rule = "Unknown", "GF-024"
        elif scheduled == 0 < clique.needed and generation == "F2":
            status, rule = "False", "GF-107"
        elif scheduled < clique.needed:
            status, rule = "True", "GF-025"
        else:
            status, rule = ("True", "GF-026") if healthy < clique.needed else ("False", "GF-027")
        enough = scheduled >= clique.needed
        breach, placed = written(breach, status), written(placed, str(enough))
        rules = (rule, "GF-022" if enough else "GF-023")
    was_scheduled = placed is not None and (placed.status == "True" or is_late(placed, clique.created))
    guard = "GF-040" if is_true(breach) and generation == "F3" and not was_scheduled else ""
    return Judged(name, clique, breach, placed, rules, guard, part)


class GoOperatorGroupJudgement:
    """A scaling group with its condition, and what becomes of its replicas (GF-031 to GF-067)."""

    def __init__(
        self, name: str, group: Group, members: list[Judged], state: State, generation: str, *, looks: bool
    ) -> None:
        self.name, self.group, self.members, self.delay = name, group, members, state.delay or 0
        size = state.shape[int(name[-1])]
        regular = [[one for one in members if one.part == part] for part in range(group.wanted)]
        whole = [found for found in regular if sum(not one.clique.deleting for one in found) == size]
        scheduled = [found for found in whole if all(is_true(one.placed) for one in found)]
        self.available = sum(all(one.ready >= one.clique.needed for one in found) for found in scheduled)
        self.breach, self.rule, self.subtracts = group.breach, "GF-021", False
        if looks and not group.deleting:
            good = sum(not any(one.breached for one in found) for found in whole)
            if generation == "F2":
                self.subtracts = not group.updating and len(scheduled) >= group.needed  # GF-105
                good = len(scheduled) - sum(any(one.breached for one in found) for found in regular)
            status, self.rule = self._condition(len(scheduled), good, generation)
            self.breach = written(group.breach, status)
        self.guard = ""
        if generation == "F3" and self.breach is not None and self.breached:
            self.guard = "GF-051" if is_true(group.flag) else "" if is_late(self.breach, group.created) else "GF-041"
        self.fates = {} if group.deleting else self._fates()

    @property
    def breached(self) -> bool:
        return is_true(self.breach)

    @property
    def acting(self) -> bool:
        return self.breached and not self.guard

    def _condition(self, scheduled: int, good: int, generation: str) -> tuple[str, str]:
        if self.group.updating:
            return "Unknown", "GF-033"
        if generation == "F2" and scheduled < self.group.needed:
            return ("True", "GF-104") if scheduled else ("False", "GF-108")
        return ("True", "GF-034") if good < self.group.needed else ("False", "GF-035")

    def _fates(self) -> dict[int, tuple[str, str, int]]:
        """Return index of each replica with a breach to act on -> verdict, rule, seconds until its delay ends."""
        first: dict[int, int] = {}
        for one in self.members:
            if one.acting and one.breach is not None:
                left = self.delay - one.breach.age
                first[one.part] = min(left, first.get(one.part, left))
        if self.group.updating:
            return dict.fromkeys(first, ("Suspend", "GF-066", 0))
        if self.group.wanted - len(first) < self.group.needed:
            return dict.fromkeys(first, ("Delegate", "GF-061", 0))
        return {
            part: ("Wait", "GF-063", left) if left > 0 else ("Terminate", "GF-060", left)
            for part, left in first.items()
        }

    @property
    def fate(self) -> tuple[str, str]:
        """Verdict and rule on the group as a whole."""
        every = [one[:2] for one in self.fates.values()]
        first = [one for kind in ("Terminate", "Wait") for one in every if one[0] == kind]
        return (first or every or [("Keep", "GF-067")])[0]

    def cause(self, part: int) -> Judged:
        """Return the PodClique of a replica whose delay ended first."""
        acting = [
            (-one.breach.age, one.name, one) for one in self.members if one.part == part and one.acting and one.breach
        ]
        return min(acting, key=lambda one: one[:2])[2]


class JudgedReplica:
    """A replica of the set (GF-069 to GF-077, GF-090)."""

    def __init__(self, state: State, index: int, generation: str, *, looks: bool) -> None:
        self.index, replica, delay = index, state.replicas[index], state.delay or 0

        def judged(cliques: tuple[Clique | None, ...], name: Callable[[int], str], part: int = -1) -> Iterator[Judged]:
            for number, clique in enumerate(cliques):
                if clique is not None:
                    yield judge_clique(name(number), clique, part, generation, looks=looks)

        self.alone = [*judged(replica.alone, lambda number: alone_name(index, number))]
        self.groups: list[GoOperatorGroupJudgement] = []
        for number, group in enumerate(replica.groups):
            if group is not None:
                name = group_name(index, number)
                members = [
                    one
                    for part, found in enumerate(group.parts)
                    for one in judged(found, lambda place, n=name, p=part: member_name(n, p, place), part)  # type: ignore[misc]  # defaults bind the loop
                ]
                self.groups.append(GoOperatorGroupJudgement(name, group, members, state, generation, looks=looks))
        self.cliques = [*self.alone, *(one for group in self.groups for one in group.members)]
        self.missing = len(replica.alone) - len(self.alone)
        self.exists = index < state.wanted and bool(self.cliques or self.groups)
        every: list[tuple[int, str, Judged | GoOperatorGroupJudgement]] = [
            (delay - one.breach.age, f"{kind} {one.name}", one)
            for kind, found in (("PodClique", self.alone), ("PodCliqueScalingGroup", self.groups))
            for one in found
            if one.acting and one.breach is not None
        ]
        lasting = [one for one in every if (one[2].clique if isinstance(one[2], Judged) else one[2].group).deleting]
        self.lingers = bool(self.missing) and not state.deleting and any(left <= 0 for left, *_ in lasting)
        self.breaches = [] if self.missing or state.deleting else sorted(every, key=lambda one: one[:2])
        self.left = self.breaches[0][0] if self.breaches else 0
        self.verdict = "Keep" if not self.breaches else "Wait" if self.left > 0 else "Terminate"
        self.is_available = (
            self.exists
            and not self.missing
            and all(not one.clique.deleting and one.ready >= one.clique.needed for one in self.alone)
            and len(self.groups) == len(replica.groups)
            and all(not one.group.deleting and one.available >= one.group.needed for one in self.groups)
        )

    def rules(self, state: State) -> set[str]:
        """Return the rules behind its verdict."""
        if self.verdict != "Keep":
            return {"GF-076" if self.verdict == "Wait" else "GF-072"}
        if state.deleting:
            return {"GF-077"}
        if self.missing:
            return {"GF-070"}
        guards = [one.guard for one in self.alone] + [group.guard for group in self.groups]
        return {"GF-069", *filter(None, guards)}
