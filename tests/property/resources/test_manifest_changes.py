"""The fields that an edit changes (ED-001)."""

import copy
from typing import Any

import pytest

from grove_core.kernel.frozen import frozen
from grove_core.resources.edited_manifest_fields import FieldDependence, ManifestChange, manifest_changes

Json = dict[str, Any]
CLIQUES = "spec.template.cliques"


def manifest() -> Json:
    pod = {
        "containers": [
            {"name": "main", "image": "a:1", "args": ["-x", "-y"], "env": [{"name": "A", "value": "1"}]},
            {"name": "side", "image": "s:1"},
        ],
        "tolerations": [{"key": "gpu"}],
    }
    template = {
        "cliques": [
            {"name": "router", "labels": {"app": "r"}, "spec": {"roleName": "r", "replicas": 1, "podSpec": pod}},
            {
                "name": "worker",
                "spec": {"roleName": "w", "replicas": 2, "minAvailable": 1, "podSpec": copy.deepcopy(pod)},
            },
        ],
        "podCliqueScalingGroups": [
            {"name": "g", "cliqueNames": ["worker"], "replicas": 2, "scaleConfig": {"minReplicas": 1}}
        ],
        "terminationDelay": "4h",
    }
    return {
        "apiVersion": "grove.io/v1alpha1",
        "kind": "PodCliqueSet",
        "metadata": {"name": "llm", "labels": {"team": "a"}, "annotations": {"note": "x"}},
        "spec": {"replicas": 1, "template": template},
    }


def at(whole: Json, *path: str | int) -> Any:
    for step in path:
        whole = whole[step]  # type: ignore[index] # a list by an integer, an object by a string
    return whole


CASES = [
    (("metadata", "labels", "team"), "b", "metadata.labels.team", FieldDependence.METADATA, ()),
    (("metadata", "annotations", "note"), "y", "metadata.annotations.note", FieldDependence.METADATA, ()),
    (("spec", "replicas"), 3, "spec.replicas", FieldDependence.REPLICAS, ()),
    (("spec", "template", "terminationDelay"), "2h", "spec.template.terminationDelay", FieldDependence.TERMINATION, ()),
    (
        ("spec", "template", "cliques", 1, "spec", "minAvailable"),
        2,
        f"{CLIQUES}[worker].spec.minAvailable",
        FieldDependence.TERMINATION,
        (),
    ),
    (
        ("spec", "template", "cliques", 1, "spec", "replicas"),
        3,
        f"{CLIQUES}[worker].spec.replicas",
        FieldDependence.NEW_PARTS,
        (),
    ),
    (
        ("spec", "template", "podCliqueScalingGroups", 0, "replicas"),
        3,
        "spec.template.podCliqueScalingGroups[g].replicas",
        FieldDependence.NEW_PARTS,
        (),
    ),
    (
        ("spec", "template", "podCliqueScalingGroups", 0, "scaleConfig", "minReplicas"),
        2,
        "spec.template.podCliqueScalingGroups[g].scaleConfig.minReplicas",
        FieldDependence.OBJECTS,
        (),
    ),
    (
        ("spec", "template", "cliques", 0, "labels", "app"),
        "q",
        f"{CLIQUES}[router].labels.app",
        FieldDependence.PODS,
        ("router",),
    ),
    (
        ("spec", "template", "cliques", 1, "spec", "podSpec", "containers", 0, "image"),
        "a:2",
        f"{CLIQUES}[worker].spec.podSpec.containers[main].image",
        FieldDependence.PODS,
        ("worker",),
    ),
    (
        ("spec", "template", "cliques", 1, "spec", "podSpec", "containers", 0, "args", 1),
        "-z",
        f"{CLIQUES}[worker].spec.podSpec.containers[main].args[1]",
        FieldDependence.PODS,
        ("worker",),
    ),
]


@pytest.mark.parametrize(("path", "value", "shown", "dependence", "cliques"), CASES, ids=[case[2] for case in CASES])
def test_ed001_one_field(
    path: tuple[str | int, ...], value: object, shown: str, dependence: FieldDependence, cliques: tuple[str, ...]
) -> None:
    before, after = manifest(), manifest()
    at(after, *path[:-1])[path[-1]] = value
    assert manifest_changes(before, after) == (
        ManifestChange(shown, frozen({"before": at(before, *path), "after": value}), dependence, cliques),
    )


def changed(after: Json) -> list[tuple[str, object, object]]:
    return [(one.path, one.before, one.after) for one in manifest_changes(manifest(), after)]


def test_ed001_what_stays_the_same_is_not_listed() -> None:
    after = manifest()
    after["metadata"] |= {"uid": "u", "resourceVersion": "7", "generation": 2, "managedFields": []}
    after["metadata"]["annotations"]["kubectl.kubernetes.io/last-applied-configuration"] = "{}"
    after["status"] = {"replicas": 1}
    assert manifest_changes(manifest(), after) == ()


def test_ed001_the_priority_class_is_of_the_pods_of_all_cliques() -> None:
    after = manifest()
    after["spec"]["template"]["priorityClassName"] = "high"
    (one,) = manifest_changes(manifest(), after)
    assert (one.before, one.after, one.cliques) == (None, "high", ("router", "worker"))


def test_ed001_items_that_come_and_go() -> None:
    after = manifest()
    containers = after["spec"]["template"]["cliques"][0]["spec"]["podSpec"]["containers"]
    del containers[1]
    containers[0]["env"].append({"name": "B", "value": "2"})
    containers[0]["args"].append("-z")
    pod = f"{CLIQUES}[router].spec.podSpec"
    assert [path for path, *_ in changed(after)] == [
        f"{pod}.containers[main].args",
        f"{pod}.containers[main].env[B]",
        f"{pod}.containers[side]",
    ]


def test_ed001_items_without_a_name_are_compared_by_place() -> None:
    after = manifest()
    after["spec"]["template"]["cliques"][0]["spec"]["podSpec"]["tolerations"][0]["key"] = "tpu"
    assert changed(after) == [(f"{CLIQUES}[router].spec.podSpec.tolerations[0].key", "gpu", "tpu")]


def test_ed001_a_key_with_dots_is_in_brackets() -> None:
    after = manifest()
    after["metadata"]["labels"]["app.example.com/team"] = "b"
    assert changed(after) == [("metadata.labels[app.example.com/team]", None, "b")]


@pytest.mark.parametrize(
    "broken", [{}, {"spec": {}}, {"spec": {"template": {"cliques": 3}}}, {"metadata": 3, "spec": 3}]
)
def test_ed001_a_manifest_that_is_not_whole(broken: Json) -> None:
    assert manifest_changes(manifest(), broken)
    assert manifest_changes(broken, broken) == ()


@pytest.mark.parametrize(("stored", "given", "listed"), [("4h0m0s", "4h", 0), ("4h", "240m", 0), ("4h0m0s", "4h1m", 1)])
def test_ed001_one_duration_in_two_forms_is_no_change(stored: str, given: str, listed: int) -> None:
    """The Go operator stores ``4h`` as ``4h0m0s``; every edit listed it as changed."""
    before, after = manifest(), manifest()
    before["spec"]["template"]["terminationDelay"], after["spec"]["template"]["terminationDelay"] = stored, given
    assert len(manifest_changes(before, after)) == listed
