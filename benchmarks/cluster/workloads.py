"""What is made: sets of about a thousand pods, and the floor beneath them."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Final

Json = dict[str, Any]
NAMESPACE: Final = "default"
_CONTAINER: Final = {"name": "main", "image": "example.com/nothing", "resources": {"requests": {"cpu": "10m"}}}


def clique(name: str, pods: int) -> Json:
    """A clique of so many pods, all of which it needs."""
    spec = {"roleName": name, "replicas": pods, "minAvailable": pods, "podSpec": {"containers": [_CONTAINER]}}
    return {"name": name, "spec": spec}


def a_set(name: str, replicas: int, cliques: list[Json], groups: tuple[Json, ...] = ()) -> Json:
    """A PodCliqueSet in no particular order of starting."""
    template = {
        "cliqueStartupType": "CliqueStartupTypeAnyOrder",
        "cliques": cliques,
        "podCliqueScalingGroups": list(groups),
    }
    return {
        "apiVersion": "grove.io/v1alpha1",
        "kind": "PodCliqueSet",
        "metadata": {"name": name, "namespace": NAMESPACE},
        "spec": {"replicas": replicas, "template": template},
    }


def one_set(pods: int) -> list[Json]:
    """W1: one replica of two cliques, half of the pods each."""
    return [a_set("w1", 1, [clique("a", pods // 2), clique("b", pods // 2)])]


def many_replicas(pods: int) -> list[Json]:
    """W2: replicas of a clique of two pods and a scaling group of two replicas of four."""
    group = {"name": "g", "cliqueNames": ["w"], "replicas": 2, "minAvailable": 1}
    return [a_set("w2", pods // 10, [clique("r", 2), clique("w", 4)], (group,))]


def many_sets(pods: int) -> list[Json]:
    """W3: ten sets of two cliques."""
    return [a_set(f"w3-{number}", 1, [clique("a", pods // 20), clique("b", pods // 20)]) for number in range(10)]


WORKLOADS: Final[Mapping[str, Callable[[int], list[Json]]]] = MappingProxyType(
    {"W1": one_set, "W2": many_replicas, "W3": many_sets}
)


def bare_pod(number: int) -> Json:
    """A pod of the floor: as those of the workloads, and of nobody."""
    metadata = {"name": f"floor-{number}", "namespace": NAMESPACE, "labels": {"app.kubernetes.io/part-of": "floor"}}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": {"containers": [_CONTAINER]}}
