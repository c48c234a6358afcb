"""Defaults of a PodCliqueSet manifest (WL-190), JSON patches, and the manifest that `kubectl apply` stores (WL-198).

All functions work on raw JSON and are total. A value of a wrong type stays as it is and is reported by admission. Only
absent fields and nulls are filled in.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, NamedTuple

from grove_core.kernel.frozen import is_same_json, mapping_or_empty
from grove_core.resources.podcliqueset_spec import ANY_ORDER, ROLLING_RECREATE

Json = dict[str, Any]
_INT32: Final = 2**31 - 1
LAST_APPLIED: Final = "kubectl.kubernetes.io/last-applied-configuration"
_MERGED: Final = ("labels", "annotations")


def podcliqueset_with_defaults(raw: Mapping[str, object]) -> Json:
    """Return a new manifest with every default filled in (WL-190). Idempotent.

    ``terminationDelay`` has no default: without one gang termination is off (GT-031).
    """
    return {
        **raw,
        **_part(raw, "metadata", lambda meta: _filled(_without_empty(meta, "namespace"), namespace="default")),
        **_part(raw, "spec", _spec),
    }


def json_patch_between(before: object, after: object, path: str = "") -> Iterator[Json]:
    """Yield the operations of the JSON patch (RFC 6902) that turns one JSON value into another (WL-190).

    Lists of different lengths are replaced as a whole. Linear in the difference: identical objects are skipped.
    """
    if before is after:
        return
    if isinstance(before, Mapping) and isinstance(after, Mapping):
        for key in before:
            if key not in after:
                yield {"op": "remove", "path": f"{path}/{_escaped(key)}"}
        for key, value in after.items():
            if key in before:
                yield from json_patch_between(before[key], value, f"{path}/{_escaped(key)}")
            else:
                yield {"op": "add", "path": f"{path}/{_escaped(key)}", "value": value}
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for index, (old, new) in enumerate(zip(before, after, strict=True)):
            yield from json_patch_between(old, new, f"{path}/{index}")
    elif not is_same_json(before, after):
        yield {"op": "replace", "path": path, "value": after}


def _spec(spec: Json) -> Json:
    whole = _filled(spec, replicas=0)
    return {
        **whole,
        **_part(whole, "updateStrategy", lambda strategy: _filled(strategy, type=ROLLING_RECREATE)),
        **_part(whole, "template", _template),
    }


def _template(template: Json) -> Json:
    whole = _filled(template, cliqueStartupType=ANY_ORDER, headlessServiceConfig={})
    return {
        **whole,
        **_part(whole, "headlessServiceConfig", lambda config: _filled(config, publishNotReadyAddresses=True)),
        **_items(whole, "cliques", lambda clique: {**clique, **_part(clique, "spec", _clique)}),
        **_items(whole, "podCliqueScalingGroups", _group),
    }


def _clique(spec: Json) -> Json:
    """``replicas`` are filled in first, because ``minAvailable`` and ``minReplicas`` default to them."""
    whole = _filled(spec, replicas=1)
    replicas = _count(whole["replicas"])
    return {
        **_filled(whole, minAvailable=replicas),
        **_part(whole, "autoScalingConfig", lambda config: _filled(config, minReplicas=replicas)),
        **_part(whole, "podSpec", _pod),
    }


def _pod(spec: Json) -> Json:
    whole = _filled(_without_empty(spec, "restartPolicy"), restartPolicy="Always", terminationGracePeriodSeconds=30)
    return {**whole, **_items(whole, "containers", _container), **_items(whole, "initContainers", _container)}


def _container(container: Json) -> Json:
    """``protocol`` is filled in, because the API server merges ports by number and protocol."""
    return {**container, **_items(container, "ports", lambda port: _filled(port, protocol="TCP"))}


def _group(group: Json) -> Json:
    whole = _filled(group, replicas=1, minAvailable=1)
    replicas = _count(whole["replicas"])
    return {**whole, **_part(whole, "scaleConfig", lambda config: _filled(config, minReplicas=replicas))}


def _filled(fields: Mapping[str, object], **defaults: object) -> Json:
    """Return a copy in which absent fields have these defaults; a default of None is not filled in."""
    absent = {key: value for key, value in defaults.items() if fields.get(key) is None and value is not None}
    return {**fields, **absent}


def _without_empty(fields: Mapping[str, object], key: str) -> Json:
    """Return a copy without the field if it is an empty text."""
    return {name: value for name, value in fields.items() if name != key or value != ""}


def _part(fields: Mapping[str, object], key: str, change: Callable[[Json], Json]) -> Json:
    """Return the changed object at a key; empty where there is no object."""
    part = fields.get(key)
    return {key: change(dict(part))} if isinstance(part, Mapping) else {}


def _items(fields: Mapping[str, object], key: str, change: Callable[[Json], Json]) -> Json:
    """Return the list at a key with every object in it changed; empty where there is no list."""
    items = fields.get(key)
    if not isinstance(items, list):
        return {}
    return {key: [change(dict(item)) if isinstance(item, Mapping) else item for item in items]}


def _count(value: object) -> int | None:
    """Return the value if it is a valid number of replicas, else None; admission reports an invalid one."""
    return value if isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= _INT32 else None


def _escaped(key: object) -> str:
    return str(key).replace("~", "~0").replace("/", "~1")


class StoredManifestAfterApply(NamedTuple):
    """An edit as it is stored.

    Attributes:
        manifest: the whole manifest.
        kept: paths of fields of the spec that the edit leaves out and that stay as they are stored; sorted.
    """

    manifest: Json
    kept: tuple[str, ...]


def manifest_after_kubectl_apply(
    manifest: Mapping[str, object],
    stored: Mapping[str, object],
    last: Mapping[str, object] | None = None,
    defaults: Callable[[Mapping[str, object]], Json] = podcliqueset_with_defaults,
) -> StoredManifestAfterApply:
    """Return the manifest that is stored after ``kubectl apply`` and the admission of this cluster. Idempotent.

    Objects are merged: a field that the manifest leaves out stays, unless the ``last`` applied manifest had it. Lists
    are replaced, as for every custom resource. A default is filled in where the stored set has the field, or where it
    has no counterpart (WL-198).

    Args:
        manifest: that is applied, without defaults.
        stored: the set as the cluster has it.
        last: the manifest of the apply before; None for the one in kubectl's annotation.
        defaults: returns a manifest with the defaults of the mutating webhooks.
    """
    last, before = _last_applied(stored) if last is None else last, mapping_or_empty(stored, "spec")
    merged_spec = _merged(mapping_or_empty(manifest, "spec"), before, mapping_or_empty(last, "spec"))
    metadata, there = mapping_or_empty(manifest, "metadata"), mapping_or_empty(stored, "metadata")
    texts = {
        key: _merged(
            mapping_or_empty(metadata, key),
            mapping_or_empty(there, key),
            mapping_or_empty(mapping_or_empty(last, "metadata"), key),
        )
        for key in _MERGED
    }
    merged = {
        **manifest,
        "metadata": {**metadata, **{key: found for key, found in texts.items() if found or key in metadata}},
        "spec": merged_spec,
    }
    filled = defaults(merged)
    spec = _as_filled_there(merged_spec, filled.get("spec"), before)
    return StoredManifestAfterApply(
        {**filled, "spec": spec}, tuple(sorted(_kept(mapping_or_empty(manifest, "spec"), before, merged_spec, "spec")))
    )


def _last_applied(stored: Mapping[str, object]) -> Json:
    """Return the manifest in kubectl's annotation; empty where there is none, or where it is no JSON object."""
    text = mapping_or_empty(mapping_or_empty(stored, "metadata"), "annotations").get(LAST_APPLIED)
    try:
        found = json.loads(text) if isinstance(text, str) else None
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _merged(new: Mapping[str, object], stored: Mapping[str, object], last: Mapping[str, object]) -> Json:
    """Return the three-way merge of one object; null removes a field."""
    found = {key: value for key, value in stored.items() if key not in new and key not in last}
    for key, value in new.items():
        there = stored.get(key)
        if isinstance(value, Mapping) and isinstance(there, Mapping):
            found[key] = _merged(value, there, mapping_or_empty(last, key))
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


def _counterparts(items: list[object], stored: object) -> Iterator[object]:
    """Yield the stored item of each item of a list: by its name, or by position if it has no name; None without one."""
    there = stored if isinstance(stored, list) else []
    named = {one["name"]: one for one in there if isinstance(one, Mapping) and isinstance(one.get("name"), str)}
    for place, item in enumerate(items):
        name = item.get("name") if isinstance(item, Mapping) else None
        if isinstance(name, str):
            yield named.get(name)
        else:
            yield there[place] if place < len(there) else None


def _kept(
    new: Mapping[str, object], stored: Mapping[str, object], merged: Mapping[str, object], path: str
) -> Iterator[str]:
    for key in stored.keys() & merged.keys():
        if key not in new:
            yield f"{path}.{key}"
        elif isinstance(merged[key], Mapping):
            yield from _kept(
                mapping_or_empty(new, key),
                mapping_or_empty(stored, key),
                mapping_or_empty(merged, key),
                f"{path}.{key}",
            )
