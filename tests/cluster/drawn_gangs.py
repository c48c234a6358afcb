"""Gangs and nodes drawn from a number: few nodes in racks and zones, a set with constraints, rather full."""

from collections.abc import Iterator
from dataclasses import dataclass
from random import Random
from typing import Any, Final

from tests.cluster.api import Json
from tests.cluster.racks import LEVELS, RACK, ZONE
from tests.cluster.scenes import API_VERSION, IMAGE

GPU: Final = "nvidia.com/gpu"
HOST: Final = "kubernetes.io/hostname"
ALL_LEVELS: Final = (*LEVELS, {"domain": "host", "key": HOST})
DOMAINS: Final = ("zone", "rack", "host")


@dataclass(frozen=True, slots=True)
class DrawnNode:
    """A node with its labels but for the host name, and its GPUs."""

    name: str
    labels: dict[str, str]
    gpus: int


@dataclass(frozen=True, slots=True)
class DrawnGang:
    """Nodes, and a set of one replica whose pods all belong to one gang."""

    nodes: tuple[DrawnNode, ...]
    manifest: Json
    pods: int


def drawn_gang(number: int, namespace: str, topology: str) -> DrawnGang:
    """Return the gang of a number; the label ``test`` of its namespace keeps its nodes apart from others."""
    rng = Random(f"gang {number}")
    nodes = tuple(_nodes(rng, namespace))
    capacity = sum(node.gpus for node in nodes)
    within = rng.choice(("", "", "zone", "rack"))
    members: list[str] = []
    copies, of_group = 1, ""
    if rng.random() < 0.6:
        copies, of_group = rng.choice((1, 2, 2, 3)), _narrower(rng, within)
        members = ["leader", "worker"][: rng.choice((1, 2, 2))]
    names = ("router", "engine")[: rng.choice((1, 2) if not members else (0, 1, 1))]
    cliques = [_clique(rng, name, within) for name in names]
    cliques += [_clique(rng, name, of_group or within) for name in members]
    pods = sum(_size(one) * (copies if one["name"] in members else 1) for one in cliques)
    asked = sum(_size(one) * _gpus(one) * (copies if one["name"] in members else 1) for one in cliques)
    if asked > capacity and rng.random() < 0.8:  # few gangs that are too large as a whole, which any scheduler sees
        for one in cliques:
            _set_gpus(one, 1)
    for one in cliques:
        one["spec"]["podSpec"]["nodeSelector"] = {"test": namespace}
    template: Json = {"cliques": cliques, **_constraint(within)}
    if members:
        pool = {"name": "pool", "cliqueNames": members, "replicas": copies, "minAvailable": copies}
        template["podCliqueScalingGroups"] = [{**pool, **_constraint(of_group)}]
    if "topologyConstraint" in str(template):
        template["clusterTopologyName"] = topology
    manifest = {
        "apiVersion": API_VERSION,
        "kind": "PodCliqueSet",
        "metadata": {"name": "drawn", "namespace": namespace},
        "spec": {"replicas": 1, "template": template},
    }
    return DrawnGang(nodes, manifest, pods)


def _nodes(rng: Random, namespace: str) -> Iterator[DrawnNode]:
    racks = rng.randint(1, 4)
    for rack in range(racks):
        labels = {"test": namespace, ZONE: f"{namespace}-z{rack % 2}", RACK: f"{namespace}-r{rack}"}
        for host in range(rng.randint(1, 3)):
            yield DrawnNode(f"{namespace}-{rack}-{host}", labels, rng.choice((2, 4, 4, 6, 8)))


def _narrower(rng: Random, domain: str) -> str:
    """Return no domain, or one at least as narrow."""
    first = DOMAINS.index(domain) if domain else 0
    return rng.choice(("", *DOMAINS[first:]))


def _clique(rng: Random, name: str, within: str) -> Json:
    gpus, replicas = rng.choice((1, 1, 2, 2, 4)), rng.randint(1, 4)
    constraint = _constraint(rng.choice(("", _narrower(rng, within))))
    resources = {"limits": {GPU: str(gpus)}}
    spec: dict[str, Any] = {"roleName": name, "replicas": replicas, "minAvailable": replicas}
    spec["podSpec"] = {"containers": [{"name": "main", "image": IMAGE, "resources": resources}]}
    return {"name": name, "spec": spec, **constraint}


def _constraint(domain: str) -> Json:
    return {"topologyConstraint": {"pack": {"required": domain}}} if domain else {}


def _size(clique: Json) -> int:
    size: int = clique["spec"]["replicas"]
    return size


def _gpus(clique: Json) -> int:
    return int(clique["spec"]["podSpec"]["containers"][0]["resources"]["limits"][GPU])


def _set_gpus(clique: Json, gpus: int) -> None:
    clique["spec"]["podSpec"]["containers"][0]["resources"]["limits"][GPU] = str(gpus)
