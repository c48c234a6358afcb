"""Every naming rule, and its inverse (source: the existing operator's names)."""

import re
from typing import Final

_INDEX: Final = re.compile(r"[0-9]{1,10}")


def standalone_clique_name(set_name: str, replica_index: int, clique: str) -> str:
    """The PodClique of a clique that no scaling group names: ``llama-0-router``."""
    return f"{set_name}-{replica_index}-{clique}"


def scaling_group_name(set_name: str, replica_index: int, group: str) -> str:
    """The PodCliqueScalingGroup of one replica of the set: ``llama-0-decode``."""
    return f"{set_name}-{replica_index}-{group}"


def member_clique_name(group_name: str, replica_index: int, clique: str) -> str:
    """The PodClique of one replica of a scaling group: ``llama-0-decode-1-worker``."""
    return f"{group_name}-{replica_index}-{clique}"


def index_after(owner: str, name: str) -> int | None:
    """The replica index that follows the owner's name in ``name``; None where there is none.

    The inverse of the three above, where a label is missing: ``index_after("llama-0-decode", "llama-0-decode-1-dw")``
    is 1.
    """
    rest = name.removeprefix(f"{owner}-")
    digits, dash, _ = rest.partition("-")
    return index_from(digits) if rest != name and dash else None


def index_from(text: str) -> int | None:
    """A replica index as labels and names write it, in decimal digits; None if it is not one."""
    return int(text) if _INDEX.fullmatch(text) else None
