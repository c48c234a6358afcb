"""What is made: sets of about a thousand pods, and the floor beneath them."""

from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Any, Final

from grove_core.in_memory.forecasts import snapshot_of_newly_created_set
from grove_core.in_memory.in_memory_cluster import InMemoryCluster
from grove_core.kernel.frozen import thaw_json
from grove_core.kernel.steps import Create
from grove_core.plan.step_batches import execute_steps_sequentially
from grove_core.reconcile import reconcile
from grove_core.resources.podcliqueset import podcliqueset_from_json
from grove_core.snapshot.snapshot import Snapshot

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
    """A pod of the floor: as those of the workloads, without an owner."""
    labels = {"app.kubernetes.io/part-of": "floor", "app.kubernetes.io/managed-by": "grove-operator"}
    metadata = {"name": f"floor-{number}", "namespace": NAMESPACE, "labels": labels}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": {"containers": [_CONTAINER]}}


def pods_made_of(sets: Iterable[Json]) -> list[Json]:
    """Exactly the pods that sets become, ungated and unowned: for a loop that only posts them."""
    return [pod for one in sets for pod in _pods_of(one)]


def _pods_of(raw: Json) -> list[Json]:
    now = datetime(2026, 1, 1, tzinfo=UTC)
    seen: Snapshot | None = snapshot_of_newly_created_set(Snapshot(root=podcliqueset_from_json(raw, {}), now=now))
    assert seen is not None  # noqa: S101 - for mypy, that cannot see it
    world, pods = InMemoryCluster((seen,)), list[Json]()
    while seen is not None and (steps := reconcile(seen).steps):
        actions = (step.action for step in steps if step.target.kind == "Pod")
        pods += [thaw_json(action.manifest) for action in actions if isinstance(action, Create)]
        seen = world.snapshot_of_set(seen.root.ref, now, execute_steps_sequentially(world.attempt_step, steps))
    for pod in pods:
        del pod["metadata"]["ownerReferences"]
        pod["spec"].pop("schedulingGates", None)
    return pods
