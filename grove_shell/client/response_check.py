"""What an API server says itself, told from what somebody on the way says in its place, as a login page with 200."""

import json
from collections.abc import Mapping
from typing import Any, Final, TypeGuard

from grove_core.kernel.refs import Ref
from grove_shell.client.api import RefusedWatch, Unreachable
from grove_shell.client.kinds import KINDS, ApiKind
from grove_shell.client.nesting_limit import read
from grove_shell.client.response import NOT_FOUND, Response

CHANGES: Final = frozenset({"ADDED", "MODIFIED", "DELETED"})
_KNOWN_BY_METADATA: Final = frozenset(kind.kind for kind in KINDS.values() if kind.metadata_only)
_METADATA_ALONE: Final = "PartialObjectMetadata"
_LISTS_OF_ANY: Final = ("List", f"{_METADATA_ALONE}List")
_TEXTS: Final = ("name", "namespace", "uid", "resourceVersion")
_MAPS: Final = ("labels", "annotations")
_LONGEST: Final = 1000  # of a text in metadata; a version is read as a number, and Python reads none of 4301 digits


def is_object(raw: object) -> TypeGuard[dict[str, Any]]:
    """Whether it is an object of an API server: who it is stands in its metadata."""
    return isinstance(raw, dict) and _is_metadata(raw.get("metadata")) and bool(raw["metadata"].get("name"))


def _is_metadata(raw: object) -> TypeGuard[dict[str, Any]]:
    """Whether it has the shape that a server makes sure of before it stores anything (OP-083)."""
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
    """Whether it says why something failed: a code and words, which may be missing."""
    return (
        isinstance(raw, dict)
        and _is_metadata(raw.get("metadata") or {})
        and isinstance(raw.get("code") or 0, int)
        and isinstance(raw.get("message") or "", str)
    )


def is_list(raw: object, kind: ApiKind) -> bool:
    """Whether objects of a kind are listed, be it none, as of a version (OP-065): a login page does not say so."""
    if not isinstance(raw, dict) or "items" not in raw or not _is_metadata(raw.get("metadata")):
        return False
    if raw.get("kind", "List") not in (f"{kind.kind}List", *_LISTS_OF_ANY):
        return False
    if not raw["metadata"].get("resourceVersion"):
        return False
    items = raw["items"]
    return items is None or (isinstance(items, list) and all(map(is_object, items)))


def event_of(line: bytes) -> tuple[str, dict[str, Any]]:
    """What happened, and to which object.

    Raises:
        Unreachable: it does not read: whoever wrote it is no API server (OP-065).
    """
    try:
        event = read(line)
        what, raw = event["type"], event["object"]
    except (ValueError, KeyError, TypeError):
        what, raw = "", {}
    if what == "ERROR" and _is_status(raw):
        return what, raw
    if what == "BOOKMARK" and isinstance(raw, dict) and _is_metadata(raw.get("metadata")):
        return what, raw
    if isinstance(what, str) and what in CHANGES and is_object(raw):
        return what, raw
    raise Unreachable(f"what came is no event: {line[:200].decode('utf-8', 'replace').strip()}")


def shows(raw: object, ref: Ref) -> TypeGuard[dict[str, Any]]:
    """Whether it is the object of this address; by its metadata alone where nothing else is asked for."""
    kinds = (ref.kind, _METADATA_ALONE) if ref.kind in _KNOWN_BY_METADATA else (ref.kind,)
    return is_object(raw) and raw.get("kind") in kinds and raw["metadata"]["name"] == ref.name


def is_shown_by(answer: Response, ref: Ref) -> bool:
    """Whether an answer is the object that was asked for, or written."""
    return answer.good and shows(answer.json(), ref)


def says_done(answer: Response, ref: Ref) -> bool:
    """Whether an answer is of who carried a write out: it shows the object, or says that a deletion went well."""
    raw = answer.json()
    is_success = (raw.get("kind"), raw.get("status")) == ("Status", "Success")
    return (answer.good and is_success) or is_shown_by(answer, ref)


def says_gone(answer: Response, ref: Ref) -> bool:
    """Whether the server knows of no such object; a 404 that names none says that its kind is not served right now."""
    is_not_found = answer.status == NOT_FOUND and answer.json().get("reason") == "NotFound"
    return is_not_found and answer.details.get("name") == ref.name


def refusal_in(status: Mapping[str, Any]) -> RefusedWatch:
    """An ERROR of a watch: a refusal that comes when 200 was said already."""
    words = status.get("message") or "the watch ended with an error that says no more"
    return RefusedWatch(Response(status.get("code") or 0, json.dumps({"message": words}).encode()))
