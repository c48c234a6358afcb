"""Large gangs and many gangs in groups, with too little room and with enough (SC-011, SC-013)."""

import time
from typing import Final

import pytest

from tests.cluster.api import wait_until
from tests.cluster.operators import Operator
from tests.cluster.racks import QUIET_SECONDS
from tests.cluster.scenes import Scene, clique, condition, light

pytestmark = pytest.mark.groups

REPLICAS: Final = 100
PODS: Final = 10
"""Of a gang that needs three nodes."""
SMALL: Final = 4
"""Of each of a hundred gangs."""


@pytest.mark.req("SC-013")
def test_sc013_room_for_nine_of_ten_pods_places_none(scene: Scene, grouping: Operator) -> None:
    """Two nodes of 8 GPUs each: the tenth pod of two cliques finds room only on a third node."""
    eight = clique("engine", 9)
    for each in (first := clique("first"), eight):
        each["spec"]["podSpec"]["containers"][0]["resources"] = {"limits": {"nvidia.com/gpu": "1"}}
    scene.api.create(scene.set_of(clique("filler", 7), name="filler"))
    scene.await_ready(7)  # nine are left
    scene.api.create(scene.set_of(first, eight, name="ten"))

    def waiting() -> int:
        pods = [pod for pod in scene.pods() if pod["metadata"]["name"].startswith("ten-")]
        return sum(condition(pod, "PodScheduled").get("reason") == "Unschedulable" for pod in pods)

    wait_until(waiting, lambda found: found == PODS, "no place for ten pods")
    time.sleep(QUIET_SECONDS)
    assert waiting() == PODS
    scene.api.add_nodes([f"{scene.namespace}-more"], {"test": scene.namespace})
    scene.await_ready(7 + PODS)
    assert grouping.code is None


@pytest.mark.req("SC-011", "SC-013")
def test_sc011_a_hundred_gangs(scene: Scene, grouping: Operator) -> None:
    scene.api.add_nodes([f"{scene.namespace}-more-{number}" for number in range(10)], {"test": scene.namespace})
    scene.api.create(scene.set_of(light("leader"), light("worker", SMALL - 1), replicas=REPLICAS))
    scene.await_ready(REPLICAS * SMALL, seconds=300)
    scene.await_status(availableReplicas=REPLICAS)
    assert len(scene.names("podgroups")) == 2 * REPLICAS
    assert len(scene.names("compositepodgroups")) == REPLICAS
    grouping.await_rest()
    scene.api.delete("podcliquesets", "llama", scene.namespace)
    scene.await_gone("podcliquesets", "llama", seconds=180)
    wait_until(lambda: scene.names("podgroups"), lambda found: not found, "no group is left", seconds=120)
