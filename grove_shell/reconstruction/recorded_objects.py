"""The objects of sets as a record shows them, with what they were during the last seconds (AF-001, AF-002, AF-013)."""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, Final, NamedTuple

from grove_core.kernel.frozen import mapping_or_empty
from grove_core.resources.api_names import SET_KIND
from grove_core.resources.object_metadata import metadata_in, resource_version_number
from grove_shell.reading.audited_write import AuditedWrite
from grove_shell.reconstruction.object_after_request import (
    EVICTION,
    OF_OBJECTS,
    has_finished_deletion,
    object_after_request,
    response_is_of_written_kind,
    response_object_as_in_dump,
    with_deletion_begun,
)

KEPT: Final = timedelta(seconds=30)
_START: Final = datetime.min.replace(tzinfo=UTC)
_DELETES: Final = frozenset({"delete", "deletecollection"})
Json = Mapping[str, Any]


class ObjectKey(NamedTuple):
    """The address of an object."""

    kind: str
    namespace: str
    name: str


class SetKey(NamedTuple):
    """The address of a PodCliqueSet."""

    namespace: str
    name: str


class RecordedChange(NamedTuple):
    """What a write changed.

    Attributes:
        before, after: the object; None where it did not exist, or is not known.
        deletes: whether this write is the deletion of the object (AF-009).
        gone: whether the object does not exist any more.
    """

    key: ObjectKey
    root: SetKey
    uid: str
    before: Json | None
    after: Json | None
    deletes: bool
    gone: bool


class _Version(NamedTuple):
    at: datetime
    item: Json | None


class RecordedObjects:
    """Objects by address, each with its versions of the last 30 s.

    Args:
        root_of: the set that an object belongs to, by its address and content; None for one of no set in question.

    Attributes:
        without_content: objects of whose last write the record has no content -> when that began.
        created: sets whose creation the record has -> when that was.
        with_pod_statuses: sets of which the record has a write to the status of a pod.
    """

    def __init__(self, root_of: Callable[[ObjectKey, Json | None], SetKey | None]) -> None:
        self._root_of = root_of
        self._versions: dict[ObjectKey, list[_Version]] = {}
        self._keys_of: defaultdict[SetKey, dict[ObjectKey, None]] = defaultdict(dict)
        self._of: dict[ObjectKey, SetKey] = {}
        self.without_content: dict[ObjectKey, datetime] = {}
        self.created: dict[SetKey, datetime] = {}
        self.with_pod_statuses: set[SetKey] = set()
        self._deleting: set[ObjectKey] = set()

    @property
    def roots(self) -> tuple[SetKey, ...]:
        """The sets of which anything is known, in the order in which the record shows them."""
        return tuple(self._keys_of)

    def newest(self, key: ObjectKey) -> Json | None:
        """Return an object as it is now; None where it does not exist or is not known."""
        versions = self._versions.get(key)
        return versions[-1].item if versions else None

    def keys_of(self, root: SetKey) -> tuple[ObjectKey, ...]:
        """Return the addresses of all objects of a set that the record has shown."""
        return tuple(self._keys_of.get(root, ()))

    def objects_at(self, root: SetKey, moment: datetime) -> list[Json]:
        """Return the objects of a set as they were at a moment of the last 30 s."""
        found = (_version_at(self._versions[key], moment) for key in self._keys_of.get(root, ()))
        return [item for item in found if item is not None]

    def change_times(self, root: SetKey, since: datetime, until: datetime) -> list[datetime]:
        """Return when objects of a set changed between two moments, the newest first."""
        times = {
            version.at
            for key in self._keys_of.get(root, ())
            for version in self._versions[key]
            if since < version.at < until
        }
        return sorted(times, reverse=True)

    def put(self, item: Json, at: datetime) -> ObjectKey | None:
        """Store an object of a dump; return its address, None for one of no set in question."""
        key = _key_in(item)
        root = self._filed_under(key, item)
        if root is None:
            return None
        self._append(key, at, item)
        self.without_content.pop(key, None)
        return key

    def remove(self, key: ObjectKey, at: datetime) -> None:
        """Record that an object is gone."""
        self._append(key, at, None)
        self.without_content.pop(key, None)

    def apply(self, write: AuditedWrite) -> Iterator[RecordedChange]:
        """Apply a write; yield what it changed in the sets in question."""
        if write.subresource not in OF_OBJECTS:
            return
        if write.verb == "deletecollection":
            yield from self._apply_to_collection(write)
            return
        key = ObjectKey(write.target.kind, write.namespace, write.name)
        change = self._applied(key, write, None if write.is_status else write.response)
        if change is not None:
            yield change

    def _apply_to_collection(self, write: AuditedWrite) -> Iterator[RecordedChange]:
        items = (write.response or {}).get("items")
        for item in items if isinstance(items, list) else ():
            if isinstance(item, Mapping):
                listed = response_object_as_in_dump(item, write)
                change = self._applied(_key_in(listed), write, with_deletion_begun(listed, write))
                if change is not None:
                    yield change

    def _applied(self, key: ObjectKey, write: AuditedWrite, content: Json | None) -> RecordedChange | None:
        root = self._filed_under(key, content)
        if root is None:
            return None
        before = self.newest(key)
        is_deletion = write.verb in _DELETES or write.subresource == EVICTION
        after = _after_deletion(before, content, write) if is_deletion else object_after_request(write, before)
        if after is not None and _is_older(after, before):
            return None
        uid = metadata_in(after or {}).uid or write.uid or metadata_in(before or {}).uid
        gone = (is_deletion and self._is_gone_at_once(key, write, before, after)) or (
            after is not None and has_finished_deletion(after)
        )
        deletes = is_deletion and self._begins(key, before)
        if gone or (write.verb == "create" and not write.subresource):
            self._deleting.discard(key)
        self._note_content(key, write, is_known=after is not None or gone)
        if after is not None or gone:
            self._append(key, write.answered, None if gone else after)
        if key.kind == "Pod" and write.subresource == "status" and after is not None:
            self.with_pod_statuses.add(root)
        if key.kind == SET_KIND and write.verb == "create" and not write.subresource:
            self.created[root] = write.answered
        return RecordedChange(key, root, uid, before, after, deletes, gone)

    def _is_gone_at_once(self, key: ObjectKey, write: AuditedWrite, before: Json | None, after: Json | None) -> bool:
        """Return whether a deletion ended an object; without any content the second one does."""
        is_shown = before is not None or write.is_status
        return after is None and (is_shown or key in self._deleting)

    def _begins(self, key: ObjectKey, before: Json | None) -> bool:
        """Return whether a deletion is the first one of an object; later ones only end it (AF-009)."""
        if metadata_in(before or {}).deleting or key in self._deleting:
            return False
        self._deleting.add(key)
        return True

    def _note_content(self, key: ObjectKey, write: AuditedWrite, *, is_known: bool) -> None:
        if is_known:
            self.without_content.pop(key, None)
        else:
            self.without_content.setdefault(key, write.answered)

    def _filed_under(self, key: ObjectKey, item: Json | None) -> SetKey | None:
        """Return the set that an object belongs to, and file it there; None where it is of no set in question."""
        root = self._of.get(key) or self._root_of(key, item)
        if root is not None and key not in self._of:
            self._of[key] = root
            self._keys_of[root][key] = None
            self._versions[key] = []
        return root

    def _append(self, key: ObjectKey, at: datetime, item: Json | None) -> None:
        versions = self._versions[key]
        kept = bisect_right(versions, at - KEPT, key=lambda version: version.at) - 1
        if kept > 0:
            del versions[:kept]
        versions.append(_Version(at, item))


def _after_deletion(before: Json | None, content: Json | None, write: AuditedWrite) -> Json | None:
    """Return the object after its deletion was asked for; None where it is gone at once."""
    if content is not None and response_is_of_written_kind(content, write):
        return with_deletion_begun(response_object_as_in_dump(content, write), write)
    is_unknown = before is None or (write.is_status and write.subresource != EVICTION)
    return None if is_unknown or before is None or _ends(before) else with_deletion_begun(before, write)


def _ends(before: Json) -> bool:
    """Return whether another deletion ends an object: a pod that is being deleted, by its kubelet."""
    return metadata_in(before).deleting and not mapping_or_empty(before, "metadata").get("finalizers")


def _is_older(after: Json, before: Json | None) -> bool:
    """Return whether a newer version of the same object is known already (AF-001)."""
    if before is None or metadata_in(before).uid != metadata_in(after).uid:
        return False
    versions = (metadata_in(one).resource_version for one in (after, before))
    new, old = map(resource_version_number, versions)
    return 0 < new < old


def _version_at(versions: list[_Version], moment: datetime) -> Json | None:
    place = bisect_right(versions, moment, key=lambda version: version.at) - 1
    return versions[place].item if place >= 0 else None


def _key_in(item: Json) -> ObjectKey:
    return ObjectKey(str(item.get("kind")), *metadata_in(item).namespace_and_name)
