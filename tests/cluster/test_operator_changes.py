"""The start order, and scaling out and in without leftovers."""

from tests.cluster.api import Json, wait_until
from tests.cluster.operators import Operator
from tests.cluster.scenes import Scene, clique, group


def shared(scene: Scene, name: str = "devices") -> None:
    """A ResourceClaimTemplate that a set can share."""
    request = {"name": "gpu", "exactly": {"deviceClassName": "gpu.example.com"}}
    scene.api.create(
        {
            "apiVersion": "resource.k8s.io/v1",
            "kind": "ResourceClaimTemplate",
            "metadata": {"name": name, "namespace": scene.namespace},
            "spec": {"spec": {"devices": {"requests": [request]}}},
        }
    )


class TestStartUp:
    """Which cliques wait for which: what the operator writes; the kubelet of these tests runs no init container."""

    def test_wl084_a_clique_waits_for_the_one_before_it(self, scene: Scene, operator: Operator) -> None:
        cliques = (clique("router"), clique("leader"), clique("worker", 2))
        ordered = scene.set_of(
            *cliques,
            cliqueStartupType="CliqueStartupTypeInOrder",
            podCliqueScalingGroups=[group("pool", "leader", "worker", replicas=2)],
        )
        scene.api.create(ordered)
        waits = {
            _clique_of(pod): [
                argument
                for container in pod["spec"].get("initContainers", [])
                for argument in container["args"]
                if argument.startswith("--podcliques=")
            ]
            for pod in scene.await_ready(7)
        }
        assert waits == {
            "llama-0-router": [],
            "llama-0-pool-0-leader": ["--podcliques=llama-0-router:1"],
            "llama-0-pool-0-worker": ["--podcliques=llama-0-pool-0-leader:1"],
            "llama-0-pool-1-leader": [],
            "llama-0-pool-1-worker": ["--podcliques=llama-0-pool-1-leader:1"],
        }


class TestScaling:
    """Out, then in again: afterwards everything is as before."""

    def test_wl202_a_set_scaled_out_and_in_leaves_nothing(self, scene: Scene, operator: Operator) -> None:
        shared(scene)
        sharing = [{"name": "devices", "scope": "PerReplica"}]
        bounds = {"minReplicas": 1, "maxReplicas": 3, "metrics": [_cpu()]}
        router = clique("router", autoScalingConfig=bounds)
        pool = group("pool", "worker", scaleConfig=bounds)
        scene.api.create(
            scene.set_of(router, clique("worker", 2), podCliqueScalingGroups=[pool], resourceSharing=sharing)
        )
        scene.await_status(replicas=1)
        wait_until(lambda: len(scene.pods()), lambda pods: pods == 3, "three pods")
        before = settled(scene)
        assert [line for line in before if line.startswith("HorizontalPodAutoscaler")] == [
            "HorizontalPodAutoscaler llama-0-pool",
            "HorizontalPodAutoscaler llama-0-router",
        ]
        assert "ResourceClaim llama-0-devices" in before
        scene.patch("podcliquesets", "llama", {"spec": {"replicas": 3}})
        wait_until(lambda: len(scene.pods()), lambda pods: pods == 9, "nine pods")
        out = settled(scene)
        assert {"ResourceClaim llama-2-devices", "Service llama-2", "HorizontalPodAutoscaler llama-2-pool"} <= set(out)
        scene.patch("podcliquesets", "llama", {"spec": {"replicas": 1}})
        wait_until(lambda: settled(scene), lambda now: now == before, "everything is as before")

    def test_wl201_a_group_is_scaled_by_its_subresource(self, scene: Scene, operator: Operator) -> None:
        pool = group("pool", "leader", "worker")
        scene.api.create(scene.set_of(clique("leader"), clique("worker", 2), podCliqueScalingGroups=[pool]))
        scene.await_ready(3)
        before = settled(scene)
        scene.scale("podcliquescalinggroups", "llama-0-pool", 3)
        scene.await_ready(9)
        scaled = scene.api.request("GET", f"{_group_path(scene)}/scale")
        assert scaled["spec"]["replicas"] == 3
        assert "grove-operator" in scaled["status"]["selector"]
        assert {"PodGang llama-0-pool-0", "PodGang llama-0-pool-1"} <= set(scene.dump())
        scene.scale("podcliquescalinggroups", "llama-0-pool", 1)
        wait_until(lambda: settled(scene), lambda now: now == before, "everything is as before")
        scene.await_ready(3)

    def test_wl203_a_clique_is_scaled_by_its_subresource(self, scene: Scene, operator: Operator) -> None:
        scene.api.create(scene.set_of(clique("worker", 2, minimum=1)))
        first = {pod["metadata"]["uid"] for pod in scene.await_ready(2)}
        before = settled(scene)
        scene.scale("podcliques", "llama-0-worker", 4)
        scene.await_ready(4)
        scene.annotate_pods("llama-0-worker", not_ready=None)
        scene.scale("podcliques", "llama-0-worker", 2)
        kept = {pod["metadata"]["uid"] for pod in scene.await_ready(2)}
        assert kept == first, "the highest indices go"
        wait_until(lambda: settled(scene), lambda now: now == before, "everything is as before")


def settled(scene: Scene) -> list[str]:
    """Everything in the namespace; pods by their clique, for their names are chance."""
    return sorted(line.rpartition("-")[0] if line.startswith("Pod ") else line for line in scene.dump())


def _clique_of(pod: Json) -> str:
    name: str = pod["metadata"]["name"]
    return name.rpartition("-")[0]


def _group_path(scene: Scene) -> str:
    return scene.api.resource("podcliquescalinggroups").path(scene.namespace, "llama-0-pool")


def _cpu() -> Json:
    target = {"type": "Utilization", "averageUtilization": 80}
    return {"type": "Resource", "resource": {"name": "cpu", "target": target}}
