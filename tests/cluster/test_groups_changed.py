"""Updates and scaling of sets in groups, under the scheduler of Kubernetes (SC-011, SC-013, SC-021, SC-022)."""

import pytest

from tests.cluster.api import wait_until
from tests.cluster.operators import Operator
from tests.cluster.racks import BASE, PREFILL, WHOLE, Racks
from tests.cluster.scenes import Scene, light

pytestmark = pytest.mark.groups

IMAGE = "example.com/main:2"


def images(scene: Scene) -> set[str]:
    return {pod["spec"]["containers"][0]["image"] for pod in scene.pods()}


@pytest.mark.req("SC-013")
def test_sc013_an_update_keeps_the_groups_and_each_part_in_its_rack(racks: Racks, grouping: Operator) -> None:
    """All pods are needed, so the update waits for room for one more replica, in a gang of its own."""
    scene = racks.scene
    racks.create()
    racks.await_placed(WHOLE)
    scene.await_ready(BASE)
    groups = {one["metadata"]["uid"] for one in scene.all_of("podgroups")}
    scene.new_image(IMAGE)
    spare = "llama-0-prefill-2"
    scene.await_object("compositepodgroups", spare, bool, "there is one more replica")
    racks.add_rack()
    wait_until(lambda: images(scene), lambda found: found == {IMAGE}, "all pods have the new image", seconds=120)
    racks.await_placed(WHOLE)
    scene.await_ready(BASE)
    assert len(racks.racks_of(0)) == len(racks.racks_of(1)) == 1
    scene.await_gone("compositepodgroups", spare)
    wait_until(
        lambda: {one["metadata"]["uid"] for one in scene.all_of("podgroups")},
        lambda found: found == groups,
        "the groups are those of before",
    )
    grouping.await_rest()


@pytest.mark.req("SC-011", "SC-021")
def test_sc021_a_replica_comes_in_a_gang_of_its_own_and_goes_with_its_groups(racks: Racks, grouping: Operator) -> None:
    scene = racks.scene
    racks.create()
    racks.await_placed(WHOLE)
    scene.scale("podcliquescalinggroups", "llama-0-prefill", 3)
    racks.await_waiting(PREFILL)
    before = {pod["metadata"]["uid"] for pod in scene.pods() if pod["spec"].get("nodeName")}
    new = racks.add_rack()
    racks.await_placed({**WHOLE, "llama-0-prefill-2-leader": 1, "llama-0-prefill-2-worker": 3})
    assert racks.racks_of(2) == {new}
    scene.scale("podcliquescalinggroups", "llama-0-prefill", 2)
    racks.await_placed(WHOLE)
    scene.await_gone("compositepodgroups", "llama-0-prefill-2")
    wait_until(
        lambda: scene.names("podgroups"),
        lambda found: not [name for name in found if name.startswith("llama-0-prefill-2-")],
        "its PodGroups are gone",
    )
    assert before <= {pod["metadata"]["uid"] for pod in scene.pods()}
    grouping.await_rest()


@pytest.mark.req("SC-013", "SC-022")
def test_sc022_a_clique_grows_and_shrinks_within_its_group(scene: Scene, grouping: Operator) -> None:
    manifest = scene.set_of(light("router", 3))
    manifest["spec"]["template"]["cliques"][0]["spec"]["minAvailable"] = 2
    scene.api.create(manifest)
    scene.await_ready(3)
    group = scene.get("podgroups", "llama-0-router")["metadata"]["uid"]
    scene.scale("podcliques", "llama-0-router", 5)
    pods = scene.await_ready(5)
    assert {pod["spec"]["schedulingGroup"]["podGroupName"] for pod in pods} == {"llama-0-router"}
    scene.scale("podcliques", "llama-0-router", 2)
    scene.await_ready(2)
    assert scene.get("podgroups", "llama-0-router")["metadata"]["uid"] == group
    grouping.await_rest()
