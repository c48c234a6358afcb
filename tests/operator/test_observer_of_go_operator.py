"""``--observe`` with ``rules: field``: what the Go operator replaces and scales in is no termination (OP-035)."""

from collections.abc import Iterable
from datetime import timedelta
from typing import Any

import pytest

from grove_core.kernel.steps import Delete
from grove_core.kernel.structs import replace
from grove_core.reconcile import reconcile
from grove_core.rule_sets.go_operator import NEWEST
from grove_core.snapshot.snapshot import Snapshot
from grove_shell.apply.planned_round import PlannedReconcileRound
from grove_shell.operator.prediction_check import DeletionPredictionChecker
from tests.property.workload.sets import clique_raw, set_raw
from tests.property.workload_field.healthy_sets import edited, healthy, played, raw_set


def look(seen: Snapshot) -> PlannedReconcileRound:
    plan = reconcile(seen, NEWEST)
    return PlannedReconcileRound(
        root_key=("ml", "llm"), plan_name="a plan", observation=seen, plan=plan, planning_seconds=0.0
    )


def differences(seen: Iterable[Snapshot]) -> list[tuple[str, Any]]:
    """What is logged, of snapshots that are a second apart."""
    said: list[tuple[str, Any]] = []
    checker = DeletionPredictionChecker(
        lambda level, message, **fields: said.append((message, fields["target"])) if level == "warning" else None,
        NEWEST,
    )
    for number, each in enumerate(seen):
        checker.on_round_planned(look(replace(each, attempts=(), now=each.now + timedelta(seconds=number))))
    return said


def without(seen: Snapshot, *names: str) -> Snapshot:
    """The snapshot without these PodCliques and scaling groups, and their pods."""
    gone = {one.uid for one in seen.cliques if one.ref.name in names}
    pods = {uid: pods for uid, pods in seen.pods_of.items() if uid not in gone}
    return replace(
        seen,
        cliques=tuple(one for one in seen.cliques if one.uid not in gone),
        groups=tuple(one for one in seen.groups if one.ref.name not in names),
        pods_of=type(seen.pods_of)(pods),
    )


def two_members(image: str) -> dict[str, Any]:
    spec = {"containers": [{"name": "main", "image": image}]}
    cliques = [clique_raw(name, 1, minAvailable=1, pod_spec=spec) for name in ("leader", "worker")]
    pool = {"name": "pool", "cliqueNames": ["leader", "worker"], "replicas": 2, "minAvailable": 1}
    return set_raw(*cliques, groups=(pool,), terminationDelay="4h")


def test_op035_podcliques_go_with_their_scaling_group() -> None:
    """Their owner is deleted, and the garbage collector deletes them."""
    seen = healthy(raw_set(replicas=2))
    fewer = edited(seen, raw_set())
    gone = without(fewer, "llm-1-pool", "llm-1-pool-0-worker", "llm-1-pool-1-worker", "llm-1-router")
    assert not differences((seen, fewer, gone))
    assert not differences((seen, gone)), "nothing was seen in between"


def test_op035_an_update_that_is_some_rounds_ahead_is_no_termination() -> None:
    """The other operator begins an update, selects a replica and deletes it before the next snapshot."""
    seen = healthy(two_members("a:1"))
    new = edited(seen, two_members("a:2"))
    assert not any(isinstance(step.action, Delete) for step in reconcile(new, NEWEST).steps), "a round comes before"
    assert not differences((seen, without(new, "llm-0-pool-0-leader", "llm-0-pool-0-worker")))
    assert differences((seen, without(seen, "llm-0-pool-0-leader")))


@pytest.mark.parametrize(("earlier", "later"), [("worker", "leader"), ("leader", "worker")])
def test_op035_the_podcliques_of_a_replica_go_one_after_the_other(earlier: str, later: str) -> None:
    """Between the two deletions the group has selected the replica, and its plan deletes nothing."""
    course: list[Snapshot] = []
    played(
        edited(healthy(two_members("a:1")), two_members("a:2")),
        watch=lambda seen, _plan: course.append(seen),
    )
    number, selected = next(
        (number, seen)
        for number, seen in enumerate(course)
        if "readyReplicaIndicesSelectedToUpdate" in str(seen.groups[0].status.progress)
    )
    half = without(replace(course[number - 1], groups=selected.groups, root=selected.root), f"llm-0-pool-0-{earlier}")
    whole = without(half, f"llm-0-pool-0-{later}")
    assert not differences((*course[:number], half, whole))
