"""Pods of a list that are decoded many at once are the pods that are read one by one, and so are their problems."""

import copy
import io
import json
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grove_shell.reading.cluster_reading import load_input_files
from grove_shell.reading.input_completeness import LoadedInput
from grove_shell.reading.input_items import InputItem
from grove_shell.reading.newest_time import NewestInputTime
from grove_shell.reading.pod_batch_decoding import ConsecutivePods
from tests.property.few_examples import RARELY

Json = dict[str, Any]
SOUND: Final[Json] = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {
        "name": "llm-0-a-x",
        "namespace": "ml",
        "uid": "u",
        "resourceVersion": "5",
        "creationTimestamp": "2026-11-20T09:00:00Z",
        "labels": {"app.kubernetes.io/part-of": "llm", "grove.io/pod-template-hash": "h"},
        "ownerReferences": [{"kind": "PodClique", "name": "llm-0-a", "uid": "c", "controller": True}],
    },
    "spec": {
        "nodeName": "n-1",
        "containers": [{"name": "main", "resources": {"limits": {"nvidia.com/gpu": "8"}, "requests": {"cpu": "500m"}}}],
        "tolerations": [{"key": "node.kubernetes.io/not-ready", "operator": "Exists", "tolerationSeconds": 300}],
    },
    "status": {
        "phase": "Running",
        "startTime": "2026-11-20T09:00:01Z",
        "conditions": [
            {"type": "PodScheduled", "status": "True", "lastTransitionTime": "2026-11-20T09:00:01Z"},
            {"type": "Ready", "status": "True", "lastTransitionTime": "2026-11-20T09:01:00Z"},
        ],
        "containerStatuses": [
            {
                "ready": True,
                "started": True,
                "state": {"running": {"startedAt": "2026-11-20T09:00:50Z"}},
                "lastState": {},
            }
        ],
    },
}
PLACES: Final = (
    *(("metadata", key) for key in ("uid", "labels", "ownerReferences", "deletionTimestamp", "creationTimestamp")),
    ("metadata", "labels", "grove.io/podclique-pod-index"),
    *(("spec", key) for key in ("nodeName", "schedulingGates", "initContainers", "overhead", "tolerations", "unknown")),
    ("spec", "containers", 0, "resources", "limits", "nvidia.com/gpu"),
    *(("status", key) for key in ("phase", "reason", "startTime", "conditions", "initContainerStatuses")),
    *(("status", "conditions", 1, key) for key in ("type", "status", "reason", "lastTransitionTime")),
    *(("status", "containerStatuses", 0, key) for key in ("ready", "state", "lastState")),
)
VALUES: Final[tuple[object, ...]] = (
    *(None, "", "x", "8", 8, 0, -1, 1.5, 2.0, True, [], {}, [1], ["a"], {"a": 1}, [None]),
    *("2026-11-21T00:00:00Z", [{"name": "grove.io/podgang-pending-creation"}], [{"type": "Ready", "status": "False"}]),
    *({"terminated": {"exitCode": 1, "reason": "Error"}}, {"waiting": {"reason": "CrashLoopBackOff"}}, "False", 10**25),
)


def changed(pod: Json, place: tuple[str | int, ...], value: object) -> Json:
    """Return the pod with another value at a place."""
    found: Any = copy.deepcopy(pod)
    inner = found
    for step in place[:-1]:
        inner = inner[step]
    inner[place[-1]] = value
    return dict(found)


def named(number: int, pod: Json) -> Json:
    """Return the pod with a name of its own."""
    return {**pod, "metadata": {**pod["metadata"], "name": f"llm-0-a-{number}"}}


class Read:
    """What was read of a text, and in how many runs of pods."""

    def __init__(self, text: str) -> None:
        self.runs = 0
        self.times = NewestInputTime(self._count)
        self.loaded: LoadedInput = load_input_files(["-"], io.BytesIO(text.encode()), self.times.add, raising=False)

    def _count(self, part: InputItem | ConsecutivePods) -> None:
        self.runs += isinstance(part, ConsecutivePods)

    @property
    def faults(self) -> list[tuple[str, str, str, str]]:
        """The problems, without their lines."""
        return sorted((one.object, one.path, one.expected, one.got) for one in self.loaded.faults)


def as_list(pods: list[Json], indent: int | None = None) -> str:
    """Return a list as kubectl prints it."""
    return json.dumps({"apiVersion": "v1", "items": pods, "kind": "List"}, indent=indent)


def manifests_and_requests(read: Read) -> list[object]:
    """Return what a comparison of pods leaves out."""
    return [(pod.name, pod.manifest, pod.requests) for pods in read.loaded.cluster.pods_of.values() for pod in pods]


@RARELY
@given(
    changes=st.lists(st.tuples(st.integers(0, 6), st.sampled_from(PLACES), st.sampled_from(VALUES)), max_size=4),
    indent=st.sampled_from([None, 4]),
)
@pytest.mark.req("IN-006")
@pytest.mark.req("IN-030")
def test_pods_read_at_once_are_the_pods_read_one_by_one(
    changes: list[tuple[int, tuple[str | int, ...], object]], indent: int | None
) -> None:
    pods = [named(number, SOUND) for number in range(7)]
    for number, place, value in changes:
        try:
            pods[number] = changed(pods[number], place, value)
        except (KeyError, IndexError, TypeError):
            continue  # an earlier change took the place away
    at_once, one_by_one = Read(as_list(pods, indent)), Read("\n".join(map(json.dumps, pods)))
    assert at_once.faults == one_by_one.faults
    assert at_once.loaded.cluster == one_by_one.loaded.cluster
    assert manifests_and_requests(at_once) == manifests_and_requests(one_by_one)
    assert at_once.times.newest == one_by_one.times.newest
    assert not one_by_one.runs
    assert at_once.runs or changes


def test_in006_a_run_ends_where_a_pod_has_to_be_read_by_itself() -> None:
    pods = [named(number, SOUND) for number in range(30)]
    pods[12] = changed(pods[12], ("status", "phase"), 5)
    read = Read(as_list(pods))
    assert [(one.object, one.path) for one in read.loaded.faults] == [("Pod ml/llm-0-a-12", "status.phase")]
    assert len(manifests_and_requests(read)) == len(pods) - 1


CLIQUE: Final[Json] = {
    "apiVersion": "grove.io/v1alpha1",
    "kind": "PodClique",
    "metadata": {
        "uid": "c",
        "resourceVersion": "4",
        "name": "llm-0-a",
        "namespace": "ml",
        "labels": {"app.kubernetes.io/part-of": "llm", "grove.io/podcliqueset-replica-index": "0"},
        "ownerReferences": [{"kind": "PodCliqueSet", "name": "llm", "uid": "s", "controller": True}],
    },
    "spec": {"replicas": 2, "minAvailable": 1, "podSpec": {"containers": [{"name": "main"}]}},
    "status": {"readyReplicas": 2, "conditions": []},
}
ROOT: Final[Json] = {
    "apiVersion": "grove.io/v1alpha1",
    "kind": "PodCliqueSet",
    "metadata": {"name": "llm", "namespace": "ml", "uid": "s", "resourceVersion": "3"},
    "spec": {
        "replicas": 1,
        "template": {
            "cliques": [{"name": "a", "spec": {"roleName": "a", "replicas": 2, "podSpec": {"containers": []}}}]
        },
    },
}
CLIQUE_PLACES: Final = (
    *(("metadata", key) for key in ("uid", "resourceVersion", "labels", "ownerReferences", "deletionTimestamp")),
    *(("spec", key) for key in ("replicas", "minAvailable", "startsAfter", "podSpec", "unknown")),
    *(("status", key) for key in ("readyReplicas", "conditions", "rollingUpdateProgress", "podGangMapping")),
    ("kind",),
    ("apiVersion",),
    ("metadata",),
)


def a_clique(number: int) -> Json:
    """Return a PodClique of its own name and uid."""
    return {**CLIQUE, "metadata": {**CLIQUE["metadata"], "name": f"llm-0-a{number}", "uid": f"c{number}"}}


@RARELY
@given(
    changes=st.lists(st.tuples(st.integers(0, 6), st.sampled_from(CLIQUE_PLACES), st.sampled_from(VALUES)), max_size=3)
)
@pytest.mark.req("IN-006")
@pytest.mark.req("IN-030")
def test_cliques_read_at_once_are_the_cliques_read_one_by_one(
    changes: list[tuple[int, tuple[str | int, ...], object]],
) -> None:
    cliques = [a_clique(number) for number in range(7)]
    for number, place, value in changes:
        try:
            cliques[number] = changed(cliques[number], place, value)
        except (KeyError, IndexError, TypeError):
            continue  # an earlier change took the place away
    at_once, one_by_one = Read(as_list([ROOT, *cliques])), Read("\n".join(map(json.dumps, [ROOT, *cliques])))
    of_both = (
        [fault[1:] for fault in read.faults] for read in (at_once, one_by_one)
    )  # without their places in the list
    assert sorted(next(of_both)) == sorted(next(of_both))
    assert at_once.loaded.cluster == one_by_one.loaded.cluster
    assert len(at_once.loaded.cluster.cliques_of["s"]) == len(cliques) or changes


@pytest.mark.parametrize(
    ("flaw", "found"),
    [
        ('"uid": "c5", "uid": "c5"', "each key once"),  # it is not taken for an object of an API server without a uid
        ('"note": ' + "[" * 300 + "]" * 300, "at most 256 levels"),
    ],
)
@pytest.mark.req("IN-006")
@pytest.mark.req("IN-012")
def test_objects_of_a_run_are_checked_where_no_server_wrote_them(flaw: str, found: str) -> None:
    cliques = [json.dumps(a_clique(number)) for number in range(9)]
    cliques[5] = cliques[5].replace('"uid": "c5"', flaw).replace('"resourceVersion": "4", ', "")
    read = Read(f'{{"apiVersion": "v1", "kind": "List", "items": [{", ".join(cliques)}]}}')
    assert found in {one.expected for one in read.loaded.faults}


@pytest.mark.parametrize("where", ["annotations", "ownerReferences"])
def test_in006_text_that_looks_like_the_beginning_of_a_pod(where: str) -> None:
    inside: object = json.dumps(SOUND) + ", " + json.dumps(SOUND)
    value = {"note": inside} if where == "annotations" else [{"apiVersion": "v1", "kind": "Pod", "uid": "o"}] * 2
    pods = [named(number, changed(SOUND, ("metadata", where), value)) for number in range(9)]
    at_once, one_by_one = Read(as_list(pods)), Read("\n".join(map(json.dumps, pods)))
    assert not at_once.loaded.faults
    assert at_once.loaded.cluster == one_by_one.loaded.cluster
    assert at_once.loaded.pods_without_clique == len(pods)
