"""The objects in which daemons register, and their lists of entries as they are stored.

Where a whole object is written back, fields and entries of other writers stay unchanged (DC-030).
"""

from collections.abc import Iterable, Mapping
from typing import Final, TypeAlias

from grove_core.kernel.frozen import EMPTY, FrozenMap, Json, list_at, object_under_key
from grove_core.kernel.structs import Struct
from grove_core.resources.compute_domain import DAEMON_NODE_NAME, NODE_NAME, ComputeDomain, ComputeDomainClique

_MAX_VERSION_DIGITS: Final = 20
DaemonRegistry: TypeAlias = ComputeDomain | ComputeDomainClique
"""The object in which daemons register: the whole domain, or one clique of it."""


def registry_version_number(registry: DaemonRegistry) -> int:
    """Return the resourceVersion as a number, larger for newer states; 0 if it is no number (DC-072)."""
    text = registry.resource_version
    return int(text) if text.isascii() and text.isdecimal() and len(text) <= _MAX_VERSION_DIGITS else 0


class DaemonEntriesPath(Struct, frozen=True):
    """Where a registry has its entries.

    Attributes:
        parent: the field that contains the list; empty for the object itself.
        list_key: the field with the list of entries.
        node_key: the field of an entry with the name of its node.
        subresource: to which entries are written; empty for the object itself.
    """

    parent: str
    list_key: str
    node_key: str
    subresource: str

    def fields_with_entries(self, entries: tuple[Json, ...], stored: FrozenMap = EMPTY) -> FrozenMap:
        """Return an object with these entries, and the other fields as they are stored."""
        if not self.parent:
            return FrozenMap({**stored, self.list_key: entries})
        parent = FrozenMap({**object_under_key(stored, self.parent), self.list_key: entries})
        return FrozenMap({**stored, self.parent: parent})

    def entries_in(self, stored: FrozenMap) -> tuple[Json, ...]:
        """Return the entries of an object as they are stored."""
        return list_at(object_under_key(stored, self.parent) if self.parent else stored, self.list_key)

    def node_of_entry(self, entry: Json) -> str:
        """Return the node of a stored entry; empty if it has none."""
        return str(entry.get(self.node_key, "")) if isinstance(entry, Mapping) else ""


IN_DOMAIN = DaemonEntriesPath("status", "nodes", NODE_NAME, "status")
IN_CLIQUE = DaemonEntriesPath("", "daemons", DAEMON_NODE_NAME, "")


def daemon_entries_path(*, sharded: bool) -> DaemonEntriesPath:
    """Return where a clique object, or the domain, has its entries."""
    return IN_CLIQUE if sharded else IN_DOMAIN


def path_in_registry(registry: DaemonRegistry) -> DaemonEntriesPath:
    """Return where this object has its entries."""
    return daemon_entries_path(sharded=isinstance(registry, ComputeDomainClique))


def daemon_entries_of_other_nodes(registry: DaemonRegistry, nodes: Iterable[str]) -> tuple[Json, ...]:
    """Return the stored entries of all other nodes, unchanged."""
    path, removed = path_in_registry(registry), frozenset(nodes)
    return tuple(item for item in path.entries_in(registry.stored) if path.node_of_entry(item) not in removed)


def object_with_daemon_entry(registry: DaemonRegistry, node: str, own: FrozenMap | None) -> FrozenMap:
    """Return the whole object with this entry for a node, which keeps its unknown fields; None removes the entry."""
    path = path_in_registry(registry)
    entries = path.entries_in(registry.stored)
    nodes = [path.node_of_entry(item) for item in entries]
    at = nodes.index(node) if node in nodes else len(entries)
    before = entries[at] if at < len(entries) else EMPTY
    kept = before if isinstance(before, FrozenMap) else EMPTY
    new = () if own is None else (FrozenMap({**kept, **own}),)
    return path.fields_with_entries((*entries[:at], *new, *entries[at + 1 :]), registry.stored)


def with_owner(whole: FrozenMap, reference: FrozenMap) -> FrozenMap:
    """Return an object with this owner as the last one, in place of an earlier reference to it."""
    metadata = object_under_key(whole, "metadata")
    others = [
        owner
        for owner in list_at(metadata, "ownerReferences")
        if not isinstance(owner, Mapping) or owner.get("uid") != reference["uid"]
    ]
    return FrozenMap({**whole, "metadata": FrozenMap({**metadata, "ownerReferences": (*others, reference)})})
