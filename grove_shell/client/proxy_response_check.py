"""Tells a response of an API server from that of a proxy in between, such as a login page with status 200."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final, Generic, NamedTuple, TypeGuard, TypeVar

import msgspec

from grove_core.kernel.refs import Ref
from grove_core.resources.decoded_pod import UnreadableFields
from grove_core.resources.encoded_object import EncodedObject
from grove_shell.client.api_kinds import KINDS, ApiKind
from grove_shell.client.api_response import NOT_FOUND, ApiResponse
from grove_shell.client.api_session import NoServerResponse, WatchRefused
from grove_shell.client.nesting_limit import read_json_with_nesting_limit

CHANGES: Final = frozenset({"ADDED", "MODIFIED", "DELETED"})
_KNOWN_BY_METADATA: Final = frozenset(kind.kind for kind in KINDS.values() if kind.metadata_only)
_METADATA_ALONE: Final = "PartialObjectMetadata"
_LISTS_OF_ANY: Final = ("List", f"{_METADATA_ALONE}List")
_TEXTS: Final = ("name", "namespace", "uid", "resourceVersion")
_MAPS: Final = ("labels", "annotations")
_LONGEST: Final = 1000  # of a text in metadata; a version is read as a number, and Python reads none of 4301 digits


def is_api_object(raw: object) -> TypeGuard[dict[str, Any]]:
    """Return whether a body is an object of an API server, with metadata."""
    return isinstance(raw, dict) and _is_metadata(raw.get("metadata")) and bool(raw["metadata"].get("name"))


def _is_metadata(raw: object) -> TypeGuard[dict[str, Any]]:
    """Return whether metadata has the shape that a server enforces (OP-065)."""
    if not isinstance(raw, dict):
        return False
    there = {key: value for key, value in raw.items() if value is not None}
    texts, maps = ([there[key] for key in keys if key in there] for keys in (_TEXTS, _MAPS))
    owners = there.get("ownerReferences", [])
    return (
        all(isinstance(text, str) and len(text) <= _LONGEST for text in texts)
        and all(isinstance(one, dict) for one in maps)
        and isinstance(owners, list)
        and all(isinstance(owner, dict) for owner in owners)
    )


def _is_status(raw: object) -> TypeGuard[dict[str, Any]]:
    """Return whether a body is a ``Status`` of a failure."""
    return (
        isinstance(raw, dict)
        and _is_metadata(raw.get("metadata") or {})
        and isinstance(raw.get("code") or 0, int)
        and isinstance(raw.get("message") or "", str)
    )


def is_list_of_kind(raw: object, kind: ApiKind) -> bool:
    """Return whether a body is a list of a kind with a version (OP-065)."""
    if not isinstance(raw, dict) or "items" not in raw or not _is_metadata(raw.get("metadata")):
        return False
    if raw.get("kind", "List") not in (f"{kind.kind}List", *_LISTS_OF_ANY):
        return False
    if not raw["metadata"].get("resourceVersion"):
        return False
    items = raw["items"]
    return items is None or (isinstance(items, list) and all(map(is_api_object, items)))


def parse_watch_event(line: bytes) -> tuple[str, dict[str, Any]]:
    """Return type and object of a watch event.

    Raises:
        NoServerResponse: the line is no event of an API server (OP-065).
    """
    try:
        event = read_json_with_nesting_limit(line)
        event_type, raw = event["type"], event["object"]
    except (ValueError, KeyError, TypeError):
        event_type, raw = "", {}
    if event_type == "ERROR" and _is_status(raw):
        return event_type, raw
    if event_type == "BOOKMARK" and isinstance(raw, dict) and _is_metadata(raw.get("metadata")):
        return event_type, raw
    if isinstance(event_type, str) and event_type in CHANGES and is_api_object(raw):
        return event_type, raw
    raise NoServerResponse(f"the line is not a watch event: {line[:200].decode('utf-8', 'replace').strip()}")


class _EncodedEvent(msgspec.Struct):
    type: str
    object: msgspec.Raw


class _EncodedList(msgspec.Struct):
    metadata: dict[str, Any]
    items: list[msgspec.Raw]
    kind: str = "List"


_EVENT: Final = msgspec.json.Decoder(_EncodedEvent)
_LIST: Final = msgspec.json.Decoder(_EncodedList)


def parse_watch_event_encoded(line: bytes) -> tuple[str, Mapping[str, Any]]:
    """Return type and object of a watch event, the object as JSON text; errors are those of `parse_watch_event`."""
    try:
        event = _EVENT.decode(line)
        if event.type in CHANGES:
            return event.type, EncodedObject(bytes(event.object))
    except UnreadableFields:
        pass  # it is read field by field
    return parse_watch_event(line)


R = TypeVar("R")


class ListBody(NamedTuple, Generic[R]):
    """The metadata and items of a list, whose kind was checked."""

    metadata: Mapping[str, Any]
    items: Sequence[R]


def list_in_response(kind: ApiKind, response: ApiResponse) -> ListBody[dict[str, Any]] | None:
    """Return the list of a kind in a response; None where it is none (OP-065)."""
    raw = response.json_body()
    return ListBody(raw["metadata"], raw["items"] or ()) if is_list_of_kind(raw, kind) else None


def encoded_list_in_response(kind: ApiKind, response: ApiResponse) -> ListBody[EncodedObject | dict[str, Any]] | None:
    """Return the same with items as JSON text; as dicts where one of them is not as a server writes it."""
    try:
        found = _LIST.decode(response.body)
        items = [EncodedObject(bytes(item)) for item in found.items]
    except UnreadableFields:
        whole = list_in_response(kind, response)
        return None if whole is None else ListBody(whole.metadata, [*whole.items])
    without_items = {"kind": found.kind, "metadata": found.metadata, "items": None}
    return ListBody(found.metadata, items) if is_list_of_kind(without_items, kind) else None


def body_is_of_object(raw: object, ref: Ref) -> TypeGuard[dict[str, Any]]:
    """Return whether a body is the object of this address, or its metadata where only that is requested."""
    kinds = (ref.kind, _METADATA_ALONE) if ref.kind in _KNOWN_BY_METADATA else (ref.kind,)
    return is_api_object(raw) and raw.get("kind") in kinds and raw["metadata"]["name"] == ref.name


def response_is_about_object(response: ApiResponse, ref: Ref) -> bool:
    """Return whether a response shows the object that was requested or written."""
    return response.is_success and body_is_of_object(response.json_body(), ref)


def response_confirms_write(response: ApiResponse, ref: Ref) -> bool:
    """Return whether a response confirms a write: it shows the object, or the success of a deletion."""
    raw = response.json_body()
    is_success = (raw.get("kind"), raw.get("status")) == ("Status", "Success")
    return (response.is_success and is_success) or response_is_about_object(response, ref)


def response_confirms_absence(response: ApiResponse, ref: Ref) -> bool:
    """Return whether the object does not exist; a 404 without a name means that its kind is not served now."""
    is_not_found = response.status == NOT_FOUND and response.json_body().get("reason") == "NotFound"
    return is_not_found and response.status_details.get("name") == ref.name


def error_in_watch_event(status: Mapping[str, Any]) -> WatchRefused:
    """Return the error in an ERROR event of a watch."""
    words = status.get("message") or "the watch ended with an error without a message"
    return WatchRefused(ApiResponse(status.get("code") or 0, json.dumps({"message": words}).encode()))
