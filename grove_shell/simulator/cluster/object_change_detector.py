"""Finds the changed objects of an API server in memory, by comparison with those seen before."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

from grove_core.in_memory.garbage_collection import StoredObject
from grove_core.in_memory.in_memory_cluster import InMemoryCluster
from grove_core.kernel.refs import Ref
from grove_core.resources.pod import Pod

Object: TypeAlias = StoredObject | Pod


@dataclass(frozen=True, slots=True)
class ObjectChange:
    """One object that was created, changed or deleted; a replaced object of the same name gives two changes.

    Attributes:
        at: virtual time in milliseconds.
        kind: kind of the object.
        before, after: None for an object that was created, or deleted.
    """

    at: int
    kind: str
    before: Object | None
    after: Object | None

    @property
    def latest_object(self) -> Object:
        """The object after the change, or its last state where it was deleted."""
        found = self.after if self.after is not None else self.before
        assert found is not None  # noqa: S101 - one of the two exists
        return found


class ObjectChangeDetector:
    """Keeps the objects seen last; objects are immutable, so a changed object is another Python object."""

    def __init__(self, server: InMemoryCluster) -> None:
        self.server = server
        self.items: dict[Ref, StoredObject] = {}
        self.pods: dict[str, Pod] = {}

    def detect_changes(self, at: int) -> list[ObjectChange]:
        """Return all changes since the last call: first the objects, then the pods, each in stored order."""
        return [*self._items(at), *self._pods(at)]

    def _items(self, at: int) -> Iterator[ObjectChange]:
        now, seen = self.server.items, self.items
        for ref in [ref for ref in seen if ref not in now]:
            yield ObjectChange(at, ref.kind, seen.pop(ref), None)
        for ref, item in now.items():
            before = seen.get(ref)
            if before is item:
                continue
            seen[ref] = item
            if before is not None and before.uid != item.uid:
                yield ObjectChange(at, ref.kind, before, None)
                before = None
            yield ObjectChange(at, ref.kind, before, item)

    def _pods(self, at: int) -> Iterator[ObjectChange]:
        seen = self.pods
        count = 0
        for pods in self.server.pods.values():
            count += len(pods)
            for pod in pods:
                before = seen.get(pod.uid)
                if before is not pod:
                    seen[pod.uid] = pod
                    yield ObjectChange(at, "Pod", before, pod)
        if count != len(seen):
            there = {pod.uid for pods in self.server.pods.values() for pod in pods}
            for uid in [uid for uid in seen if uid not in there]:
                yield ObjectChange(at, "Pod", seen.pop(uid), None)
