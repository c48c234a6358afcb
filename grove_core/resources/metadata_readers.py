"""Metadata that every object has (identity, version, owner, finalizers), and status conditions."""

from collections.abc import Iterable, Mapping, MutableMapping
from datetime import datetime
from operator import attrgetter
from types import MappingProxyType
from typing import Any, Final, TypedDict

from grove_core.kernel.conditions import Condition, ConditionStatus
from grove_core.kernel.frozen import EMPTY, FrozenMap
from grove_core.kernel.refs import Guard, Ref
from grove_core.kernel.structs import Struct
from grove_core.kernel.time_formats import parse_time
from grove_core.resources.api_names import CONDITIONS, UPDATE_ENDED
from grove_core.resources.json_field_reader import JsonFieldReader
from grove_core.resources.labels import LabelKeys, first_label_value
from grove_core.resources.naming_rules import parse_replica_index

_TYPE: Final = attrgetter("type")
_TRUTHS: Final = MappingProxyType({truth.value: truth for truth in ConditionStatus})


class Resource(Struct, frozen=True, kw_only=True):
    """The metadata that decisions use, common to all kinds.

    Attributes:
        owner_uid, owner_kind, owner_name: of the controller owner; empty where there is none.
        deleting: whether a deletion was accepted (``deletionTimestamp`` is set).
    """

    ref: Ref
    uid: str
    resource_version: str = ""
    owner_uid: str = ""
    owner_kind: str = ""
    owner_name: str = ""
    finalizers: tuple[str, ...] = ()
    deleting: bool = False

    @property
    def guard(self) -> Guard:
        """The uid and version that a write based on this state requires."""
        return Guard(self.uid, self.resource_version)


class MetadataArguments(TypedDict):
    """The fields of a :class:`Resource`, as arguments for its subclasses."""

    ref: Ref
    uid: str
    resource_version: str
    owner_uid: str
    owner_kind: str
    owner_name: str
    finalizers: tuple[str, ...]
    deleting: bool


def read_metadata(
    top: JsonFieldReader, api_version: str, kind: str, shared: MutableMapping[str, str] | None
) -> MetadataArguments:
    """Read ``metadata``. A missing namespace is ``default``, as for kubectl.

    Args:
        top: the object.
        api_version, kind: that its address gets, whatever the object says.
        shared: strings read before, so that equal strings share one copy, as indexes compare by identity first; it gets
            the new ones. None to share none.
    """
    meta = top.raw.get("metadata")
    found = _identity_at_once(meta, api_version, kind, {} if shared is None else shared)
    return found or _identity_step_by_step(top, api_version, kind)


def _identity_at_once(
    meta: Any,  # noqa: ANN401 - unvalidated JSON
    api_version: str,
    kind: str,
    shared: MutableMapping[str, str],
) -> MetadataArguments | None:
    """Return the identity in well-formed metadata; None for anything else."""
    share = shared.setdefault
    try:
        owner_uid = owner_kind = owner_name = ""
        references, finalizers = meta.get("ownerReferences", []), meta.get("finalizers", [])
        for reference in references:
            controls = reference.get("controller", False)
            if controls is not False and (controls is not True or owner_uid or not reference["uid"]):
                return None
            if controls:
                owner_uid, owner_kind, owner_name = reference["uid"], reference["kind"], reference["name"]
        namespace, name, uid, version = meta["namespace"], meta["name"], meta["uid"], meta["resourceVersion"]
        # One C call that raises TypeError where any of them is no string.
        "".join((namespace, name, uid, version, owner_uid, owner_kind, owner_name, *finalizers))
    except (KeyError, TypeError, AttributeError):
        return None
    if not (namespace and name and type(references) is type(finalizers) is list) or "deletionTimestamp" in meta:
        return None
    return MetadataArguments(
        ref=Ref(api_version, kind, share(namespace, namespace), name),
        uid=share(uid, uid),
        resource_version=version,
        owner_uid=share(owner_uid, owner_uid),
        owner_kind=share(owner_kind, owner_kind),
        owner_name=share(owner_name, owner_name),
        finalizers=tuple(finalizers),
        deleting=False,
    )


def _identity_step_by_step(top: JsonFieldReader, api_version: str, kind: str) -> MetadataArguments:
    """Return the identity, noting every problem."""
    meta = top.inner_object("metadata")
    owner = JsonFieldReader(None, "", top.problems)
    for reference in meta.inner_objects("ownerReferences"):
        if reference.boolean("controller"):
            if owner.raw:
                reference.add_problem(
                    "controller", "at most one controller owner", f"a second one, {reference.text('name')}"
                )
            owner = reference
    return MetadataArguments(
        ref=Ref(api_version, kind, meta.text("namespace") or "default", meta.text("name", required=True)),
        uid=meta.text("uid"),
        resource_version=meta.text("resourceVersion"),
        owner_uid=owner.text("uid", required=bool(owner.raw)),
        owner_kind=owner.text("kind"),
        owner_name=owner.text("name"),
        finalizers=meta.text_list("finalizers"),
        deleting=meta.time("deletionTimestamp") is not None,
    )


def ref_in_manifest(raw: Mapping[str, Any], api_version: str, kind: str) -> Ref:
    """Return the address of an unread object, named as it is written: an empty name or a number too. Total."""
    meta = JsonFieldReader(raw, "", []).inner_object("metadata").raw
    return Ref(api_version, kind, str(meta.get("namespace") or "default"), str(meta.get("name") or ""))


def read_labels(top: JsonFieldReader) -> JsonFieldReader:
    """Return ``metadata.labels``, for :func:`read_label` and :func:`read_replica_index`."""
    return top.inner_object("metadata").inner_object("labels")


def read_string_map(part: JsonFieldReader, key: str) -> FrozenMap:
    """Return a map of strings, such as ``annotations``; values that are no strings are noted and left out."""
    texts, found = part.inner_object(key), {}
    for name, value in texts.raw.items():
        if isinstance(value, str):
            found[str(name)] = value
        else:
            texts.add_problem(f"[{name}]", "a string", value)
    return FrozenMap(found) if found else EMPTY


def stored_inner_object(part: JsonFieldReader) -> FrozenMap:
    """Return an inner object as stored; empty where it is absent."""
    return FrozenMap.view_of(part.raw) if part.raw else EMPTY


def read_creation_time(meta: JsonFieldReader) -> datetime | None:
    """Return ``creationTimestamp``; None where it is absent or invalid, as in a manifest."""
    value = meta.raw.get("creationTimestamp")
    return parse_time(value) if isinstance(value, str) else None


def read_label(labels: JsonFieldReader, label: LabelKeys) -> str:
    """Return the value of a label; empty where it has none. A value that is no string is noted (decision D3)."""
    return first_label_value(label, labels.text) or ""


def read_replica_index(labels: JsonFieldReader, label: LabelKeys, named: int | None, *, is_known: bool = False) -> int:
    """Return a replica index (GT-026); -1 where neither name nor label has it.

    Args:
        label: the keys under which the index may stand.
        named: the index in the object's name, which cannot be edited and wins over the label; None where there is none.
        is_known: whether the index is known from elsewhere, so that a missing one is no problem.
    """
    text = read_label(labels, label)
    index = parse_replica_index(text)
    if index is None and (text or (named is None and not is_known)):
        labels.add_problem(f"[{label.primary}]", "a replica index (0, 1, 2, ...)", text or None)
    return next((found for found in (named, index) if found is not None), -1)


def read_conditions(status: JsonFieldReader) -> tuple[Condition, ...]:
    """Return ``conditions``, sorted by type; of two with one type the first counts.

    A condition with a problem is left out; the problem is noted if Grove writes the type (IN-053).
    """
    found = _conditions_at_once(status.raw.get("conditions", []))
    return tuple(sorted(_conditions_one_by_one(status) if found is None else found, key=_TYPE))


def _conditions_at_once(raw: Any) -> list[Condition] | None:  # noqa: ANN401 - unvalidated JSON
    """Return well-formed conditions; None for anything else."""
    if type(raw) is not list:
        return None
    found, types = [], set()
    try:
        for part in raw:
            type_, reason, message = part["type"], part.get("reason", ""), part.get("message", "")
            moment = parse_time(part["lastTransitionTime"])
            if moment is None or not type_:
                return None
            types.add(type_ + reason[:0] + message[:0])  # raises TypeError where any of them is no string
            found.append(Condition(type_, _TRUTHS[part["status"]], reason, message, moment))
    except (KeyError, TypeError, AttributeError):
        return None
    return found if len(types) == len(found) else None


def _conditions_one_by_one(status: JsonFieldReader) -> Iterable[Condition]:
    """Return the conditions, noting every problem."""
    found: dict[str, Condition] = {}
    for stored in status.inner_objects("conditions"):
        part = JsonFieldReader(stored.raw, "", []) if _is_of_others(stored.raw.get("type")) else stored
        before = len(part.problems)
        type_ = part.text("type", required=True)
        truth = part.text("status", required=True)
        moment = part.time("lastTransitionTime", required=True)
        if truth and truth not in _TRUTHS:
            part.add_problem("status", "True, False or Unknown as a string", truth)
        if type_ in found:
            part.add_problem("type", "one condition of each type", type_)
        reason, message = part.text("reason"), part.text("message")
        if len(part.problems) == before and moment is not None:
            found[type_] = Condition(type_, _TRUTHS[truth], reason, message, moment)
    return found.values()


def _is_of_others(type_: object) -> bool:
    return isinstance(type_, str) and type_ != "" and type_ not in CONDITIONS


def has_old_update_progress_key(status: JsonFieldReader) -> bool:
    """Return whether an update's progress is stored under its old key only, which the Go operator ignores (GF-080)."""
    return "updateProgress" not in status and "rollingUpdateProgress" in status


def read_update_progress(status: JsonFieldReader) -> tuple[bool, JsonFieldReader]:
    """Return whether an update runs, and its progress (GT-018); ``updateProgress`` wins over its old key."""
    key = "updateProgress" if "updateProgress" in status else "rollingUpdateProgress"
    progress = status.inner_object(key)
    return key in status and progress.time(UPDATE_ENDED) is None, progress
