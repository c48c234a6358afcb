"""Proofs about gang termination for all numbers and times; skipped without z3 (``pip install -e '.[proofs]'``)."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import product
from typing import Any, Final

import pytest

pytest.importorskip("z3", reason="z3-solver is not installed (the extra `proofs`)")

import z3

from grove_core.areas.gang_termination.breach_delays import (
    breach_delay_end,
    replica_fate_of_breaches,
)
from grove_core.areas.gang_termination.design.clique_judgement import (
    BREACH_TABLE,
    clique_was_available,
    judge_clique_breach,
)
from grove_core.areas.gang_termination.design.scaling_group_judgement import (
    judge_scaling_group_breach,
)
from grove_core.areas.gang_termination.field.clique_judgement import (
    is_condition_past_creation_grace,
    judge_clique_from_pods,
)
from grove_core.areas.gang_termination.field.go_operator_rule_generations import (
    GoOperatorRuleGeneration,
)
from grove_core.areas.gang_termination.verdicts import (
    CliqueJudgement,
    Delegate,
    MinAvailableBreach,
    Terminate,
    Wait,
)
from grove_core.kernel.conditions import Condition, ConditionStatus
from grove_core.resources.podclique import CliqueStatus, PodClique
from grove_core.resources.scaling_group import ScalingGroup
from tests.exhaustive.states import NOW, Clique, Group, Replica, State, snapshot_of
from tests.proofs.symbolic import (
    Moment,
    Number,
    Span,
    Truth,
    Unproved,
    in_calendar,
    in_range,
    paths,
    prove,
    term,
)

LAST: Final = term(datetime.max.replace(tzinfo=UTC))
ONE: Final = snapshot_of(State((Replica((), (Group(((Clique(),),), 1, 1),)),), (1,), 1))


def breach_of(number: int, since: Any, delay: Any) -> MinAvailableBreach:
    return MinAvailableBreach(ONE.cliques[0].ref.at_replica(number), since, delay)


def both(formula: Any) -> Any:
    return z3.BoolVal(formula) if isinstance(formula, bool) else formula


@pytest.mark.req("GT-030")
def test_gt032_a_delay_ends_at_the_transition_plus_the_delay() -> None:
    """For every time and delay: the sum, or the last date where the calendar has no such date."""
    since, delay = Moment("since"), Span("delay")
    count = prove(
        in_calendar(since) + in_range(delay),
        lambda: breach_delay_end(since, delay),  # type: ignore[arg-type]  # symbolic times
        lambda end: term(end) == z3.If(since.term + delay.term <= LAST, since.term + delay.term, LAST),
    )
    assert count == 2


@pytest.mark.req("GT-033")
@pytest.mark.req("GT-034")
@pytest.mark.req("GF-050")
@pytest.mark.req("GF-072")
@pytest.mark.req("GF-076")
@pytest.mark.parametrize("size", [1, 2, 3])
def test_gt032_a_replica_is_terminated_exactly_from_the_end_of_its_first_delay_on(size: int) -> None:
    """For every time, and any delays of up to three breaches: exactly from the first sum on; else it waits until then.

    A delay that ends at the last microsecond of the calendar never ends for the product (``end < _END_OF_TIME``).
    """
    now, all_since = Moment("now"), [Moment(f"since{number}") for number in range(size)]
    delays = [Span(f"delay{number}") for number in range(size)]
    breaches = [breach_of(*one) for one in zip(range(size), all_since, delays, strict=True)]
    ends = [since.term + delay.term for since, delay in zip(all_since, delays, strict=True)]

    def as_specified(fate: Terminate | Wait) -> Any:
        due = z3.Or(*(z3.And(end <= now.term, end < LAST) for end in ends))
        if isinstance(fate, Terminate):
            return due
        first = [z3.If(end <= LAST, end, LAST) for end in ends]
        until = term(fate.until)
        return z3.And(z3.Not(due), *(until <= end for end in first), z3.Or(*(until == end for end in first)))

    count = prove(
        in_calendar(now, *all_since) + in_range(*delays),
        lambda: replica_fate_of_breaches(breaches, now),  # type: ignore[arg-type]  # symbolic times
        as_specified,
    )
    assert count > size


ROWS: Final = {"GT-011": "False", "GT-012": "False", "GT-013": "Unknown", "GT-014": "True", "GT-015": "False"}


@pytest.mark.req("GT-012")
@pytest.mark.req("GT-013")
@pytest.mark.req("GT-014")
@pytest.mark.req("GT-015")
@pytest.mark.req("GT-016")
@pytest.mark.parametrize(("recorded", "was"), [(False, None), (True, None), (True, False), (True, True)])
def test_gt011_the_breach_table_for_all_numbers(recorded: bool, was: bool | None) -> None:
    """For all numbers of ready and needed pods, updated or not: the first row that applies is the rule that applies.

    The rows are those of the product; the loop over them is proved below, for up to three pods.
    """
    ready, needed, update = Number("ready"), Number("needed"), z3.Bool("update")

    def first_row() -> tuple[str, str, bool | None]:
        status = CliqueStatus(recorded=recorded, was_available=was, updating=Truth(update))  # type: ignore[arg-type]  # a symbolic truth
        then = was or clique_was_available(status, ready, needed)  # type: ignore[arg-type]  # symbolic numbers
        row = next(row for row in BREACH_TABLE if row.question(ready, needed, then, Truth(update)))  # type: ignore[arg-type]  # symbolic
        return row.why.requirement, row.breach.value, then

    enough, became = ready.term >= needed.term, z3.And(ready.term >= needed.term, needed.term > 0, z3.Not(update))

    def as_specified(row: tuple[str, str, bool | None]) -> Any:
        rule, status, then = row
        lacking = {
            "GT-011": enough,
            "GT-015": z3.And(z3.Not(enough), recorded and was is None),
            "GT-012": z3.And(z3.Not(enough), not was and not (recorded and was is None)),
            "GT-013": z3.And(z3.Not(enough), was is True, update),
            "GT-014": z3.And(z3.Not(enough), was is True, z3.Not(update)),
        }
        available = z3.Or(was is True, became) if then else z3.And(was is not True, z3.Not(became))
        return z3.And(lacking[rule], available, ROWS[rule] == status)

    prove([ready.term >= 0, needed.term >= 0], first_row, as_specified)


@pytest.mark.req("GT-014")
@pytest.mark.req("GT-019")
@pytest.mark.parametrize("stored", [None, "True", "False"])
@pytest.mark.parametrize("size", [0, 1, 2, 3])
def test_gt011_a_clique_is_breached_below_its_minimum_and_from_when(size: int, stored: str | None) -> None:
    """For up to three pods in any state, every minimum and every time: when a breach is true, and since when."""
    needed, now, before = Number("needed"), Moment("now"), Moment("before")
    ready = [z3.Bool(f"ready{number}") for number in range(size)]
    conditions: tuple[Condition, ...] = ()
    if stored is not None:
        conditions = (Condition("MinAvailableBreached", ConditionStatus(stored), "", "", before),)  # type: ignore[arg-type]  # symbolic
    status = CliqueStatus(recorded=True, was_available=True, conditions=conditions)
    clique = replace(ONE.cliques[0], min_available=needed, status=status)  # type: ignore[arg-type]  # symbolic
    pod = ONE.pods_of[clique.uid][0]
    pods = [replace(pod, ready=Truth(one)) for one in ready]  # type: ignore[arg-type]  # symbolic
    many = z3.Sum([z3.IntVal(0), *(z3.If(one, 1, 0) for one in ready)])

    def as_specified(judged: CliqueJudgement) -> Any:
        is_breached = judged.breach is ConditionStatus.TRUE
        since = before.term if judged.breach.value == stored else now.term - now.term % 1_000_000
        return z3.And((many < needed.term) == is_breached, term(judged.since) == since)

    prove(
        [needed.term >= 0, *in_calendar(now, before)],
        lambda: judge_clique_breach(clique, pods, now),  # type: ignore[arg-type]  # symbolic
        as_specified,
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
        return z3.And(*map(both, claims))

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


@pytest.mark.req("GF-022")
@pytest.mark.req("GF-023")
@pytest.mark.req("GF-024")
@pytest.mark.req("GF-026")
@pytest.mark.req("GF-027")
@pytest.mark.req("GF-107")
@pytest.mark.parametrize("generation", GoOperatorRuleGeneration)
@pytest.mark.parametrize("size", [0, 1, 2, 3])
def test_gf025_a_clique_by_the_go_operator(size: int, generation: GoOperatorRuleGeneration) -> None:
    """For up to three pods in any state and every minimum: the condition, the placement, and the rules behind them."""
    needed, update = Number("needed"), z3.Bool("update")
    placed = [z3.Bool(f"placed{number}") for number in range(size)]
    crashed = [z3.Bool(f"crashed{number}") for number in range(size)]
    one = ONE.cliques[0]
    status = replace(one.status, updating=Truth(update), observed=1)  # type: ignore[arg-type]  # symbolic
    clique: PodClique = replace(one, min_available=needed, status=status)  # type: ignore[arg-type]  # symbolic
    pod = replace(ONE.pods_of[one.uid][0], ready=False)
    pods = [replace(pod, scheduled=Truth(at), crashed=Truth(bad)) for at, bad in zip(placed, crashed, strict=True)]  # type: ignore[arg-type]  # symbolic
    scheduled = z3.Sum([z3.IntVal(0), *(z3.If(at, 1, 0) for at in placed)])
    healthy = scheduled - z3.Sum([z3.IntVal(0), *(z3.If(bad, 1, 0) for bad in crashed)])
    nothing = z3.And(scheduled == 0, generation is GoOperatorRuleGeneration.F2)
    short, going = scheduled < needed.term, z3.Not(update)
    rows = {
        "GF-024": ("Unknown", update),
        "GF-107": ("False", z3.And(going, short, nothing)),
        "GF-025": ("True", z3.And(going, short, z3.Not(nothing))),
        "GF-026": ("True", z3.And(going, z3.Not(short), healthy < needed.term)),
        "GF-027": ("False", z3.And(going, z3.Not(short), healthy >= needed.term)),
    }

    def as_specified(judged: Any) -> Any:
        word, applies = rows[judged.why.requirement]
        rule = "GF-022" if judged.placed.status is ConditionStatus.TRUE else "GF-023"
        return z3.And(
            applies,
            judged.breach.status.value == word,
            z3.Not(short) == (rule == "GF-022"),
            judged.why_placed.requirement == rule,
        )

    prove([needed.term >= 0], lambda: judge_clique_from_pods(clique, pods, NOW, generation), as_specified)


@pytest.mark.req("GF-041")
def test_gf040_a_condition_is_history_after_five_seconds() -> None:
    """For every time of a condition and every creation time."""
    since, made = Moment("since"), Moment("made")
    condition = Condition("PodCliqueScheduled", ConditionStatus.FALSE, "", "", since)  # type: ignore[arg-type]  # symbolic
    prove(
        in_calendar(since, made),
        lambda: bool(is_condition_past_creation_grace(condition, made)),  # type: ignore[arg-type]  # symbolic
        lambda late: (since.term - made.term > 5_000_000) == late,
    )


def test_a_false_claim_is_refuted() -> None:
    """A proof that cannot fail would prove nothing: each claim here is wrong at one value only."""
    since, delay, now = Moment("since"), Span("delay"), Moment("now")
    assumed = in_calendar(since, now) + in_range(delay)
    with pytest.raises(Unproved):  # the calendar ends
        prove(
            assumed,
            lambda: breach_delay_end(since, delay),  # type: ignore[arg-type]  # symbolic
            lambda end: term(end) == since.term + delay.term,
        )
    with pytest.raises(Unproved):  # due at the end of the delay, and not only after it
        prove(
            assumed,
            lambda: replica_fate_of_breaches([breach_of(0, since, delay)], now),  # type: ignore[arg-type]  # symbolic
            lambda fate: z3.Implies(isinstance(fate, Terminate), since.term + delay.term < now.term),
        )


def test_every_path_is_taken_once() -> None:
    first, second = Number("first"), Number("second")
    found = [
        result
        for _, result in paths([first.term >= 0], lambda: (bool(first > 2), bool(first < 1), bool(second == first)))
    ]
    assert sorted(found) == sorted(
        [(above, below, same) for above, below, same in product((True, False), repeat=3) if not (above and below)]
    )
