"""A set that uses every field that admission judges, changes of it, and what admission finds."""

from copy import deepcopy
from typing import Any, Final, NamedTuple

from grove_core.admit import admit
from grove_core.kernel.admission import Deny
from grove_core.kernel.reasons import Rule
from tests.property.resources.manifests import Json, replaced

Place = tuple[str | int, ...]
TEMPLATE: Final[Place] = ("spec", "template")
CLIQUES: Final[Place] = (*TEMPLATE, "cliques")
GROUPS: Final[Place] = (*TEMPLATE, "podCliqueScalingGroups")
CLAIMS: Final[Place] = (*TEMPLATE, "resourceClaimTemplates")
ROUTER: Final[Place] = (*CLIQUES, 0)
LEADER: Final[Place] = (*CLIQUES, 1)
POOL: Final[Place] = (*GROUPS, 0)


class Found(NamedTuple):
    """An objection or a warning: the field, the rule, and what stood there."""

    path: str
    rule: Rule
    got: str


def _clique(name: str, **more: object) -> Json:
    containers = [{"name": "main", "image": "main:1", "env": [{"name": "MODE", "value": "x"}, {"name": "_PORT.a-1"}]}]
    pod = {"schedulerName": "kai-scheduler", "containers": containers, "initContainers": deepcopy(containers)}
    spec = {"roleName": name, "replicas": 3, "minAvailable": 2, "podSpec": pod}
    return {
        "name": name,
        "labels": {"tier": "one"},
        "annotations": {"example.com/Note": "any"},
        "spec": {**spec, **more},
    }


def _requests() -> Json:
    return {"spec": {"devices": {"requests": [{"name": "gpu"}]}}}


FULL: Final[Json] = {
    "apiVersion": "grove.io/v1alpha1",
    "kind": "PodCliqueSet",
    "metadata": {
        "name": "llm",
        "namespace": "ml",
        "uid": "uid-llm",
        "resourceVersion": "7",
        "labels": {"app.kubernetes.io/name": "llm", "empty": ""},
        "annotations": {"Example.com/Note": "any text, of any length"},
    },
    "spec": {
        "replicas": 2,
        "updateStrategy": {"type": "OnDelete"},
        "template": {
            "cliqueStartupType": "CliqueStartupTypeExplicit",
            "cliques": [
                _clique("router", startsAfter=["worker"], autoScalingConfig={"minReplicas": 2, "maxReplicas": 9}),
                _clique("leader"),
                _clique("worker", startsAfter=["leader"]),
            ],
            "podCliqueScalingGroups": [
                {
                    "name": "pool",
                    "cliqueNames": ["leader", "worker"],
                    "replicas": 3,
                    "minAvailable": 2,
                    "annotations": {"note": "any"},
                    "scaleConfig": {"minReplicas": 2, "maxReplicas": 12},
                    "resourceSharing": [
                        {"name": "cache", "scope": "PerReplica", "filter": {"childCliqueNames": ["worker"]}},
                    ],
                }
            ],
            "resourceClaimTemplates": [
                {"name": "cache", "templateSpec": _requests()},
                {"name": "disk", "templateSpec": _requests()},
            ],
            "resourceSharing": [
                {"name": "cache", "scope": "AllReplicas"},
                {
                    "name": "elsewhere",
                    "namespace": "shared",
                    "scope": "PerReplica",
                    "filter": {"childCliqueNames": ["router"], "childScalingGroupNames": ["pool"]},
                },
            ],
        },
    },
}
for _index in range(3):
    FULL["spec"]["template"]["cliques"][_index]["resourceSharing"] = [{"name": "disk", "scope": "AllReplicas"}]


def changed(place: Place, value: object, raw: Json = FULL) -> Json:
    """A copy with another value at a place; ``...`` takes the field away."""
    whole: Json = replaced(deepcopy(raw), place, None if value is ... else value)
    if value is not ...:
        return whole
    part: Any = whole
    for step in place[:-1]:
        part = part[step]
    del part[place[-1]]
    return whole


def path_of(place: Place) -> str:
    """A place as reports write it."""
    return "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in place).lstrip(".")


def objections(new: Json, old: Json | None = None) -> list[Found]:
    """Every objection."""
    verdict = admit(new, old).verdict
    refusals = verdict.objections if isinstance(verdict, Deny) else ()
    return [Found(refusal.path, refusal.reason.rule, refusal.got) for refusal in refusals]


def warnings(new: Json, old: Json | None = None) -> list[Found]:
    """Every warning."""
    return [Found(found.path, found.reason.rule, found.got) for found in admit(new, old).verdict.warnings]


def facts(new: Json, old: Json | None = None) -> list[dict[str, object]]:
    """What each objection quotes."""
    verdict = admit(new, old).verdict
    refusals = verdict.objections if isinstance(verdict, Deny) else ()
    return [dict(refusal.reason.facts) for refusal in refusals]
