"""What the scheduler preempts of a gang in groups, and what is said of it (SC-016, GT-068)."""

from collections.abc import Iterator
from typing import Final

import pytest

from tests.cluster.api import Json, wait_until
from tests.cluster.operators import Operator, grove
from tests.cluster.plane import ControlPlane
from tests.cluster.racks import PREFILL, WHOLE, Racks
from tests.cluster.scenes import Scene, clique, condition

pytestmark = pytest.mark.groups

BREACH: Final = "MinAvailableBreached"
LINGER: Final = "4s"
"""How long a preempted pod takes to end."""


@pytest.fixture(autouse=True)
def full_racks_alone(racks: Racks) -> None:
    """Close the nodes outside racks."""
    for number in "01":
        racks.cordon(number)


@pytest.fixture
def urgent(scene: Scene) -> Iterator[str]:
    """The name of a priority class above that of other sets."""
    name = f"urgent-{scene.namespace}"
    manifest = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": name}}
    scene.api.create({**manifest, "value": 1000})
    yield name
    scene.api.delete("priorityclasses", name)


def create_urgent(scene: Scene, priority: str, pods: int) -> None:
    """Create a set whose pods need a whole node each and may preempt others."""
    engine = clique("engine", pods)
    engine["spec"]["podSpec"]["containers"][0]["resources"] = {"limits": {"nvidia.com/gpu": "8"}}
    engine["spec"]["podSpec"]["priorityClassName"] = priority
    scene.api.create(scene.set_of(engine, name="urgent", priorityClassName=priority))


def bound(pods: list[Json]) -> int:
    return sum(bool(pod["spec"].get("nodeName")) for pod in pods)


@pytest.mark.req("SC-016", "GT-068")
def test_sc016_preemption_takes_a_replica_as_a_whole_and_is_the_reason(
    racks: Racks, grouping: Operator, urgent: str, grove_plane: ControlPlane
) -> None:
    """The replica is taken as a whole; its condition and the Event of its termination name preemption."""
    scene = racks.scene
    racks.create(terminationDelay="15s")
    racks.await_placed(WHOLE)
    scene.await_status(availableReplicas=1)
    for name in scene.names("podcliques"):
        scene.annotate_pods(name, delete_after=LINGER)
    create_urgent(scene, urgent, 2)

    def reasons() -> dict[str, str]:
        found = {one["metadata"]["name"]: condition(one, BREACH) for one in scene.all_of("podcliques")}
        return {name: one["reason"] for name, one in found.items() if one.get("status") == "True"}

    breached = wait_until(reasons, lambda found: len(found) == 2, "both PodCliques of a replica are breached")
    assert set(breached.values()) == {"PodsPreempted"}
    (number,) = {name.split("-")[3] for name in breached}
    wait_until(lambda: racks.placed().get("urgent-0-engine", []), lambda found: len(found) == 2, "the urgent set runs")
    left = {one: bound(racks.pods_of(one)) for one in (0, 1)}
    assert left == {int(number): 0, 1 - int(number): PREFILL}
    assert len(racks.placed()["llama-0-router"]) == 1
    scheduled = wait_until(lambda: scene.events("TerminationScheduled"), bool, "the termination is announced")
    assert any("the scheduler preempted pods of it" in one["note"] for one in scheduled), scheduled
    ran = grove(
        "plan", "--live", "-n", scene.namespace, "--config", str(grouping.config), kubeconfig=grove_plane.kubeconfig()
    )
    assert "the scheduler preempted pods of it" in ran.stdout, ran.stdout + ran.stderr


@pytest.mark.req("SC-016")
def test_sc016_pods_that_are_not_needed_are_preempted_one_by_one(racks: Racks, grouping: Operator, urgent: str) -> None:
    """Two of four pods are needed, so two are taken and the set goes on serving."""
    scene = racks.scene
    for number in range(PREFILL):
        racks.cordon(f"r1-{number}")
    engine = clique("engine", 4, minimum=2)
    engine["spec"]["podSpec"]["containers"][0]["resources"] = {"limits": {"nvidia.com/gpu": "8"}}
    scene.api.create(scene.set_of(engine))
    scene.await_ready(4)
    before = {pod["metadata"]["uid"] for pod in scene.pods()}
    create_urgent(scene, urgent, 2)
    wait_until(lambda: racks.placed().get("urgent-0-engine", []), lambda found: len(found) == 2, "the urgent set runs")
    grouping.await_rest()
    kept = [pod for pod in scene.pods("llama-0-engine") if pod["metadata"]["uid"] in before]
    assert bound(kept) == 2
    assert condition(scene.get("podcliques", "llama-0-engine"), BREACH)["status"] == "False"
