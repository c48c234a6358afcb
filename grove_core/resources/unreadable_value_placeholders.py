"""Replaces unreadable values of a manifest by placeholders, so that the rest of it can be judged.

A placeholder must not affect the verdict. So the manifest is judged with two placeholders for each value, as different
as possible, and only findings with both count: numbers are the lowest and the highest, names are unused and differ.
"""

import re
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any, Final

from grove_core.resources.podcliqueset_spec import ALL_REPLICAS

Json = dict[str, Any]

_PART: Final = re.compile(r"[^.\[\]]+")
_LISTS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "cliques": "clique",
        "podCliqueScalingGroups": "group",
        "cliqueNames": "name",
        "startsAfter": "name",
        "childCliqueNames": "name",
        "childScalingGroupNames": "name",
        "resourceSharing": "sharing",
        "resourceClaimTemplates": "claim",
        "metrics": "object",
    }
)
_FIELDS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "spec": "object",
        "templateSpec": "object",
        "name": "name",
        "scope": "name",
        "replicas": "count",
        "minAvailable": "count",
        "minReplicas": "count",
        "maxReplicas": "count",
        "terminationDelay": "delay",
        "topologyConstraint": "constraint",
        "pack": "pack",
        "clusterTopologyName": "name",
        "topologyName": "name",
        "packDomain": "name",
        "required": "name",
        "preferred": "name",
    }
)


def with_value_placeholders(raw: Mapping[str, Any], paths: Iterable[str], *, highest: bool) -> Json:
    """Return a copy with placeholders, lowest or highest, at these paths (``spec.template.cliques[0].name``)."""
    unread = tuple(paths)
    whole: Json = _copied(raw) if unread else dict(raw)
    for path in unread:
        steps = [int(part) if part.isdecimal() else part for part in _PART.findall(path)]
        if steps[:1] == ["spec"]:
            _replace(whole, steps, highest=highest)
    return whole


def _replace(whole: Json, steps: list[str | int], *, highest: bool) -> None:
    place: Any = whole
    for step in steps[:-1]:
        place = place[step]
    last = steps[-1]
    if isinstance(last, int):
        place[last] = _stand_in(_LISTS[str(steps[-2])], highest=highest)
    elif steps == ["spec"]:
        place[last] = {"template": {"cliques": [_stand_in("clique", highest=highest)]}}
    elif last == "template":
        place[last] = {"cliques": [_stand_in("clique", highest=highest)]}
    elif last in _LISTS and last != "metrics":
        place[last] = [_stand_in(_LISTS[last], highest=highest)]
    else:
        place[last] = _stand_in(_FIELDS.get(last, "nothing"), highest=highest)


def _stand_in(kind: str, *, highest: bool) -> object:
    """Return a placeholder. No valid name begins with a space, so its names are first in any list and never used."""
    name = " b" if highest else " a"
    sorts: dict[str, object] = {
        "name": name,
        "clique": {"name": name, "spec": {}},
        "group": {"name": name, "cliqueNames": [name]},
        "sharing": {"name": name, "scope": ALL_REPLICAS},
        "claim": {"name": name, "templateSpec": {}},
        "count": 2**31 - 1 if highest else 1,
        "delay": "1h" if highest else None,
        "object": {},
        "constraint": {"packDomain": name},
        "pack": {"required": name},
    }
    return sorts.get(kind)


def _copied(value: Any) -> Any:  # noqa: ANN401 - any JSON
    if isinstance(value, Mapping):
        return {key: _copied(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_copied(item) for item in value]
    return value
