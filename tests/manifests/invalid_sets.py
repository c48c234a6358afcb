"""Manifests that break the rules of a PodCliqueSet's definition, one or more for each; for a real API server, too."""

from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from tests.property.resources.manifests import Json
from tests.property.workload.admission_examples import CLAIMS, CLIQUES, GROUPS, TEMPLATE, Place, changed

LONE: Final[Place] = (*CLIQUES, 0)
MEMBER: Final[Place] = (*CLIQUES, 1)
GROUP: Final[Place] = (*GROUPS, 0)


class Broken(NamedTuple):
    """A manifest, what it was before where the rule is about a change, and the rule it breaks."""

    requirement: str
    new: Json
    old: Json | None = None


def sound() -> Json:
    """A set that breaks nothing and has a value in every field that a rule is about; no cluster has seen it."""
    raw = changed(("metadata", "uid"), ...)
    raw = changed(("metadata", "resourceVersion"), ..., raw)
    for index in range(3):
        raw = changed((*CLIQUES, index, "spec", "podSpec", "containers", 0, "image"), "example.com/x", raw)
        raw = changed((*CLIQUES, index, "spec", "podSpec", "initContainers", 0, "name"), "init", raw)
    raw = changed((*TEMPLATE, "terminationDelay"), "4h", raw)
    return changed((*GROUP, "terminationDelay"), "2h", raw)


_ALONE: Final[tuple[tuple[str, Place, object], ...]] = (
    ("GT-096", ("spec", "replicas"), -1),
    ("GT-096", (*LONE, "spec", "replicas"), 0),
    ("GT-096", (*GROUP, "replicas"), 0),
    ("GT-094", (*LONE, "spec", "minAvailable"), 0),
    ("GT-094", (*MEMBER, "spec", "minAvailable"), 4),
    ("GT-095", (*GROUP, "minAvailable"), 0),
    ("GT-095", (*GROUP, "minAvailable"), 4),
    ("GT-100", CLIQUES, []),
    ("WL-107", (*LONE, "name"), ""),
    ("WL-110", (*LONE, "name"), "a" * 46),
    ("WL-108", (*GROUP, "name"), ""),
    ("WL-140", (*CLAIMS, 1, "name"), ""),
    ("WL-143", (*TEMPLATE, "resourceSharing", 0, "name"), ""),
    ("GT-091", (*TEMPLATE, "terminationDelay"), "0s"),
    ("GT-091", (*TEMPLATE, "terminationDelay"), "-1h"),
    ("GT-093", (*GROUP, "terminationDelay"), "0s"),
    ("GT-092", (*TEMPLATE, "terminationDelay"), ...),
    ("GT-097", (*GROUP, "cliqueNames"), ["leader", "nobody"]),
    ("WL-128", (*LONE, "spec", "roleName"), "leader"),
    ("WL-135", (*LONE, "spec", "autoScalingConfig", "minReplicas"), 1),
    ("WL-135", (*GROUP, "scaleConfig", "minReplicas"), 1),
    ("WL-136", (*LONE, "spec", "autoScalingConfig", "maxReplicas"), 2),
    ("WL-137", (*GROUP, "scaleConfig", "maxReplicas"), 1),
    ("WL-147", (*TEMPLATE, "resourceSharing", 1, "filter"), {}),
    ("WL-147", (*GROUP, "resourceSharing", 0, "filter"), {"childCliqueNames": []}),
)
_CHANGES: Final[tuple[tuple[str, Place, object], ...]] = (
    ("GT-101", CLIQUES, sound()["spec"]["template"]["cliques"][1:]),
    ("GT-101", (*LONE, "name"), "another"),
    ("GT-101", GROUPS, ...),
    ("GT-101", (*GROUP, "name"), "another"),
    ("GT-101", (*LONE, "spec", "minAvailable"), 1),
    ("GT-101", (*GROUP, "minAvailable"), 1),
    ("GT-101", (*GROUP, "cliqueNames"), ["worker", "leader"]),
    ("WL-150", (*LONE, "spec", "roleName"), "another"),
    ("WL-151", (*LONE, "spec", "startsAfter"), ...),
    ("WL-152", (*LONE, "spec", "podSpec", "schedulerName"), ...),
    ("WL-155", (*TEMPLATE, "cliqueStartupType"), "CliqueStartupTypeAnyOrder"),
    ("WL-156", CLIQUES, sound()["spec"]["template"]["cliques"][::-1]),
)


def broken() -> Iterator[Broken]:
    """At least one for each rule."""
    for requirement, place, value in _ALONE:
        yield Broken(requirement, changed(place, value, sound()))
    for requirement, place, value in _CHANGES:
        yield Broken(requirement, changed(place, value, sound()), sound())


def misspelt() -> Iterator[tuple[Place, Any, str, str]]:
    """Where a field of a manifest is spoilt, by what, the rule that reports it, and words of the report."""
    pod: Place = (*LONE, "spec", "podSpec")
    yield (*LONE, "spec", "minAvailabe"), 1, "WL-158", "did you mean minAvailable?"
    yield (*pod, "containers", 0, "livenesProbe"), {}, "WL-158", "did you mean livenessProbe?"
    yield (*pod, "xyzzy"), 1, "WL-158", "there is none like it here"
    yield ("metadata", "label"), {}, "WL-158", "did you mean labels?"
    yield ("specs",), {}, "WL-158", "did you mean spec?"
    yield (*LONE, "resourceSharing", 0, "filter"), {"childCliqueNames": ["leader"]}, "WL-149", "must not be set"
    yield (*pod, "containers"), "x", "GT-103", "a list"
    yield (*pod, "nodeName"), True, "GT-103", "a string"
    yield (*pod, "hostNetwork"), "yes", "GT-103", "true or false"
    yield (*pod, "containers", 0, "name"), ..., "GT-103", "a value"
    yield (*pod, "containers", 0, "args"), ["a", None], "GT-103", "a string"
    yield (*pod, "priority"), 1.5, "GT-103", "an integer"
    yield (*pod, "containers", 0, "resources"), {"limits": {"cpu": [1]}}, "GT-103", "a quantity"
    yield (*pod, "containers", 0, "resources"), {"limits": {"cpu": 0.5}}, "GT-103", "a quantity"
    yield (*pod, "containers", 0, "resources"), {"limits": {"memory": "2Gb"}}, "WL-159", "a quantity"
    yield (*pod, "containers", 0, "imagePullPolicy"), "always", "WL-159", "one of Always, IfNotPresent, Never"
    yield (*pod, "priority"), 2**40, "WL-159", "32 bits"
    yield (*pod, "containers", 1), {"name": "main"}, "WL-159", "the only item with this name"
    yield (*pod, "containers", 0, "ports"), [{"containerPort": 1}] * 2, "WL-159", "containerPort and protocol"
    yield (*LONE, "spec", "startsAfter"), ["worker"] * 101, "WL-159", "at most 100"
    yield ("metadata", "creationTimestamp"), "yesterday", "WL-159", "an RFC 3339 time"
    yield ("apiVersion",), "grove.io/v1", "WL-159", "grove.io/v1alpha1"
    yield (*LONE, "spec", "podSpec"), ..., "GT-103", "a value"
    yield (*LONE, "spec", "roleName"), ..., "GT-103", "a value"
