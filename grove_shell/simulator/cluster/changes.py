"""What changed in a world: found by comparing objects with those of the last look, at the end of each moment."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

from grove_core.kernel.refs import Ref
from grove_core.resources.pod import Pod
from grove_shell.in_memory.cluster import InMemoryCluster
from grove_shell.in_memory.stored import StoredObject

Object: TypeAlias = StoredObject | Pod


@dataclass(frozen=True, slots=True)
class Change:
    """One object that came, changed or went; an object that was replaced by another of its name came and went.

    Attributes:
        kind: of the object.
        before, after: None where it came, or went.
    """

    at: int
    kind: str
    before: Object | None
    after: Object | None

    @property
    def object(self) -> Object:
        """The object as it is now, or was last."""
        found = self.after if self.after is not None else self.before
        assert found is not None  # noqa: S101 - one of the two is there
        return found


class ChangeDetector:
    """Remembers what it saw last; objects are never changed in place, so that identity tells."""

    def __init__(self, server: InMemoryCluster) -> None:
        self.server = server
        self.items: dict[Ref, StoredObject] = {}
        self.pods: dict[str, Pod] = {}

    def look(self, at: int) -> list[Change]:
        """Every change since the last look: objects first, then pods; each in the order of the world."""
        return [*self._items(at), *self._pods(at)]

    def _items(self, at: int) -> Iterator[Change]:
        now, seen = self.server.items, self.items
        for ref in [ref for ref in seen if ref not in now]:
            yield Change(at, ref.kind, seen.pop(ref), None)
        for ref, item in now.items():
            before = seen.get(ref)
            if before is item:
                continue
            seen[ref] = item
            if before is not None and before.uid != item.uid:
                yield Change(at, ref.kind, before, None)
                before = None
            yield Change(at, ref.kind, before, item)

    def _pods(self, at: int) -> Iterator[Change]:
        seen = self.pods
        count = 0
        for pods in self.server.pods.values():
            count += len(pods)
            for pod in pods:
                before = seen.get(pod.uid)
                if before is not pod:
                    seen[pod.uid] = pod
                    yield Change(at, "Pod", before, pod)
        if count != len(seen):
            there = {pod.uid for pods in self.server.pods.values() for pod in pods}
            for uid in [uid for uid in seen if uid not in there]:
                yield Change(at, "Pod", seen.pop(uid), None)
