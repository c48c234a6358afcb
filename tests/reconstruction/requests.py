"""Audit events of made-up requests, one second after another."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from grove_core.kernel.time_formats import format_time

Json = dict[str, Any]
START: Final = datetime(2026, 11, 20, 2, tzinfo=UTC)
OPERATOR: Final = ("system:serviceaccount:grove-system:grove-operator", "grove-operator/v0.1.0 (linux/amd64)")
COLLECTOR: Final = (
    "system:serviceaccount:kube-system:generic-garbage-collector",
    "kube-controller-manager/v1.35 (linux) kubernetes/a/system:serviceaccount:kube-system:generic-garbage-collector",
)
ALICE: Final = ("alice", "kubectl/v1.35.0 (linux/amd64) kubernetes/abc")
KUBELET: Final = ("system:node:gpu-1", "kubelet/v1.35.0 (linux/amd64) kubernetes/abc")
RESOURCES: Final = {
    "PodCliqueSet": ("grove.io", "v1alpha1", "podcliquesets"),
    "PodCliqueScalingGroup": ("grove.io", "v1alpha1", "podcliquescalinggroups"),
    "PodClique": ("grove.io", "v1alpha1", "podcliques"),
    "Pod": ("", "v1", "pods"),
}


class Requests:
    """A log that grows."""

    def __init__(self) -> None:
        self.lines: list[bytes] = []
        self._versions = 0

    @property
    def log(self) -> bytes:
        """All lines."""
        return b"".join(self.lines)

    def item(self, kind: str, name: str, owner: Json | None = None, **fields: Any) -> Json:
        """An object in a new version; ``metadata`` among the fields is merged."""
        self._versions += 1
        group, version, _ = RESOURCES[kind]
        metadata: Json = {
            "namespace": "ml",
            "name": name,
            "uid": f"uid-of-{name}",
            "resourceVersion": str(self._versions),
            "labels": {"app.kubernetes.io/part-of": "llama", "app.kubernetes.io/managed-by": "grove-operator"},
            **fields.pop("metadata", {}),
        }
        if owner is not None:
            reference = {key: owner["metadata"][key] for key in ("name", "uid")}
            metadata["ownerReferences"] = [
                {"apiVersion": owner["apiVersion"], "kind": owner["kind"], "controller": True, **reference}
            ]
        return {"apiVersion": f"{group}/{version}".lstrip("/"), "kind": kind, "metadata": metadata, **fields}

    def add(self, verb: str, item: Json, by: tuple[str, str], part: str = "", **fields: Any) -> None:
        """A request with an object as its response; ``fields`` replace those of the event."""
        group, version, plural = RESOURCES[item["kind"]]
        at = START + timedelta(seconds=len(self.lines))
        ref = {"resource": plural, "apiGroup": group, "apiVersion": version, "namespace": "ml"}
        ref |= {"name": item["metadata"]["name"]} | ({"subresource": part} if part else {})
        event = {
            "kind": "Event",
            "apiVersion": "audit.k8s.io/v1",
            "level": "RequestResponse",
            "auditID": str(len(self.lines)),
            "stage": "ResponseComplete",
            "requestURI": f"/apis/{group}/{version}/namespaces/ml/{plural}/{item['metadata']['name']}",
            "verb": verb,
            "user": {"username": by[0]},
            "userAgent": by[1],
            "objectRef": ref,
            "responseStatus": {"code": 200},
            "responseObject": item,
            "requestReceivedTimestamp": format_time(at),
            "stageTimestamp": format_time(at + timedelta(milliseconds=5)),
            **fields,
        }
        self.lines.append(
            json.dumps({key: value for key, value in event.items() if value is not None}).encode() + b"\n"
        )


def deleted(item: Json, *finalizers: str, grace: int = 0) -> Json:
    """An object that is being deleted."""
    deletion = {"deletionTimestamp": format_time(START), "deletionGracePeriodSeconds": grace}
    return {**item, "metadata": {**item["metadata"], **deletion, "finalizers": list(finalizers)}}
