"""A gang that lost too many pods is terminated as a whole, on time, and restored; one that recovers is kept."""

from datetime import datetime, timedelta

import pytest

from tests.cluster.api import Json, wait_until
from tests.cluster.operators import Operator, Starting
from tests.cluster.scenes import Scene, clique, condition, group

BREACH = "MinAvailableBreached"


def the_set(scene: Scene, name: str = "llama", *, delay: str = "3s", replicas: int = 1) -> Json:
    pool = group("pool", "leader", "worker", replicas=2)
    cliques = (clique("router"), clique("leader"), clique("worker", 2))
    return scene.set_of(*cliques, name=name, replicas=replicas, podCliqueScalingGroups=[pool], terminationDelay=delay)


def uids(scene: Scene, resource: str, prefix: str = "") -> dict[str, str]:
    found = [each["metadata"] for each in scene.all_of(resource)]
    return {each["name"]: each["uid"] for each in found if each["name"].startswith(prefix)}


def await_breach(scene: Scene, name: str, status: str = "True", resource: str = "podcliques") -> datetime:
    """Wait for this verdict; since when it stands."""
    found = scene.await_condition(resource, name, BREACH, status)
    return datetime.fromisoformat(condition(found, BREACH)["lastTransitionTime"])


def await_new(scene: Scene, name: str, uid: str) -> None:
    scene.await_object(
        "podcliques", name, lambda found: found and found["metadata"]["uid"] != uid, f"{name} is a new one"
    )


def deleted_at(operator: Operator, resource: str = "podcliques") -> dict[str, datetime]:
    """When each object was deleted by the operator; every one of them once."""
    found = [
        (event["objectRef"]["name"], event["requestReceivedTimestamp"]) for event in operator.writes(resource, "delete")
    ]
    assert len(dict(found)) == len(found), "each once"
    return {name: datetime.fromisoformat(moment) for name, moment in found}


def all_ready(scene: Scene, pods: int) -> None:
    """Wait until so many pods are ready, and it is on record that every clique was available."""
    scene.await_ready(pods)

    def unrecorded() -> list[str]:
        found = scene.all_of("podcliques")
        return [one["metadata"]["name"] for one in found if not one.get("status", {}).get("wasAvailable")]

    wait_until(unrecorded, lambda left: not left, "all cliques were available")


class TestTheEndOfAReplica:
    """Of the set."""

    @pytest.mark.req("GT-032")
    @pytest.mark.req("GT-036")
    @pytest.mark.req("OP-013")
    @pytest.mark.req("OP-074")
    def test_gt033_it_ends_whole_at_its_second_and_comes_back(self, scene: Scene, operator: Operator) -> None:
        scene.api.create(the_set(scene, replicas=2))
        all_ready(scene, 14)
        before, pods = uids(scene, "podcliques"), uids(scene, "pods")
        scene.annotate_pods("llama-0-router", not_ready="true")
        due = await_breach(scene, "llama-0-router") + timedelta(seconds=3)
        await_new(scene, "llama-0-router", before["llama-0-router"])
        scene.await_ready(14)
        scene.await_status(availableReplicas=2)

        ended = deleted_at(operator)
        assert ended.keys() == {name for name in before if name.startswith("llama-0-")}
        assert due <= min(ended.values())
        assert max(ended.values()) < due + timedelta(seconds=2)
        after = uids(scene, "podcliques")
        assert after.keys() == before.keys()
        assert {name for name in before if after[name] != before[name]} == ended.keys()
        kept = {name: uid for name, uid in pods.items() if name.startswith("llama-1-")}
        assert kept.items() <= uids(scene, "pods").items()
        lines = [line for line in operator.lines if line["msg"].startswith("delete PodClique")]
        assert all({reason["rule"] for reason in line["because"]} >= {"DelayExpired"} for line in lines), lines
        order = sorted(ended, key=lambda name: ended[name])
        assert order[-1] == "llama-0-router", "the cause goes last (GT-063)"

    @pytest.mark.req("OP-041")
    def test_op042_an_end_is_reported_once_also_by_two_processes(self, scene: Scene, starting: Starting) -> None:
        operator = starting().start()
        scene.api.create(the_set(scene, delay="8s"))
        all_ready(scene, 7)
        before = uids(scene, "podcliques")
        scene.annotate_pods("llama-0-router", not_ready="true")
        due = await_breach(scene, "llama-0-router") + timedelta(seconds=8)
        (reported,) = wait_until(lambda: scene.events("TerminationScheduled"), bool, "the wait is reported")
        assert (reported["regarding"]["name"], reported["type"]) == ("llama", "Warning")
        assert f"{due:%Y-%m-%dT%H:%M:%SZ}" in reported["note"]
        operator.kill()
        operator.start()
        await_new(scene, "llama-0-router", before["llama-0-router"])
        all_ready(scene, 7)
        assert due <= min(deleted_at(operator).values())
        assert len(scene.events("TerminationScheduled")) == 1
        (reported,) = scene.events("GangTerminated")
        assert reported["metadata"]["creationTimestamp"] >= f"{due:%Y-%m-%dT%H:%M:%SZ}"
        writing = [event for event in operator.reported if event["objectRef"]["name"] == reported["metadata"]["name"]]
        assert datetime.fromisoformat(writing[0]["stageTimestamp"]) < min(deleted_at(operator).values())
        plans = {line["plan"] for line in operator.lines if line["msg"] == "delete PodClique: done"}
        assert reported["metadata"]["annotations"]["grove.io/plan"] in plans

    @pytest.mark.req("GT-014")
    def test_gt034_a_clique_that_recovers_in_time_stays(self, scene: Scene, operator: Operator) -> None:
        """Another set that ends later shows that the time of the first one is over."""
        scene.api.create(the_set(scene))
        scene.api.create(the_set(scene, "other"))
        all_ready(scene, 14)
        before = uids(scene, "podcliques")
        scene.annotate_pods("llama-0-router", not_ready="true")
        await_breach(scene, "llama-0-router")
        scene.annotate_pods("llama-0-router", not_ready=None)
        await_breach(scene, "llama-0-router", "False")
        scene.annotate_pods("other-0-router", not_ready="true")
        await_new(scene, "other-0-router", before["other-0-router"])
        scene.await_ready(14)
        assert deleted_at(operator).keys() == {name for name in before if name.startswith("other-")}
        assert not scene.events("GangTerminated")[1:]


class TestTheEndOfAGroupReplica:
    """Of a scaling group."""

    def test_gt050_a_group_ends_what_it_can_spare(self, scene: Scene, operator: Operator) -> None:
        scene.api.create(the_set(scene))
        all_ready(scene, 7)
        before, pods = uids(scene, "podcliques"), uids(scene, "pods")
        scene.annotate_pods("llama-0-pool-1-leader", not_ready="true")
        due = await_breach(scene, "llama-0-pool-1-leader") + timedelta(seconds=3)
        await_new(scene, "llama-0-pool-1-leader", before["llama-0-pool-1-leader"])
        scene.await_ready(7)
        ended = deleted_at(operator)
        assert ended.keys() == {"llama-0-pool-1-leader", "llama-0-pool-1-worker"}
        assert due <= min(ended.values())
        assert max(ended.values()) < due + timedelta(seconds=2)
        kept = {name: uid for name, uid in pods.items() if "-pool-1-" not in name}
        assert kept.items() <= uids(scene, "pods").items()

    @pytest.mark.req("GT-052")
    def test_gt042_a_group_that_cannot_spare_it_ends_with_its_replica(self, scene: Scene, operator: Operator) -> None:
        scene.api.create(the_set(scene))
        all_ready(scene, 7)
        before = uids(scene, "podcliques")
        for name in ("llama-0-pool-0-worker", "llama-0-pool-1-worker"):
            scene.annotate_pods(name, not_ready="true")
        due = await_breach(scene, "llama-0-pool", resource="podcliquescalinggroups") + timedelta(seconds=3)
        await_new(scene, "llama-0-router", before["llama-0-router"])
        scene.await_ready(7)
        ended = deleted_at(operator)
        assert ended.keys() == before.keys()
        assert due <= min(ended.values())
