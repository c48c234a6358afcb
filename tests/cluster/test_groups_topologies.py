"""The stories of seed 004 with the scheduler of Kubernetes: pods are where the topology of their set says (SC-014)."""

import time
from collections.abc import Iterator, Mapping
from typing import Final

import pytest

from tests.cluster.api import Json, wait_until
from tests.cluster.operators import Operator, Starting
from tests.cluster.racks import QUIET_SECONDS
from tests.cluster.scenes import Scene, clique, condition

pytestmark = pytest.mark.groups

LABEL: Final = "example.com/{}"
HOST: Final = "kubernetes.io/hostname"


class Machines:
    """Nodes of 8 GPUs with labels of their own, and topologies over these labels."""

    def __init__(self, scene: Scene) -> None:
        self.scene = scene
        self._topologies: list[str] = []

    def close(self) -> None:
        for name in self._topologies:
            self.scene.api.delete("clustertopologies", name)

    def add(self, *names: str, **labels: str) -> None:
        """Add nodes; ``labels`` are written without their domain."""
        where = self.scene.namespace
        found = {LABEL.format(key): value for key, value in labels.items()}
        self.scene.api.add_nodes([f"{where}-{name}" for name in names], {"test": where, **found})

    def topology(self, name: str, *domains: str, **keys: str) -> str:
        """Add a topology of these domains, whose keys are their names unless others are given; return its name."""
        full = f"{name}-{self.scene.namespace}"
        named = {domain: HOST if domain == "host" else LABEL.format(keys.get(domain, domain)) for domain in domains}
        levels = [{"domain": domain, "key": key} for domain, key in named.items()]
        spec: Json = {"levels": levels}
        head = {"apiVersion": "grove.io/v1alpha1", "kind": "ClusterTopology", "metadata": {"name": full}}
        self.scene.api.create({**head, "spec": spec})
        self._topologies.append(full)
        return full

    def create(self, name: str, topology: str, domain: str, *cliques: Json) -> None:
        """Create a set whose gang has to be in one such domain."""
        within: Json = {"topologyConstraint": {"pack": {"required": domain}}, "clusterTopologyName": topology}
        self.scene.api.create(self.scene.set_of(*cliques, name=name, **within))

    def labels_of_pods(self, name: str, label: str) -> list[str]:
        """The values of a label, or host names, of the nodes of a set's pods; one for each pod."""
        nodes = {node["metadata"]["name"]: node["metadata"]["labels"] for node in self.scene.api.all_of("nodes")}
        key = HOST if label == "host" else LABEL.format(label)
        pods = [pod for pod in self.scene.pods() if pod["metadata"]["name"].startswith(f"{name}-")]
        return sorted(nodes[pod["spec"]["nodeName"]].get(key, "") for pod in pods if pod["spec"].get("nodeName"))

    def await_placed(self, name: str, label: str, number: int) -> str:
        """Wait until so many pods of a set are on nodes with one value of a label, and return the value."""
        found = wait_until(
            lambda: self.labels_of_pods(name, label),
            lambda found: len(found) == number,
            f"{number} pods of {name}",
            seconds=90,  # the scheduler waits longer after each attempt that failed
        )
        (value,) = set(found)
        return value


@pytest.fixture
def machines(scene: Scene) -> Iterator[Machines]:
    machines = Machines(scene)
    yield machines
    machines.close()


@pytest.fixture
def placing(starting: Starting) -> Operator:
    operator = starting()
    operator.backend, operator.topology = "kubernetes", {"enabled": True, "levels": [{"domain": "host", "key": HOST}]}
    return operator.start()


def workers(name: str, replicas: int, gpus: int, **constraint: str) -> Json:
    """A clique all of whose pods are needed."""
    found = clique(name, replicas)
    found["spec"]["podSpec"]["containers"][0]["resources"] = {"limits": {"nvidia.com/gpu": str(gpus)}}
    return {**found, "topologyConstraint": {"pack": constraint}} if constraint else found


@pytest.mark.req("SC-014")
def test_sc014_each_set_is_placed_by_the_topology_of_its_hardware(machines: Machines, placing: Operator) -> None:
    """Story 1: three levels, whose hosts have the fast links, and four, whose racks have them within a block."""
    hopper = machines.topology("h100", "zone", "rack", "host")
    blackwell = machines.topology("gb200", "zone", "block", "rack", "host")
    for rack in ("a", "b"):
        machines.add(f"h-{rack}-0", f"h-{rack}-1", zone="z", rack=rack)
    for number, block in enumerate(("x", "x", "y", "y")):
        machines.add(*(f"g-{number}-{host}" for host in range(2)), zone="z", block=block, rack=f"n{number}")
    fast = [workers(name, 2, 4, required="host") for name in ("one", "two")]
    machines.create("dense", hopper, "rack", *fast)
    machines.create("wide", blackwell, "block", *(workers(name, 2, 8, required="rack") for name in ("one", "two")))
    machines.await_placed("dense", "rack", 4)
    machines.await_placed("dense-0-one", "host", 2)
    machines.await_placed("dense-0-two", "host", 2)
    machines.await_placed("wide", "block", 4)
    racks = {machines.await_placed(f"wide-0-{name}", "rack", 2) for name in ("one", "two")}
    assert len(racks) == 2
    assert placing.code is None


@pytest.mark.req("SC-014")
def test_sc014_the_same_set_is_placed_in_each_cloud_by_its_own_labels(machines: Machines, placing: Operator) -> None:
    """Story 2: the clouds call a rack by labels of their own, and have no others."""
    clouds: Mapping[str, str] = {"east": "east-rack", "west": "west-switch"}
    for name, label in clouds.items():
        machines.topology(name, "zone", "rack", rack=label, zone="cloud")
        for rack in range(2):
            machines.add(*(f"{name}-{rack}-{host}" for host in range(2)), cloud=name, **{label: f"{name}-{rack}"})
    for name, label in clouds.items():
        machines.create(f"on-{name}", f"{name}-{machines.scene.namespace}", "rack", workers("main", 2, 8))
        assert machines.await_placed(f"on-{name}", label, 2).startswith(name)
        assert machines.await_placed(f"on-{name}", "cloud", 2) == name
    assert placing.code is None


@pytest.mark.req("SC-014", "SC-023", "SC-024")
def test_sc023_a_pending_gang_goes_to_another_shard(machines: Machines, placing: Operator) -> None:
    """Story 3: the gang does not fit into the first shard; once it runs in the second one, its topology stays."""
    scene = machines.scene
    small = machines.topology("small", "rack", rack="small-rack")
    large = machines.topology("large", "rack", rack="large-rack")
    machines.add("small-0", "small-1", **{"small-rack": "s0"})
    machines.add(*(f"large-{number}" for number in range(3)), **{"large-rack": "l0"})
    machines.create("shard", small, "rack", workers("main", 3, 8))

    def unschedulable() -> list[Json]:
        return [pod for pod in scene.pods() if condition(pod, "PodScheduled").get("reason") == "Unschedulable"]

    wait_until(unschedulable, lambda pods: len(pods) == 3, "no place for three pods")
    time.sleep(QUIET_SECONDS)
    assert machines.labels_of_pods("shard", "small-rack") == []
    scene.patch("podcliquesets", "shard", {"spec": {"template": {"clusterTopologyName": large}}})
    assert machines.await_placed("shard", "large-rack", 3) == "l0"
    groups = {one["metadata"]["uid"] for one in scene.all_of("podgroups")}
    scene.patch("podcliquesets", "shard", {"spec": {"template": {"clusterTopologyName": small}}})
    scene.await_condition("podcliquesets", "shard", "TopologyInSync", "False")
    placing.await_rest()
    assert {one["metadata"]["uid"] for one in scene.all_of("podgroups")} == groups
    assert machines.await_placed("shard", "large-rack", 3) == "l0"
