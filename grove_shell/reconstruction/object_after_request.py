"""The object that a request of an audit log leaves: its content, or the stored one with what the request changes."""

from collections.abc import Mapping
from typing import Any, Final

from grove_core.kernel.frozen import mapping_or_empty
from grove_core.kernel.time_formats import format_time, truncated_to_seconds
from grove_shell.reading.audited_write import AuditedWrite

Json = Mapping[str, Any]
_SCALE: Final = "Scale"
BINDING: Final = "binding"
EVICTION: Final = "eviction"
OF_OBJECTS: Final = frozenset({"", "status", "scale", "ephemeralcontainers", "resize", BINDING, EVICTION})
"""Subresources whose writes change the object; others, as of tokens, do not."""
_NOT_KEPT: Final = "managedFields"
_GRACE_SECONDS: Final = 30


def object_after_request(write: AuditedWrite, before: Json | None) -> Json | None:
    """Return the object after a write that is no deletion; None where the log does not show it.

    Args:
        before: the stored object; None where it is not known.
    """
    content = write.response
    if write.subresource == BINDING:
        return _bound(before, write) if before is not None and write.node else None
    if content is None or write.is_status:
        return None
    if content.get("kind") == _SCALE:
        return _scaled(before, content) if before is not None else None
    return response_object_as_in_dump(content, write) if response_is_of_written_kind(content, write) else None


def response_is_of_written_kind(content: Json, write: AuditedWrite) -> bool:
    """Return whether a response is an object of the kind that was written; items of lists name none."""
    return str(content.get("kind", write.target.kind)) == write.target.kind


def response_object_as_in_dump(content: Json, write: AuditedWrite) -> Json:
    """Return the object of a response as a dump has it: with kind and version, without managed fields."""
    kept = {key: value for key, value in mapping_or_empty(content, "metadata").items() if key != _NOT_KEPT}
    named = {"apiVersion": write.target.api_version, "kind": write.target.kind}
    return {**named, **content, "metadata": kept}


def with_deletion_begun(item: Json, write: AuditedWrite) -> Json:
    """Return an object with the deletion that a write began; a pod on a node has its grace period before it."""
    known = mapping_or_empty(item, "metadata")
    if known.get("deletionTimestamp"):
        return item
    at = format_time(truncated_to_seconds(write.received))
    spec = mapping_or_empty(item, "spec")
    grace = spec.get("terminationGracePeriodSeconds", _GRACE_SECONDS) if spec.get("nodeName") else 0
    return {**item, "metadata": {**known, "deletionTimestamp": at, "deletionGracePeriodSeconds": grace}}


def has_finished_deletion(item: Json) -> bool:
    """Return whether an object that is being deleted has neither finalizers nor a grace period left (AF-002)."""
    known = mapping_or_empty(item, "metadata")
    return bool(known.get("deletionTimestamp")) and not (
        known.get("finalizers") or known.get("deletionGracePeriodSeconds")
    )


def _scaled(before: Json, scale: Json) -> Json:
    meta, spec = mapping_or_empty(before, "metadata"), mapping_or_empty(before, "spec")
    asked, version = (
        mapping_or_empty(scale, "spec").get("replicas", 0),
        mapping_or_empty(scale, "metadata").get("resourceVersion"),
    )
    generation = meta.get("generation")
    if spec.get("replicas") != asked and isinstance(generation, int):
        meta = {**meta, "generation": generation + 1}
    return {**before, "metadata": {**meta, "resourceVersion": version}, "spec": {**spec, "replicas": asked}}


def _bound(before: Json, write: AuditedWrite) -> Json:
    """Return a pod as the binding of the scheduler leaves it."""
    status, at = mapping_or_empty(before, "status"), format_time(truncated_to_seconds(write.answered))
    stored = status.get("conditions")
    conditions = [one for one in stored if isinstance(one, Mapping)] if isinstance(stored, list) else []
    others = [one for one in conditions if one.get("type") != "PodScheduled"]
    scheduled = {"type": "PodScheduled", "status": "True", "lastTransitionTime": at}
    return {
        **before,
        "spec": {**mapping_or_empty(before, "spec"), "nodeName": write.node},
        "status": {**status, "conditions": [*others, scheduled]},
    }
