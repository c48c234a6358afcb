"""Decides which watch events and list items are applied to a cache.

Stale events, repeated events, and events of an earlier object of the same name are dropped.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple, Protocol, TypeVar

from grove_shell.cache.tombstones import Tombstones
from grove_shell.client.version_numbers import version_number

_Key = TypeVar("_Key")


class KnownVersion(Protocol):
    """What a cache has under a name."""

    @property
    def uid(self) -> str:
        """The uid of the object; a later object of the same name has another one."""
        ...

    @property
    def version(self) -> int:
        """The resource version as a number; 0 where it is not known."""
        ...


class Incarnation(NamedTuple):
    """The uid of an object and one of its resource versions as a number."""

    uid: str
    version: int


def incarnation_of(raw: Mapping[str, Any]) -> Incarnation:
    """Return uid and version of an object as an API server returns it."""
    meta = raw["metadata"]
    return Incarnation(str(meta.get("uid") or ""), version_number(meta.get("resourceVersion")))


class EventFilter(Tombstones):
    """The event filter of one cache; it keeps tombstones of what was deleted. Mutable."""

    def accepts(self, now: Incarnation, known: KnownVersion | None) -> bool:
        """Return whether an event that shows an object is applied: it is no older than what is known (OP-002).

        Args:
            now: uid and version in the event.
            known: what the cache has under the name; None for nothing.
        """
        uid, version = now
        if known is not None and version < known.version:
            if known.uid == uid:
                return False
            if version > 0:
                self.record(uid, known.version)  # of two of one name the older is gone (OP-087)
        return not self.is_stale(uid, version)

    def note_successor(self, now: Incarnation, known: KnownVersion | None) -> None:
        """Record the deletion of the earlier object of the same name, whether or not an event said so (OP-087)."""
        if known is not None and known.uid != now.uid and known.version < now.version:
            self.record(known.uid, now.version)

    def accepts_deletion(self, now: Incarnation, known: KnownVersion | None) -> bool:
        """Return whether an event of a deletion is of the object that the cache has under the name."""
        if known is None or known.uid != now.uid:
            self.record(*now)
            return False
        if 0 < now.version < known.version:  # its label was removed, and restored since (OP-002)
            return False
        self.record(now.uid, max(now.version, known.version))
        return True

    @staticmethod
    def is_rolled_back(now: Incarnation, known: KnownVersion | None, as_of: int) -> bool:
        """Return whether a list shows an older version than was known by then: the store was restored (OP-084)."""
        return known is not None and known.uid == now.uid and now.version < known.version <= as_of

    def deleted_by_list(
        self, known: Mapping[_Key, KnownVersion], there: Mapping[_Key, Incarnation], version: str
    ) -> list[_Key]:
        """Return the known objects that a complete list no longer has (OP-003, OP-002).

        A list without a version, or of a store that was restored from a backup, overrules all that is known (OP-084).

        Args:
            known: what the cache has, by key.
            there: uid and version of the items of the list, by key.
            version: of the list.
        """
        as_of = version_number(version)
        if not version or any(
            self.is_rolled_back(incarnation, known.get(key), as_of) for key, incarnation in there.items()
        ):
            for incarnation in there.values():
                self.discard(incarnation.uid)
            return list(known)
        gone = [
            key
            for key, one in known.items()
            if one.version <= as_of and (key not in there or there[key].uid != one.uid)
        ]
        for key in gone:
            self.record(known[key].uid, as_of)
        for incarnation in there.values():
            if incarnation.version <= self.deleted_at(incarnation.uid) <= as_of:  # the recorded deletion was wrong
                self.amend(incarnation.uid, incarnation.version - 1)
        return gone
