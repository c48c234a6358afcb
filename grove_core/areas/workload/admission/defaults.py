"""What a manifest means where it says nothing (WL-190 to WL-196), and the JSON patch that writes it down.

Rules for this file: it works on raw JSON and is total; what is not of the type it should be stays as it is, for
admission to report. Only what is absent or null is filled in, never what is written.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from grove_core.kernel.frozen import canonical
from grove_core.resources.template import ANY_ORDER, ROLLING_RECREATE

Json = dict[str, Any]
_INT32: Final = 2**31 - 1


def with_defaults(raw: Mapping[str, Any]) -> Json:
    """A new manifest with every default written out; the one that is given stays untouched.

    WL-190 to WL-195. Idempotent. ``terminationDelay`` has no default: without one gang termination is off (GT-031).
    """
    return {
        **raw,
        **_part(raw, "metadata", lambda meta: _filled(_without_empty(meta, "namespace"), namespace="default")),
        **_part(raw, "spec", _spec),
    }


def patch_between(before: object, after: object, path: str = "") -> Iterator[Json]:
    """The JSON patch (RFC 6902) that turns one JSON value into another; lists of another length are replaced whole.

    WL-197. Cost: linear in what changed; parts that are the same object are not looked into.
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
    """Replicas first: the threshold that nobody wrote is the replicas that will be, not those that were written."""
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
    """Ports are told apart by number and protocol, so a server writes both."""
    return {**container, **_items(container, "ports", lambda port: _filled(port, protocol="TCP"))}


def _group(group: Json) -> Json:
    whole = _filled(group, replicas=1, minAvailable=1)
    replicas = _count(whole["replicas"])
    return {**whole, **_part(whole, "scaleConfig", lambda config: _filled(config, minReplicas=replicas))}


def _filled(fields: Mapping[str, Any], **defaults: object) -> Json:
    """A copy in which these fields have values, unless the default is unknown itself."""
    absent = {key: value for key, value in defaults.items() if fields.get(key) is None and value is not None}
    return {**fields, **absent}


def _without_empty(fields: Mapping[str, Any], key: str) -> Json:
    """A copy in which an empty text says as little as none."""
    return {name: value for name, value in fields.items() if name != key or value != ""}


def _part(fields: Mapping[str, Any], key: str, change: Callable[[Json], Json]) -> Json:
    """One object inside an object, changed; nothing where there is none."""
    part = fields.get(key)
    return {key: change(dict(part))} if isinstance(part, Mapping) else {}


def _items(fields: Mapping[str, Any], key: str, change: Callable[[Json], Json]) -> Json:
    """One list of objects inside an object, each of them changed; nothing where there is none."""
    items = fields.get(key)
    if not isinstance(items, list):
        return {}
    return {key: [change(dict(item)) if isinstance(item, Mapping) else item for item in items]}


def _count(value: object) -> int | None:
    """A number of replicas that others can be taken from; None where it is none, which is reported by itself."""
    return value if isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= _INT32 else None


def _escaped(key: object) -> str:
    return str(key).replace("~", "~0").replace("/", "~1")
