"""What objects of the API have in common: names, owners, labels, conditions."""

from collections.abc import Mapping

from benchmarks.data.cast import CREATED, HASHES, NAMESPACE, Clique, Raw


def meta_of(kind: str, name: str, uid: str, version: int, finalizer: str, labels: Mapping[str, str]) -> Raw:
    """``metadata`` of an object that the operator made."""
    return {
        "creationTimestamp": CREATED,
        "finalizers": [finalizer],
        "generation": 1,
        "labels": {
            "app.kubernetes.io/component": kind,
            "app.kubernetes.io/managed-by": "grove-operator",
            "app.kubernetes.io/name": name,
            **labels,
        },
        "name": name,
        "namespace": NAMESPACE,
        "resourceVersion": str(version),
        "uid": uid,
    }


def owned_by(api_version: str, kind: str, name: str, uid: str) -> list[Raw]:
    """``ownerReferences`` with this controller."""
    return [
        {
            "apiVersion": api_version,
            "blockOwnerDeletion": True,
            "controller": True,
            "kind": kind,
            "name": name,
            "uid": uid,
        }
    ]


def condition_of(kind: str, *, holds: bool, since: str, reason: str, message: str) -> Raw:
    """A condition as it is stored."""
    return {
        "lastTransitionTime": since,
        "message": message,
        "reason": reason,
        "status": str(holds),
        "type": kind,
    }


def labels_of(clique: Clique) -> dict[str, str]:
    """What pods have in common with their clique."""
    labels = {
        "app.kubernetes.io/part-of": clique.set_name,
        "grove.io/pod-template-hash": HASHES[clique.role],
        "grove.io/podcliqueset-replica-index": str(clique.replica),
        "grove.io/podgang": clique.gang,
    }
    if clique.group:
        labels["grove.io/podcliquescalinggroup"] = clique.group
        labels["grove.io/podcliquescalinggroup-replica-index"] = str(clique.group_replica)
    return labels


def moment_of(serial: int) -> str:
    """A moment of the last three hours, so that no delay of four has ended."""
    return f"2026-11-21T{9 + serial % 3:02}:{serial % 60:02}:{serial * 7 % 60:02}Z"
