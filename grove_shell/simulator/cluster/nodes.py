"""Nodes, what they have, and what pods take of it."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

from grove_core.kernel.frozen import FrozenMap
from grove_core.resources.pod import FINISHED_PHASES, Pod
from grove_shell.simulator.scenario.quantities import amount_of
from grove_shell.simulator.scenario.user_events import NodePool

Amounts: TypeAlias = Mapping[str, int]

PODS: Final = "pods"
ENDLESS: Final = frozenset({"cpu", "memory", PODS, "ephemeral-storage"})
_ONE: Final = 1_000


@dataclass(slots=True)
class Node:
    """One machine.

    Attributes:
        capacity: thousandths of each resource; ``cpu``, ``memory`` and ``pods`` are endless where they are left out.
        up: its kubelet answers.
        cordoned: nothing new is placed here.
        lost_at: since when its kubelet has been silent; None while it answers.
    """

    name: str
    labels: Mapping[str, str]
    capacity: Amounts
    up: bool = True
    cordoned: bool = False
    unready: bool = False
    lost_at: int | None = None
    used: dict[str, int] = field(default_factory=dict)

    def has_room(self, asked: Amounts) -> bool:
        """Whether a pod that asks for this fits beside those that are here."""
        capacity, used = self.capacity, self.used
        for resource, amount in asked.items():
            whole = capacity.get(resource)
            if whole is None:
                if amount and resource not in ENDLESS:
                    return False
            elif used.get(resource, 0) + amount > whole:
                return False
        return True

    def take(self, asked: Amounts, times: int = 1) -> None:
        """Count a pod in, or with -1 out again."""
        for resource, amount in asked.items():
            self.used[resource] = self.used.get(resource, 0) + times * amount

    def room_after(self, asked: Amounts) -> tuple[int, ...]:
        """What would be left of the scarcest kinds of resources; the best fit leaves least.

        A node with something scarce that is not asked for comes last, however full it is.
        """
        spared = sum(resource not in asked and resource not in ENDLESS for resource in self.capacity)
        left = (
            whole - self.used.get(resource, 0) - asked.get(resource, 0)
            for resource, whole in sorted(self.capacity.items(), key=_scarcest_first)
        )
        return (spared, *left)


def nodes_of(pool: NodePool) -> list[Node]:
    """The nodes of a pool."""
    capacity = {resource: amount_of(amount) for resource, amount in pool.capacity.items()}
    return [Node(name, {"kubernetes.io/hostname": name, **pool.labels}, capacity) for name in pool.names]


@dataclass(frozen=True, slots=True)
class PodRequests:
    """What a pod asks of its node.

    Attributes:
        amounts: thousandths by resource; one of ``pods`` among them.
        labels: its nodeSelector.
    """

    amounts: Amounts
    labels: Mapping[str, str]

    def suit(self, node: Node) -> bool:
        """Whether a node is one of those the pod may go to, were it empty."""
        return all(node.labels.get(key) == value for key, value in self.labels.items())


NO_REQUESTS: Final = PodRequests({PODS: _ONE}, {})


def requests_of(spec: Mapping[str, Any]) -> PodRequests:
    """What a pod spec asks for: the sum of its containers, or the largest of its init containers."""
    total: dict[str, int] = {}
    for container in _parts(spec, "containers"):
        for resource, amount in _requests(container).items():
            total[resource] = total.get(resource, 0) + amount
    for container in _parts(spec, "initContainers"):
        for resource, amount in _requests(container).items():
            total[resource] = max(total.get(resource, 0), amount)
    selector = spec.get("nodeSelector")
    labels = {key: str(value) for key, value in selector.items()} if isinstance(selector, Mapping) else {}
    return PodRequests({**total, PODS: _ONE}, labels)


def _requests(container: Mapping[str, Any]) -> dict[str, int]:
    resources = container.get("resources")
    resources = resources if isinstance(resources, Mapping) else {}
    asked: dict[str, Any] = {}
    for key in ("limits", "requests"):  # what is limited and not asked for is asked for
        part = resources.get(key)
        asked |= dict(part) if isinstance(part, Mapping) else {}
    return {resource: amount_of(amount) for resource, amount in asked.items()}


def _parts(spec: Mapping[str, Any], key: str) -> Iterable[FrozenMap]:
    found = spec.get(key)
    return [part for part in found if isinstance(part, FrozenMap)] if isinstance(found, tuple) else ()


def count_pods(nodes: Iterable[Node], pods: Iterable[tuple[Pod, PodRequests]]) -> None:
    """Work out anew what each node carries; a pod takes its place until it is gone or has ended."""
    by_name = {node.name: node for node in nodes}
    for node in by_name.values():
        node.used.clear()
    for pod, asks in pods:
        if pod.node in by_name and pod.phase not in FINISHED_PHASES:
            by_name[pod.node].take(asks.amounts)


def _scarcest_first(item: tuple[str, int]) -> tuple[bool, bool, str]:
    resource = item[0]
    return (resource in ENDLESS, resource == PODS, resource)
