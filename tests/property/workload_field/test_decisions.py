"""Single decisions of the Go operator's workload, in tables."""

from collections.abc import Sequence
from typing import Any

import pytest

from grove_core.areas.workload.field.clique_update import begun_progress, clique_update_step, update_begins_for
from grove_core.areas.workload.field.pods import (
    excess_pod_deletions,
    hash_of_wanted_pods,
    missing_pod_indices,
    repeated_pod_index,
)
from grove_core.areas.workload.field.releases import FROM_ALPHA_12, MAIN_BRANCH
from grove_core.areas.workload.field.scaling_group_update import (
    GroupReplica,
    group_update_step,
    initial_group_update_progress,
)
from grove_core.areas.workload.field.set_update import replica_being_updated
from grove_core.kernel.frozen import EMPTY, FrozenDict, FrozenMap, freeze, frozen
from grove_core.kernel.structs import replace
from grove_core.kernel.wants import ObjectToDelete, Withheld
from grove_core.resources.pod import Pod
from grove_core.resources.podclique import PodClique
from grove_core.resources.scaling_group import ScalingGroup
from tests.property.workload_field.healthy_sets import healthy

NOW = "2026-11-20T09:00:00Z"
SEEN = healthy()
(ROUTER,) = (clique for clique in SEEN.cliques if clique.ref.name == "llm-0-router")
MEMBERS = sorted(
    (clique for clique in SEEN.cliques if clique.is_in_scaling_group), key=lambda one: one.group_replica_index
)
(POOL,) = SEEN.groups


def pod(index: int, **changes: Any) -> Pod:
    made = Pod("ml", f"p{index}", f"u{index}", "1", "c", "new", "llm-0", "n1", "Running", "", False, True, False, True)
    return replace(made, index=index, created=f"2026-11-20T0{index}:00:00Z", **changes)


def status_of(clique: PodClique, **changes: Any) -> PodClique:
    return replace(clique, status=replace(clique.status, **changes))


@pytest.mark.parametrize(
    ("pods", "replicas", "expected"),
    [
        ([], 3, (0, 1, 2)),
        ([pod(0), pod(2)], 3, (1,)),
        ([pod(0), pod(1, deleting=True)], 2, (1,)),
        ([pod(0), pod(1, phase="Failed")], 2, ()),
        ([pod(0), pod(1, phase="Succeeded")], 3, (1,)),
        ([pod(0), pod(1), pod(2)], 2, ()),
    ],
)
def test_wf030_how_many_pods_are_created(pods: Sequence[Pod], replicas: int, expected: tuple[int, ...]) -> None:
    assert tuple(missing_pod_indices(pods, replicas)) == expected


def test_wf031_two_active_pods_of_one_index() -> None:
    assert repeated_pod_index([pod(0), pod(1)]) is None
    assert repeated_pod_index([pod(1), replace(pod(1), uid="other")]) == 1
    assert repeated_pod_index([pod(1), pod(1, deleting=True), pod(1, phase="Failed")]) is None


@pytest.mark.parametrize(
    ("second", "first"),
    [
        ({}, {"node": ""}),
        ({"phase": "Unknown"}, {"phase": "Pending"}),
        ({"phase": "Running"}, {"phase": "Failed"}),
        ({}, {"ready": False}),
        ({}, {"template_hash": "old"}),
        ({"created": "2026-11-20T01:00:00Z"}, {"created": "2026-11-20T02:00:00Z"}),
        ({"node": "n", "ready": False}, {"node": "", "ready": True}),
    ],
)
def test_wf032_which_pod_goes_first(second: dict[str, Any], first: dict[str, Any]) -> None:
    clique = replace(ROUTER, replicas=1)
    stays, goes = (replace(pod(index), **changes) for index, changes in ((1, second), (2, first)))
    for pods in ([stays, goes], [goes, stays]):
        assert [want.target.name for want in excess_pod_deletions(clique, pods, "new", FROM_ALPHA_12)] == ["p2"]


def test_wf032_pods_that_are_being_deleted_count_as_deleted() -> None:
    pods = [pod(0), pod(1), pod(2, deleting=True)]
    assert not list(excess_pod_deletions(replace(ROUTER, replicas=2), pods, "new", FROM_ALPHA_12))


def test_wf033_a_release_picks_a_pod_that_it_is_deleting_once_more() -> None:
    """Scaled from 3 to 2, and to 1 before the first pod is gone."""
    pods = [pod(0), pod(1), pod(2, deleting=True)]
    (waits,) = excess_pod_deletions(replace(ROUTER, replicas=1), pods, "new", FROM_ALPHA_12)
    assert isinstance(waits, Withheld)
    assert waits.because[0].rule.code == "DeletedPodPicked"
    assert dict(waits.because[0].facts) == {"names": "p2", "left": 1}
    (deletion,) = excess_pod_deletions(replace(ROUTER, replicas=1), pods, "new", MAIN_BRANCH)
    assert (type(deletion), deletion.target.name) == (ObjectToDelete, "p1")


def test_wf032_the_hash_of_wanted_pods() -> None:
    progress = frozen({"podCliqueSetGenerationHash": "g2", "podTemplateHash": "t2"})
    updating = status_of(replace(ROUTER, template_hash="t1"), progress=progress)
    assert hash_of_wanted_pods(updating, "g2") == "t2"
    assert hash_of_wanted_pods(updating, "g3") == "t1"
    assert hash_of_wanted_pods(status_of(updating, progress=EMPTY), "g2") == "t1"


@pytest.mark.parametrize(
    ("status", "begins"),
    [
        ({"progress": EMPTY, "set_hash": ""}, True),
        ({"progress": EMPTY, "set_hash": "g1"}, True),
        ({"progress": EMPTY, "set_hash": "g2"}, False),
        ({"progress": frozen({"podCliqueSetGenerationHash": "g2"})}, False),
        ({"progress": frozen({"podCliqueSetGenerationHash": "g2", "updateEndedAt": NOW})}, False),
        ({"progress": frozen({"podCliqueSetGenerationHash": "g1", "updateEndedAt": NOW})}, True),
    ],
)
def test_wf010_when_the_update_of_a_clique_begins(status: dict[str, Any], begins: bool) -> None:
    assert update_begins_for(status_of(ROUTER, **status), "g2") is begins


def selecting(current: str, *completed: str) -> FrozenMap:
    found = {"current": current, **({"completed": list(completed)} if completed else {})}
    whole = freeze({**begun_progress("g", "new", NOW), "readyPodsSelectedToUpdate": found})
    assert isinstance(whole, FrozenMap)
    return whole


@pytest.mark.parametrize(
    ("pods", "progress", "goes", "selected"),
    [
        ([pod(0, template_hash="old"), pod(1)], selecting("p0"), ["p0"], "p0"),
        ([pod(0, template_hash="old", deleting=True), pod(1, ready=False)], selecting("p0"), [], "p0"),
        ([pod(1, template_hash="old"), pod(2)], selecting("p0"), ["p1"], "p1"),
        ([pod(1, template_hash="old"), pod(2)], selecting("p0", "p9"), [], "p0"),
        ([pod(1, template_hash="old"), pod(2), pod(3)], selecting("p0", "p9"), ["p1"], "p1"),
    ],
)
def test_wf013_the_next_pod_waits_for_the_successor(
    pods: Sequence[Pod], progress: FrozenMap, goes: list[str], selected: str
) -> None:
    clique = status_of(ROUTER, ready=2, progress=progress)
    step = clique_update_step(clique, pods, progress, "new", NOW)
    assert [want.target.name for want in step.deletions] == goes
    chosen = step.progress["readyPodsSelectedToUpdate"]
    assert isinstance(chosen, FrozenMap)
    assert chosen["current"] == selected
    assert bool(step.withheld) is (selected == "p0")
    if selected != "p0":
        assert "p0" in chosen["completed"]  # type: ignore[operator]  # a list of names


def test_wf015_an_update_without_old_pods_ends() -> None:
    progress = selecting("p0")
    step = clique_update_step(status_of(ROUTER, progress=progress), [pod(1), pod(2)], progress, "new", NOW)
    assert step.progress == FrozenMap({**begun_progress("g", "new", NOW), "updateEndedAt": NOW})
    assert [reason.rule.code for reason in step.because] == ["CliqueUpdateEnds"]


def replica(index: int, *, template_hash: str = "new", **status: Any) -> GroupReplica:
    given: dict[str, Any] = {"scheduled": 2, "ready": 2, "updated": 2, "current_hash": "new", "set_hash": "g", **status}
    clique = status_of(replace(MEMBERS[index], template_hash=template_hash), **given)
    return GroupReplica(index, (clique,), 1, FrozenDict({clique.ref.name: "new"}))


def group_of(available: int, progress: FrozenMap = EMPTY) -> ScalingGroup:
    return replace(POOL, status=replace(POOL.status, available=available, progress=progress))


def group_selecting(current: int, *completed: int) -> FrozenMap:
    found = {"current": current, **({"completed": list(completed)} if completed else {})}
    whole = freeze({**initial_group_update_progress("g", NOW), "readyReplicaIndicesSelectedToUpdate": found})
    assert isinstance(whole, FrozenMap)
    return whole


@pytest.mark.parametrize(
    ("replicas", "progress", "available", "goes"),
    [
        (
            [replica(0, template_hash="old"), replica(1, template_hash="old")],
            initial_group_update_progress("g", NOW),
            2,
            [0],
        ),
        (
            [replica(0, template_hash="old"), replica(1, template_hash="old")],
            initial_group_update_progress("g", NOW),
            0,
            [],
        ),
        ([replica(0, template_hash="old", scheduled=0), replica(1)], initial_group_update_progress("g", NOW), 1, [0]),
        ([replica(0), replica(1, template_hash="old")], group_selecting(0), 2, [1]),
        ([replica(0, ready=0), replica(1, template_hash="old")], group_selecting(0), 1, []),
        ([replica(0, set_hash="before"), replica(1, template_hash="old")], group_selecting(0), 1, []),
        ([replica(0), replica(1, template_hash="old")], group_selecting(7, 3), 2, [1]),
        ([GroupReplica(0, (), 1, FrozenDict()), replica(1, template_hash="old")], group_selecting(0), 2, []),
    ],
)
def test_wf024_which_replicas_of_a_group_go(
    replicas: Sequence[GroupReplica], progress: FrozenMap, available: int, goes: list[int]
) -> None:
    step = group_update_step(group_of(available, progress), replicas, progress, "g", NOW)
    assert [want.target.name for want in step.deletions] == [MEMBERS[index].ref.name for index in goes]


@pytest.mark.req("WF-025")
def test_wf027_the_update_of_a_group_ends() -> None:
    progress = group_selecting(1, 0)
    step = group_update_step(group_of(2, progress), [replica(0), replica(1)], progress, "g", NOW)
    assert step.progress == FrozenMap({**initial_group_update_progress("g", NOW), "updateEndedAt": NOW})


def test_wf022_a_replica_that_is_gone_is_not_deleted_again() -> None:
    gone = replica(1, template_hash="old", ready=0)
    gone = replace(gone, cliques=tuple(replace(clique, deleting=True) for clique in gone.cliques))
    progress = group_selecting(0)
    step = group_update_step(group_of(2, progress), [replica(0), gone], progress, "g", NOW)
    assert not step.deletions
    assert "updateEndedAt" in step.progress


@pytest.mark.parametrize(
    ("progress", "index"),
    [({}, None), ({"currentlyUpdating": []}, None), ({"currentlyUpdating": [{"replicaIndex": 2}]}, 2)],
)
@pytest.mark.req("WF-004")
def test_wf005_which_replica_is_being_updated(progress: dict[str, Any], index: int | None) -> None:
    assert replica_being_updated(frozen(progress)) == index
