"""Gangs placed by the scheduler of Kubernetes, through an operator with the back end ``kubernetes`` (SC)."""

import time

import pytest

from tests.cluster.api import Json, wait_until
from tests.cluster.binaries import SCHEDULER
from tests.cluster.operators import Operator, Starting
from tests.cluster.plane import ControlPlane
from tests.cluster.racks import BASE, LEVELS, PREFILL, QUIET_SECONDS, WHOLE, Racks
from tests.cluster.scenes import condition, light

pytestmark = pytest.mark.groups

BY_TOPOLOGY = {"enabled": True, "levels": list(LEVELS)}
DELAY = "3s"


def uids(pods: list[Json]) -> set[str]:
    return {pod["metadata"]["uid"] for pod in pods}


@pytest.mark.req("SC-011", "SC-012", "SC-014", "SC-028")
def test_sc011_a_gang_is_placed_as_a_whole_each_part_in_one_rack(racks: Racks, grouping: Operator) -> None:
    racks.cordon("r1-3")
    racks.create()
    pods = racks.await_waiting(BASE)
    time.sleep(QUIET_SECONDS)
    assert racks.placed() == {}  # not even the router, for which there is room
    assert not any(pod["spec"].get("schedulingGates") for pod in pods)
    said = {condition(pod, "PodScheduled")["message"] for pod in pods}
    assert any("pod group is unschedulable" in message for message in said), said
    racks.cordon("r1-3", closed=False)
    racks.await_placed(WHOLE)
    assert sorted(racks.racks_of(0) | racks.racks_of(1)) == ["r0", "r1"]
    assert len(racks.racks_of(0)) == len(racks.racks_of(1)) == 1
    racks.scene.await_ready(BASE)
    racks.scene.await_status(availableReplicas=1)
    assert racks.scene.names("podgangs") == []


@pytest.mark.req("SC-013")
def test_sc013_a_pod_that_is_made_anew_joins_the_others(racks: Racks, grouping: Operator) -> None:
    racks.create()
    racks.await_placed(WHOLE)
    home = racks.racks_of(0)
    (leader,) = racks.scene.pods("llama-0-prefill-0-leader")
    others = uids(racks.scene.pods()) - uids([leader])
    node = leader["spec"]["nodeName"].removeprefix(f"{racks.scene.namespace}-")
    racks.cordon(node)
    racks.delete_pods([leader])
    racks.await_waiting(1)
    assert others <= uids(racks.scene.pods())
    racks.cordon(node, closed=False)
    racks.await_placed(WHOLE)
    assert racks.racks_of(0) == home


@pytest.mark.req("SC-012")
def test_sc012_the_second_life_of_a_replica_is_whole_as_well(racks: Racks, grouping: Operator) -> None:
    racks.create()
    racks.await_placed(WHOLE)
    (rack,) = racks.racks_of(0)
    others = uids(racks.scene.pods()) - uids(racks.pods_of(0))
    racks.cordon(f"{rack}-0")
    racks.delete_pods(racks.pods_of(0))
    racks.await_waiting(PREFILL)
    time.sleep(QUIET_SECONDS)
    assert racks.racks_of(0) == set()
    assert others <= uids(racks.scene.pods())
    racks.cordon(f"{rack}-0", closed=False)
    racks.await_placed(WHOLE)
    assert racks.racks_of(0) == {rack}


@pytest.mark.req("SC-012")
def test_sc012_a_replica_of_a_lost_rack_comes_back_in_another_one(racks: Racks, grouping: Operator) -> None:
    racks.create()
    racks.await_placed(WHOLE)
    (rack,) = racks.racks_of(0)
    for number in range(PREFILL):
        racks.cordon(f"{rack}-{number}")
    racks.delete_pods(racks.pods_of(0))
    racks.await_waiting(PREFILL)
    new = racks.add_rack()
    racks.await_placed(WHOLE)
    assert racks.racks_of(0) == {new}


@pytest.mark.req("SC-021")
def test_sc021_a_group_stays_until_its_pods_are_gone(racks: Racks, grouping: Operator) -> None:
    racks.create()
    racks.await_placed(WHOLE)
    name = "llama-0-prefill-0-worker"
    racks.scene.api.delete("podgroups", name, racks.scene.namespace)
    time.sleep(1)
    assert racks.scene.get("podgroups", name)["metadata"]["deletionTimestamp"]
    racks.delete_pods(racks.scene.pods(name)[:1])
    racks.await_placed(WHOLE)  # a pod in the place of one joins the group that is being deleted
    before = racks.scene.get("podgroups", name)["metadata"]["uid"]
    racks.scene.api.delete("podcliques", name, racks.scene.namespace)  # as a termination does
    racks.scene.await_object(
        "podgroups", name, lambda found: found and found["metadata"]["uid"] != before, "the group is made anew"
    )
    racks.await_placed(WHOLE)


@pytest.mark.req("SC-023")
def test_sc023_a_pending_gang_follows_another_topology(racks: Racks, grouping: Operator) -> None:
    """One replica needs a whole zone of four nodes, which has only three; then a rack, which has four."""
    scene = racks.scene
    racks.cordon("r0-0")
    racks.cordon("r1-0")
    racks.create()
    racks.await_waiting(BASE)
    template = scene.get("podcliquesets", "llama")["spec"]["template"]
    template["podCliqueScalingGroups"][0]["topologyConstraint"] = {"pack": {"required": "zone"}}
    scene.patch("podcliquesets", "llama", {"spec": {"template": template}})
    racks.add_rack(2)
    racks.await_placed(WHOLE)
    assert len(racks.racks_of(0) | racks.racks_of(1)) == 3


@pytest.mark.req("SC-004")
def test_sc004_another_back_end_restarts_nothing(racks: Racks, starting: Starting) -> None:
    operator = starting()
    operator.backend, operator.topology = "podgang", BY_TOPOLOGY
    operator.start()
    scene = racks.scene
    scene.api.create(scene.set_of(light("router", 2), name="plain"))
    before = uids(scene.await_ready(2))
    operator.stop()
    operator.backend = "auto"
    operator.start()
    scene.api.create(scene.set_of(light("router", 2), name="grouped"))
    scene.await_ready(4)
    operator.await_rest()
    assert before <= uids(scene.pods())
    assert scene.names("podgangs") == ["plain-0"]
    assert scene.names("podgroups") == ["grouped-0-router"]


@pytest.mark.req("SC-028")
def test_sc028_operator_and_scheduler_may_end_in_the_middle(
    racks: Racks, grouping: Operator, grove_plane: ControlPlane
) -> None:
    racks.create()
    wait_until(racks.scene.pods, bool, "there is a pod")
    grouping.kill()
    grove_plane.restart(SCHEDULER)
    time.sleep(1)
    grouping.start()
    racks.await_placed(WHOLE)
    racks.scene.await_ready(BASE)
    grouping.await_rest()


@pytest.mark.req("GT-011", "SC-012")
def test_gt011_a_gang_without_capacity_is_terminated_once(racks: Racks, grouping: Operator) -> None:
    """Breach, delay, termination, no capacity, no second termination; with capacity all is placed at once."""
    scene = racks.scene
    racks.create(terminationDelay=DELAY)
    racks.await_placed(WHOLE)
    scene.await_ready(BASE)
    (rack,) = racks.racks_of(0)
    scene.await_status(availableReplicas=1)
    racks.cordon(f"{rack}-0")
    cliques = {one["metadata"]["name"]: one["metadata"]["uid"] for one in scene.all_of("podcliques")}
    racks.delete_pods([pod for pod in racks.pods_of(0) if pod["spec"]["nodeName"].endswith(f"{rack}-0")])

    def renewed() -> set[str]:
        now = {one["metadata"]["name"]: one["metadata"]["uid"] for one in scene.all_of("podcliques")}
        return {name for name, uid in cliques.items() if now.get(name, uid) != uid}

    wait_until(renewed, lambda found: found == cliques.keys(), "a termination of the whole gang", seconds=60)
    racks.await_waiting(BASE)
    again = {one["metadata"]["name"]: one["metadata"]["uid"] for one in scene.all_of("podcliques")}
    time.sleep(10)  # three times the delay
    assert {one["metadata"]["name"]: one["metadata"]["uid"] for one in scene.all_of("podcliques")} == again
    racks.cordon(f"{rack}-0", closed=False)
    racks.await_placed(WHOLE)
    scene.await_ready(BASE)
