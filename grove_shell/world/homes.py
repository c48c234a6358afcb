"""Where things live: with the set that they belong to; a topology, which belongs to nobody, by itself."""

from collections.abc import Mapping
from typing import Any, Final, TypeAlias

from grove_core.resources.compute_domain import DOMAIN_KIND
from grove_core.resources.labels import set_named_by
from grove_core.resources.names import set_of_domain
from grove_core.resources.ownership import Controller
from grove_core.resources.podclique import GROUP_KIND

Home: TypeAlias = tuple[str, str]
"""Namespace and name of a set; no namespace and the name of a topology."""
NOWHERE: Final = ""
NOBODY: Final = ""
_PARTS: Final = frozenset({GROUP_KIND, "PodClique"})
"""Parts of sets that control others, which may be heard of before them, and may have lost every label."""


def home_of_topology(name: str) -> Home:
    """Where a topology lives."""
    return (NOWHERE, name)


def is_topology_home(home: Home) -> bool:
    """Whether a topology lives there, and no set."""
    return home[0] == NOWHERE


def told_as(home: Home) -> dict[str, str]:
    """Whose it is, as lines of logs have it."""
    return {"topology": home[1]} if is_topology_home(home) else {"set": "/".join(home)}


def home_in(kind: str, raw: Mapping[str, Any], owner: Controller, home_of_owner: Mapping[str, Home]) -> Home | None:
    """The set that an object belongs to: its owner, or where its owner lives, or whom its labels name (OP-075).

    Args:
        kind: of the object.
        raw: the object.
        owner: its controller.
        home_of_owner: uid of a part of a set -> where it lives.
    """
    meta = raw["metadata"]
    namespace = str(meta.get("namespace") or "default")
    if kind == "PodCliqueSet":
        return (namespace, str(meta["name"]))
    if owner.kind == "PodCliqueSet" and owner.name:
        return (namespace, owner.name)
    if owner.uid in home_of_owner:
        return home_of_owner[owner.uid]
    named = set_named_by(meta.get("labels") or {})
    if named:
        return (namespace, named)
    if kind == DOMAIN_KIND:
        return (namespace, set_of_domain(str(meta["name"])))
    return (namespace, NOBODY) if owner.kind in _PARTS else None
