"""Makes the object that an API server stores for a manifest: with a uid, a version and defaults."""

from collections.abc import Callable, Mapping
from datetime import datetime
from types import MappingProxyType
from typing import Any, Final, TypeAlias

from grove_core.kernel.frozen import FrozenMap, thaw
from grove_core.kernel.times import format_time, whole_seconds
from grove_core.resources.cluster_topology import TOPOLOGY_KIND, ClusterTopology, cluster_topology_of
from grove_core.resources.compute_domain import DOMAIN_KIND, ComputeDomain, compute_domain_of
from grove_core.resources.owned_object import OwnedObject, owned_object_of
from grove_core.resources.pod import Pod, pod_of
from grove_core.resources.podclique import GROUP_KIND, PodClique, podclique_of
from grove_core.resources.podgang import PodGang, podgang_of
from grove_core.resources.scaling_group import ScalingGroup, scaling_group_of

CreatedObject: TypeAlias = ScalingGroup | PodClique | PodGang | Pod | OwnedObject | ComputeDomain | ClusterTopology

_PROJECTIONS: Final[Mapping[str, Callable[[Mapping[str, Any]], CreatedObject]]] = MappingProxyType(
    {
        GROUP_KIND: scaling_group_of,
        "PodClique": podclique_of,
        "PodGang": podgang_of,
        DOMAIN_KIND: compute_domain_of,
        TOPOLOGY_KIND: cluster_topology_of,
        "Pod": lambda raw: pod_of(_admitted(raw), {}),
    }
)


def created_object(manifest: FrozenMap, uid: str, at: datetime | None) -> CreatedObject:
    """Return the object that a server stores for a manifest. Raises MalformedObject where a server would refuse it.

    Args:
        manifest: the whole object.
        uid: of the new object.
        at: its creationTimestamp; None for none.
    """
    raw = thaw(manifest)
    raw["metadata"] |= {"uid": uid, "resourceVersion": "1", "generation": 1}
    if at is not None:
        raw["metadata"]["creationTimestamp"] = format_time(whole_seconds(at))
    project = _PROJECTIONS.get(raw["kind"])
    if project is not None:
        return project(raw)
    return owned_object_of(raw)


def _admitted(raw: Mapping[str, Any]) -> dict[str, Any]:
    """Return a new pod as a server stores it: pending, and not schedulable while it has a gate."""
    gated = {"type": "PodScheduled", "status": "False", "reason": "SchedulingGated"}
    conditions = [gated] if raw["spec"].get("schedulingGates") else []
    return {**raw, "status": {"phase": "Pending", "conditions": conditions}}
