"""Groups and Workloads that were edited by hand, or that are of another controller (SC-022, SC-025, SC-026)."""

from typing import Final

import pytest

from tests.cluster.api import Json, wait_until
from tests.cluster.operators import Operator, grove
from tests.cluster.plane import ControlPlane
from tests.cluster.scenes import Scene, light

pytestmark = pytest.mark.groups

GROUPS: Final = "scheduling.k8s.io/v1beta1"


def uids(scene: Scene, *resources: str) -> dict[str, str]:
    return {
        f"{resource}/{one['metadata']['name']}": one["metadata"]["uid"]
        for resource in resources
        for one in scene.all_of(resource)
    }


@pytest.mark.req("SC-022", "SC-025")
def test_sc025_edits_by_hand_are_undone_and_no_pod_is_restarted(scene: Scene, grouping: Operator) -> None:
    scene.api.create(scene.set_of(light("router"), light("engine", 2)))
    scene.await_ready(3)
    grouping.await_rest()
    before = uids(scene, "pods", "podgroups", "compositepodgroups")
    grouping.stop()
    workload = scene.get("workloads", "llama")
    kept = ("name", "namespace", "labels", "ownerReferences")
    workload["metadata"] = {key: workload["metadata"][key] for key in kept}
    (template,) = workload["spec"]["compositePodGroupTemplates"]
    template["schedulingPolicy"]["gang"]["minGroupCount"] = 1
    del template["podGroupTemplates"][1:]
    scene.api.delete("workloads", "llama", scene.namespace)
    edited = scene.api.create(workload)["metadata"]["uid"]
    scene.patch("podgroups", "llama-0-engine", {"spec": {"schedulingPolicy": {"gang": {"minCount": 1}}}})
    grouping.start()

    def is_restored(found: Json) -> bool:
        return bool(found) and len(found["spec"]["compositePodGroupTemplates"][0]["podGroupTemplates"]) == 2

    scene.await_object("workloads", "llama", is_restored, "the Workload has both templates again")
    scene.await_object(
        "podgroups",
        "llama-0-engine",
        lambda found: found["spec"]["schedulingPolicy"]["gang"]["minCount"] == 2,
        "two pods are needed again",
    )
    grouping.await_rest()
    assert scene.get("workloads", "llama")["metadata"]["uid"] != edited
    assert uids(scene, "pods", "podgroups", "compositepodgroups") == before


@pytest.mark.req("SC-026")
def test_sc026_a_group_of_another_controller_is_left_alone(
    scene: Scene, grouping: Operator, grove_plane: ControlPlane
) -> None:
    """Pods that would join it are not created, and the plan names the group; once it is gone, all are placed."""
    owner = scene.api.create(
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "other", "namespace": scene.namespace}}
    )["metadata"]
    reference = {"apiVersion": "v1", "kind": "ConfigMap", "name": "other", "uid": owner["uid"], "controller": True}
    metadata = {"name": "llama-0-engine", "namespace": scene.namespace, "ownerReferences": [reference]}
    spec = {"schedulingPolicy": {"gang": {"minCount": 1}}}
    scene.api.create({"apiVersion": GROUPS, "kind": "PodGroup", "metadata": metadata, "spec": spec})
    foreign = scene.get("podgroups", "llama-0-engine")["metadata"]["uid"]
    scene.api.create(scene.set_of(light("router"), light("engine", 2)))
    wait_until(lambda: scene.names("podgroups"), lambda found: "llama-0-router" in found, "the other group is made")
    wait_until(lambda: scene.events("RefusedBefore"), bool, "the refusal is reported")
    assert scene.get("podgroups", "llama-0-engine")["metadata"]["uid"] == foreign
    assert scene.pods("llama-0-engine") == []
    where = ("--live", "-n", scene.namespace, "--config", str(grouping.config))
    ran = grove("plan", *where, kubeconfig=grove_plane.kubeconfig())
    assert "HELD BACK  PodGroup llama-0-engine: a group with that name exists" in ran.stdout, ran.stdout + ran.stderr
    scene.api.delete("podgroups", "llama-0-engine", scene.namespace)
    scene.await_ready(3, seconds=120)
