"""180 recorded clusters, judged before by an independent implementation of the Go operator's rules.

They recompute statuses first, as that operator does when it looks. Whatever it would delete, flag, or wait for must be
ours, and every condition with the moment since when it holds.
"""

from typing import Final

import pytest

from grove_core.areas.gang_termination.field.go_operator_rule_generations import GoOperatorRuleGeneration
from grove_core.areas.gang_termination.field.judge import judge_gang_termination_by_go_operator
from grove_core.areas.gang_termination.field.verdicts import GoOperatorJudgement
from grove_core.kernel.conditions import REMOVED, Condition
from grove_core.kernel.steps import SetStatus
from grove_core.kernel.time_formats import format_time
from grove_core.plan.plan import Plan
from grove_core.plan.plan_laws import broken_laws_in_plan
from grove_core.reconcile import reconcile
from grove_core.resources.api_names import TERMINATION_IN_PROGRESS
from grove_core.resources.status_comparison import object_after_status_write
from grove_core.rule_sets.go_operator import NEWEST
from grove_core.snapshot.snapshot import Snapshot
from tests.vectors.cases import HERE, Json, assert_ended, cases, snapshot_of, status_of

FILES: Final = ("podclique-status", "group-termination", "set-termination")
# Rollouts and selectors are the workload area's.
LATER: Final = frozenset({"conditions", "hpaPodSelector", "selector", "updatedReplicas", REMOVED})
UPDATED: Final = "updatedReplicas"


def reported(conditions: Json, stored: Json) -> Json:
    """The conditions in the shape of the recorded cases."""
    return {type_: _reported(condition, stored.get(type_)) for type_, condition in conditions.items()}


def _reported(condition: Condition, before: Condition | None) -> Json:
    return {
        "status": condition.status.value,
        "reason": condition.reason,
        "lastTransitionTime": format_time(condition.last_transition_time),
        "kept": before is not None and before.status is condition.status,
    }


def statuses_after(snapshot: Snapshot, plan: Plan, judgement: GoOperatorJudgement) -> Json:
    """Kind/name -> status as it would be after the plan's writes; of cliques that go as they were judged."""
    writes = {step.target: step.action.fields for step in plan.steps if isinstance(step.action, SetStatus)}
    shown: Json = {}
    for seen in judgement.cliques:
        clique = seen.clique
        status = status_of(object_after_status_write(clique, writes[clique.ref]) if clique.ref in writes else clique)
        if not clique.deleting:
            status |= {
                "readyReplicas": seen.counts.ready,
                "replicas": seen.counts.replicas,
                UPDATED: seen.counts.updated,
            }
            status |= {"scheduledReplicas": seen.counts.scheduled, "scheduleGatedReplicas": seen.counts.gated}
            status["conditions"] |= {one.type: one for one in (seen.breach, seen.placed) if one is not None}
        shown[clique.ref.short] = status
    for group in snapshot.groups:
        shown[group.ref.short] = status_of(
            object_after_status_write(group, writes[group.ref]) if group.ref in writes else group
        )
    root = snapshot.root
    shown[root.ref.short] = status_of(object_after_status_write(root, writes[root.ref]) if root.ref in writes else root)
    return shown


@pytest.mark.parametrize("case", list(cases(HERE / "field", FILES)))
def test_gf050_the_recorded_verdict_is_ours(case: Json) -> None:
    snapshot, expect = snapshot_of(case), case["expect"]
    plan = reconcile(snapshot, NEWEST)
    assert broken_laws_in_plan(plan, snapshot) == ()
    assert_ended(plan, expect)


@pytest.mark.parametrize("case", list(cases(HERE / "field", FILES)))
def test_gt019_the_recorded_statuses_are_ours(case: Json) -> None:
    snapshot, expect = snapshot_of(case), case["expect"]
    plan, judgement = (
        reconcile(snapshot, NEWEST),
        judge_gang_termination_by_go_operator(snapshot, GoOperatorRuleGeneration.F3),
    )
    stored = {clique.ref.short: status_of(clique)["conditions"] for clique in snapshot.cliques}
    stored |= {group.ref.short: status_of(group)["conditions"] for group in snapshot.groups}
    shown = statuses_after(snapshot, plan, judgement)
    flagged = {f"PodCliqueScalingGroup/{name}" for name in expect.get("flagged", ())}
    for name, status in expect["status"].items():
        ours = shown[name]
        for field in status.keys() - LATER:
            assert (name, field, ours[field]) == (name, field, status[field])
        conditions = reported(ours["conditions"], stored.get(name, {}))
        if name in flagged:
            assert conditions.pop(TERMINATION_IN_PROGRESS)["status"] == "True"
        expected = dict(status.get("conditions", {}))
        if name in flagged:
            expected.pop(TERMINATION_IN_PROGRESS, None)
        assert (name, conditions) == (name, expected)


def test_gf050_there_are_as_many_cases_as_were_recorded() -> None:
    assert len(list(cases(HERE / "field", FILES))) == 180
