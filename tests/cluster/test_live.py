"""A cluster that is asked, kept in a file, and changed by exactly the plan that was reviewed."""

import json
from pathlib import Path

from grove_core.resources.api_names import MANAGED_BY
from grove_shell.actions.command_input import LiveClusterOptions
from grove_shell.actions.completion_object_names import ObjectName, names_in_cluster
from tests.cluster.api import MERGE, Json, wait_until
from tests.cluster.operators import Operator, grove
from tests.cluster.plane import ControlPlane
from tests.cluster.scenes import Scene, clique, condition


def planned(scene: Scene, plane: ControlPlane, *options: str, user: str = "admin") -> Json:
    """The JSON plan of one namespace."""
    asked = ("plan", "--live", "-n", scene.namespace, "-o", "json", *options)
    ran = grove(*asked, kubeconfig=plane.kubeconfig(user))
    assert ran.returncode == 0, ran.stderr
    found: Json = json.loads(ran.stdout)
    return found


def steps(plan: Json) -> list[tuple[str, str, str]]:
    return [
        (step["action"], step["target"]["kind"], step["target"]["name"])
        for reported in plan["plans"]
        for step in reported["rounds"][0]["steps"]
    ]


def test_in040_a_kind_of_which_there_is_none_counts_as_collected(scene: Scene, control_plane: ControlPlane) -> None:
    """All pods and cliques of a set are missing, and the plan makes them: they are nowhere, not unknown."""
    scene.api.create(scene.set_of(clique("worker", 2)))
    plan = planned(scene, control_plane)
    assert plan["notCollected"] == []
    assert ("create", "PodClique", "llama-0-worker") in steps(plan)


def test_cl116_names_to_complete_are_those_of_the_cluster(scene: Scene, control_plane: ControlPlane) -> None:
    scene.api.create(scene.set_of(clique("worker", 2)))
    live = LiveClusterOptions(kubeconfig=str(control_plane.kubeconfig("admin")), namespace=scene.namespace)
    found = wait_until(lambda: names_in_cluster(live, ("PodCliqueSet",)), bool, "the server's cache has the set")
    assert found == [ObjectName("PodCliqueSet", scene.namespace, "llama")]


def test_op050_a_capture_is_decided_like_the_cluster(
    scene: Scene, control_plane: ControlPlane, operator: Operator, tmp_path: Path
) -> None:
    manifest = scene.set_of(clique("worker", 2))
    container = manifest["spec"]["template"]["cliques"][0]["spec"]["podSpec"]["containers"][0]
    container["env"] = [{"name": "TOKEN", "value": "of-somebody"}]
    scene.api.create(manifest)
    scene.await_ready(2)
    operator.await_rest()
    operator.stop()
    path = f"/apis/grove.io/v1alpha1/namespaces/{scene.namespace}/podcliquesets/llama"
    scene.api.request("PATCH", path, {"spec": {"replicas": 2}}, media=MERGE)
    file = tmp_path / "cluster.json"
    ran = grove("snapshot", "-n", scene.namespace, "--out", str(file), kubeconfig=control_plane.kubeconfig("admin"))
    assert ran.returncode == 0, ran.stderr
    assert "of-somebody" not in file.read_text(encoding="utf-8")
    kept = grove("plan", "-f", str(file), "-o", "json")
    assert kept.returncode == 0, kept.stderr
    assert steps(json.loads(kept.stdout)) == steps(planned(scene, control_plane))
    assert json.loads(kept.stdout)["asOf"] == json.loads(file.read_text(encoding="utf-8"))["items"][0]["takenAt"]


def test_op052_exactly_the_reviewed_plan_or_none_of_it(
    scene: Scene, control_plane: ControlPlane, tmp_path: Path
) -> None:
    scene.api.create(scene.set_of(clique("worker", 2)))
    file, kubeconfig = tmp_path / "plan.json", control_plane.kubeconfig("admin")
    reviewed = steps(planned(scene, control_plane, "--out", str(file)))
    path = f"/apis/grove.io/v1alpha1/namespaces/{scene.namespace}/podcliquesets/llama"
    scene.api.request("PATCH", path, {"spec": {"replicas": 2}}, media=MERGE)
    stale = grove("apply", str(file), kubeconfig=kubeconfig)
    assert stale.returncode == 4
    assert "PodClique/llama-1-worker: step: was nothing, is Create" in stale.stderr
    assert scene.api.find("podcliques.grove.io", "llama-0-worker", scene.namespace) is None

    scene.api.request("PATCH", path, {"spec": {"replicas": 1}}, media=MERGE)
    done = grove("apply", str(file), kubeconfig=kubeconfig)
    assert done.returncode == 0, done.stderr
    for action, kind, name in reviewed:
        if action == "create" and kind == "PodClique":
            assert scene.api.find("podcliques.grove.io", name, scene.namespace) is not None
    again = grove("apply", str(file), kubeconfig=kubeconfig)
    assert again.returncode == 4


def test_op053_a_pod_that_only_lost_its_label_ends_nothing(
    scene: Scene, control_plane: ControlPlane, operator: Operator, tmp_path: Path
) -> None:
    """A breach is over its delay, no operator runs, and the pod recovers; then a user removes its label."""
    scene.api.create(scene.set_of(clique("worker", 1), clique("router", 1), terminationDelay="3s"))
    scene.await_ready(2)
    operator.await_rest()
    scene.annotate_pods("llama-0-worker", not_ready="true")
    scene.await_condition("podcliques", "llama-0-worker", "MinAvailableBreached", "True")
    operator.kill()
    kubeconfig, file = control_plane.kubeconfig("admin"), tmp_path / "plan.json"

    def look() -> Json:
        return planned(scene, control_plane, "--out", str(file))

    wait_until(look, lambda plan: ("delete", "PodClique", "llama-0-worker") in steps(plan), "its end is planned")

    scene.annotate_pods("llama-0-worker", not_ready=None)
    scene.await_ready(2)
    for pod in scene.pods():
        scene.patch("pods", pod["metadata"]["name"], {"metadata": {"labels": {MANAGED_BY: None}}})
    found = planned(scene, control_plane)
    assert {action for action, _, _ in steps(found)} == {"setStatus"}
    ran = grove("apply", str(file), kubeconfig=kubeconfig)
    assert ran.returncode == 4, ran.stdout
    assert len(scene.pods()) == 2
    kept = grove("plan", "--live", "-n", scene.namespace, kubeconfig=kubeconfig)
    assert "TERMINATE" not in kept.stdout
    assert condition(scene.get("podcliques", "llama-0-worker"), "MinAvailableBreached")["status"] == "True"
