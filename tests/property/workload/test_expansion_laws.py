"""Laws about the objects of any set: created once, owned, valid in every round, and after a restart."""

import json
from collections import Counter
from typing import Any, Final

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from grove_core.document.document_reading import plan_document_from_json
from grove_core.document.document_writing import plan_document_as_json
from grove_core.document.plan_document import PlanDocument
from grove_core.in_memory.forecasts import forecasts_of_snapshots, snapshot_of_newly_created_set
from grove_core.in_memory.in_memory_cluster import InMemoryCluster
from grove_core.kernel.frozen import FrozenDict
from grove_core.kernel.steps import Attempt, AttemptOutcome, Create
from grove_core.kernel.structs import replace
from grove_core.plan.plan_laws import broken_laws_in_plan
from grove_core.reconcile import reconcile
from grove_core.resources.api_names import BASE_GANG, CLIQUE_FINALIZER, GATE, GROUP_FINALIZER, MANAGED_BY
from grove_core.resources.labels import GROUP_REPLICA, SET, SET_REPLICA
from grove_core.resources.podcliqueset import PodCliqueSet, podcliqueset_from_json
from grove_core.rule_sets.rule_set import DESIGN
from grove_core.snapshot.expected_replicas import max_object_count_of_set
from grove_core.snapshot.snapshot import Snapshot
from tests.property.few_examples import RARELY
from tests.property.resources.manifests import almost, outcome
from tests.property.workload.created_pods import base_gang_of
from tests.property.workload.expected import Expected
from tests.property.workload.sets import (
    NOW,
    Json,
    applied,
    at_rest,
    clique_raw,
    manifests_of,
    raw_sets,
    rounds_of,
    set_raw,
)

ODD: Final = set_raw(
    clique_raw("a", labels={"l": "1"}, annotations={"grove.io/topology-name": "t"}, startsAfter=["b"]),
    clique_raw(
        "b",
        pod_spec={
            "containers": [{"name": "main", "env": [{"name": "X"}], "resources": {"claims": [{"name": "own"}]}}],
            "initContainers": [{"name": "first"}],
            "volumes": [{"name": "v"}],
            "resourceClaims": [{"name": "own"}],
            "schedulerName": "kai",
        },
        autoScalingConfig={"minReplicas": 1, "maxReplicas": 2, "metrics": [{"type": "Resource"}]},
        resourceSharing=[{"name": "x", "scope": "PerReplica"}],
    ),
    groups=({"name": "pool", "cliqueNames": ["a"], "scaleConfig": {"maxReplicas": 2}},),
    resourceClaimTemplates=[{"name": "x", "templateSpec": {"spec": {"devices": {}}}}],
    resourceSharing=[{"name": "x", "scope": "AllReplicas", "filter": {"childCliqueNames": ["a"]}}],
    cliqueStartupType="CliqueStartupTypeExplicit",
    headlessServiceConfig={"publishNotReadyAddresses": False},
    updateStrategy={"type": "OnDelete"},
    meta={"labels": {"x": "y"}, "annotations": {"x": "y"}},
)


@given(raw_sets())
@pytest.mark.req("WL-011", "WL-012", "WL-018", "WL-019", "WL-020")
def test_wl010_everything_is_made_once_and_nothing_else(raw: Json) -> None:
    made: Counter[tuple[str, str]] = Counter()
    for item in manifests_of(raw):
        owner = item["metadata"]["ownerReferences"][0]["name"]
        made[item["kind"], owner if item["kind"] == "Pod" else item["metadata"]["name"]] += 1
    assert made == Expected(raw).names


@given(raw_sets())
@pytest.mark.req("PL-002", "PL-003", "PL-013", "PL-001")
def test_pl016_every_plan_on_the_way_is_legal(raw: Json) -> None:
    for seen, plan in rounds_of(applied(raw)):
        assert broken_laws_in_plan(plan, seen) == ()


@RARELY
@given(raw=raw_sets())
@pytest.mark.parametrize("crime", ["taken", "stranger", "homeless"])
def test_pl016_an_illegal_creation_is_seen(raw: Json, crime: str) -> None:
    *_, (last, _) = rounds_of(applied(raw))
    first, plan = next(rounds_of(applied(raw)))
    step = next(step for step in plan.steps if isinstance(step.action, Create))
    seen = {"taken": last, "homeless": replace(first, root=replace(first.root, uid="another"))}.get(crime, first)
    if crime == "stranger":
        step = replace(step, target=replace(step.target, name="stranger"))
    assert broken_laws_in_plan(replace(plan, steps=(step,)), seen)


@RARELY
@given(raw_sets(), st.booleans())
def test_cl011_plans_that_create_survive_json(raw: Json, decisions: bool) -> None:
    reported = next(forecasts_of_snapshots((applied(raw),), DESIGN, limit=None, until=None))
    reported = reported if decisions else replace(reported, findings=())
    document = PlanDocument(rules="design", as_of=NOW, not_collected=(), forecasts=(reported,))
    written = json.loads(json.dumps(plan_document_as_json(document, decisions=decisions)))
    assert plan_document_from_json(written) == document


@RARELY
@given(raw_sets())
def test_pl018_what_was_created_is_not_created_again(raw: Json) -> None:
    for seen, plan in rounds_of(applied(raw)):
        done = tuple(Attempt(step, AttemptOutcome.DONE) for step in plan.steps if isinstance(step.action, Create))
        made = {attempt.step.target for attempt in done}
        again = [step for step in reconcile(replace(seen, attempts=done)).steps if isinstance(step.action, Create)]
        assert not made & {step.target for step in again}
        assert all(base_gang_of(step) for step in again), "only these waited for others, and these are there now"


@RARELY
@given(raw_sets())
def test_pl002_a_restart_between_any_two_writes_is_survived(raw: Json) -> None:
    start = applied(raw)
    whole = at_rest(start)
    world, seen = InMemoryCluster((start,)), start
    for _ in range(200):
        steps = reconcile(seen).steps
        if not steps:
            break
        world.attempt_step(steps[0])
        observed = world.snapshot_of_set(start.root.ref, start.now)
        assert observed is not None
        seen = observed
    assert {ref.short for ref in seen.objects_without_pods_by_ref()} == {
        ref.short for ref in whole.objects_without_pods_by_ref()
    }
    assert {pod.name for _, pod in seen.pods()} == {pod.name for _, pod in whole.pods()}


@RARELY
@given(raw_sets())
def test_wl030_every_object_has_its_owner_finalizer_and_labels(raw: Json) -> None:
    finalizers = {"PodClique": [CLIQUE_FINALIZER], "PodCliqueScalingGroup": [GROUP_FINALIZER]}
    for item in manifests_of(raw):
        meta = item["metadata"]
        (owner,) = meta["ownerReferences"]
        assert owner["controller"]
        assert owner["blockOwnerDeletion"]
        assert owner["uid"]
        assert meta.get("finalizers", []) == finalizers.get(item["kind"], [])
        assert {meta["labels"].get(key) for key in SET.keys} == {"llm"}
        assert meta["labels"][MANAGED_BY] == "grove-operator"
        for label in (SET_REPLICA, GROUP_REPLICA):
            assert len({meta["labels"].get(key) for key in label.keys}) == 1


@RARELY
@given(raw_sets())
@pytest.mark.req("WL-086", "WL-085", "WL-088")
def test_wl088_pods_are_born_gated_where_they_must_wait_with_names_of_their_own(raw: Json) -> None:
    pods = [item for item in manifests_of(raw) if item["kind"] == "Pod"]
    assert len({item["metadata"]["name"] for item in pods}) == len(pods) == len({i["spec"]["hostname"] for i in pods})
    for item in pods:
        clique = item["metadata"]["ownerReferences"][0]["name"]
        index = item["metadata"]["labels"]["grove.io/podclique-pod-index"]
        must_wait = BASE_GANG in item["metadata"]["labels"]
        assert item["spec"].get("schedulingGates") == ([{"name": GATE}] if must_wait else None)
        assert item["spec"]["hostname"] == f"{clique}-{index}"
        assert item["spec"]["subdomain"] == f"llm-{item['metadata']['labels'][SET_REPLICA.primary]}"
        assert item["metadata"]["name"].startswith(f"{clique}-")
    assert manifests_of(raw) == manifests_of(raw)


@given(almost(ODD))
@example(raw=ODD)
def test_wl010_whatever_reads_as_a_set_is_planned_to_rest(raw: Any) -> None:
    root = outcome(podcliqueset_from_json, raw)
    if isinstance(root, PodCliqueSet):
        start = snapshot_of_newly_created_set(Snapshot(root=root, pods_of=FrozenDict(), now=NOW))
        if max_object_count_of_set(start) < 200:
            for seen, plan in rounds_of(start):
                assert broken_laws_in_plan(plan, seen) == ()
