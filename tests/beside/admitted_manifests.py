"""Manifests for the comparison of both admissions: a valid set, and one or two fields of it changed."""

import copy
import json
import random
from collections.abc import Iterator, Mapping
from typing import Any, Final

from tests.cluster.api import Json

MANIFESTS: Final = 600
_POD: Final = {"containers": [{"name": "main", "image": "example.com/main:1"}]}
_LONG: Final = "a" * 46
_BAD_NAMES: Final = ("", "Upper", "under_score", "-a", "a-", "a.b", "1st", _LONG, "a" * 64)
_NUMBERS: Final = (None, -1, 0, 1, 2, 3, 5)
_DURATIONS: Final = (None, "0s", "-1s", "1ms", "10s", "4h", "1d")
_SCALE: Final = (
    {"maxReplicas": 4},
    {"maxReplicas": 1},
    {"minReplicas": 1, "maxReplicas": 4},
    {"minReplicas": 3, "maxReplicas": 2},
    {"minReplicas": 0, "maxReplicas": 4},
    {"minReplicas": 4, "maxReplicas": 6},
)
_IN_SET: Final[Mapping[str, tuple[Any, ...]]] = {
    "metadata.name": ("a", "a.b", "a-b", _LONG, "Upper", "1st"),
    "metadata.labels": ({"a/b": "c"}, {"bad key": "c"}, {"a": "c" * 64}),
    "spec.replicas": _NUMBERS,
    "spec.updateStrategy": ({"type": "OnDelete"}, {"type": "RollingRecreate"}, {"type": "Recreate"}, {}),
    "spec.template.cliqueStartupType": (
        None,
        "CliqueStartupTypeAnyOrder",
        "CliqueStartupTypeInOrder",
        "CliqueStartupTypeExplicit",
        "Other",
    ),
    "spec.template.terminationDelay": _DURATIONS,
    "spec.template.priorityClassName": ("high", ""),
    "spec.template.headlessServiceConfig": ({"publishNotReadyAddresses": False}, {}),
    "spec.template.cliques": ([],),
    "spec.template.podCliqueScalingGroups": (
        [],
        [{"name": "pool", "cliqueNames": []}],
        [{"name": "pool", "cliqueNames": ["c1", "c1"]}],
        [{"name": "pool", "cliqueNames": ["c1"]}, {"name": "pool", "cliqueNames": ["c2"]}],
        [{"name": "pool", "cliqueNames": ["c1"]}, {"name": "other", "cliqueNames": ["c1", "c2"]}],
        [{"name": "c0", "cliqueNames": ["c1"]}],
    ),
}
_IN_CLIQUE: Final[Mapping[str, tuple[Any, ...]]] = {
    "name": (*_BAD_NAMES, "c0", "pool"),
    "labels": ({"a/b": "c"}, {"bad key": "c"}, {"a": "c" * 64}),
    "annotations": ({"a/b": "c"}, {"bad key": "c"}),
    "spec.roleName": (None, "", "c0", "Role"),
    "spec.replicas": _NUMBERS,
    "spec.minAvailable": _NUMBERS,
    "spec.startsAfter": ([], ["c0"], ["c1"], ["c2"], ["none"], [""], ["c0", "c0"]),
    "spec.autoScalingConfig": _SCALE,
    "spec.podSpec.restartPolicy": ("Never", "OnFailure", "Always", "Sometimes"),
    "spec.podSpec.schedulerName": ("default-scheduler", "volcano"),
    "spec.podSpec.nodeName": ("n1",),
    "spec.podSpec.hostname": ("host",),
    "spec.podSpec.subdomain": ("sub",),
    "spec.podSpec.hostNetwork": (True,),
    "spec.podSpec.priorityClassName": ("high",),
    "spec.podSpec.terminationGracePeriodSeconds": (0, -1, 5),
    "spec.podSpec.activeDeadlineSeconds": (5,),
    "spec.podSpec.topologySpreadConstraints": (
        [{"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule"}],
    ),
    "spec.podSpec.containers": (
        [],
        [{"name": "main"}],
        [{"name": "", "image": "a:1"}],
        [{"name": "main", "image": "a:1"}, {"name": "main", "image": "a:2"}],
        [{"name": "main", "image": "a:1", "env": [{"name": "A", "value": "1"}, {"name": "A", "value": "2"}]}],
        [{"name": "main", "image": "a:1", "env": [{"name": "GROVE_PCS_NAME", "value": "1"}]}],
        [{"name": "main", "image": "a:1", "resources": {"requests": {"cpu": "2"}, "limits": {"cpu": "1"}}}],
        [{"name": "main", "image": "a:1", "ports": [{"containerPort": 0}]}],
    ),
    "spec.podSpec.initContainers": ([{"name": "main", "image": "a:1"}], [{"name": "grove-initc", "image": "a:1"}]),
    "spec.podSpec.schedulingGates": ([{"name": "example.com/gate"}], [{"name": "grove.io/podgang-pending-creation"}]),
}
_IN_GROUP: Final[Mapping[str, tuple[Any, ...]]] = {
    "name": (*_BAD_NAMES, "c0"),
    "cliqueNames": (["c1"], ["c0", "c1", "c2"], ["none"], [""]),
    "replicas": _NUMBERS,
    "minAvailable": _NUMBERS,
    "scaleConfig": _SCALE,
}


def valid_set() -> Json:
    """A set with a standalone clique and a scaling group of two."""
    cliques = [
        {"name": f"c{number}", "spec": {"roleName": f"c{number}", "replicas": 2, "minAvailable": 1, "podSpec": _POD}}
        for number in range(3)
    ]
    group = {"name": "pool", "cliqueNames": ["c1", "c2"], "replicas": 2, "minAvailable": 1}
    template = {"cliques": cliques, "podCliqueScalingGroups": [group]}
    metadata = {"name": "llm", "namespace": "default"}
    spec = {"replicas": 2, "template": template}
    made = {"apiVersion": "grove.io/v1alpha1", "kind": "PodCliqueSet", "metadata": metadata, "spec": spec}
    copied: Json = json.loads(json.dumps(made))  # no part is shared
    return copied


def every_change() -> list[tuple[str, Any]]:
    """Path and value of each change."""
    found = [(path, value) for path, values in _IN_SET.items() for value in values]
    for number in (0, 1):
        place = f"spec.template.cliques.{number}"
        found += [(f"{place}.{path}", value) for path, values in _IN_CLIQUE.items() for value in values]
    place = "spec.template.podCliqueScalingGroups.0"
    found += [(f"{place}.{path}", value) for path, values in _IN_GROUP.items() for value in values]
    return found


def changed(raw: Json, path: str, value: Any) -> Json:
    """The manifest with one value set; None takes the field away. A path that does not exist changes nothing."""
    raw = copy.deepcopy(raw)
    *above, last = path.split(".")
    place: Any = raw
    for key in above:
        try:
            place = place[int(key)] if key.isdigit() else place.setdefault(key, {})
        except (IndexError, KeyError):
            return raw
    if value is None:
        place.pop(last, None)
    else:
        place[last] = value
    return raw


def manifests(seed: int, stored: Json | None = None) -> Iterator[tuple[str, Json]]:
    """What is changed, and the manifest: each change alone, then random pairs; updates keep the name."""
    start, chance = stored or valid_set(), random.Random(seed)
    every = [one for one in every_change() if stored is None or one[0] != "metadata.name"]
    yield "as it is", start
    for path, value in every:
        yield f"{path}: {value!r}", changed(start, path, value)
    for _ in range(max(0, MANIFESTS - len(every))):
        (path, value), (other, its) = chance.sample(every, 2)
        yield f"{path}: {value!r}; {other}: {its!r}", changed(changed(start, path, value), other, its)
