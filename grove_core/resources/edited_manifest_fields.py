"""The fields that an edit of a PodCliqueSet changes, with both values and with what depends on each (ED-001)."""

import re
from collections.abc import Iterator, Mapping, Sequence
from enum import Enum, unique
from typing import Final, NamedTuple

from grove_core.kernel.frozen import FrozenMap, Json, freeze, is_same_json, mapping_or_empty
from grove_core.kernel.time_formats import parse_duration

ABSENT: Final = object()
"""In place of a value that is not there."""
_COMPARED_METADATA: Final = ("labels", "annotations")
_WRITTEN_BY_KUBECTL: Final = "kubectl.kubernetes.io/last-applied-configuration"
_PLAIN_KEY: Final = re.compile(r"[A-Za-z0-9_-]+")


@unique
class FieldDependence(Enum):
    """What depends on a field of a PodCliqueSet (ED-001)."""

    PODS = "Pods"
    """Pods of the named cliques, which the operator replaces."""
    NEW_PARTS = "NewParts"
    """The number of pods or replicas of PodCliques and scaling groups that are created later."""
    REPLICAS = "Replicas"
    """The number of replicas of the set."""
    TERMINATION = "Termination"
    """When gangs are terminated."""
    METADATA = "Metadata"
    """Nothing but labels and annotations."""
    OBJECTS = "Objects"
    """Other objects of the set."""


class ManifestChange(NamedTuple):
    """One field that an edit changes.

    Attributes:
        path: from the manifest, such as ``spec.template.cliques[worker].spec.minAvailable``.
        values: under ``before`` and ``after`` the values; without the key where the field is absent.
        dependence: what depends on the field.
        cliques: names of the cliques whose pods depend on it, in the order of the template.
    """

    path: str
    values: FrozenMap
    dependence: FieldDependence
    cliques: tuple[str, ...] = ()

    @property
    def before(self) -> Json:
        """The value before the edit; None where the field is absent."""
        return self.values.get("before")

    @property
    def after(self) -> Json:
        """The value after the edit; None where the field is absent."""
        return self.values.get("after")


_DURATION: Final = ".terminationDelay"
_DEPENDENCE_BY_PATH: Final = tuple(
    (re.compile(pattern), found)
    for pattern, found in (
        (r"metadata\.", FieldDependence.METADATA),
        (r"spec\.replicas$", FieldDependence.REPLICAS),
        (r"spec\.template\.priorityClassName$", FieldDependence.PODS),
        (r"spec\.template\.cliques\[([^]]+)\]\.(?:labels|annotations|spec\.podSpec)\b", FieldDependence.PODS),
        (r"spec\.template\.cliques\[[^]]+\]\.spec\.replicas$", FieldDependence.NEW_PARTS),
        (r"spec\.template\.podCliqueScalingGroups\[[^]]+\]\.replicas$", FieldDependence.NEW_PARTS),
        (r"spec\.template\.(?:.*\.)?(?:minAvailable|terminationDelay)$", FieldDependence.TERMINATION),
    )
)


def manifest_changes(before: Mapping[str, object], after: Mapping[str, object]) -> tuple[ManifestChange, ...]:
    """Return the fields that differ between two manifests of a set, in the order of the second one (ED-001).

    Args:
        before, after: PodCliqueSets as JSON; status and metadata that a server writes are not compared.
    """
    cliques = _names_of_cliques(after)
    found = _differences(_compared(before), _compared(after), "")
    return tuple(_change(path, one, other, cliques) for path, one, other in found)


def _compared(manifest: Mapping[str, object]) -> Mapping[str, object]:
    metadata = mapping_or_empty(manifest, "metadata")
    texts = {key: _texts(metadata, key) for key in _COMPARED_METADATA}
    return {"metadata": {key: found for key, found in texts.items() if found}, "spec": manifest.get("spec")}


def _texts(metadata: Mapping[str, object], key: str) -> Mapping[str, object]:
    texts = mapping_or_empty(metadata, key)
    return {name: text for name, text in texts.items() if name != _WRITTEN_BY_KUBECTL}


def _names_of_cliques(manifest: Mapping[str, object]) -> tuple[str, ...]:
    spec = manifest.get("spec")
    template = spec.get("template") if isinstance(spec, Mapping) else None
    cliques = template.get("cliques") if isinstance(template, Mapping) else None
    items = cliques if isinstance(cliques, Sequence) else ()
    return tuple(str(one.get("name")) for one in items if isinstance(one, Mapping))


def _change(path: str, before: object, after: object, cliques: tuple[str, ...]) -> ManifestChange:
    given = {"before": before, "after": after}
    values = FrozenMap({key: freeze(value) for key, value in given.items() if value is not ABSENT})
    for pattern, dependence in _DEPENDENCE_BY_PATH:
        match = pattern.match(path)
        if match is not None and dependence is FieldDependence.PODS:
            named = (match[1],) if pattern.groups else cliques
            return ManifestChange(path, values, dependence, named)
        if match is not None:
            return ManifestChange(path, values, dependence)
    return ManifestChange(path, values, FieldDependence.OBJECTS)


def _differences(before: object, after: object, path: str) -> Iterator[tuple[str, object, object]]:
    """Yield path and both values of everything that differs, as deep as both sides have the same form."""
    if isinstance(before, Mapping) and isinstance(after, Mapping):
        for key in (*after, *(key for key in before if key not in after)):
            yield from _differences(before.get(key, ABSENT), after.get(key, ABSENT), _path_of_key(path, key))
        return
    if isinstance(before, list) and isinstance(after, list):
        pairs = paired_items(before, after)
        if pairs is not None:
            for name, one, other in pairs:
                yield from _differences(one, other, f"{path}[{name}]")
            return
    if before is ABSENT or after is ABSENT or not _means_the_same(path, before, after):
        yield path, before, after


def _means_the_same(path: str, before: object, after: object) -> bool:
    """Return whether two values are equal, or one duration: a client in Go writes ``4h`` as ``4h0m0s``."""
    if path.endswith(_DURATION) and isinstance(before, str) and isinstance(after, str):
        return parse_duration(before) == parse_duration(after)
    return is_same_json(before, after)


def _path_of_key(path: str, key: object) -> str:
    if not path:
        return str(key)
    return f"{path}.{key}" if _PLAIN_KEY.fullmatch(str(key)) else f"{path}[{key}]"


def paired_items(before: list[object], after: list[object]) -> list[tuple[str, object, object]] | None:
    """Return the items of two lists in pairs with name or place; None where they cannot be paired.

    They are paired by name, in the order of the second list, else by place. An item without a counterpart stands
    beside ``ABSENT``.
    """
    ones, others = _items_by_name(before), _items_by_name(after)
    if ones is not None and others is not None:
        names = (*others, *(name for name in ones if name not in others))
        return [(name, ones.get(name, ABSENT), others.get(name, ABSENT)) for name in names]
    if len(before) != len(after):
        return None
    return [(str(place), one, other) for place, (one, other) in enumerate(zip(before, after, strict=True))]


def _items_by_name(items: list[object]) -> dict[str, object] | None:
    found: dict[str, object] = {
        item["name"]: item for item in items if isinstance(item, Mapping) and isinstance(item.get("name"), str)
    }
    return found if len(found) == len(items) else None
