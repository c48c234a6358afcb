"""The forecast of an edit beside the operator that executes it on a real control plane."""

import json
from pathlib import Path
from typing import Final

import pytest

from tests.cluster.api import Json, wait_until
from tests.cluster.operators import Operator, grove
from tests.cluster.plane import ControlPlane
from tests.cluster.scenes import Scene, clique, group, is_ready
from tests.cluster.watching import PodWatch

NEW: Final = "example.com/main:2"


def edit_of(scene: Scene) -> Json:
    """The manifest of the set with another image of every clique, as a user keeps it in a file."""
    stored = scene.get("podcliquesets", "llama")
    metadata = {key: stored["metadata"][key] for key in ("name", "namespace")}
    edit: Json = {key: stored[key] for key in ("apiVersion", "kind", "spec")} | {"metadata": metadata}
    for each in edit["spec"]["template"]["cliques"]:
        each["spec"]["podSpec"]["containers"][0]["image"] = NEW
    return edit


def update_of(edit: Json, scene: Scene, plane: ControlPlane, folder: Path) -> Json:
    """The update that ``grove plan --live -f`` announces."""
    file = folder / "new.json"
    file.write_text(json.dumps(edit), encoding="utf-8")
    ran = grove(
        *("plan", "--live", "-n", scene.namespace, "-f", str(file), "--rules", "design", "-o", "json"),
        kubeconfig=plane.kubeconfig("admin"),
    )
    assert ran.returncode == 0, ran.stderr
    (plan,) = json.loads(ran.stdout)["plans"]
    found: Json = plan["edit"]["update"]
    return found


def is_updated(pods: list[Json]) -> bool:
    return [pod["spec"]["containers"][0]["image"] for pod in pods] == [NEW] * 11 and all(map(is_ready, pods))


@pytest.mark.req("ED-002", "ED-003", "ED-004")
def test_ed002_the_pods_that_go_and_the_lowest_number_are_those_announced(
    scene: Scene, control_plane: ControlPlane, operator: Operator, tmp_path: Path
) -> None:
    leader, follower = clique("leader", 1), clique("follower", 2)
    pool = group("pool", "leader", "follower", replicas=2)
    scene.api.create(
        scene.set_of(
            clique("router", 1), clique("worker", 4, minimum=3), leader, follower, podCliqueScalingGroups=[pool]
        )
    )
    scene.await_ready(11)
    operator.await_rest()
    old = {pod["metadata"]["name"] for pod in scene.pods()}
    edit = edit_of(scene)
    announced = update_of(edit, scene, control_plane, tmp_path)
    with PodWatch(control_plane, scene.namespace) as watch:
        scene.patch("podcliquesets", "llama", {"spec": edit["spec"]})
        wait_until(scene.pods, is_updated, "every pod is of the new template and ready", seconds=120)
    gone = {
        pod["pod"]["name"] for stage in announced["stages"] for pod in stage["deleted"] if pod["fate"] == "Restarted"
    }
    assert gone == old
    assert announced["restarted"] == {"pods": 11, "gpus": 11}
    lowest = {part["part"]["name"]: part["lowest"] for part in announced["parts"]}
    assert watch.fewest_ready("llama-0-router", from_on=1) == lowest["llama-0-router"] == 1
    assert watch.fewest_ready("llama-0-worker", from_on=4) == lowest["llama-0-worker"] == 3
    assert watch.fewest_replicas("llama-0-pool-{}-follower", 2, pods=2) == lowest["llama-0-pool"] == 1
