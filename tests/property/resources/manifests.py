"""Objects as ``kubectl get -o json`` prints them, written with few words; and JSON that is no such object."""

import re
from collections.abc import Callable, Collection
from typing import Any, Final, TypeVar

from hypothesis import strategies as st

from grove_core.kernel.errors import MalformedObject, ObjectProblem

T = TypeVar("T")
Json = dict[str, Any]
SINCE: Final = "2026-11-20T09:00:00Z"

# Words that readers look for, so that arbitrary JSON is often almost an object.
_WORDS: Final = (
    "metadata",
    "name",
    "namespace",
    "uid",
    "resourceVersion",
    "labels",
    "ownerReferences",
    "controller",
    "kind",
    "finalizers",
    "deletionTimestamp",
    "spec",
    "nodeName",
    "replicas",
    "minAvailable",
    "cliqueNames",
    "template",
    "cliques",
    "podCliqueScalingGroups",
    "terminationDelay",
    "podgroups",
    "minReplicas",
    "podReferences",
    "status",
    "phase",
    "reason",
    "conditions",
    "type",
    "lastTransitionTime",
    "message",
    "containerStatuses",
    "initContainerStatuses",
    "state",
    "waiting",
    "terminated",
    "ready",
    "updateProgress",
    "rollingUpdateProgress",
    "updateEndedAt",
    "podTemplateHash",
    "wasAvailable",
    "readyReplicas",
    "availableReplicas",
    "currentPodTemplateHash",
    "app.kubernetes.io/part-of",
    "grove.io/podcliqueset-replica-index",
    "grove.io/pcsg-replica-index",
    "grove.io/pod-template-hash",
    "grove.io/podgang",
)
_VALUES: Final = ("Ready", "PodScheduled", "True", "False", "Unknown", "SchedulingGated", "4h", "-1h", SINCE, "0")


def any_json() -> st.SearchStrategy[Any]:
    """Any JSON at all, with the words that readers look for as keys and values more often than chance would have it."""
    scalars = (
        st.none()
        | st.booleans()
        | st.integers(-3, 2**33)
        | st.floats(allow_nan=False, allow_infinity=False)
        | st.text(max_size=5)
        | st.sampled_from(_VALUES)
    )
    keys = st.sampled_from(_WORDS) | st.text(max_size=4)
    return st.recursive(
        scalars, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(keys, inner, max_size=5), max_leaves=20
    )


def almost(raw: Json) -> st.SearchStrategy[Any]:
    """A sound object in which one to three places, at any depth, are replaced by any JSON or taken away."""
    return st.lists(st.tuples(st.sampled_from(_places_in(raw)), st.none() | any_json()), min_size=1, max_size=3).map(
        lambda changes: _changed(raw, changes)
    )


def _places_in(value: object, place: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    items: list[tuple[str | int, Any]] = []
    if isinstance(value, dict):
        items = list(value.items())
    if isinstance(value, list):
        items = list(enumerate(value))
    return [place] * bool(place) + [found for key, item in items for found in _places_in(item, (*place, key))]


def _changed(raw: Json, changes: list[tuple[tuple[str | int, ...], Any]]) -> Json:
    whole = raw
    for place, value in changes:
        whole = replaced(whole, place, value)
    return whole


def replaced(raw: object, place: tuple[str | int, ...], value: object) -> Any:
    """A copy with another value at a place; unchanged where the place is not there any more."""
    if not place:
        return value
    key, *rest = place
    if isinstance(raw, dict) and (key in raw or not rest):
        return {**raw, str(key): replaced(raw.get(str(key)), tuple(rest), value)}
    if isinstance(raw, list) and isinstance(key, int) and key < len(raw):
        return [*raw[:key], replaced(raw[key], tuple(rest), value), *raw[key + 1 :]]
    return raw


def outcome(read: Callable[[Any], T], raw: object) -> T | tuple[ObjectProblem, ...]:
    """What was read, or every problem; any other exception is a fault of ours."""
    try:
        return read(raw)
    except MalformedObject as fault:
        return fault.problems


def is_there(raw: object, path: str, reported: Collection[str]) -> bool:
    """Whether this path from a report leads somewhere.

    The last part may be absent (a value is required), and so may everything below an object that is absent or reported.
    """
    value, walked = raw, ""
    for part in re.findall(r"\.?[^.\[]+|\[[^\]]*\]", path)[:-1]:
        key = part.strip(".[]")
        if isinstance(value, dict):
            value = value.get(key)
        elif isinstance(value, list) and key.isdigit() and int(key) < len(value):
            value = value[int(key)]
        else:
            return value is None or walked in reported
        walked += part
    return True


def owner(uid: str = "uid-owner", *, kind: str = "PodClique", name: str = "llm-0-router", **more: object) -> Json:
    return {"apiVersion": "grove.io/v1alpha1", "kind": kind, "name": name, "uid": uid, "controller": True, **more}


def meta(name: str, **more: object) -> Json:
    return {"name": name, "namespace": "ml", "uid": f"uid-{name}", "resourceVersion": "7", **more}


def condition(kind: str, status: object = "True", **more: object) -> Json:
    return {"type": kind, "status": status, "reason": "Any", "message": "", "lastTransitionTime": SINCE, **more}


def pod(*conditions: Json, metadata: Json | None = None, spec: Json | None = None, **status: object) -> Json:
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": meta("llm-0-router-x7", **(metadata or {})),
        "spec": {"nodeName": "node-1", **(spec or {})},
        "status": {"phase": "Running", "conditions": list(conditions), **status},
    }


def clique(
    name: str = "llm-0-router",
    *,
    owned_by: Json | None = None,
    labels: Json | None = None,
    spec: Json | None = None,
    **status: object,
) -> Json:
    references = [owned_by or owner("uid-llm", kind="PodCliqueSet", name="llm")]
    return {
        "metadata": meta(name, ownerReferences=references, labels=labels or {}),
        "spec": {"replicas": 3, "minAvailable": 2, **(spec or {})},
        "status": status,
    }


def group(name: str = "llm-0-pool", *, labels: Json | None = None, spec: Json | None = None, **status: object) -> Json:
    references = [owner("uid-llm", kind="PodCliqueSet", name="llm")]
    return {
        "metadata": meta(name, ownerReferences=references, labels=labels or {}),
        "spec": {"replicas": 3, "minAvailable": 2, "cliqueNames": ["leader", "worker"], **(spec or {})},
        "status": status,
    }


def gang(*groups: object, **more: object) -> Json:
    return {"metadata": meta("llm-0", **more), "spec": {"podgroups": list(groups)}}


def clique_template(name: str = "router", **spec: object) -> Json:
    return {"name": name, "spec": {"replicas": 3, "minAvailable": 2, **spec}}


def group_template(name: str = "pool", *clique_names: str, **more: object) -> Json:
    return {"name": name, "cliqueNames": list(clique_names), "replicas": 2, "minAvailable": 1, **more}


def clique_set(**template: object) -> Json:
    """A set of one router, and a pool of leaders and workers, with a delay; ``template`` replaces its parts."""
    parts = {
        "terminationDelay": "4h",
        "cliques": [clique_template("router"), clique_template("leader"), clique_template("worker")],
        "podCliqueScalingGroups": [group_template("pool", "leader", "worker", terminationDelay="1h")],
        **template,
    }
    return {
        "apiVersion": "grove.io/v1alpha1",
        "kind": "PodCliqueSet",
        "metadata": meta("llm"),
        "spec": {"replicas": 2, "template": {key: value for key, value in parts.items() if value is not ...}},
    }
