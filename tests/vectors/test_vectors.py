"""240 recorded clusters with an earlier judgement: our plan must delete the same, wait as long, write the same.

Each line of a file is a case: a whole namespace as objects, the clock, and what an independent implementation of the
Gang Termination Design Doc made of it. Statuses are compared as the world would show them after our status writes,
those of cliques that the plan deletes as the judgement behind it has them.
"""

from typing import Final

import pytest

from grove_core.areas.gang_termination.design.judge import judge_gang_termination_by_design
from grove_core.areas.gang_termination.design.verdicts import CliqueJudgement
from grove_core.areas.gang_termination.design.wanted_statuses import status_counts_of_set, wanted_conditions_of_clique
from grove_core.kernel.conditions import Condition
from grove_core.kernel.steps import Delete, SetStatus
from grove_core.kernel.time_formats import format_time
from grove_core.plan.plan import Plan
from grove_core.plan.plan_laws import broken_laws_in_plan
from grove_core.reconcile import reconcile
from grove_core.resources.status_comparison import object_after_status_write
from grove_core.snapshot.snapshot import Snapshot
from tests.vectors.cases import HERE, Json, assert_ended, cases, snapshot_of, status_of

FILES: Final = ("podclique-status", "scaling-group-status", "group-termination", "set-termination")
# Rollouts come with the workload area; the words a scaling group uses were that implementation's own.
LATER: Final = {"PodCliqueScalingGroup": {"updatedReplicas", "selector"}, "PodCliqueSet": {"updatedReplicas"}}
LATER_FOR_CLIQUES: Final = {"hpaPodSelector"}


def written_statuses(snapshot: Snapshot, plan: Plan) -> dict[str, Json]:
    """Kind/name -> status, after the plan's status writes."""
    writes = {step.target: step.action.fields for step in plan.steps if isinstance(step.action, SetStatus)}
    judged = {item.clique.ref: item for item in judge_gang_termination_by_design(snapshot).cliques}
    shown: dict[str, Json] = {}
    for clique in snapshot.cliques:
        if not clique.deleting:
            after = object_after_status_write(clique, writes[clique.ref]) if clique.ref in writes else clique
            shown[clique.ref.short] = status_of(after)
    for step in plan.steps:
        if isinstance(step.action, Delete):
            shown[step.target.short] = status_judged(judged[step.target], snapshot)
    for group in snapshot.groups:
        shown[group.ref.short] = status_of(
            object_after_status_write(group, writes[group.ref]) if group.ref in writes else group
        )
    root = snapshot.root
    shown[root.ref.short] = status_of(object_after_status_write(root, writes[root.ref]) if root.ref in writes else root)
    return shown


def status_judged(judged: CliqueJudgement, snapshot: Snapshot) -> Json:
    found = status_counts_of_set(snapshot, judge_gang_termination_by_design(snapshot))
    counts = found.counts[judged.clique.ref]
    conditions = wanted_conditions_of_clique(judged, found.placements[judged.clique.ref], snapshot)
    return {
        "replicas": counts.replicas,
        "readyReplicas": counts.ready,
        "scheduledReplicas": counts.scheduled,
        "scheduleGatedReplicas": counts.gated,
        "updatedReplicas": counts.updated,
        "wasAvailable": judged.was_available,
        "conditions": {condition.type: condition for condition in conditions},
    }


def seen(kind: str, conditions: dict[str, Condition], stored: dict[str, Condition]) -> Json:
    """The conditions in the shape of the recorded cases."""
    shown: Json = {}
    for type_, condition in conditions.items():
        before = stored.get(type_)
        shown[type_] = {
            "status": condition.status.value,
            "lastTransitionTime": format_time(condition.last_transition_time),
            "kept": before is not None and before.status is condition.status,
        }
        if kind == "PodClique":
            shown[type_]["reason"] = condition.reason
    return shown


def expected_conditions(kind: str, expected: Json) -> Json:
    return {
        type_: {key: value for key, value in condition.items() if key != "reason" or kind == "PodClique"}
        for type_, condition in expected.items()
    }


@pytest.mark.parametrize("case", list(cases(HERE, FILES)))
def test_gt002_the_recorded_verdict_is_ours(case: Json) -> None:
    snapshot, expect = snapshot_of(case), case["expect"]
    plan = reconcile(snapshot)
    assert broken_laws_in_plan(plan, snapshot) == ()
    assert_ended(plan, expect)

    stored = {clique.ref.short: status_of(clique)["conditions"] for clique in snapshot.cliques}
    stored |= {group.ref.short: status_of(group)["conditions"] for group in snapshot.groups}
    shown = written_statuses(snapshot, plan)
    assert shown.keys() == expect["status"].keys()
    for name, status in expect["status"].items():
        kind = name.partition("/")[0]
        ours = shown[name]
        for field in status.keys() - LATER.get(kind, LATER_FOR_CLIQUES) - {"conditions"}:
            assert (name, field, ours[field]) == (name, field, status[field])
        conditions = seen(kind, ours["conditions"], stored.get(name, {}))
        assert conditions == expected_conditions(kind, status.get("conditions", {}))


def test_gt002_there_are_as_many_cases_as_were_recorded() -> None:
    assert len(list(cases(HERE, FILES))) == 240
