"""One write as an audit event of an API server has it (AF-001)."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final, NamedTuple

from grove_core.kernel.frozen import mapping_or_empty
from grove_core.kernel.time_formats import parse_time
from grove_core.resources.object_metadata import metadata_in
from grove_shell.client.api_kinds import KINDS, ApiKind

_KIND_OF: Final[Mapping[tuple[str, str], ApiKind]] = {(one.group, one.plural): one for one in KINDS.values()}
_SUCCESS: Final = range(200, 300)


class Writer(NamedTuple):
    """The client of a request.

    Attributes:
        user: as the API server authenticated it.
        agent: the user agent, as the client calls itself.
    """

    user: str
    agent: str


class AuditedWrite(NamedTuple):
    """A write that the API server answered with success.

    Attributes:
        received, answered: when the request came and when its response was complete.
        audit_id: unique for each request.
        target: the kind of the object; deletions of a collection have no name.
        response: the object, or the list of objects, in the response; None where the log has no content.
        is_status: whether the response is a ``Status`` and no object.
        node: of a binding, the node that the pod is bound to; else empty.
    """

    answered: datetime
    received: datetime
    audit_id: str
    writer: Writer
    verb: str
    target: ApiKind
    namespace: str
    name: str
    subresource: str
    uid: str
    response: Mapping[str, Any] | None
    is_status: bool
    node: str


def time_in_audit_event(event: Mapping[str, Any], field: str) -> datetime:
    """Return a time of an event. Raises ValueError where it has none."""
    text = event.get(field)
    found = parse_time(text) if isinstance(text, str) else None
    if found is None:
        raise ValueError(f"an event without {field}")
    return found


def _is_success(event: Mapping[str, Any]) -> bool:
    code = mapping_or_empty(event, "responseStatus").get("code")
    return isinstance(code, int) and code in _SUCCESS


def audited_write_in(event: Mapping[str, Any], answered: datetime) -> AuditedWrite | None:
    """Return an event as a write; None if it is of another kind, was refused, or was a dry run (AF-001)."""
    ref = mapping_or_empty(event, "objectRef")
    target = _KIND_OF.get((str(ref.get("apiGroup") or ""), str(ref.get("resource"))))
    uri = str(event.get("requestURI"))
    if target is None or "dryRun=" in uri or not _is_success(event):
        return None
    sent = mapping_or_empty(event, "requestObject")
    if sent.get("dryRun"):
        return None
    response = event.get("responseObject")
    content = response if isinstance(response, Mapping) else None
    is_status = content is not None and content.get("kind") == "Status"
    meta = metadata_in(content or {})
    return AuditedWrite(
        answered=answered,
        received=time_in_audit_event(event, "requestReceivedTimestamp"),
        audit_id=str(event.get("auditID") or ""),
        writer=Writer(str(mapping_or_empty(event, "user").get("username") or ""), str(event.get("userAgent") or "")),
        verb=str(event.get("verb")),
        target=target,
        namespace=str(ref.get("namespace") or ""),
        name=str(ref.get("name") or meta.name),
        subresource=str(ref.get("subresource") or ""),
        uid=("" if is_status else meta.uid) or str(mapping_or_empty(sent, "preconditions").get("uid") or ""),
        response=content,
        is_status=is_status,
        node=str(mapping_or_empty(sent, "target").get("name") or "") if ref.get("subresource") == "binding" else "",
    )
