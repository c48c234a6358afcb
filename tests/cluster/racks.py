"""Racks of nodes, and a set whose scaling group replicas each need a rack of their own."""

from collections import defaultdict
from collections.abc import Mapping
from typing import Any, Final

from tests.cluster.api import Json, wait_until
from tests.cluster.scenes import CLIQUE_LABEL, Scene, clique, condition, group, light

ZONE: Final = "topology.kubernetes.io/zone"
RACK: Final = "example.com/rack"
LEVELS: Final = ({"domain": "zone", "key": ZONE}, {"domain": "rack", "key": RACK})
GPUS: Final = {"nvidia.com/gpu": "8"}
PREFILL: Final = 4
"""Pods of one replica of the scaling group, each of which needs a node."""
BASE: Final = 1 + 2 * PREFILL
QUIET_SECONDS: Final = 4.0
"""How long nothing may be placed until it counts as not placed."""


class Racks:
    """Two racks of four nodes in one zone, for the namespace of a scene, and a topology of zones and racks."""

    def __init__(self, scene: Scene, racks: int = 2) -> None:
        self.scene = scene
        self.topology = f"racks-{scene.namespace}"
        self._count = 0
        for _ in range(racks):
            self.add_rack()
        self.scene.api.create(
            {
                "apiVersion": "grove.io/v1alpha1",
                "kind": "ClusterTopology",
                "metadata": {"name": self.topology},
                "spec": {"levels": list(LEVELS)},
            }
        )

    def add_rack(self, nodes: int = PREFILL) -> str:
        """Add a rack, and return its name."""
        rack = f"r{self._count}"
        self._count += 1
        where = self.scene.namespace
        labels = {"test": where, ZONE: "z0", RACK: rack}
        self.scene.api.add_nodes([f"{where}-{rack}-{number}" for number in range(nodes)], labels)
        return rack

    def close(self) -> None:
        """Delete the topology; nodes go with the scene."""
        self.scene.api.delete("clustertopologies", self.topology)

    def cordon(self, node: str, *, closed: bool = True) -> None:
        """Close a node, by its name after that of the namespace, or open it again."""
        self.scene.api.patch("nodes", f"{self.scene.namespace}-{node}", patch={"spec": {"unschedulable": closed}})

    def create(self, **template: Any) -> None:
        """Create the set: a router, and two prefill replicas of a leader and three workers, each in one rack."""
        whole = clique("leader"), clique("worker", PREFILL - 1)
        for each in whole:
            each["spec"]["podSpec"]["containers"][0]["resources"] = {"limits": GPUS}
        confined = {"topologyConstraint": {"pack": {"required": "rack"}}}
        pool = group("prefill", "leader", "worker", replicas=2, minimum=2, **confined)
        wanted: Json = {
            "clusterTopologyName": self.topology,
            "topologyConstraint": {"pack": {"required": "zone"}},
            "podCliqueScalingGroups": [pool],
            **template,
        }
        self.scene.api.create(self.scene.set_of(light("router"), *whole, **wanted))

    def placed(self) -> dict[str, list[str]]:
        """Name of a PodClique -> racks of its pods that are bound to a node; sorted."""
        nodes = {node["metadata"]["name"]: node["metadata"]["labels"] for node in self.scene.api.all_of("nodes")}
        found = defaultdict[str, list[str]](list)
        for pod in self.scene.pods():
            if node := pod["spec"].get("nodeName"):
                found[pod["metadata"]["labels"][CLIQUE_LABEL]].append(nodes[node].get(RACK, ""))
        return {name: sorted(racks) for name, racks in sorted(found.items())}

    def racks_of(self, replica: int) -> set[str]:
        """Racks with pods of one replica of the scaling group."""
        placed = self.placed()
        return {rack for role in ("leader", "worker") for rack in placed.get(f"llama-0-prefill-{replica}-{role}", ())}

    def pods_of(self, replica: int) -> list[Json]:
        """Living pods of one replica of the scaling group."""
        return [pod for role in ("leader", "worker") for pod in self.scene.pods(f"llama-0-prefill-{replica}-{role}")]

    def delete_pods(self, pods: list[Json]) -> None:
        for pod in pods:
            self.scene.api.delete("pods", pod["metadata"]["name"], self.scene.namespace, gracePeriodSeconds=0)

    def await_waiting(self, number: int) -> list[Json]:
        """Wait until the scheduler has found no place for so many pods."""

        def waiting() -> list[Json]:
            pods = [pod for pod in self.scene.pods() if not pod["spec"].get("nodeName")]
            return [pod for pod in pods if condition(pod, "PodScheduled").get("reason") == "Unschedulable"]

        return wait_until(waiting, lambda pods: len(pods) == number, f"{number} pods have no place")

    def await_placed(self, expected: Mapping[str, int]) -> None:
        """Wait until so many pods of each PodClique are on nodes, and of no other."""

        def counts() -> dict[str, int]:
            return {name: len(racks) for name, racks in self.placed().items()}

        wait_until(counts, lambda found: found == dict(expected), f"pods on nodes: {dict(expected)}")


WHOLE: Final = {
    "llama-0-prefill-0-leader": 1,
    "llama-0-prefill-0-worker": 3,
    "llama-0-prefill-1-leader": 1,
    "llama-0-prefill-1-worker": 3,
    "llama-0-router": 1,
}
"""Pods of the whole gang by PodClique."""
