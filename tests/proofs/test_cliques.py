"""Proofs about the breach of a PodClique, for all numbers; skipped without z3 (the extra ``proofs``)."""

from typing import Any, Final

import pytest

from grove_core.kernel.structs import replace

pytest.importorskip("z3", reason="z3-solver is not installed (the extra `proofs`)")

import z3

from grove_core.areas.gang_termination.design.clique_judgement import (
    BREACH_TABLE,
    clique_was_available,
    judge_clique_breach,
)
from grove_core.areas.gang_termination.design.verdicts import CliqueJudgement
from grove_core.areas.gang_termination.field.clique_judgement import (
    judge_clique_from_pods,
)
from grove_core.areas.gang_termination.field.go_operator_rule_generations import (
    GoOperatorRuleGeneration,
)
from grove_core.kernel.conditions import Condition, ConditionStatus
from grove_core.resources.podclique import CliqueStatus, PodClique
from tests.exhaustive.snapshots import NOW
from tests.proofs.subjects import ONE
from tests.proofs.symbolic import (
    Moment,
    Number,
    Truth,
    in_calendar,
    prove,
    term,
)

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
