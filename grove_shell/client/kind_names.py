"""Names of kinds as kubectl takes them: short, singular and plural, with or without their API group."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from grove_shell.client.api_kinds import KINDS

_SHORT: Final = MappingProxyType(
    {
        "pcs": "PodCliqueSet",
        "pcsg": "PodCliqueScalingGroup",
        "pclq": "PodClique",
        "pg": "PodGang",
        "po": "Pod",
        "svc": "Service",
        "sa": "ServiceAccount",
        "hpa": "HorizontalPodAutoscaler",
        "cd": "ComputeDomain",
    }
)
KINDS_BY_NAME: Final[Mapping[str, str]] = MappingProxyType(
    {
        **_SHORT,
        **{one.kind.lower(): one.kind for one in KINDS.values()},
        **{one.plural: one.kind for one in KINDS.values()},
    }
)
"""Names of kinds in small letters, without a group -> the kind."""


def kind_named(name: str) -> str:
    """Return the kind of a name such as ``pclq``, ``PodClique`` or ``podcliques.grove.io``; empty for no known one."""
    return KINDS_BY_NAME.get(name.lower().partition(".")[0], "")


def shortest_name_of(kind: str) -> str:
    """Return the shortest name of a kind: ``pclq``; that of a kind without a short one in small letters."""
    return next((short for short, of_kind in _SHORT.items() if of_kind == kind), kind.lower())
