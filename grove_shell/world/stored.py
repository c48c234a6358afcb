"""What an API server in memory stores, and what becomes of it by one write."""

from dataclasses import replace
from typing import TypeAlias

from grove_core.resources.cluster_topology import ClusterTopology
from grove_core.resources.compute_domain import ComputeDomain
from grove_core.resources.names import index_from
from grove_core.resources.owned import Owned
from grove_core.resources.podclique import PodClique
from grove_core.resources.podcliqueset import PodCliqueSet
from grove_core.resources.podgang import PodGang
from grove_core.resources.scaling_group import ScalingGroup

Stored: TypeAlias = PodCliqueSet | ScalingGroup | PodClique | PodGang | Owned | ComputeDomain | ClusterTopology


def without(item: Stored, finalizer: str) -> Stored:
    """An object without a finalizer."""
    return replace(item, finalizers=tuple(name for name in item.finalizers if name != finalizer))


def marked(item: Stored) -> Stored:
    """An object whose deletion was accepted; that moves its generation, once."""
    if not item.deleting and isinstance(item, PodCliqueSet | ScalingGroup | PodClique) and item.generation is not None:
        return replace(item, deleting=True, generation=item.generation + 1)
    return replace(item, deleting=True)


def bumped(resource_version: str) -> str:
    """The version after one more write."""
    version, plus, writes = resource_version.rpartition("+")
    if not plus or index_from(writes) is None:
        version, writes = resource_version, "0"
    return f"{version}+{int(writes) + 1}"
