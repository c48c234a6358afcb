"""What a deletion says that it takes along (PL-019)."""

from collections.abc import Set as AbstractSet
from datetime import timedelta
from functools import cache
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grove_core.kernel.conditions import Condition, ConditionStatus
from grove_core.kernel.frozen import FrozenDict, FrozenMap, freeze, frozen_dict_of_tuples
from grove_core.kernel.steps import Delete, DeletionImpact
from grove_core.kernel.structs import replace
from grove_core.plan.deletion_impact import DeletionImpacts
from grove_core.reconcile import reconcile
from grove_core.resources.api_names import GROUP_KIND, MIN_AVAILABLE_BREACHED
from grove_core.resources.pod import pod_from_json
from grove_core.resources.pod_spec_gpus import gpu_count_of_pod_spec
from grove_core.snapshot.snapshot import Snapshot
from grove_core.testing import RandomCluster, cluster_of, clusters
from tests.property.terminating_sets import ENDING
from tests.property.workload.life import Life
from tests.property.workload.sets import NOW, clique_raw, set_raw


@given(clusters())
def test_pl019_every_pod_goes_with_one_deletion(generated: RandomCluster) -> None:
    """What all deletions take along together are the pods of the deleted cliques, each once."""
    snapshot = generated.snapshot
    plan = reconcile(snapshot)
    tolls = {step.target: step.action.takes for step in plan.steps if isinstance(step.action, Delete)}
    gone = {clique.uid for clique in snapshot.cliques if clique.ref in tolls}
    if "Pod" in snapshot.not_collected:
        assert not any(tolls.values())
        return
    cliques = [impact for ref, impact in tolls.items() if ref.kind == "PodClique"]
    pods = [pod for uid in gone for pod in snapshot.pods_of.get(uid, ()) if not pod.deleting]
    assert sum((impact for impact in cliques if impact is not None), DeletionImpact()) == DeletionImpact(
        len(pods), sum(pod.ready for pod in pods), 0
    )


def test_pl019_a_group_takes_what_is_not_deleted_by_itself() -> None:
    life = Life(
        set_raw(
            clique_raw(
                "w", 2, pod_spec={"containers": [{"name": "m", "resources": {"limits": {"nvidia.com/gpu": 4}}}]}
            ),
            groups=({"name": "pool", "cliqueNames": ["w"], "replicas": 2, "minAvailable": 1},),
        )
    )
    life.settle()
    seen = life.look()
    assert seen is not None
    group, member = life.group("llm-0-pool").ref, life.clique("llm-0-pool-0-w").ref
    assert DeletionImpacts(seen, {group}).impact_of_deleting(group) == DeletionImpact(pods=4, ready=4, gpus=16)
    assert DeletionImpacts(seen, {group, member}).impact_of_deleting(group) == DeletionImpact(pods=2, ready=2, gpus=8)
    assert DeletionImpacts(seen, {group, member}).impact_of_deleting(member) == DeletionImpact(pods=2, ready=2, gpus=8)
    pod = life.pods("llm-0-pool-0-w")[0].ref
    assert DeletionImpacts(seen, {pod}).impact_of_deleting(pod) == DeletionImpact(pods=1, ready=1, gpus=4)
    assert DeletionImpacts(seen, {group}).impact_of_deleting(pod) is None
    assert DeletionImpacts(seen, set()).impact_of_deleting(seen.root.ref) is None


@cache
def at_work() -> Snapshot:
    """A set with a clique of its own and a scaling group of two cliques, all pods placed and ready."""
    gpus = {"containers": [{"name": "m", "resources": {"limits": {"nvidia.com/gpu": 2}}}]}
    cliques = clique_raw("a", 2), clique_raw("b", 1), clique_raw("w", 3, pod_spec=gpus)
    life = Life(set_raw(*cliques, groups=({"name": "pool", "cliqueNames": ["b", "w"], "replicas": 2},)))
    life.settle()
    seen = life.look()
    assert seen is not None
    return seen


@given(st.sets(st.integers(min_value=0)), st.sets(st.integers(min_value=0)))
def test_pl019_the_tolls_of_a_plan_add_up(deleted: AbstractSet[int], going: AbstractSet[int]) -> None:
    """Whichever groups, cliques and pods are deleted together: what goes is counted once, with what is narrowest."""
    seen = at_work()
    pods_of = {
        uid: [replace(pod, deleting=place in going) for place, pod in enumerate(pods)]
        for uid, pods in seen.pods_of.items()
    }
    seen = replace(seen, pods_of=frozen_dict_of_tuples(pods_of))
    parts = [ref for ref in seen.objects_by_ref() if ref.kind in {"Pod", "PodClique", GROUP_KIND}]
    chosen = {parts[number % len(parts)] for number in deleted}
    uids = {part.uid for part in (*seen.groups, *seen.cliques) if part.ref in chosen}
    lost = [
        (clique, pod)
        for clique, pod in seen.pods()
        if not pod.deleting and (pod.ref in chosen or not uids.isdisjoint((clique.uid, clique.owner_uid)))
    ]
    tolls = DeletionImpacts(seen, chosen)
    reported = sum(
        (impact for ref in chosen if (impact := tolls.impact_of_deleting(ref)) is not None), DeletionImpact()
    )
    gpus = sum(2 for clique, _ in lost if clique.ref.name.endswith("w"))
    assert reported == DeletionImpact(len(lost), sum(pod.ready for _, pod in lost), gpus)


def test_pl019_a_terminated_clique_and_ended_pods_of_it_count_each_pod_once() -> None:
    """(PL-019) In a whole plan."""
    life = Life(set_raw(clique_raw("a", 2), terminationDelay="1h"))
    life.settle()
    for pod in life.pods("llm-0-a"):
        life.world.put_pod(replace(pod, ready=False, phase="Failed"))
    seen = life.look()
    assert seen is not None
    since = Condition(
        MIN_AVAILABLE_BREACHED, ConditionStatus.TRUE, "InsufficientReadyPods", "", NOW - timedelta(hours=2)
    )
    cliques = tuple(
        replace(clique, status=replace(clique.status, was_available=True, ready=0, conditions=(since,)))
        for clique in seen.cliques
    )
    plan = reconcile(replace(seen, cliques=cliques, attempts=()))
    tolls = {step.target.kind: step.action.takes for step in plan.steps if isinstance(step.action, Delete)}
    assert tolls == {"Pod": DeletionImpact(pods=1), "PodClique": DeletionImpact()}


@pytest.mark.parametrize(
    ("pod_spec", "gpus"),
    [
        ({}, 0),
        ({"containers": [{"name": "m"}]}, 0),
        ({"containers": [{"resources": {"limits": {"nvidia.com/gpu": "8"}}}] * 2}, 16),
        ({"containers": [{"resources": {"requests": {"nvidia.com/gpu": 2}}}]}, 2),
        ({"containers": [{"resources": {"limits": {"nvidia.com/gpu": "many"}}}, "x", {"resources": 3}]}, 0),
        ({"containers": [], "initContainers": [{"resources": {"limits": {"nvidia.com/gpu": "1"}}}] * 3}, 1),
        ({"containers": "x", "initContainers": None}, 0),
        ({"containers": [{"resources": {"limits": {"nvidia.com/gpu": "1" * 5000}}}]}, 0),
    ],
)
def test_pl019_what_a_pod_holds(pod_spec: object, gpus: int) -> None:
    frozen = freeze(pod_spec)
    assert isinstance(frozen, FrozenMap)
    assert gpu_count_of_pod_spec(frozen) == gpus


@pytest.mark.parametrize(
    ("spec", "gpus"),
    [
        ({}, 0),
        ({"containers": [{"name": "m"}, {"resources": {}}]}, 0),
        ({"containers": [{"resources": {"limits": {"nvidia.com/gpu": "8", "cpu": "1"}}}, {"name": "x"}]}, 8),
        ({"containers": [{"resources": {"limits": {"nvidia.com/gpu": "8"}, "requests": {"nvidia.com/gpu": "8"}}}]}, 8),
        ({"containers": [{"resources": {"limits": {"nvidia.com/gpu": "8"}, "requests": {"nvidia.com/gpu": "2"}}}]}, 8),
        ({"containers": [{"resources": {"limits": {"nvidia.com/gpu": 4}, "requests": None}}]}, 4),
        ({"containers": [{"resources": {"limits": {"nvidia.com/gpu": "4k"}}}]}, 4_000),
        ({"containers": [], "initContainers": [{"resources": {"limits": {"nvidia.com/gpu": "3"}}}]}, 3),
        ({"containers": [{"resources": {"limits": {"nvidia.com/gpu": ["8"]}}}]}, 0),
        ({"containers": [{"resources": {"limits": {r"nvidia.com\u002fgpu": "8"}, "claims": [{"name": "a\\b"}]}}]}, 0),
        ({"containers": [{"resources": 7}]}, 0),
        ({"containers": None}, 0),
    ],
)
def test_pl019_the_gpus_of_a_pod_are_its_own(spec: dict[str, Any], gpus: int) -> None:
    """Whatever the template of its clique says by now; read fast where it is written as usual, and else with care."""
    assert pod_from_json({"metadata": {"name": "p"}, "spec": spec}, {}).gpus == gpus


def test_pl019_an_ended_pod_holds_none_and_one_of_an_older_template_what_it_has() -> None:
    asks = {"containers": [{"name": "m", "resources": {"limits": {"nvidia.com/gpu": "8"}}}]}
    life = Life(set_raw(clique_raw("w", 3, pod_spec=asks)))
    life.settle()
    first, second, third = life.pods("llm-0-w")
    life.world.put_pod(replace(first, gpus=4))
    life.world.put_pod(replace(second, phase="Failed", ready=False))
    life.world.put_pod(replace(third, scheduled=False, ready=False))
    seen = life.look()
    assert seen is not None
    clique = life.clique("llm-0-w").ref
    assert DeletionImpacts(seen, {clique}).impact_of_deleting(clique) == DeletionImpact(pods=3, ready=1, gpus=4)


def test_pl019_a_clique_that_has_no_pods_takes_none_along() -> None:
    snapshot = replace(cluster_of(ENDING).snapshot, pods_of=FrozenDict())
    deleted = {clique.ref for clique in snapshot.cliques} | {group.ref for group in snapshot.groups}
    assert deleted
    assert {DeletionImpacts(snapshot, deleted).impact_of_deleting(ref) for ref in deleted} == {DeletionImpact()}
