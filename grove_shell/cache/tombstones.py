"""Uids of deleted objects; watch events of earlier versions may still arrive."""

from typing import Final

_MOST_KEPT: Final = 20_000


class Tombstones:
    """The uids of the last deleted objects, each with the version of its deletion. Mutable, bounded."""

    def __init__(self) -> None:
        """Start without a tombstone."""
        self._deleted: dict[str, int] = {}  # uid -> version, oldest first

    def __contains__(self, uid: object) -> bool:
        return uid in self._deleted

    def record(self, uid: str, version: int) -> None:
        """Record that an object was deleted as of a version; of two records of one uid the newer counts."""
        self._deleted[uid] = max(version, self._deleted.pop(uid, version))
        if len(self._deleted) > _MOST_KEPT:
            del self._deleted[next(iter(self._deleted))]

    def is_stale(self, uid: str, version: int) -> bool:
        """Return whether an event of this version is older than the deletion of its object."""
        return version <= self._deleted.get(uid, -1)

    def deleted_at(self, uid: str) -> int:
        """Return the version of the deletion; -1 without a tombstone."""
        return self._deleted.get(uid, -1)

    def amend(self, uid: str, version: int) -> None:
        """Set the version of a deletion, also to an earlier one."""
        self._deleted[uid] = version

    def discard(self, uid: str) -> None:
        """Remove the tombstone: the object exists."""
        self._deleted.pop(uid, None)
