"""Proofs about the two levels of termination, for all numbers; skipped without z3 (the extra ``proofs``)."""

from datetime import timedelta
from typing import Any

import pytest

from grove_core.kernel.structs import replace

pytest.importorskip("z3", reason="z3-solver is not installed (the extra `proofs`)")

import z3

from grove_core.areas.gang_termination.design.clique_judgement import (
    BREACH_TABLE,
)
from grove_core.areas.gang_termination.design.scaling_group_judgement import (
    judge_scaling_group_breach,
)
from grove_core.areas.gang_termination.design.verdicts import CliqueJudgement
from grove_core.areas.gang_termination.field.go_operator_rule_generations import GoOperatorRuleGeneration
from grove_core.areas.gang_termination.field.incomplete_terminations import IncompleteTerminations
from grove_core.areas.gang_termination.field.rules import GoOperatorReason
from grove_core.areas.gang_termination.field.scaling_group_judgement import judge_scaling_group_from_cliques
from grove_core.areas.gang_termination.field.verdicts import GoOperatorCliqueJudgement, GoOperatorGroupJudgement
from grove_core.areas.gang_termination.status_counts import PodCounts
from grove_core.areas.gang_termination.verdicts import Delegate, Terminate, Wait
from grove_core.kernel.conditions import Condition, ConditionStatus
from grove_core.resources.scaling_group import ScalingGroup
from tests.proofs.subjects import LAST, ONE
from tests.proofs.symbolic import (
    Moment,
    Number,
    Span,
    in_calendar,
    in_range,
    prove,
    term,
)


def group_with(
    breached: int, now: Moment, update: Any = False
) -> tuple[ScalingGroup, list[CliqueJudgement], list[Moment]]:
    """Return a scaling group of symbolic numbers with so many breached replicas, and since when each is."""
    replicas, needed = Number("replicas"), Number("needed")
    group = replace(
        ONE.groups[0],
        replicas=replicas,  # type: ignore[arg-type]  # symbolic
        min_available=needed,  # type: ignore[arg-type]  # symbolic
        status=replace(ONE.groups[0].status, updating=update),
    )
    times = [Moment(f"since{number}") for number in range(breached)]
    cliques = [replace(ONE.cliques[0], group_replica_index=number) for number in range(breached)]
    of = [
        CliqueJudgement(clique, 0, True, ConditionStatus.TRUE, BREACH_TABLE[-1].why, since)  # type: ignore[arg-type]  # symbolic
        for clique, since in zip(cliques, times, strict=True)
    ]
    return group, of, times


@pytest.mark.req("GT-025")
@pytest.mark.req("GT-040")
@pytest.mark.req("GT-042")
@pytest.mark.req("GT-043")
@pytest.mark.req("GT-051")
@pytest.mark.req("GT-052")
@pytest.mark.parametrize("breached", [0, 1, 2, 3])
def test_gt050_a_group_terminates_only_what_it_can_spare(breached: int) -> None:
    """For all ``replicas``, ``minAvailable`` and times, with up to three breached replicas.

    Whether the group is breached, and which replicas it terminates, waits for or leaves to its set.
    """
    now = Moment("now")
    group, lacking, times = group_with(breached, now)
    replicas, needed = group.replicas.term, group.min_available.term  # type: ignore[attr-defined]  # symbolic
    counted = z3.Sum([z3.IntVal(0), *(z3.If(number < replicas, 1, 0) for number in range(breached))])
    short = replicas - counted < z3.If(needed < replicas, needed, replicas)
    delay = term(timedelta(seconds=60))

    def as_specified(judged: Any) -> Any:
        claims = [short == (judged.breach is ConditionStatus.TRUE)]
        for number in range(breached):
            fate, due = judged.fates.get(number), times[number].term + delay <= now.term
            claims.append((number < replicas) == (fate is not None))
            if fate is not None:
                verdicts = {
                    Delegate: short,
                    Terminate: z3.And(z3.Not(short), due),
                    Wait: z3.And(z3.Not(short), z3.Not(due)),
                }
                claims.append(verdicts[type(fate)])
        ended = sum(isinstance(fate, Terminate) for fate in judged.fates.values())
        if ended:  # what is left is never below the minimum
            claims.append(replicas - ended >= z3.If(needed < replicas, needed, replicas))
        return z3.And(*claims)

    far = [one.term < LAST - delay for one in times]
    prove(
        [replicas >= 0, needed >= 1, *far, *in_calendar(now, *times)],
        lambda: judge_scaling_group_breach(ONE.root, group, lacking, now, None, 99),  # type: ignore[arg-type]  # symbolic
        as_specified,
    )


@pytest.mark.req("GT-053")
def test_gt041_a_group_being_updated_terminates_nothing() -> None:
    now = Moment("now")
    group, lacking, times = group_with(2, now, update=True)
    replicas = group.replicas.term  # type: ignore[attr-defined]  # symbolic
    prove(
        [replicas >= 0, *in_calendar(now, *times)],
        lambda: judge_scaling_group_breach(ONE.root, group, lacking, now, None, 99),  # type: ignore[arg-type]  # symbolic
        lambda judged: z3.BoolVal(
            judged.breach is ConditionStatus.UNKNOWN
            and not any(isinstance(fate, Terminate | Wait) for fate in judged.fates.values())
        ),
    )


@pytest.mark.req("GF-034")
@pytest.mark.req("GF-035")
@pytest.mark.req("GF-060")
@pytest.mark.req("GF-063")
@pytest.mark.parametrize("breached", [0, 1, 2, 3])
def test_gf061_a_group_of_the_go_operator_terminates_only_what_it_can_spare(breached: int) -> None:
    """For all ``replicas``, ``minAvailable``, delays and times, with up to three breached replicas and no other.

    Surplus replicas have breaches to act on too (GF-060), and do not count for the condition (GF-031).
    """
    now, delay = Moment("now"), Span("delay")
    group, lacking, times = group_with(breached, now)
    group = replace(group, clique_names=("g0m0",))
    replicas, needed = group.replicas.term, group.min_available.term  # type: ignore[attr-defined]  # symbolic
    why = GoOperatorReason.INSUFFICIENT_READY_PODS
    members = []
    for number, since in enumerate(times):
        ref = replace(ONE.cliques[0].ref, name=f"{group.ref.name}-{number}-g0m0")
        clique = replace(lacking[number].clique, ref=ref)
        breach = Condition("MinAvailableBreached", ConditionStatus.TRUE, "", "", since)  # type: ignore[arg-type]  # symbolic
        members.append(GoOperatorCliqueJudgement(clique, PodCounts(1, 0, 1, 0, 1), 0, breach, None, why, why))

    def as_specified(judged: GoOperatorGroupJudgement) -> Any:
        assert judged.breach is not None
        claims = [(needed > 0) == (judged.breach.status is ConditionStatus.TRUE)]  # no replica is without a breach
        spare = replicas - breached >= needed
        for number in range(breached):
            fate, due = judged.fates[number], times[number].term + delay.term <= now.term
            waiting = z3.And(spare, z3.Not(due))
            claims.append({Delegate: z3.Not(spare), Terminate: z3.And(spare, due), Wait: waiting}[type(fate)])
        return z3.And(*claims)

    far = [since.term + delay.term < LAST for since in times]
    prove(
        [replicas >= 0, *far, *in_calendar(now, *times), *in_range(delay)],
        lambda: judge_scaling_group_from_cliques(
            group,
            members,
            delay,  # type: ignore[arg-type]  # symbolic
            now,  # type: ignore[arg-type]  # symbolic
            GoOperatorRuleGeneration.F3,
            looks=True,
            failed=IncompleteTerminations(),
        ),
        as_specified,
    )
