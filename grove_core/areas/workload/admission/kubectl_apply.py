"""The manifest that is stored after `kubectl apply` to an existing set (WL-198).

All functions work on raw JSON and are total, as in ``defaults``.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, NamedTuple

from grove_core.areas.workload.admission.defaults import with_defaults

Json = dict[str, Any]
LAST_APPLIED: Final = "kubectl.kubernetes.io/last-applied-configuration"
_MERGED: Final = ("labels", "annotations")


class AppliedManifest(NamedTuple):
    """An edit as it is stored.

    Attributes:
        manifest: the whole manifest.
        kept: paths of fields of the spec that the edit leaves out and that stay as they are stored; sorted.
    """

    manifest: Json
    kept: tuple[str, ...]


def apply_manifest(
    manifest: Mapping[str, Any],
    stored: Mapping[str, Any],
    last: Mapping[str, Any] | None = None,
    defaults: Callable[[Mapping[str, Any]], Json] = with_defaults,
) -> AppliedManifest:
    """Return the manifest that is stored after ``kubectl apply`` and the admission of this cluster. Idempotent.

    Objects are merged: a field that the manifest leaves out stays, unless the ``last`` applied manifest, else the one
    in kubectl's annotation, had it. Lists are replaced, as for every custom resource. A default is filled in where the
    stored set has the field, or where it has no counterpart (WL-198).
    """
    last, before = _last_applied(stored) if last is None else last, _part(stored, "spec")
    merged_spec = _merged(_part(manifest, "spec"), before, _part(last, "spec"))
    metadata, there = _part(manifest, "metadata"), _part(stored, "metadata")
    texts = {
        key: _merged(_part(metadata, key), _part(there, key), _part(_part(last, "metadata"), key)) for key in _MERGED
    }
    merged = {
        **manifest,
        "metadata": {**metadata, **{key: found for key, found in texts.items() if found or key in metadata}},
        "spec": merged_spec,
    }
    filled = defaults(merged)
    spec = _as_filled_there(merged_spec, filled.get("spec"), before)
    return AppliedManifest(
        {**filled, "spec": spec}, tuple(sorted(_kept(_part(manifest, "spec"), before, merged_spec, "spec")))
    )


def _last_applied(stored: Mapping[str, Any]) -> Json:
    """Return the manifest in kubectl's annotation; empty where there is none, or where it is no JSON object."""
    text = _part(_part(stored, "metadata"), "annotations").get(LAST_APPLIED)
    try:
        found = json.loads(text) if isinstance(text, str) else None
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _merged(new: Mapping[str, Any], stored: Mapping[str, Any], last: Mapping[str, Any]) -> Json:
    """Return the three-way merge of one object; null removes a field."""
    found = {key: value for key, value in stored.items() if key not in new and key not in last}
    for key, value in new.items():
        if isinstance(value, Mapping) and isinstance(stored.get(key), Mapping):
            found[key] = _merged(value, stored[key], _part(last, key))
        elif value is not None:
            found[key] = value
    return found


def _as_filled_there(merged: object, filled: object, stored: object) -> object:
    """Return the value with defaults, but without those that the stored value does not have."""
    if isinstance(merged, Mapping) and isinstance(filled, Mapping):
        there = stored if isinstance(stored, Mapping) else None
        return {
            key: _as_filled_there(merged[key], value, there.get(key) if there is not None else None)
            if key in merged
            else value
            for key, value in filled.items()
            if key in merged or there is None or key in there
        }
    if isinstance(merged, list) and isinstance(filled, list):
        pairs = zip(merged, filled, _counterparts(merged, stored), strict=True)
        return [_as_filled_there(*pair) for pair in pairs]
    return filled


def _counterparts(items: list[Any], stored: object) -> Iterator[object]:
    """Return for each item of a list the stored item with its name, or at its position if it has no name; else None."""
    there = stored if isinstance(stored, list) else []
    named = {one["name"]: one for one in there if isinstance(one, Mapping) and isinstance(one.get("name"), str)}
    for place, item in enumerate(items):
        name = item.get("name") if isinstance(item, Mapping) else None
        if isinstance(name, str):
            yield named.get(name)
        else:
            yield there[place] if place < len(there) else None


def _kept(new: Mapping[str, Any], stored: Mapping[str, Any], merged: Mapping[str, Any], path: str) -> Iterator[str]:
    for key in stored.keys() & merged.keys():
        if key not in new:
            yield f"{path}.{key}"
        elif all(isinstance(one[key], Mapping) for one in (new, stored, merged)):
            yield from _kept(new[key], stored[key], merged[key], f"{path}.{key}")


def _part(fields: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    found = fields.get(key)
    return found if isinstance(found, Mapping) else {}
