"""What can be seen of an object on any server: everything the model knows, without what no two servers share."""

from collections.abc import Callable, Mapping
from typing import Any, Final, TypeAlias

from grove_core.in_memory.garbage_collection import StoredObject
from grove_core.kernel.frozen import FrozenMap, thaw_json
from grove_core.resources.cluster_topology import ClusterTopology
from grove_core.resources.compute_domain import ComputeDomain
from grove_core.resources.owned_object import OwnedObject
from grove_core.resources.pod import Pod
from grove_core.resources.podclique import PodClique
from grove_core.resources.podcliqueset import PodCliqueSet
from grove_core.resources.podgang import PodGang
from grove_core.resources.scaling_group import ScalingGroup
from tests.recorded_api_server.slots import LABELS, Json

Object: TypeAlias = StoredObject | Pod
Named: TypeAlias = Callable[[str], str]

TOUCHED: Final = "example.com/touched"
GONE: Final = "gone"
_SHOWN: Final[Mapping[str, tuple[str, ...]]] = {
    "Service": ("selector", "publishNotReadyAddresses", "clusterIP"),
    "HorizontalPodAutoscaler": ("minReplicas", "maxReplicas", "scaleTargetRef"),
}


def view_of(item: Object, named: Named) -> Json:
    """An object as JSON, without uid, version and times.

    Args:
        item: as a world shows it.
        named: the name of an incarnation by its uid.
    """
    if isinstance(item, Pod):
        return {
            "owner": named(item.owner_uid),
            "deleting": item.deleting,
            "held": item.has_grove_gate,
            "gated": item.gated
            and item.has_grove_gate,  # the scheduler's word on a pod that was opened comes later (SM-080)
            "placed": bool(item.node),
            "scheduled": item.scheduled,
            "ready": item.ready,
            "phase": item.phase,
            "index": item.index,
            "hash": item.template_hash,
        }
    common = {
        "owner": f"{item.owner_kind} {named(item.owner_uid)}".strip(),
        "deleting": item.deleting,
        "finalizers": list(item.finalizers),
    }
    return {**common, **_own(item)}


def _own(item: StoredObject) -> Json:
    match item:
        case PodCliqueSet():
            return {"replicas": item.spec.replicas, "generation": item.generation, "status": _status(item)}
        case ScalingGroup():
            return {
                "replicas": item.replicas,
                "minAvailable": item.min_available,
                "generation": item.generation,
                "annotations": _texts(item.annotations),
                "status": _status(item),
            }
        case PodClique():
            return {
                "replicas": item.replicas,
                "minAvailable": item.min_available,
                "generation": item.generation,
                "labels": _texts(item.labels),
                "hash": item.template_hash,
                "annotations": _texts(item.annotations),
                "podSpec": thaw_json(item.pod_spec),
                "autoScaling": thaw_json(item.auto_scaling),
                "status": _status(item),
            }
        case PodGang():
            return {
                "labels": _texts(item.labels),
                "annotations": _texts(item.annotations),
                "priority": item.priority,
                "groups": [[group.name, group.min_replicas, list(group.pods)] for group in item.groups],
                "status": _status(item),
            }
        case ComputeDomain() | ClusterTopology():
            raise AssertionError("no slot is of that kind")
        case OwnedObject():
            spec = thaw_json(item.spec)
            shown = {key: spec[key] for key in _SHOWN.get(item.ref.kind, ()) if spec.get(key)}
            return {"managed": item.managed, "spec": shown}


def _status(item: PodCliqueSet | ScalingGroup | PodClique | PodGang) -> Json:
    status = item.status
    said: dict[str, Any] = {key: getattr(status, name) for key, name in status.FIELDS.items()}
    for extra in ("updating", "update_hash", "recorded"):
        said[extra] = getattr(status, extra, None)
    said["conditions"] = [thaw_json(condition.as_json) for condition in status.conditions]
    shown = {key: thaw_json(value) if isinstance(value, FrozenMap) else value for key, value in said.items()}
    return {key: value for key, value in shown.items() if value not in (None, "", {}, [], False)}


def _texts(texts: FrozenMap) -> Json:
    return {key: text for key, text in texts.items() if key != TOUCHED and LABELS.get(key) != text}
