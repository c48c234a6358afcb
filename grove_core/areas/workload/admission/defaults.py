"""Default values of a PodCliqueSet manifest (WL-190), and JSON patches (WL-190).

All functions work on raw JSON and are total. A value of a wrong type stays as it is and is reported by admission. Only
absent fields and nulls are filled in.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from grove_core.kernel.frozen import canonical
from grove_core.resources.template import ANY_ORDER, ROLLING_RECREATE

Json = dict[str, Any]
_INT32: Final = 2**31 - 1


def with_defaults(raw: Mapping[str, Any]) -> Json:
    """Return a new manifest with every default filled in (WL-190). Idempotent.

    ``terminationDelay`` has no default: without one gang termination is off (GT-031).
    """
    return {
        **raw,
        **_part(raw, "metadata", lambda meta: _filled(_without_empty(meta, "namespace"), namespace="default")),
        **_part(raw, "spec", _spec),
    }


def patch_between(before: object, after: object, path: str = "") -> Iterator[Json]:
    """Return the JSON patch (RFC 6902) that turns one JSON value into another (WL-190).

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
                yield from patch_between(before[key], value, f"{path}/{_escaped(key)}")
            else:
                yield {"op": "add", "path": f"{path}/{_escaped(key)}", "value": value}
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for index, (old, new) in enumerate(zip(before, after, strict=True)):
            yield from patch_between(old, new, f"{path}/{index}")
    elif canonical(before) != canonical(after):
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


def _filled(fields: Mapping[str, Any], **defaults: object) -> Json:
    """Return a copy in which absent fields have these defaults; a default of None is not filled in."""
    absent = {key: value for key, value in defaults.items() if fields.get(key) is None and value is not None}
    return {**fields, **absent}


def _without_empty(fields: Mapping[str, Any], key: str) -> Json:
    """Return a copy without the field if it is an empty text."""
    return {name: value for name, value in fields.items() if name != key or value != ""}


def _part(fields: Mapping[str, Any], key: str, change: Callable[[Json], Json]) -> Json:
    """Return the changed object at a key; empty where there is no object."""
    part = fields.get(key)
    return {key: change(dict(part))} if isinstance(part, Mapping) else {}


def _items(fields: Mapping[str, Any], key: str, change: Callable[[Json], Json]) -> Json:
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
