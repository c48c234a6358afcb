"""Nodes, their capacity, and what pods request of it."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

from grove_core.kernel.frozen import FrozenMap
from grove_core.resources.pod import FINISHED_PHASES, Pod
from grove_core.resources.pod_spec_gpus import GPU
from grove_shell.simulator.scenario.scenario_events import ScenarioNodePool
from grove_shell.simulator.scenario.scenario_field_types import parse_quantity_as_thousandths

Amounts: TypeAlias = Mapping[str, int]

PODS: Final = "pods"
UNLIMITED: Final = frozenset({"cpu", "memory", PODS, "ephemeral-storage"})
_ONE: Final = 1_000


@dataclass(slots=True)
class SimulatedNode:
    """One node.

    Attributes:
        capacity: resource -> thousandths; a resource of ``UNLIMITED`` that is left out is unlimited.
        up: whether its kubelet responds.
        cordoned: whether it is closed for new pods.
        unready: whether the node controller has marked it as not ready.
        lost_at: time in milliseconds since which its kubelet does not respond; None while it responds.
        used: resource -> thousandths that its pods request.
    """

    name: str
    labels: Mapping[str, str]
    capacity: Amounts
    up: bool = True
    cordoned: bool = False
    unready: bool = False
    lost_at: int | None = None
    used: dict[str, int] = field(default_factory=dict)

    def has_room(self, requested: Amounts) -> bool:
        """Return whether a pod with these requests fits beside the pods on the node."""
        capacity, used = self.capacity, self.used
        for resource, amount in requested.items():
            whole = capacity.get(resource)
            if whole is None:
                if amount and resource not in UNLIMITED:
                    return False
            elif used.get(resource, 0) + amount > whole:
                return False
        return True

    def add_requests(self, requested: Amounts, times: int = 1) -> None:
        """Add the requests of a pod to those of the node; with ``times=-1`` subtract them."""
        for resource, amount in requested.items():
            self.used[resource] = self.used.get(resource, 0) + times * amount

    def free_resources_after(self, requested: Amounts) -> tuple[int, ...]:
        """Return what a pod would leave free on the node, as a sort key: the best fit is the smallest.

        A node with a limited resource that the pod does not request comes last, however full it is.
        """
        spared = sum(resource not in requested and resource not in UNLIMITED for resource in self.capacity)
        left = (
            whole - self.used.get(resource, 0) - requested.get(resource, 0)
            for resource, whole in sorted(self.capacity.items(), key=_scarcest_first)
        )
        return (spared, *left)


def nodes_of_pool(pool: ScenarioNodePool) -> list[SimulatedNode]:
    """Return the nodes of a pool."""
    capacity = {resource: _thousandths_of(amount) for resource, amount in pool.capacity.items()}
    return [SimulatedNode(name, {"kubernetes.io/hostname": name, **pool.labels}, capacity) for name in pool.node_names]


@dataclass(frozen=True, slots=True)
class PodResourceRequests:
    """What a pod requests of its node.

    Attributes:
        amounts: resource -> thousandths; includes one of ``pods``.
        labels: its nodeSelector.
    """

    amounts: Amounts
    labels: Mapping[str, str]

    def node_selector_matches(self, node: SimulatedNode) -> bool:
        """Return whether a node has the labels of the nodeSelector."""
        return all(node.labels.get(key) == value for key, value in self.labels.items())


def requests_for_gpus(gpus: int) -> PodResourceRequests:
    """Return the requests of a pod of which nothing is known but its GPUs."""
    return PodResourceRequests({GPU: gpus * _ONE, PODS: _ONE} if gpus else {PODS: _ONE}, {})


def pod_resource_requests(spec: Mapping[str, Any]) -> PodResourceRequests:
    """Return the requests of a pod spec: the sum of its containers, or the largest of its init containers."""
    total: dict[str, int] = {}
    for container in _parts(spec, "containers"):
        for resource, amount in _requests(container).items():
            total[resource] = total.get(resource, 0) + amount
    for container in _parts(spec, "initContainers"):
        for resource, amount in _requests(container).items():
            total[resource] = max(total.get(resource, 0), amount)
    selector = spec.get("nodeSelector")
    labels = {key: str(value) for key, value in selector.items()} if isinstance(selector, Mapping) else {}
    return PodResourceRequests({**total, PODS: _ONE}, labels)


def _requests(container: Mapping[str, Any]) -> dict[str, int]:
    resources = container.get("resources")
    resources = resources if isinstance(resources, Mapping) else {}
    amounts: dict[str, Any] = {}
    for key in ("limits", "requests"):  # a limit without a request is the request
        part = resources.get(key)
        amounts |= dict(part) if isinstance(part, Mapping) else {}
    return {resource: _thousandths_of(amount) for resource, amount in amounts.items()}


def _thousandths_of(value: object) -> int:
    """Return a quantity of a manifest in thousandths; 0 for a value that is no quantity."""
    is_number = isinstance(value, str | int | float) and not isinstance(value, bool)
    return (parse_quantity_as_thousandths(str(value)) if is_number else None) or 0


def _parts(spec: Mapping[str, Any], key: str) -> Iterable[FrozenMap]:
    found = spec.get(key)
    return [part for part in found if isinstance(part, FrozenMap)] if isinstance(found, tuple) else ()


def recompute_node_resource_requests(
    nodes: Iterable[SimulatedNode], pods: Iterable[tuple[Pod, PodResourceRequests]]
) -> None:
    """Recompute what is requested of each node; a pod counts until it is deleted or has ended."""
    by_name = {node.name: node for node in nodes}
    for node in by_name.values():
        node.used.clear()
    for pod, requests in pods:
        if pod.node in by_name and pod.phase not in FINISHED_PHASES:
            by_name[pod.node].add_requests(requests.amounts)


def _scarcest_first(item: tuple[str, int]) -> tuple[bool, bool, str]:
    resource = item[0]
    return (resource in UNLIMITED, resource == PODS, resource)
