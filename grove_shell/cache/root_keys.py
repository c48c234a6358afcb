"""The key of the root that an object belongs to: its PodCliqueSet, or the topology itself."""

from collections.abc import Mapping
from typing import Any, Final, TypeAlias

from grove_core.resources.compute_domain import DOMAIN_KIND
from grove_core.resources.labels import set_named_by
from grove_core.resources.names import set_of_domain
from grove_core.resources.owner_reference import ControllerReference
from grove_core.resources.podclique import GROUP_KIND

RootKey: TypeAlias = tuple[str, str]
"""Namespace and name of a PodCliqueSet; an empty namespace and the name of a topology."""
_OF_TOPOLOGIES: Final = ""  # instead of a namespace
_NOT_KNOWN: Final = ""  # instead of the name of a set
_PARTS: Final = frozenset({GROUP_KIND, "PodClique"})
"""Controllers of other objects. An event of these may arrive first, and they may have lost every label."""


def key_of_topology(name: str) -> RootKey:
    """Return the key of a topology."""
    return (_OF_TOPOLOGIES, name)


def is_topology_key(root_key: RootKey) -> bool:
    """Return whether a key is that of a topology."""
    return root_key[0] == _OF_TOPOLOGIES


def shown_key(root_key: RootKey) -> dict[str, str]:
    """Return a key as the fields of a log line."""
    return {"topology": root_key[1]} if is_topology_key(root_key) else {"set": "/".join(root_key)}


def root_key_in(kind: str, raw: Mapping[str, Any], owner: ControllerReference) -> RootKey | None:
    """Return the key of the set that an object belongs to, whose controller is not cached: by its labels (OP-075).

    Returns:
        None for an object of no set; an empty name where its set is not known yet.
    """
    meta = raw["metadata"]
    namespace = str(meta.get("namespace") or "default")
    if kind == "PodCliqueSet":
        return (namespace, str(meta["name"]))
    if owner.kind == "PodCliqueSet" and owner.name:
        return (namespace, owner.name)
    named = set_named_by(meta.get("labels") or {})
    if named:
        return (namespace, named)
    if kind == DOMAIN_KIND:
        return (namespace, set_of_domain(str(meta["name"])))
    return (namespace, _NOT_KNOWN) if owner.kind in _PARTS else None
