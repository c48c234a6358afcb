"""Which objects of a record belong to the sets in question, by label, else by name."""

import re
from collections import defaultdict
from collections.abc import Mapping
from typing import Any, Final

from grove_core.resources.api_names import GROUP_KIND, SET_KIND
from grove_core.resources.labels import podcliqueset_name_from_labels
from grove_core.resources.object_metadata import metadata_in
from grove_shell.reconstruction.recorded_objects import ObjectKey, SetKey

_PART: Final = re.compile(r"(?P<set>.+?)-\d+(?:-|$)")
_NAMED_BY_SET: Final = frozenset({GROUP_KIND, "PodClique", "PodGang", "Pod"})
_MARKS: Final = (b"grove.io", b'"pods"', b'"Pod"')


class StorySets:
    """The sets that a story is about.

    Args:
        namespace: None for all.
        kind, name: the target; empty for every set.
    """

    def __init__(self, namespace: str | None, kind: str = "", name: str = "") -> None:
        self._namespace = namespace
        self._possible = _possible_sets(kind, name)
        self._known: defaultdict[str, set[str]] = defaultdict(set)
        shortest = min(self._possible, key=len, default="")
        self._mark = shortest.encode()

    def may_concern(self, line: bytes) -> bool:
        """Return whether a line of an audit log may be about one of the sets."""
        return self._mark in line and any(mark in line for mark in _MARKS)

    def root_of(self, key: ObjectKey, item: Mapping[str, Any] | None) -> SetKey | None:
        """Return the set in question that an object belongs to, None if there is none."""
        if self._namespace not in {None, key.namespace}:
            return None
        name = self._set_name(key, item)
        if not name or (self._possible and name not in self._possible):
            return None
        return SetKey(key.namespace, name)

    def _set_name(self, key: ObjectKey, item: Mapping[str, Any] | None) -> str:
        if key.kind == SET_KIND:
            self._known[key.namespace].add(key.name)
            return key.name
        labelled = podcliqueset_name_from_labels(metadata_in(item).labels) if item is not None else ""
        if labelled or key.kind not in _NAMED_BY_SET or (item is not None and key.kind == "Pod"):
            return labelled
        longer = [name for name in self._known[key.namespace] if key.name.startswith(f"{name}-")]
        part = _PART.match(key.name)
        return max(longer, key=len, default=part["set"] if part is not None else "")


def _possible_sets(kind: str, name: str) -> frozenset[str]:
    """Return the sets that a target can belong to: those whose names begin its name; empty for every set."""
    if kind == SET_KIND or not name:
        return frozenset({name} if name else ())
    parts = name.split("-")
    return frozenset("-".join(parts[:count]) for count in range(1, len(parts)))
