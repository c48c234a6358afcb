"""Rolling updates keep the minimum of ready pods, and a deletion leaves nothing."""

import pytest

from tests.cluster.api import ApiError, Json, wait_until
from tests.cluster.operators import Operator
from tests.cluster.plane import ControlPlane
from tests.cluster.scenes import Scene, clique, group
from tests.cluster.watching import PodWatch

NEW = "example.com/main:2"


def images(scene: Scene) -> set[str]:
    return {pod["spec"]["containers"][0]["image"] for pod in scene.pods()}


class TestUpdates:
    """RollingRecreate and OnDelete."""

    @pytest.mark.req("WL-215")
    @pytest.mark.req("WL-216")
    @pytest.mark.req("WL-219")
    @pytest.mark.req("WL-241")
    def test_wl212_an_update_never_falls_below(
        self, grove_plane: ControlPlane, scene: Scene, operator: Operator
    ) -> None:
        """A clique with one to spare, one with none, and a scaling group."""
        with PodWatch(grove_plane, scene.namespace) as watch:
            scene.api.create(
                scene.set_of(
                    clique("spare", 3, minimum=2),
                    clique("single"),
                    clique("worker", 2),
                    podCliqueScalingGroups=[group("pool", "worker", replicas=2)],
                )
            )
            scene.await_ready(8)
            scene.await_status(availableReplicas=1)
            scene.new_image(NEW)
            wait_until(lambda: images(scene), lambda found: found == {NEW}, "all pods are new", seconds=90)
            scene.await_ready(8)
            found = scene.await_object(
                "podcliquesets",
                "llama",
                lambda found: found["status"].get("updateProgress", {}).get("updateEndedAt"),
                "the update has ended",
            )
            scene.await_status(updatedReplicas=1, availableReplicas=1)
        assert (
            found["status"]["updateProgress"]["updateStartedAt"] <= found["status"]["updateProgress"]["updateEndedAt"]
        )
        assert watch.fewest_ready("llama-0-spare", from_on=3) >= 2
        assert watch.fewest_ready("llama-0-single", from_on=1) >= 1
        groups = [watch.fewest_ready(f"llama-0-pool-{replica}-worker", from_on=2) for replica in range(2)]
        assert groups == [0, 0], "each replica of the group goes as a whole"
        assert watch.fewest_replicas("llama-0-pool-{}-worker", 2, pods=2) >= 1
        assert not watch.doubles()
        assert sorted(_index_of(pod) for pod in scene.pods("llama-0-spare")) == [0, 1, 2]
        assert not operator.said("round failed")

    def test_wl222_on_delete_waits_for_the_user(self, scene: Scene, operator: Operator) -> None:
        manifest = scene.set_of(clique("worker", 2))
        manifest["spec"]["updateStrategy"] = {"type": "OnDelete"}
        scene.api.create(manifest)
        old = {pod["metadata"]["uid"] for pod in scene.await_ready(2)}
        scene.await_status(availableReplicas=1)
        scene.new_image(NEW)
        scene.await_object(
            "podcliques", "llama-0-worker", lambda found: NEW in str(found["spec"]), "the clique has the new template"
        )
        scene.api.delete("pods", scene.names("pods")[0], scene.namespace)
        wait_until(lambda: images(scene), lambda found: NEW in found, "the pod of the user's choice is new")
        pods = scene.await_ready(2)
        assert len(old & {pod["metadata"]["uid"] for pod in pods}) == 1
        assert not operator.writes("pods", "delete")


class TestDeletion:
    """Pods first, the set last, then nothing."""

    def test_wl231_a_deleted_set_leaves_nothing(self, scene: Scene, operator: Operator) -> None:
        before = scene.dump()
        pool = group("pool", "leader", "worker", replicas=2)
        cliques = (clique("router"), clique("leader"), clique("worker", 2))
        manifest = scene.set_of(*cliques, podCliqueScalingGroups=[pool], replicas=2)
        scene.api.create(manifest)
        scene.await_ready(14)
        scene.api.delete("podcliquesets", "llama", scene.namespace)
        wait_until(scene.dump, lambda now: now == before, "nothing is left")

    @pytest.mark.req("OP-011")
    def test_wl085_a_set_that_comes_back_at_once_starts_clean(
        self, grove_plane: ControlPlane, scene: Scene, operator: Operator
    ) -> None:
        manifest = scene.set_of(clique("router"), clique("worker", 3))
        with PodWatch(grove_plane, scene.namespace) as watch:
            scene.api.create(manifest)
            old = {pod["metadata"]["uid"] for pod in scene.await_ready(4)}
            scene.api.delete("podcliquesets", "llama", scene.namespace)
            uid = wait_until(lambda: _created(scene, manifest), bool, "a set of the same name is accepted")
            wait_until(
                lambda: {pod["metadata"]["uid"] for pod in scene.pods()} & old, lambda left: not left, "old pods go"
            )
            scene.await_ready(4)
            scene.await_status(availableReplicas=1)
        owners = {each["metadata"]["ownerReferences"][0]["uid"] for each in scene.all_of("podcliques")}
        assert owners == {uid}
        assert not watch.doubles()


def _created(scene: Scene, manifest: Json) -> str:
    """The uid of the set, once there is none before it."""
    try:
        uid: str = scene.api.create(manifest)["metadata"]["uid"]
    except ApiError as refused:
        if refused.reason != "AlreadyExists":
            raise
        return ""
    return uid


def _uids(scene: Scene) -> set[str]:
    return {pod["metadata"]["uid"] for pod in scene.pods()}


def _index_of(pod: Json) -> int:
    return int(pod["metadata"]["labels"]["grove.io/podclique-pod-index"])
