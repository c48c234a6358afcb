"""Where things live: with the set that they belong to; a topology, which belongs to nobody, by itself."""

from typing import Final, TypeAlias

Home: TypeAlias = tuple[str, str]
"""Namespace and name of a set; no namespace and the name of a topology."""
NOWHERE: Final = ""


def home_of_topology(name: str) -> Home:
    """Where a topology lives."""
    return (NOWHERE, name)


def is_topology_home(home: Home) -> bool:
    """Whether a topology lives there, and no set."""
    return home[0] == NOWHERE


def told_as(home: Home) -> dict[str, str]:
    """Whose it is, as lines of logs have it."""
    return {"topology": home[1]} if is_topology_home(home) else {"set": "/".join(home)}
