"""What the Go operator decides about a state, from the judgements of ``field_specification``."""

from tests.exhaustive.decisions import Decision
from tests.exhaustive.field_specification import (
    BREACHED,
    FLAG,
    SCHEDULED,
    GoOperatorGroupJudgement,
    Judged,
    JudgedReplica,
    is_true,
)
from tests.exhaustive.states import SET, State, Stored


def decide(state: State, generation: str) -> Decision:
    """Return what a release of the Go operator decides about a set.

    Args:
        generation: ``F2`` or ``F3`` (GF-100).
    """
    decision = Decision()
    kinds = {"PodClique", "Pod", *(["PodCliqueScalingGroup"] if state.shape else [])}
    rule = "GF-009" if kinds & state.absent else "GF-002" if state.delay is None else ""
    if rule:
        for question in ("breach", "termination"):
            decision.find(SET, question, "Unknown", rule)
        return decision
    available, waits = 0, list[int]()
    for index in range(len(state.replicas)):
        fresh = JudgedReplica(state, index, generation, looks=True)
        stored = JudgedReplica(state, index, generation, looks=False)
        for clique in fresh.cliques:
            _add_clique(decision, clique)
        for group, before in zip(fresh.groups, stored.groups, strict=True):
            _add_group(decision, group, before)
        is_ended = fresh.exists and _add_replica(decision, state, fresh, stored)
        for group in fresh.groups:
            _add_flag(decision, group, generation, is_ended=is_ended)
            delays = {part: left for part, (verdict, _, left) in group.fates.items() if verdict == "Wait"}
            decision.fates.waiting.update({(group.name, part): left for part, left in delays.items()})
            waits += [] if is_ended else delays.values()
        available += fresh.is_available
        if fresh.exists and fresh.verdict == "Wait":
            waits.append(fresh.left)
            decision.fates.waiting[index] = fresh.left
    decision.find(SET, "availability", f"{available}/{state.wanted}", "GF-037")
    decision.wake = min(waits, default=None)
    decision.applied |= {"GF-001", *(["GF-085"] if waits else []), *(["GF-101"] if generation == "F2" else [])}
    return decision


def _word(stored: Stored | None) -> str:
    return "Absent" if stored is None else stored.status


def _add_clique(decision: Decision, one: Judged) -> None:
    why, why_placed = one.rules
    decision.find(one.name, "breach", _word(one.breach), why, *filter(None, [one.guard]))
    decision.find(one.name, "scheduled", _word(one.placed), why_placed)
    for type_, stored, before in (
        (BREACHED, one.breach, one.clique.breach),
        (SCHEDULED, one.placed, one.clique.placed),
    ):
        if stored is not None and stored is not before:
            decision.conditions[one.name, type_] = (stored.status, stored.age)
    decision.applied |= (
        {"GF-012"} | ({"GF-080"} if one.clique.updating else set()) | ({"GF-044"} if one.guard else set())
    )


def _add_group(decision: Decision, group: GoOperatorGroupJudgement, stored: GoOperatorGroupJudgement) -> None:
    of_members = {one.rules[0] for one in group.members if one.breached}
    decision.find(group.name, "breach", _word(group.breach), group.rule, *filter(None, [group.guard]), *of_members)
    if group.breach is not None and group.breach is not group.group.breach:
        decision.conditions[group.name, BREACHED] = (group.breach.status, group.breach.age)
    decision.find(group.name, "termination", *group.fate)
    due_by_stored = {part for part, fate in stored.fates.items() if fate[0] == "Terminate"}
    for part in {*group.fates, *due_by_stored}:
        verdict, rule, _ = group.fates.get(part, ("Keep", "GF-067", 0))
        differs = ["GF-084"] if (verdict == "Terminate") != (part in due_by_stored) else []
        decision.find(f"{group.name}[{part}]", "termination", verdict, rule, *differs)
        if verdict == "Terminate":
            decision.end((group.name, part))
            for one in group.members:
                if one.part == part and not one.clique.deleting:
                    decision.delete(one.name, "GF-062", "GF-060")
            cause = group.cause(part)
            if not cause.clique.deleting:
                decision.causes.add(cause.name)
    decision.applied |= {"GF-031", "GF-050", "GF-065"}
    if group.subtracts:
        decision.applied.add("GF-105")


def _add_replica(decision: Decision, state: State, fresh: JudgedReplica, stored: JudgedReplica) -> bool:
    """Decide about a replica of the set; return whether it is terminated."""
    ends = fresh.verdict == "Terminate"
    differs = ["GF-084"] if ends != (stored.verdict == "Terminate") else []
    decision.find(f"{SET}[{fresh.index}]", "termination", fresh.verdict, *fresh.rules(state), *differs)
    if fresh.lingers:
        decision.terminating.add(fresh.index)
        decision.applied.add("GF-090")
    if not ends:
        return False
    decision.end(fresh.index)
    cause = fresh.breaches[0][2]
    members = [one for group in fresh.groups for one in group.members]
    decision.causes -= {one.name for one in members}
    for one in fresh.cliques:
        if not one.clique.deleting:
            decision.delete(one.name, "GF-073", "GF-072")
    if isinstance(cause, GoOperatorGroupJudgement):
        decision.causes |= {one.name for one in cause.members if one.breached and not one.clique.deleting}
    elif not cause.clique.deleting:
        decision.causes.add(cause.name)
    return True


def _add_flag(decision: Decision, group: GoOperatorGroupJudgement, generation: str, *, is_ended: bool) -> None:
    """Decide about the condition that records a termination (GF-075, GF-092)."""
    if generation == "F2" or group.group.deleting:
        return
    if is_ended and not is_true(group.group.flag):
        decision.conditions[group.name, FLAG] = ("True", 0)
        decision.applied.add("GF-075")
    elif not is_ended and group.group.flag is not None and group.breach is not None and group.breach.status == "False":
        decision.removed.add(group.name)
        decision.applied.add("GF-092")
