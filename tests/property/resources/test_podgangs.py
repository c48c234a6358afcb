"""What is read from a PodGang."""

from typing import Any, Final

import pytest
from hypothesis import example, given

from grove_core.kernel.errors import MalformedObject
from grove_core.kernel.refs import Ref
from grove_core.resources.podgang import GangPackConstraint, PodGang, PodGroup, podgang_from_json
from tests.property.resources.manifests import almost, any_json, gang, is_there, meta, outcome, owner

META: Final[dict[str, Any]] = {
    "name": "llm-0-a",
    "namespace": "ml",
    "uid": "u",
    "resourceVersion": "1",
    "generation": 3,
}

SOUND: Final = gang(
    {"name": "llm-0-router", "minReplicas": 2, "podReferences": [{"name": "a"}, {"name": "b"}, {"name": "c"}]},
    {"name": "llm-0-pool-0-worker", "minReplicas": 0},
    {"name": "llm-0-pool-0-leader", "podReferences": None},
    ownerReferences=[owner("uid-llm", kind="PodCliqueSet", name="llm")],
)


def test_every_fact_is_read() -> None:
    known = podgang_from_json(SOUND)
    assert known.ref == Ref("scheduler.grove.io/v1alpha1", "PodGang", "ml", "llm-0")
    assert known.owner_uid == "uid-llm"
    assert known.groups == (
        PodGroup("llm-0-router", 2, ("a", "b", "c")),
        PodGroup("llm-0-pool-0-worker", 0, ()),
        PodGroup("llm-0-pool-0-leader", 0, ()),
    )


@pytest.mark.parametrize("spec", [None, {}, {"podgroups": None}, {"podgroups": []}])
def test_a_gang_may_be_empty(spec: object) -> None:
    assert podgang_from_json({"metadata": meta("llm-0"), "spec": spec}).groups == ()


@pytest.mark.parametrize(
    ("raw", "paths"),
    [
        ({}, ["metadata.name"]),
        ({"metadata": meta("llm-0"), "spec": 5}, ["spec"]),
        ({"metadata": meta("llm-0"), "spec": {"podgroups": {}}}, ["spec.podgroups"]),
        (gang(None), ["spec.podgroups[0]", "spec.podgroups[0].name"]),
        (gang({"name": "a"}, {}), ["spec.podgroups[1].name"]),
        (gang({"name": "a", "minReplicas": -1}), ["spec.podgroups[0].minReplicas"]),
        (gang({"name": "a", "podReferences": "b"}), ["spec.podgroups[0].podReferences"]),
        (gang({"name": "a", "podReferences": [{}, "b"]}), ["spec.podgroups[0].podReferences[1]"]),
        (
            gang({"name": 5, "minReplicas": "x"}, uid=1),
            ["metadata.uid", "spec.podgroups[0].name", "spec.podgroups[0].minReplicas"],
        ),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_a_fault_has_its_path(raw: Any, paths: list[str]) -> None:
    with pytest.raises(MalformedObject) as caught:
        podgang_from_json(raw)
    assert [problem.path for problem in caught.value.problems] == paths


@given(any_json() | almost(SOUND))
@example(raw=SOUND)
def test_any_json_is_a_gang_or_malformed(raw: Any) -> None:
    known = outcome(podgang_from_json, raw)
    assert outcome(podgang_from_json, raw) == known
    if isinstance(known, PodGang):
        assert all(group.min_replicas >= 0 and group.name for group in known.groups)
        return
    assert known
    for problem in known:
        assert is_there(raw, problem.path, {other.path for other in known}), problem


def test_tp020_the_constraint_of_each_clique_of_a_gang_is_read() -> None:
    constraint = {"topologyConstraint": {"packConstraint": {"required": "r", "preferred": "h"}}}
    raw = {"metadata": META, "spec": {"podgroups": [{"name": "llm-0-a", "minReplicas": 1, **constraint}]}}
    assert podgang_from_json(raw).placement.cliques == (("llm-0-a", GangPackConstraint("r", "h")),)
