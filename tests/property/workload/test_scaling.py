"""Scaling in and out: what is created and deleted, and in which order."""

from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grove_core.areas.workload.pods.pod_slots import excess_pods, free_pod_slots, has_all_wanted_pods
from grove_core.areas.workload.rules import WorkloadReason
from grove_core.kernel.steps import Delete
from grove_core.kernel.structs import replace
from grove_core.reconcile import reconcile
from grove_core.resources.pod import Pod, active_pods
from tests.property.workload.life import Life
from tests.property.workload.sets import clique_raw, set_raw

RAW: Final = set_raw(
    clique_raw("a", 3, minAvailable=1, autoScalingConfig={"maxReplicas": 5}),
    clique_raw("b", 1),
    groups=(
        {
            "name": "pool",
            "cliqueNames": ["b"],
            "replicas": 3,
            "minAvailable": 1,
            "scaleConfig": {"maxReplicas": 4},
            "resourceSharing": [{"name": "x", "scope": "PerReplica"}],
        },
    ),
    replicas=2,
    resourceClaimTemplates=[{"name": "x", "templateSpec": {"spec": {"devices": {}}}}],
    resourceSharing=[{"name": "x", "scope": "PerReplica"}],
)
STATES: Final = ((True, "Running", True), (True, "Running", False), (True, "Pending", False), (False, "Pending", False))


def names(life: Life, kind: str) -> list[str]:
    return sorted(ref.name for ref in life.world.items if ref.kind == kind)


def rested(raw: dict[str, object] = RAW) -> Life:
    life = Life(raw)
    life.settle()
    return life


def test_wl200_and_wl202_a_replica_of_the_set_goes_with_all_it_had() -> None:
    life = rested()
    life.edit(replicas=1)
    life.settle()
    assert not [ref for ref in life.world.items if ref.name.startswith("llm-1")]
    assert names(life, "ResourceClaim") == ["llm-0-pool-0-x", "llm-0-pool-1-x", "llm-0-pool-2-x", "llm-0-x"]
    assert names(life, "Service") == ["llm-0"]
    assert names(life, "HorizontalPodAutoscaler") == ["llm-0-a", "llm-0-pool"]
    life.edit(replicas=3)
    life.settle()
    assert names(life, "Service") == ["llm-0", "llm-1", "llm-2"]


def test_wl200_a_set_of_no_replicas_keeps_what_it_has_once() -> None:
    life = rested()
    life.edit(replicas=0)
    life.settle()
    assert {ref.kind for ref in life.world.items} == {"PodCliqueSet", "ServiceAccount", "Role", "RoleBinding", "Secret"}


def test_wl201_a_group_goes_by_index_where_one_is_missing_in_between() -> None:
    """Three replicas, the middle one is gone: scaled to two, the last one goes and the middle one comes back."""
    life = rested()
    life.world.delete_object(life.clique("llm-0-pool-1-b").ref)
    life.scale("llm-0-pool", 2)
    kept = life.clique("llm-0-pool-0-b").uid
    life.settle()
    assert [name for name in names(life, "PodClique") if "llm-0-pool" in name] == ["llm-0-pool-0-b", "llm-0-pool-1-b"]
    assert life.clique("llm-0-pool-0-b").uid == kept
    assert names(life, "PodGang") == ["llm-0", "llm-0-pool-0", "llm-1", "llm-1-pool-0", "llm-1-pool-1"]
    assert "llm-0-pool-2-x" not in names(life, "ResourceClaim")


def test_wl015_wl020_what_an_autoscaler_asks_for_comes() -> None:
    life = rested()
    life.scale("llm-0-a", 5)
    life.scale("llm-1-pool", 4)
    life.settle()
    assert [pod.index for pod in life.pods("llm-0-a")] == [0, 1, 2, 3, 4]
    assert "llm-1-pool-3-b" in names(life, "PodClique")
    assert "llm-1-pool-2" in names(life, "PodGang")


def test_wl204_a_pod_that_has_ended_is_deleted_and_replaced() -> None:
    life = rested()
    (first, *_) = life.pods("llm-0-a")
    life.world.put_pod(replace(first, phase="Failed", ready=False))
    life.settle()
    assert first.name not in {pod.name for pod in life.all_pods()}
    assert [(pod.index, pod.ready) for pod in life.pods("llm-0-a")] == [(0, True), (1, True), (2, True)]


def pod(index: int, state: tuple[bool, str, bool], *, deleting: bool = False, template: str = "new") -> Pod:
    placed, phase, ready = state
    name, uid = f"pod-{index}", f"uid-{index}"
    return Pod("ml", name, uid, "1", "c", template, "", "", phase, "", deleting, placed, False, ready, index=index)


def crews() -> st.SearchStrategy[list[Pod]]:
    drawn = st.tuples(st.sampled_from(STATES), st.booleans(), st.sampled_from(["new", "old"]))
    return st.lists(drawn, max_size=6).map(
        lambda pods: [
            pod(index, state, deleting=going, template=template) for index, (state, going, template) in enumerate(pods)
        ]
    )


@given(crews(), st.integers(0, 6), st.randoms(use_true_random=False))
def test_wl203_a_deleted_pod_serves_no_more_than_one_that_stays(pods: list[Pod], wanted: int, random: object) -> None:
    """(RS5) As many as are too many, none that is going already, and none that serves more than one that stays."""
    gone = excess_pods(pods, wanted, "new")
    alive = active_pods(pods)
    assert len(gone) == max(0, len(alive) - wanted)
    assert not any(one.deleting for one in gone)
    stay = [one for one in alive if one not in gone]
    for one in gone:
        assert not any(other.ready < one.ready and other.scheduled <= one.scheduled for other in stay)
        assert not any(other.scheduled < one.scheduled for other in stay)
    assert excess_pods(list(reversed(pods)), wanted, "new") == gone


@given(crews(), st.integers(0, 6), st.integers(0, 1))
def test_wl085_missing_pods_take_the_lowest_free_places(pods: list[Pod], wanted: int, surge: int) -> None:
    """(RS4) As many places as pods are missing, none taken, none left out below; the surge is the last one."""
    places = list(free_pod_slots(pods, wanted, surge))
    taken = {one.index for one in active_pods(pods)}
    assert len(places) == max(0, wanted + surge - len(active_pods(pods)))
    assert not taken & {place.index for place in places}
    free = [index for index in range(20) if index not in taken]
    assert [place.index for place in places] == free[: len(places)]
    assert all(place.is_surge is (place.index >= wanted) for place in places)
    assert has_all_wanted_pods(pods, wanted + surge) is (
        len(pods) == wanted + surge and len(active_pods(pods)) == len(pods)
    )


def with_two_of_one_index(life: Life, *, ready: int) -> None:
    """The third pod of the clique is of another operator and has the index of the second; so many are ready."""
    pods = life.pods("llm-0-a")
    foreign = replace(pods[2], name="llm-0-a-abcde", uid="another operator's", index=1)
    life.world.pods[pods[0].owner_uid] = [
        replace(pod, ready=place < ready) for place, pod in enumerate((*pods[:2], foreign))
    ]


@pytest.mark.parametrize("ready", [0, 2, 3])
def test_wl205_every_index_is_one_pods(ready: int) -> None:
    life = rested()
    with_two_of_one_index(life, ready=ready)
    life.settle()
    assert [pod.index for pod in life.pods("llm-0-a")] == [0, 1, 2]
    assert life.deleted["Pod"] == 1


def test_wl206_a_needed_pod_keeps_its_index() -> None:
    life = rested(set_raw(clique_raw("a", 3, minAvailable=3)))
    with_two_of_one_index(life, ready=3)
    seen = life.look()
    assert seen is not None
    plan = reconcile(seen)
    assert not [step for step in plan.steps if isinstance(step.action, Delete)]
    assert [held.because[0].rule for held in plan.withheld] == [WorkloadReason.DOUBLE_IS_NEEDED]
    with_two_of_one_index(life, ready=2)
    life.settle()
    assert [pod.index for pod in life.pods("llm-0-a")] == [0, 1, 2]


def test_wl203_one_of_two_with_one_index_goes_first() -> None:
    life = rested()
    with_two_of_one_index(life, ready=3)
    life.scale("llm-0-a", 2)
    life.settle()
    assert [pod.index for pod in life.pods("llm-0-a")] == [0, 1]


def test_wl203_a_pod_that_does_not_run_goes_before_one_that_is_not_ready() -> None:
    life = rested(set_raw(clique_raw("a", 2)))
    low, high = (replace(pod, ready=False) for pod in life.pods("llm-0-a"))
    low = replace(low, phase="Pending")
    assert excess_pods([low, high], 1, low.template_hash) == [low]
