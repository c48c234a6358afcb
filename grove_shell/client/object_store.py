"""Objects of one kind as lists, watch events and responses to writes show them, in whatever order these arrive."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, Generic, NamedTuple, TypeAlias, TypeVar

from grove_core.kernel.errors import MalformedObject
from grove_core.kernel.frozen import FrozenDict
from grove_core.resources.encoded_object import EncodedObject
from grove_core.resources.object_metadata import ObjectMetadata, metadata_in, resource_version_number

T = TypeVar("T")
Raw: TypeAlias = Mapping[str, Any]
Key: TypeAlias = tuple[str, str]
"""Namespace and name."""
_MOST_TOMBSTONES: Final = 20_000
_NEVER: Final = -1  # before any version
NOT_LISTED: Final = "they are not listed yet"


class CachedObject(NamedTuple, Generic[T]):
    """A cached object.

    Attributes:
        uid: a later object of the same name has another one.
        version: the resource version as a number; 0 where it is not known.
        item: as it was parsed; None where it cannot be.
        index: what the index function of the store returned.
    """

    uid: str
    version: int
    item: T | None
    index: Any


class ObjectStore(Generic[T]):
    """The objects of one kind. A stale or repeated event changes nothing, a list corrects the rest. Mutable.

    Subscribers get every change: the key, and the entry before and after it; None for no object.

    Attributes:
        entries: all objects, unreadable ones included; read only.
        unreadable: key of an object that cannot be parsed -> why.
        unlisted_because: why the kind is not listed; empty where it is.
    """

    def __init__(
        self,
        parse: Callable[[Raw], T],
        *subscribers: Callable[[Key, CachedObject[T] | None, CachedObject[T] | None], None],
        index_of: Callable[[ObjectMetadata], Any] = lambda _meta: "",
        keeps_readable: bool = False,
    ) -> None:
        """Start empty.

        Args:
            parse: of an object; raises MalformedObject.
            subscribers: called in this order.
            index_of: returns what subscribers file an object by; None for an object that is not to be kept.
            keeps_readable: whether the last readable state of an object stays while a newer one cannot be parsed.
        """
        self.entries: dict[Key, CachedObject[T]] = {}
        self.unreadable: dict[Key, str] = {}
        self.unlisted_because = NOT_LISTED
        self.subscribers = list(subscribers)
        self._parse = parse
        self._index_of = index_of
        self._keeps_readable = keeps_readable
        self._deleted: dict[str, int] = {}  # uid -> version of the deletion, oldest first
        self._frozen: FrozenDict[Key, T] | None = None

    @property
    def is_listed(self) -> bool:
        """Whether a list was applied, and the kind can be listed since."""
        return not self.unlisted_because

    @property
    def readable_objects(self) -> FrozenDict[Key, T]:
        """The readable objects. Linear in them after a change, else constant."""
        if self._frozen is None:
            self._frozen = FrozenDict({key: one.item for key, one in self.entries.items() if one.item is not None})
        return self._frozen

    @property
    def newest_resource_version(self) -> int:
        """The newest version of any object; 0 without one. Linear in the objects."""
        return max((entry.version for entry in self.entries.values()), default=0)

    def get_readable_object(self, key: Key) -> T | None:
        """Return a readable object; None without one."""
        entry = self.entries.get(key)
        return None if entry is None else entry.item

    def contains(self, raw: Raw) -> bool:
        """Return whether an object is cached, in any version."""
        meta = metadata_in(raw)
        entry = self.entries.get(meta.namespace_and_name)
        return entry is not None and entry.uid == meta.uid

    def has_tombstone(self, uid: object) -> bool:
        """Return whether an object of this uid was deleted, by the events so far."""
        return uid in self._deleted

    def shows_server_rollback(self, meta: ObjectMetadata, as_of: int) -> bool:
        """Return whether a list as of a version shows an older version than was known by then (OP-080)."""
        known = self.entries.get(meta.namespace_and_name)
        return known is not None and known.uid == meta.uid and meta.version_number < known.version <= as_of

    def put(self, raw: Raw) -> None:
        """Apply a new or changed object, unless its deletion or something newer of its name is known (OP-002)."""
        self._put(metadata_of_raw(raw), raw)

    def _put(self, meta: ObjectMetadata, raw: Raw) -> None:
        key, uid, version = meta.namespace_and_name, meta.uid, meta.version_number
        before = self.entries.get(key)
        if before is not None:
            if before.uid == uid:
                if version <= before.version:
                    return
            elif 0 < version < before.version:
                self._bury(uid, before.version)  # of two of one name the older is gone (OP-002)
        if version <= self._deleted.get(uid, _NEVER):
            return
        if before is not None and before.uid != uid and before.version < version:
            self._bury(before.uid, version)
        index = self._index_of(meta)
        if index is None:
            if before is not None:
                self._remove(key)
            if before is not None or uid in self._deleted:  # no tombstone of one that was never kept
                self._bury(uid, version)
            return
        self._deleted.pop(uid, None)
        after = self.entries[key] = CachedObject(uid, version, self._parsed(key, raw), index)
        self._notify(key, before, after)

    def drop(self, raw: Raw) -> CachedObject[T] | None:
        """Apply a deletion, given the last state of the object; return what it removed."""
        meta = metadata_of_raw(raw)
        key, uid, version = meta.namespace_and_name, meta.uid, meta.version_number
        known = self.entries.get(key)
        if known is None or known.uid != uid:
            self._bury(uid, version)
            return None
        if 0 < version < known.version:  # its label was removed, and restored since (OP-002)
            return None
        self._bury(uid, max(version, known.version))
        return self._remove(key)

    def replace_all_of_kind(self, items: Iterable[Raw], version: str) -> list[tuple[Key, CachedObject[T]]]:
        """Apply a complete list as of a version; return what it removed (OP-002).

        Newer objects stay. A list without a version, or of a store that was restored from a backup, overrules all that
        is known (OP-080).
        """
        as_of, found = resource_version_number(version), [(metadata_of_raw(raw), raw) for raw in items]
        there = {meta.namespace_and_name: meta.uid for meta, _ in found}
        if not version or any(self.shows_server_rollback(meta, as_of) for meta, _ in found):
            for uid in there.values():
                self._deleted.pop(uid, None)
            gone = list(self.entries)
        else:
            gone = [
                key for key, known in self.entries.items() if known.version <= as_of and there.get(key) != known.uid
            ]
            for key in gone:
                self._bury(self.entries[key].uid, as_of)
            for meta, _ in found:
                if (
                    meta.version_number <= self._deleted.get(meta.uid, _NEVER) <= as_of
                ):  # the recorded deletion was wrong
                    self._deleted[meta.uid] = meta.version_number - 1
        removed = [(key, self._remove(key)) for key in gone]
        for meta, raw in found:
            self._put(meta, raw)
        self.unlisted_because = ""
        return removed

    def mark_kind_unlisted(self, why: str) -> list[tuple[Key, CachedObject[T]]]:
        """Forget all objects, which are not listed any more; return them."""
        self.unlisted_because = why
        return [(key, self._remove(key)) for key in list(self.entries)]

    def overwrite_after_server_rollback(self, raw: Raw) -> None:
        """Replace an object by the version that a restored store of the server shows, also by an older one (OP-080)."""
        meta = metadata_in(raw)
        if meta.namespace_and_name in self.entries:
            self._remove(meta.namespace_and_name)
        self._deleted.pop(meta.uid, None)
        self._put(meta, raw)

    def change_index(self, key: Key, index: object) -> None:
        """Give an object another index."""
        before = self.entries[key]
        after = self.entries[key] = before._replace(index=index)
        self._notify(key, before, after)

    def exchange(self, key: Key, item: T) -> None:
        """Keep another value of a readable object in the same version; subscribers do not get it."""
        self.entries[key] = self.entries[key]._replace(item=item)
        self._frozen = None

    def _parsed(self, key: Key, raw: Raw) -> T | None:
        try:
            item = self._parse(raw)
        except MalformedObject as fault:
            self.unreadable[key] = str(fault)
            return self.get_readable_object(key) if self._keeps_readable else None
        self.unreadable.pop(key, None)
        return item

    def _bury(self, uid: str, version: int) -> None:
        """Record the version of a deletion; of two records of one uid the newer counts."""
        self._deleted[uid] = max(version, self._deleted.pop(uid, version))
        if len(self._deleted) > _MOST_TOMBSTONES:
            del self._deleted[next(iter(self._deleted))]

    def _remove(self, key: Key) -> CachedObject[T]:
        gone = self.entries.pop(key)
        self.unreadable.pop(key, None)
        self._notify(key, gone, None)
        return gone

    def _notify(self, key: Key, before: CachedObject[T] | None, after: CachedObject[T] | None) -> None:
        self._frozen = None
        for subscriber in self.subscribers:
            subscriber(key, before, after)


def metadata_of_raw(raw: Raw) -> ObjectMetadata:
    """Return the metadata of an object, which is decoded already where the object is JSON text."""
    return raw.metadata if isinstance(raw, EncodedObject) else metadata_in(raw)


class StoresByKind:
    """Stores of several kinds, updated by one reflector each.

    Attributes:
        stores: kind -> store.
    """

    stores: dict[str, ObjectStore[Any]]

    def newest_resource_version(self, kind: str) -> int:
        """Return the newest version of any object of a kind."""
        return self.stores[kind].newest_resource_version

    def replace_all_of_kind(self, kind: str, items: Iterable[Raw], version: str) -> None:
        """Apply a complete list as of a version."""
        self.stores[kind].replace_all_of_kind(items, version)

    def put(self, kind: str, raw: Raw) -> None:
        """Apply a new or changed object."""
        self.stores[kind].put(raw)

    def drop(self, kind: str, raw: Raw) -> None:
        """Apply a deletion, given the last state of the object."""
        self.stores[kind].drop(raw)

    def mark_kind_unlisted(self, kind: str, why: str) -> None:
        """Forget the kind: it is not listed any more."""
        self.stores[kind].mark_kind_unlisted(why)
