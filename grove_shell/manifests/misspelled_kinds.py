"""Detects misspelled kinds and versions of Grove's API (IN-031)."""

from collections.abc import Mapping
from difflib import get_close_matches
from typing import Any, Final, NamedTuple

from grove_core.resources.api_names import GROVE, SCHEDULER
from grove_core.resources.cluster_topology import BINDING_KIND, TOPOLOGY_KIND

_VERSIONS: Final[Mapping[str, str]] = {
    "PodCliqueSet": GROVE,
    "PodClique": GROVE,
    "PodCliqueScalingGroup": GROVE,
    "PodGang": SCHEDULER,
    TOPOLOGY_KIND: GROVE,
    BINDING_KIND: GROVE,
}
_GROUPS: Final = frozenset(version.partition("/")[0] for version in _VERSIONS.values())
_KINDS_ALIKE: Final = 0.8
_GROUPS_ALIKE: Final = 0.6


class Misspelling(NamedTuple):
    """A field of an object that is probably misspelled.

    Attributes:
        kind: the kind that was probably meant.
        path: ``kind`` or ``apiVersion``.
    """

    kind: str
    path: str
    expected: str
    got: str


def misspelling_in(raw: Mapping[str, Any]) -> Misspelling | None:
    """Return the misspelling in the kind or version of an object; None if it is correct or not similar to Grove's.

    An object with a ``uid`` is never misspelled, and other API groups may have kinds of the same name.
    """
    kind, version, meta = raw.get("kind"), raw.get("apiVersion"), raw.get("metadata")
    if not isinstance(kind, str) or not isinstance(version, str) or (isinstance(meta, Mapping) and meta.get("uid")):
        return None
    group = version.rpartition("/")[0]
    if kind in _VERSIONS and version == _VERSIONS[kind]:
        return None
    if "." in group and not get_close_matches(group, _GROUPS, n=1, cutoff=_GROUPS_ALIKE):
        return None
    by_lower = {one.lower(): one for one in _VERSIONS}
    near = get_close_matches(kind.lower(), by_lower, n=1, cutoff=_KINDS_ALIKE)
    if kind in _VERSIONS:
        return Misspelling(kind, "apiVersion", _VERSIONS[kind], f'"{version}"')
    if near:
        return Misspelling(by_lower[near[0]], "kind", by_lower[near[0]], f'"{kind}"')
    if group in _GROUPS:
        return Misspelling(kind, "kind", f"one of {', '.join(sorted(_VERSIONS))}", f'"{kind}"')
    return None
