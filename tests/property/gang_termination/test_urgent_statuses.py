"""Urgent statuses are written first, because what they record may be over in the next round (PL-013, OP-024)."""

from datetime import timedelta

import pytest
from hypothesis import event, given
from hypothesis import strategies as st

from grove_core.areas.gang_termination.status_counts import status_if_changed
from grove_core.kernel.conditions import Condition, ConditionStatus
from grove_core.kernel.steps import SetStatus
from grove_core.kernel.structs import replace
from grove_core.plan.statuses_after_failed_deletions import status_step_without_termination
from grove_core.reconcile import reconcile
from grove_core.resources.api_names import MIN_AVAILABLE_BREACHED
from grove_core.resources.podclique import PodClique
from grove_core.resources.scaling_group import ScalingGroup
from grove_core.resources.status_comparison import is_marked_breached, object_after_status_write
from grove_core.rule_sets.go_operator import NEWEST
from grove_core.rule_sets.rule_set import RuleSet
from grove_core.rule_sets.rule_set_by_name import rule_set
from grove_core.testing import RandomCluster, clusters, storms
from tests.property.gang_termination_field.worlds import field_storms
from tests.property.workload.sets import applied, at_rest, clique_raw, set_raw


@pytest.mark.req("OP-024")
def test_pl013_the_first_availability_is_urgent_without_a_breach() -> None:
    start = at_rest(applied(set_raw(clique_raw("a", 1))))
    (clique,) = start.cliques
    pods = tuple(replace(pod, ready=True, scheduled=True, gated=False) for pod in start.pods_of[clique.uid])
    seen = replace(start, pods_of=type(start.pods_of)({clique.uid: pods}))
    (status,) = (step for step in reconcile(seen).steps if step.target == clique.ref)
    assert isinstance(status.action, SetStatus)
    assert status.action.fields["wasAvailable"] is True
    assert status.action.is_urgent


@pytest.mark.req("GT-067")
def test_pl013_an_unwritten_change_of_a_breach_is_written_and_urgent() -> None:
    """The stored breach began before a recovery that was not written; the one that counts began after it."""
    start = at_rest(applied(set_raw(clique_raw("a", 1))))
    (clique,) = start.cliques
    stored, counted = (
        Condition(MIN_AVAILABLE_BREACHED, ConditionStatus.TRUE, "Lacking", "", start.now + timedelta(minutes=minutes))
        for minutes in (0, 5)
    )
    status = replace(clique.status, conditions=(counted,), stored_conditions=(stored,))
    (write,) = status_if_changed(replace(clique, status=status), {}, (counted,), ())
    assert write.is_urgent
    assert list(write.fields) == ["conditions"]
    assert not list(
        status_if_changed(replace(clique, status=replace(status, stored_conditions=())), {}, (counted,), ())
    )


@pytest.mark.req("OP-024")
@pytest.mark.req("GT-019")
@pytest.mark.parametrize("rules", [rule_set("design"), NEWEST], ids=["design", "field"])
@given(st.one_of(storms(), clusters(), field_storms()))
def test_pl013_begin_and_end_of_a_breach_and_the_first_availability_are_urgent(
    rules: RuleSet, generated: RandomCluster
) -> None:
    snapshot = generated.snapshot
    parts: tuple[PodClique | ScalingGroup, ...] = (*snapshot.cliques, *snapshot.groups)
    there = {one.ref: one for one in parts}
    plan = reconcile(snapshot, rules)
    for step in plan.steps:
        if not isinstance(step.action, SetStatus):
            continue
        one = there.get(step.target)
        if one is None:
            assert not step.action.is_urgent
            continue
        after = object_after_status_write(one, step.action.fields)
        turns = is_marked_breached(after.status) is not is_marked_breached(one.status)
        is_first = step.action.fields.get("wasAvailable") is True
        assert step.action.is_urgent == (turns or is_first)
        rest = status_step_without_termination(step) if step.action.report else None
        if rest is not None and isinstance(rest.action, SetStatus):
            assert rest.action.is_urgent == step.action.is_urgent
        event(f"urgent: {step.action.is_urgent}, of an end: {bool(step.action.report)}")
