"""The objects of a cluster as lists and watches show them, as JSON, for a plan of all of them (WA-002)."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from grove_core.resources.api_names import POD_KIND
from grove_core.resources.object_metadata import metadata_in
from grove_shell.actions.live_cluster_lists import NODES, reduce_node_for_capture
from grove_shell.client.object_store import CachedObject, Key, ObjectStore, Raw, StoresByKind

Json = dict[str, Any]


class WatchedObjects(StoresByKind):
    """Stores of JSON objects by kind, updated by a reflector each.

    Attributes:
        listed: kinds that the server has listed, and serves still.
        unselected: namespaces in which a pod may run without the label by which pods are watched.
    """

    def __init__(self, kinds: Iterable[str], changed: Callable[[], None]) -> None:
        """Start without objects; ``changed`` is called after every change of one."""
        self._changed = changed
        self.listed: set[str] = set()
        self.unselected: set[str] = set()
        self.stores: dict[str, ObjectStore[Any]] = {kind: ObjectStore(_parser(kind), self._notify) for kind in kinds}

    def objects_of(self, kind: str) -> list[Json]:
        """Return all objects of a kind."""
        return [one.item for one in self.stores[kind].entries.values() if one.item is not None]

    def replace_all_of_kind(self, kind: str, items: Iterable[Raw], version: str) -> None:
        """Apply a complete list as of a version; its first list ends the wait for the kind."""
        super().replace_all_of_kind(kind, items, version)
        (self.listed.add if version else self.listed.discard)(kind)  # one that is not served has no version
        self._changed()

    def drop(self, kind: str, raw: Raw) -> None:
        """Apply a deletion. A pod that was not being deleted may have lost its label alone."""
        super().drop(kind, raw)
        meta = metadata_in(raw)
        if kind == POD_KIND and not meta.deleting:
            self.unselected.add(meta.namespace_and_name[0])
            self._changed()

    def mark_kind_unlisted(self, kind: str, why: str) -> None:
        """Forget a kind that is not listed any more."""
        super().mark_kind_unlisted(kind, why)
        self.listed.discard(kind)
        self._changed()

    def _notify(self, _key: Key, before: CachedObject[Json] | None, after: CachedObject[Json] | None) -> None:
        if before is None or after is None or before.item != after.item:
            self._changed()


def _parser(kind: str) -> Callable[[Raw], Json]:
    return _node if kind == NODES.kind else _same


def _same(raw: Raw) -> Json:
    return raw if isinstance(raw, dict) else dict(raw)


def _node(raw: Mapping[str, Any]) -> Json:
    """Return what a plan reads of a node, so that its heartbeats change nothing."""
    return reduce_node_for_capture(dict(raw))
