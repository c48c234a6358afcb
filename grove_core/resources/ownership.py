"""That an object belongs to another: its controller, without which the garbage collector takes it away."""

from typing import Any

from grove_core.resources.meta import Resource


def reference_to(owner: Resource) -> dict[str, Any]:
    """An entry of ``metadata.ownerReferences`` (WL-030)."""
    return {
        "apiVersion": owner.ref.api_version,
        "kind": owner.ref.kind,
        "name": owner.ref.name,
        "uid": owner.uid,
        "controller": True,
        "blockOwnerDeletion": True,
    }
