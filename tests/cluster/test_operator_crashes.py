"""An operator that is killed at random moments: the result is right, and nothing is created twice."""

import random
import time
from collections import Counter
from collections.abc import Callable
from datetime import datetime, timedelta

import pytest

from tests.cluster.api import wait_until
from tests.cluster.operators import Operator, Starting
from tests.cluster.plane import ControlPlane
from tests.cluster.scenes import Scene, clique, condition, group
from tests.cluster.watching import PodWatch

KILLS = 4
LONGEST_LIFE = 0.3


@pytest.fixture
def narrow(starting: Starting, scene: Scene) -> Operator:
    """It has one request under way at a time, so that there are more moments to be killed at."""
    scene.api.add_nodes([f"{scene.namespace}-more-{number}" for number in range(4)], {"test": scene.namespace})
    return starting(client={"inFlight": 1})


def killed(operator: Operator, seed: int, *, until: Callable[[], bool] = lambda: False) -> int:
    """Start it and kill it in the midst of its work, some times; how often that was."""
    draw = random.Random(seed)
    for kills in range(KILLS):
        if until():
            return kills
        operator.start()
        time.sleep(draw.uniform(0, LONGEST_LIFE))
        operator.kill()
    return KILLS


def created_twice(operator: Operator) -> list[str]:
    """Pods that the API server made twice for this user; their names follow from clique, index and predecessors."""
    names = Counter(event["objectRef"]["name"] for event in operator.writes("pods", "create"))
    return [name for name, times in names.items() if times > 1]


class TestKilled:
    """With SIGKILL: nothing is said, nothing is released."""

    @pytest.mark.parametrize("seed", [1, 2])
    def test_wl085_in_an_expansion(self, grove_plane: ControlPlane, scene: Scene, narrow: Operator, seed: int) -> None:
        pool = group("pool", "leader", "worker", replicas=2)
        cliques = (clique("router", 8), clique("leader"), clique("worker", 3))
        with PodWatch(grove_plane, scene.namespace) as watch:
            scene.api.create(scene.set_of(*cliques, podCliqueScalingGroups=[pool], replicas=2))
            assert killed(narrow, seed, until=lambda: len(scene.pods()) == 32)
            narrow.start()
            scene.await_ready(32)
            scene.await_status(availableReplicas=2)
            narrow.await_rest()
        assert not created_twice(narrow)
        assert not watch.doubles()
        assert not narrow.writes(verb="delete")

    @pytest.mark.req("WL-215")
    @pytest.mark.req("WL-224")
    def test_wl212_in_an_update(self, grove_plane: ControlPlane, scene: Scene, narrow: Operator) -> None:
        with PodWatch(grove_plane, scene.namespace) as watch:
            manifest = scene.set_of(
                clique("spare", 5, minimum=4),
                clique("worker", 3),
                podCliqueScalingGroups=[group("pool", "worker", replicas=2)],
            )
            scene.api.create(manifest)
            narrow.start()
            scene.await_ready(11)
            scene.await_status(availableReplicas=1)
            narrow.kill()
            scene.new_image("example.com/main:2")
            assert killed(narrow, 3) == KILLS
            narrow.start()
            wait_until(
                lambda: {pod["spec"]["containers"][0]["image"] for pod in scene.pods()},
                lambda found: found == {"example.com/main:2"},
                "all pods are new",
                seconds=60,
            )
            scene.await_ready(11)
            narrow.await_rest()
        assert watch.fewest_ready("llama-0-spare", from_on=5) >= 4
        assert watch.fewest_replicas("llama-0-pool-{}-worker", 2, pods=3) >= 1
        assert not created_twice(narrow)
        assert not watch.doubles()

    @pytest.mark.req("GT-016")
    @pytest.mark.req("GT-063")
    def test_pl018_in_a_termination(self, scene: Scene, narrow: Operator) -> None:
        cliques = (clique("router"), clique("worker", 4), *(clique(f"other-{number}") for number in range(6)))
        scene.api.create(scene.set_of(*cliques, replicas=2, terminationDelay="3s"))
        narrow.start()
        scene.await_ready(22)
        scene.await_status(availableReplicas=2)
        before = {one["metadata"]["name"]: one["metadata"]["uid"] for one in scene.all_of("podcliques")}
        scene.annotate_pods("llama-0-router", not_ready="true")
        found = scene.await_condition("podcliques", "llama-0-router", "MinAvailableBreached", "True")
        narrow.kill()
        since = datetime.fromisoformat(condition(found, "MinAvailableBreached")["lastTransitionTime"])
        assert killed(narrow, 5) == KILLS
        narrow.start()
        scene.await_object(
            "podcliques",
            "llama-0-router",
            lambda found: found and found["metadata"]["uid"] != before["llama-0-router"],
            "the replica ended",
        )
        scene.await_ready(22)
        scene.await_status(availableReplicas=2)
        narrow.await_rest()
        deletions = narrow.writes("podcliques", "delete")
        reported = [(event["objectRef"]["name"], event["requestReceivedTimestamp"]) for event in deletions]
        assert sorted(name for name, _ in reported) == [
            name for name in sorted(before) if name.startswith("llama-0-")
        ], reported
        moments = [datetime.fromisoformat(event["requestReceivedTimestamp"]) for event in deletions]
        assert min(moments) >= since + timedelta(seconds=3)
        assert not created_twice(narrow)
        assert len(scene.events("GangTerminated")) == 1
