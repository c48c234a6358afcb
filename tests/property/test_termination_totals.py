"""What the terminations of forecasts delete, each object once (CL-087)."""

from datetime import timedelta

import pytest

from grove_core.document.termination_totals import termination_totals
from grove_core.kernel.steps import DeletionImpact
from grove_core.kernel.structs import replace
from grove_core.plan.forecast import one_round_forecast
from grove_core.reconcile import reconcile
from grove_core.rule_sets.rule_set_by_name import rule_set
from grove_core.snapshot.snapshot import Snapshot
from tests.property.breached_sets import broken_set

FIELD = rule_set("field")


def waiting() -> Snapshot:
    return broken_set(["0-a"], [], name=FIELD.name)


@pytest.mark.req("CL-087")
def test_cl087_a_delay_that_runs_is_counted_with_its_end() -> None:
    seen = waiting()
    plan = reconcile(seen, FIELD)
    found = termination_totals([one_round_forecast(plan, seen.now)])
    assert (found.replicas, found.cliques, found.impact) == (0, 0, DeletionImpact())
    assert (found.waiting, found.first_deadline) == (1, plan.wake_at)


@pytest.mark.req("CL-087")
def test_cl087_a_gang_that_is_terminated_again_counts_once() -> None:
    seen = waiting()
    seen = replace(seen, now=seen.now + timedelta(hours=24))
    plan = reconcile(seen, FIELD)
    once = one_round_forecast(plan, seen.now)
    again = replace(once, rounds=(*once.rounds, replace(once.rounds[0], number=2)))
    found = termination_totals([once])
    assert termination_totals([again]) == found
    assert (found.replicas, found.waiting, found.first_deadline) == (1, 0, None)
    assert found.cliques == len(plan.steps) - sum(step.target.kind != "PodClique" for step in plan.steps)
