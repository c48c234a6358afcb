"""A set becomes running pods, its status is written, and fields of other writers stay."""

import pytest

from tests.cluster.api import APPLY, Json, wait_until
from tests.cluster.operators import Operator
from tests.cluster.scenes import API_VERSION, Scene, clique, condition, group

STATUS_WRITER = "grove-operator-status"


def the_set(scene: Scene) -> Json:
    """Seven pods: a base gang of four, and a scaled one of three."""
    pool = group("pool", "leader", "worker", replicas=2)
    return scene.set_of(clique("router"), clique("leader"), clique("worker", 2), podCliqueScalingGroups=[pool])


def written_by(manager: str, found: Json) -> Json:
    """The fields of the status that belong to a manager; empty if it has none."""
    managed = [each for each in found["metadata"]["managedFields"] if each.get("subresource") == "status"]
    fields: Json = next((each["fieldsV1"].get("f:status", {}) for each in managed if each["manager"] == manager), {})
    return fields


def condition_applied(name: str) -> Json:
    """What a foreign program applies to the status of a clique."""
    seen = {
        "type": "example.com/Warm",
        "status": "True",
        "reason": "Measured",
        "message": "",
        "lastTransitionTime": "2026-01-01T00:00:00Z",
    }
    metadata = {"name": name}
    return {"apiVersion": API_VERSION, "kind": "PodClique", "metadata": metadata, "status": {"conditions": [seen]}}


class TestExpansion:
    """Cliques, gangs, gates, the scheduler, the kubelet."""

    @pytest.mark.req("WL-094")
    @pytest.mark.req("GT-016")
    @pytest.mark.req("GT-046")
    @pytest.mark.req("WL-243")
    def test_wl090_a_set_is_placed_gang_by_gang_and_says_so(self, scene: Scene, operator: Operator) -> None:
        scene.api.create(the_set(scene))
        pods = scene.await_ready(7)
        assert not [pod for pod in pods if pod["spec"].get("schedulingGates")]
        assert {pod["spec"]["nodeName"] for pod in pods} <= {f"{scene.namespace}-0", f"{scene.namespace}-1"}
        scene.await_status(replicas=1, availableReplicas=1, updatedReplicas=1, observedGeneration=1)

        counts = ("replicas", "availableReplicas", "scheduledReplicas", "updatedReplicas")
        scene.await_counts("podcliquescalinggroups", "llama-0-pool", dict.fromkeys(counts, 2))
        counts = ("replicas", "readyReplicas", "scheduledReplicas", "updatedReplicas")
        found = scene.await_counts("podcliques", "llama-0-pool-1-worker", dict.fromkeys(counts, 2))
        assert not found["status"].get("scheduleGatedReplicas")
        assert found["status"]["wasAvailable"] is True
        breached, placed = (condition(found, each) for each in ("MinAvailableBreached", "PodCliqueScheduled"))
        assert (breached["status"], breached["reason"]) == ("False", "SufficientReadyPods")
        assert (placed["status"], placed["reason"]) == ("True", "SufficientScheduledPods")

        for name, cliques in (("llama-0", 3), ("llama-0-pool-0", 2)):
            gang = scene.await_object(
                "podgangs", name, lambda found: found["status"].get("phase") == "Running", f"gang {name} runs"
            )
            assert len(gang["spec"]["podgroups"]) == cliques

    def test_wl095_a_scaled_gang_waits_for_the_base_gang(self, scene: Scene, operator: Operator) -> None:
        """Nodes come late; until then the pods of the base gang wait for nodes, the others behind their gates."""
        late = the_set(scene)
        for each in late["spec"]["template"]["cliques"]:
            each["spec"]["podSpec"]["nodeSelector"] = {"test": scene.namespace, "late": "true"}
        scene.api.create(late)

        def gates() -> dict[bool, set[bool]]:
            """Whether pods have gates, by whether they are of the scaled gang."""
            found: dict[bool, set[bool]] = {True: set(), False: set()}
            for pod in scene.pods():
                found["-pool-1-" in pod["metadata"]["name"]].add(bool(pod["spec"].get("schedulingGates")))
            return found

        wait_until(gates, lambda found: found == {True: {True}, False: {False}}, "only the scaled gang is gated")
        operator.await_line("withheld", target="PodClique/llama-0-pool-1-worker")
        scene.api.add_nodes([f"{scene.namespace}-late"], {"test": scene.namespace, "late": "true"})
        scene.await_ready(7)


class TestOP012:
    """A status MUST be applied as a whole by the field manager `grove-operator-status`, and contain no condition of a
    type that Grove does not write.
    """

    @pytest.mark.parametrize(
        ("resource", "name"),
        [
            ("podcliquesets", "llama"),
            ("podcliquescalinggroups", "llama-0-pool"),
            ("podcliques", "llama-0-router"),
            ("podgangs", "llama-0"),
        ],
    )
    def test_op012_a_status_has_one_writer(self, scene: Scene, operator: Operator, resource: str, name: str) -> None:
        scene.api.create(the_set(scene))
        found = scene.await_object(
            resource, name, lambda found: found and written_by(STATUS_WRITER, found), "it has a status"
        )
        assert f"f:{next(iter(found['status']))}" in written_by(STATUS_WRITER, found)
        writers = {each["manager"] for each in found["metadata"]["managedFields"] if each.get("subresource")}
        assert writers == {STATUS_WRITER}

    def test_op012_what_others_wrote_survives(self, scene: Scene, operator: Operator) -> None:
        scene.api.create(scene.set_of(clique("router")))
        scene.await_ready(1)
        theirs = condition_applied("llama-0-router")
        scene.patch(
            "podcliques", "llama-0-router", theirs, media=APPLY, subresource="status", fieldManager="thermometer"
        )
        for resource, name in (("podcliques", "llama-0-router"), ("podcliquesets", "llama"), ("podgangs", "llama-0")):
            scene.patch(resource, name, {"metadata": {"labels": {"example.com/team": "blue"}}})

        for reported, verdict in (("true", "True"), (None, "False")):
            scene.annotate_pods("llama-0-router", not_ready=reported)
            found = scene.await_condition("podcliques", "llama-0-router", "MinAvailableBreached", verdict)
            assert condition(found, "example.com/Warm") == theirs["status"]["conditions"][0]
        assert "f:conditions" in written_by("thermometer", found)
        for resource, name in (("podcliques", "llama-0-router"), ("podcliquesets", "llama"), ("podgangs", "llama-0")):
            assert scene.get(resource, name)["metadata"]["labels"]["example.com/team"] == "blue"

    def test_op012_a_status_that_another_operator_wrote_is_taken_over(self, scene: Scene, operator: Operator) -> None:
        """Without ``force`` the server would refuse every status that another manager wrote before."""
        scene.api.create(scene.set_of(clique("router")))
        scene.await_ready(1)
        scene.await_status(availableReplicas=1)
        scene.patch(
            "podcliquesets", "llama", {"status": {"availableReplicas": 9}}, subresource="status", fieldManager="before"
        )
        scene.await_status(availableReplicas=1)
