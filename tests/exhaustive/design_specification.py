"""The rules of specs/gang_termination.md as arithmetic on small values; nothing of the product is imported.

Written from the sentences of the rules. Where a sentence and the code disagree, the comparison of all states fails.
"""

from collections.abc import Iterator

from tests.exhaustive.decisions import Decision
from tests.exhaustive.design_cliques import Breach, Judged, age_of, judge_clique
from tests.exhaustive.states import SET, Clique, Group, State, alone_name, group_name, member_name


def decide(state: State) -> Decision:
    """Return what the design decides about a set."""
    decision = Decision()
    kinds = {"PodClique", "Pod", *(["PodCliqueScalingGroup"] if state.shape else [])}
    if kinds & state.absent:
        for question in ("breach", "termination"):
            decision.find(SET, question, "Unknown", "GT-024")
        return decision
    available = 0
    waits: list[int] = []
    for index in range(len(state.replicas)):
        one = _ReplicaOfSet(state, index, decision)
        one.judge()
        available += one.available
        waits += one.waits
    decision.find(SET, "availability", f"{available}/{state.wanted}", "GT-046")
    decision.applied |= {"GT-044", "GT-019", *(["GT-060"] if waits else [])}
    decision.wake = min(waits, default=None)
    return decision


class _ReplicaOfSet:
    """One replica of the set: judges its parts and adds what becomes of them to a decision.

    Attributes:
        available: whether it is available (GT-044).
        waits: seconds until each delay ends that a level can act on (GT-060).
    """

    def __init__(self, state: State, index: int, decision: Decision) -> None:
        self.state, self.index, self.decision = state, index, decision
        self.replica = state.replicas[index]
        self.available = False
        self.waits: list[int] = []
        self.alone = [*_judged(self.replica.alone, lambda number: alone_name(index, number))]
        self.members = [
            (number, judged)
            for number, group in enumerate(self.replica.groups)
            if group is not None
            for part, found in enumerate(group.parts)
            for judged in _judged(
                found, lambda place, n=number, p=part: member_name(group_name(index, n), p, place), part
            )
        ]
        self.standing = [*self.alone, *(judged for _, judged in self.members)]

    @property
    def surplus(self) -> bool:
        return self.index >= self.state.wanted

    def judge(self) -> None:
        for judged in self.standing:
            placed = judged.scheduled
            self.decision.find(judged.name, "breach", judged.status, judged.rule)
            self.decision.find(judged.name, "scheduled", str(placed), "GT-021" if placed else "GT-022")
            self.decision.conditions[judged.name, "MinAvailableBreached"] = (judged.status, judged.age)
            age = age_of(judged.clique.placed, str(placed))
            self.decision.conditions[judged.name, "PodCliqueScheduled"] = (str(placed), age)
            if judged.became_available is not None:
                self.decision.available[judged.name] = judged.became_available
                self.decision.applied.add("GT-016")
            self.decision.applied |= {"GT-002"} | ({"GT-018"} if judged.clique.updating else set())
        for name in self._leaving():
            self.decision.find(name, "breach", "Skip", "GT-023")
        groups = [
            (number, _GroupOfReplica(self, number, group))
            for number, group in enumerate(self.replica.groups)
            if group is not None and not group.deleting
        ]
        for _, group in groups:
            group.judge()
        is_terminated = self._judge_replica([group for _, group in groups])
        for _, group in groups:
            group.terminate(is_silent=is_terminated)

    def _leaving(self) -> Iterator[str]:
        for number, clique in enumerate(self.replica.alone):
            if clique is not None and clique.deleting:
                yield alone_name(self.index, number)
        for number, group in enumerate(self.replica.groups):
            for part, found in enumerate(group.parts if group else ()):
                for place, clique in enumerate(found):
                    if clique is not None and clique.deleting:
                        yield member_name(group_name(self.index, number), part, place)

    def _judge_replica(self, groups: "list[_GroupOfReplica]") -> bool:
        """Decide about the whole replica (GT-031 to GT-038); return whether it is terminated."""
        if self.surplus or not (self.standing or groups):
            return False
        there = len(self.alone) + len(groups)
        missing = ["GT-038"] if there < len(self.replica.alone) + len(self.replica.groups) else []
        self.available = (
            not missing
            and all(one.available for one in self.alone)
            and all(group.available >= min(group.group.needed, group.group.wanted) for group in groups)
        )
        subject, delay = f"{SET}[{self.index}]", self.state.delay
        breaches: list[Breach] = []
        if delay is not None:
            breaches = [Breach(delay - one.age, "PodClique", one.name) for one in self.alone if one.breached]
            breaches += [group.breach for group in groups if group.status == "True"]
        if self.state.deleting or not breaches:
            rule = "GT-037" if self.state.deleting else "GT-031" if delay is None else "GT-035"
            self.decision.find(subject, "termination", "Keep", rule, *missing)
            return False
        first = min(breaches)
        self.decision.applied |= {"GT-032", "GT-030"}
        if first.left > 0:
            self.decision.find(subject, "termination", "Wait", "GT-034", *missing)
            self.waits.append(first.left)
            self.decision.fates.waiting[self.index] = first.left
            return False
        self.decision.find(subject, "termination", "Terminate", "GT-033", *missing)
        self.decision.end(self.index)
        for one in self.standing:
            self.decision.delete(one.name, "GT-036", "GT-033")
        causes = {first.name}
        for group in groups:
            if group.name == first.name:
                causes = {one.name for found in group.breached.values() for one in found}
        self.decision.causes |= causes
        self.decision.applied.add("GT-063")
        return True


class _GroupOfReplica:
    """A scaling group that is not being deleted (GT-040 to GT-055, GT-066)."""

    def __init__(self, within: _ReplicaOfSet, number: int, group: Group) -> None:
        self.within, self.group = within, group
        self.name = group_name(within.index, number)
        self.members = [judged for home, judged in within.members if home == number]
        self.delay = within.state.delay
        if self.delay is not None and within.state.override is not None:
            self.delay = within.state.override
        self.breached: dict[int, list[Judged]] = {}
        for one in self.members:
            if one.breached and one.part < group.wanted:
                self.breached.setdefault(one.part, []).append(one)
        self.lost = self._lost()
        self.left = group.wanted - len(self.breached) - self.lost
        is_short = self.left < min(group.needed, group.wanted)
        self.status = "Unknown" if group.updating else "True" if is_short else "False"
        self.age = age_of(group.breach, self.status)

    def _lost(self) -> int:
        """Return how many other replicas count as breached, because a termination has begun (GT-066)."""
        stored, counted = self.group.breach, [one for found in self.breached.values() for one in found]
        if self.group.updating or stored is None or stored.status != "True":
            return 0
        is_due = self.delay is not None and stored.age >= self.delay
        is_all = bool(counted) and len(counted) == len(self.within.standing)
        return self.group.wanted - len(self.breached) if is_due and is_all else 0

    @property
    def breach(self) -> Breach:
        assert self.delay is not None
        return Breach(self.delay - self.age, "PodCliqueScalingGroup", self.name)

    @property
    def available(self) -> int:
        return self._whole(lambda one: one.scheduled and one.available)

    def _whole(self, is_good: "object") -> int:
        size = self.within.state.shape[int(self.name[-1])]
        assert callable(is_good)
        good = [one.part for one in self.members if one.part < self.group.wanted and is_good(one)]
        return sum(good.count(part) == size for part in range(self.group.wanted))

    def judge(self) -> None:
        """Decide about its condition (GT-041 to GT-043)."""
        rule = {"Unknown": "GT-041", "True": "GT-042", "False": "GT-043"}[self.status]
        of_cliques = {one.rule for found in self.breached.values() for one in found}
        decision = self.within.decision
        decision.find(self.name, "breach", self.status, rule, *of_cliques, *(["GT-066"] if self.lost else []))
        decision.conditions[self.name, "MinAvailableBreached"] = (self.status, self.age)
        decision.applied |= {"GT-025", "GT-040"}

    def terminate(self, *, is_silent: bool) -> None:
        """Decide about its replicas (GT-050 to GT-055).

        Args:
            is_silent: whether its replica of the set is terminated, so that nothing is waited for.
        """
        decision, state = self.within.decision, self.within.state
        fates: dict[int, tuple[str, str]] = {}
        for part, found in self.breached.items():
            guard = "GT-037" if state.deleting else "GT-065" if self.within.surplus else ""
            if guard or self.delay is None:
                fates[part] = ("Keep", guard or "GT-031")
                continue
            first = min(Breach(self.delay - one.age, "PodClique", one.name) for one in found)
            if self.status == "Unknown":
                fates[part] = ("Suspend", "GT-053")
            elif self.status == "True":
                fates[part] = ("Delegate", "GT-052")
            elif first.left > 0:
                fates[part] = ("Wait", "GT-051")
                decision.fates.waiting[self.name, part] = first.left
                self.within.waits += [] if is_silent else [first.left]
            else:
                fates[part] = ("Terminate", "GT-050")
                self._end(part, first.name, is_silent=is_silent)
        for part, (verdict, rule) in fates.items():
            decision.find(f"{self.name}[{part}]", "termination", verdict, rule)
        whole = next((one for kind in ("Terminate", "Wait") for one in fates.values() if one[0] == kind), None)
        whole = whole or next(iter(fates.values()), ("Keep", "GT-055"))
        decision.find(self.name, "termination", *whole)

    def _end(self, part: int, cause: str, *, is_silent: bool) -> None:
        decision = self.within.decision
        decision.end((self.name, part))
        for one in self.members:
            if one.part == part:
                decision.delete(one.name, "GT-054", "GT-050")
        if not is_silent:
            decision.causes.add(cause)
            decision.applied.add("GT-063")


def _judged(cliques: tuple[Clique | None, ...], name: "object", part: int = -1) -> Iterator[Judged]:
    assert callable(name)
    for number, clique in enumerate(cliques):
        if clique is not None and not clique.deleting:
            yield judge_clique(name(number), clique, part)
