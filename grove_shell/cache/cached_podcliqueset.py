"""The cached objects of one PodCliqueSet."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import TypeAlias

from grove_core.kernel.frozen import FrozenDict
from grove_core.kernel.refs import Ref
from grove_core.kernel.steps import Attempt
from grove_core.kernel.structs import replace
from grove_core.resources.metadata_readers import Resource
from grove_core.resources.pod import Pod
from grove_core.resources.podclique import PodClique
from grove_core.resources.podcliqueset import PodCliqueSet
from grove_core.resources.scaling_group import ScalingGroup
from grove_core.resources.topology_usage import bound_pod_count_of_clique
from grove_core.snapshot.cluster_index import set_snapshot_without_pods
from grove_core.snapshot.snapshot import Snapshot

Address: TypeAlias = tuple[str, str, str]  # kind, namespace, name
Object: TypeAlias = Resource | Pod


@dataclass(slots=True)
class CachedPodCliqueSet:
    """A PodCliqueSet and its objects. Mutable.

    Attributes:
        root: the set; None where it is not known or cannot be read.
        items: its objects by address, pods excepted.
        pods: uid of a PodClique -> name -> pod.
        broken: address of an object that cannot be read -> uid of its controller; its kind counts as incomplete.
        exchange_pod: puts another value of a pod into the store that the pods come from.
    """

    root: PodCliqueSet | None = None
    items: dict[Address, Resource] = field(default_factory=dict)
    pods: dict[str, dict[str, Pod]] = field(default_factory=dict)
    broken: dict[Address, str] = field(default_factory=dict)
    exchange_pod: Callable[[Pod], None] = lambda _pod: None

    @property
    def is_empty(self) -> bool:
        """Whether it holds nothing."""
        return self.root is None and not self.items and not self.pods and not self.broken

    @property
    def bound_pod_count(self) -> int:
        """The number of pods that are bound to nodes."""
        cliques = (item for item in self.items.values() if isinstance(item, PodClique))
        return sum(bound_pod_count_of_clique(clique, self.pods.get(clique.uid, {}).values()) for clique in cliques)

    @property
    def groups_and_cliques_being_deleted(self) -> Iterator[ScalingGroup | PodClique]:
        """The scaling groups and PodCliques that are being deleted."""
        return (item for item in self.items.values() if isinstance(item, ScalingGroup | PodClique) and item.deleting)

    def refs_of_kind(self, kind: str) -> list[Ref]:
        """Return the addresses of the objects of a kind."""
        if kind == "Pod":
            return [pod.ref for pods in self.pods.values() for pod in pods.values()]
        return [item.ref for item in self.items.values() if item.ref.kind == kind]

    def put_object(self, address: Address, controller: str, item: Object | None) -> None:
        """Add or replace an object, given the uid of its controller; None for one that cannot be read."""
        if item is None:
            self.remove_object(address, controller)
            self.broken[address] = controller
            return
        if self.broken:
            self.broken.pop(address, None)
        if isinstance(item, Pod):
            pods = self.pods.get(controller)
            if pods is None:
                pods = self.pods[controller] = {}
            before = pods.get(item.name)
            pods[item.name] = item
            if before is not None and item.manifest is None:
                self._pass_on_manifest(before)
        elif isinstance(item, PodCliqueSet):
            self.root = item
        else:
            self.items[address] = item

    def remove_object(self, address: Address, controller: str) -> None:
        """Remove an object."""
        kind, _, name = address
        self.broken.pop(address, None)
        if kind == "Pod":
            pods = self.pods.get(controller, {})
            gone = pods.pop(name, None)
            if not pods:
                self.pods.pop(controller, None)
            if gone is not None:
                self._pass_on_manifest(gone)
        elif kind == "PodCliqueSet":
            self.root = None
        else:
            self.items.pop(address, None)

    def _pass_on_manifest(self, before: Pod) -> None:
        """Keep the manifest of a pod that is gone or was read again on another pod of its template (WF-001)."""
        if before.manifest is None:
            return
        every = ((pods, one) for pods in self.pods.values() for one in pods.values())
        same = ((pods, one) for pods, one in every if one.template_hash == before.template_hash)
        found = next(same, None)
        if found is None:
            return
        pods, other = found
        if other.manifest is None:
            pods[other.name] = replace(other, manifest=before.manifest)
            self.exchange_pod(pods[other.name])

    def snapshot_at(self, root: PodCliqueSet, now: datetime, attempts: tuple[Attempt, ...]) -> Snapshot:
        """Return the snapshot of the set at a moment. Linear in its objects."""
        return replace(
            set_snapshot_without_pods(self.items.values(), root, now, attempts),
            pods_of=FrozenDict((uid, tuple(pods.values())) for uid, pods in self.pods.items()),
        )
