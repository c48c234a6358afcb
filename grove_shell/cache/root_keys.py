"""The key of the root of an object: its PodCliqueSet, or the topology itself; and which names each root uses."""

from collections import defaultdict
from collections.abc import Hashable
from collections.abc import Set as AbstractSet
from typing import Final, Generic, TypeAlias, TypeVar

from grove_core.resources.api_names import DOMAIN_KIND, GROUP_KIND
from grove_core.resources.labels import podcliqueset_name_from_labels
from grove_core.resources.naming_rules import set_name_of_compute_domain
from grove_core.resources.object_metadata import ObjectMetadata

Name = TypeVar("Name", bound=Hashable)
RootKey: TypeAlias = tuple[str, str]
"""Namespace and name of a PodCliqueSet; an empty namespace and the name of a topology."""
_OF_TOPOLOGIES: Final = ""  # instead of a namespace
_NOT_KNOWN: Final = ""  # instead of the name of a set
_PARTS: Final = frozenset({GROUP_KIND, "PodClique"})
"""Controllers of other objects. An event of these may arrive first, and they may have lost every label."""


def topology_cache_key(name: str) -> RootKey:
    """Return the key of a topology."""
    return (_OF_TOPOLOGIES, name)


def is_topology_cache_key(root_key: RootKey) -> bool:
    """Return whether a key is that of a topology."""
    return root_key[0] == _OF_TOPOLOGIES


def root_key_log_fields(root_key: RootKey) -> dict[str, str]:
    """Return a key as the fields of a log line."""
    return {"topology": root_key[1]} if is_topology_cache_key(root_key) else {"set": "/".join(root_key)}


def root_key_from_labels(kind: str, meta: ObjectMetadata) -> RootKey | None:
    """Return the key of the set that an object belongs to, whose controller is not cached: by its labels (OP-075).

    Returns:
        None for an object of no set; an empty name where its set is not known yet.
    """
    namespace, owner = meta.namespace_and_name[0], meta.controller
    if kind == "PodCliqueSet":
        return meta.namespace_and_name
    if owner.kind == "PodCliqueSet" and owner.name:
        return (namespace, owner.name)
    named = podcliqueset_name_from_labels(meta.labels)
    if named:
        return (namespace, named)
    if kind == DOMAIN_KIND:
        return (namespace, set_name_of_compute_domain(meta.name))
    return (namespace, _NOT_KNOWN) if owner.kind in _PARTS else None


class NameReferenceIndex(Generic[Name]):
    """The names of topologies or templates that each root uses, and the users of each name. Mutable."""

    def __init__(self) -> None:
        """Start empty."""
        self._used: dict[RootKey, frozenset[Name]] = {}
        self._users: defaultdict[Name, set[RootKey]] = defaultdict(set)

    @property
    def all_used_names(self) -> frozenset[Name]:
        """The names that a root uses, existing or not."""
        return frozenset(self._users)

    def names_used_by(self, root_key: RootKey) -> frozenset[Name]:
        """Return the names that a root uses."""
        return self._used.get(root_key, frozenset())

    def roots_using(self, name: Name) -> list[RootKey]:
        """Return the keys of the roots that use a name, sorted."""
        return sorted(self._users.get(name, ()))

    def set_names_used_by(self, root_key: RootKey, used: AbstractSet[Name]) -> None:
        """Set the names that a root uses; none for a deleted one."""
        before = self._used.pop(root_key, frozenset[Name]())
        if used:
            self._used[root_key] = frozenset(used)
        for name in before - used:
            self._users[name].discard(root_key)
            if not self._users[name]:
                del self._users[name]
        for name in used - before:
            self._users[name].add(root_key)
