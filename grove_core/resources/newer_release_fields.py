"""Fields and values of Go operator releases after the newest known one (WL-161, GF-134).

This module is data. The part of a release is removed once the release is known.
"""

import re
from collections.abc import Collection, Iterator, Mapping
from typing import Final

from grove_core.kernel.frozen import mapping_or_empty

NEWEST_KNOWN: Final = "v0.1.0-alpha.12-rc1"
STRATEGIES: Final = frozenset({"Coherent"})
"""Of ``spec.updateStrategy.type``."""
CONDITIONS: Final = frozenset({"UpdateInProgress"})
"""Types of conditions."""
_FIELDS: Final = (
    re.compile(r"spec\.template\.cliques\[\d+\]\.rollingUpdate"),
    re.compile(r"spec\.template\.podCliqueScalingGroups\[\d+\]\.rollingUpdate"),
)
_STATUS_FIELDS: Final = ("podGangMapping",)
_GROUPS: Final = frozenset({"grove.io", "scheduler.grove.io"})


def is_newer_release_field(path: str) -> bool:
    """Return whether a field of a PodCliqueSet exists in newer releases only."""
    return any(pattern.fullmatch(path) for pattern in _FIELDS)


def newer_release_fields_in(raw: Mapping[str, object]) -> Iterator[str]:
    """Yield the paths of fields and values in an object that exist in newer releases only. Total."""
    spec, status = mapping_or_empty(raw, "spec"), mapping_or_empty(raw, "status")
    strategy, template = mapping_or_empty(spec, "updateStrategy").get("type"), mapping_or_empty(spec, "template")
    if isinstance(strategy, str) and strategy in STRATEGIES:
        yield "spec.updateStrategy.type"
    for key in ("cliques", "podCliqueScalingGroups"):
        items = template.get(key)
        for index, item in enumerate(items if isinstance(items, list) else ()):
            path = f"spec.template.{key}[{index}].rollingUpdate"
            if isinstance(item, Mapping) and "rollingUpdate" in item:
                yield path
    yield from (f"status.{name}" for name in _STATUS_FIELDS if name in status)


def is_unknown_grove_kind(kind: str, group: str, known: Collection[str]) -> bool:
    """Return whether an object is of a kind of Grove that is not known here."""
    return group in _GROUPS and kind not in known
