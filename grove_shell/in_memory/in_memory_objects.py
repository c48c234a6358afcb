"""Objects by address, and the snapshot of a PodCliqueSet among them."""

from dataclasses import replace
from datetime import datetime
from typing import TypeAlias

from grove_core.kernel.frozen import FrozenDict, FrozenMap, frozen_lists
from grove_core.kernel.refs import Ref
from grove_core.kernel.steps import Attempt
from grove_core.resources.cluster_topology import ClusterTopology, effective_topologies
from grove_core.resources.configuration import Configuration, ServedApis
from grove_core.resources.labels import set_name_from_labels
from grove_core.resources.naming_rules import parse_replica_index
from grove_core.resources.object_after_write import Known
from grove_core.resources.pod import Pod
from grove_core.resources.podclique import PodClique
from grove_core.resources.podcliqueset import PodCliqueSet
from grove_core.resources.scaling_group import ScalingGroup
from grove_core.snapshot.cluster_index import snapshot_without_pods
from grove_core.snapshot.snapshot import Snapshot

StoredObject: TypeAlias = Known


def next_resource_version(resource_version: str) -> str:
    """Return the resource version after one more write."""
    version, plus, writes = resource_version.rpartition("+")
    if not plus or parse_replica_index(writes) is None:
        version, writes = resource_version, "0"
    return f"{version}+{int(writes) + 1}"


class InMemoryObjects:
    """Objects by address. Mutable.

    Attributes:
        items: every object but pods.
        pods: uid of a PodClique -> its pods, also after its deletion.
        not_collected, complete: kinds of which objects may be missing, and kinds of which none is.
    """

    def __init__(self) -> None:
        """Start empty; no kind is complete."""
        self.items: dict[Ref, StoredObject] = {}
        self.pods: dict[str, list[Pod]] = {}
        self.claim_templates: dict[tuple[str, str], FrozenMap] = {}
        self.foreign_owners: dict[tuple[str, str, str], str] = {}
        self.not_collected: frozenset[str] = frozenset()
        self.complete: frozenset[str] | None = None
        self.configuration, self.served = Configuration(), ServedApis()

    def roots(self) -> list[Ref]:
        """Return the addresses of all PodCliqueSets, sorted."""
        return sorted(
            (ref for ref, item in self.items.items() if isinstance(item, PodCliqueSet)), key=lambda ref: ref.sort_key
        )

    def topologies(self) -> FrozenDict[str, ClusterTopology]:
        """Return name -> topology; of two kinds with one name the one that counts."""
        return effective_topologies(item for item in self.items.values() if isinstance(item, ClusterTopology))

    def leftovers(self) -> list[ScalingGroup | PodClique]:
        """Return the parts of deleted sets that are being deleted (WL-001), sorted."""
        names = {(root.namespace, root.name) for root in self.roots()}
        found: list[ScalingGroup | PodClique] = []
        for item in self.items.values():
            if isinstance(item, ScalingGroup | PodClique) and item.deleting:
                of_set = item.owner_name if isinstance(item, ScalingGroup) else set_name_from_labels(item.labels)
                if (item.ref.namespace, of_set) not in names:
                    found.append(item)
        return sorted(found, key=lambda item: item.ref.sort_key)

    def observe(self, root: Ref, now: datetime, attempts: tuple[Attempt, ...] = ()) -> Snapshot | None:
        """Return the snapshot of a set; None if it does not exist."""
        found = self.items.get(root)
        if not isinstance(found, PodCliqueSet):
            return None
        return replace(
            snapshot_without_pods(self.items.values(), found, now, attempts),
            pods_of=frozen_lists(self.pods),
            not_collected=self.not_collected,
            complete=self.complete or frozenset(),
            claim_templates=FrozenDict(self.claim_templates),
            configuration=self.configuration,
            served=self.served,
            foreign_owners=FrozenDict(self.foreign_owners),
            topologies=self.topologies(),
        )
