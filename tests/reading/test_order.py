"""What is said of an input is a function of its content: the order of its objects changes nothing."""

from collections.abc import Mapping, Sequence
from io import BytesIO
from pathlib import Path
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grove_core.kernel.frozen import FrozenDict, frozen_dict_of_tuples
from grove_core.kernel.structs import replace
from grove_core.resources.pod import Pod
from grove_core.snapshot.cluster import IndexedCluster
from grove_shell.reading.cluster_reading import load_input_files
from grove_shell.reading.input_completeness import CollectedObjects, LoadedInput
from grove_shell.reading.input_sources import input_items_in_path

Json = dict[str, Any]
EXAMPLE: Final = Path(__file__).parents[2] / "examples/degraded.yaml"
OBJECTS: Final = tuple(
    item.value
    for item in input_items_in_path(str(EXAMPLE), [], BytesIO())
    if item.value["metadata"]["name"].startswith(("phi", "qwen"))
)
"""Two sets, each with a group, and all that is theirs."""


def read(items: Sequence[Json]) -> LoadedInput:
    return load_input_files((), live=CollectedObjects(origin="", items=tuple(items)), raising=False)


def content_of(found: LoadedInput) -> IndexedCluster:
    """The cluster; pods are in no order (PL-001), so they are given one."""
    outlived = FrozenDict((key, in_order(pods_of)) for key, pods_of in found.cluster.outlived.items())
    return replace(found.cluster, pods_of=in_order(found.cluster.pods_of), outlived=outlived)


def in_order(pods_of: Mapping[str, Sequence[Pod]]) -> FrozenDict[str, tuple[Pod, ...]]:
    return frozen_dict_of_tuples({uid: sorted(pods, key=lambda pod: pod.name) for uid, pods in pods_of.items()})


def orphan(item: Json, number: int) -> list[Json]:
    """Of an owner that does not exist."""
    owners = [{**owner, "uid": f"gone-{number}"} for owner in item["metadata"].get("ownerReferences", [])]
    return [{**item, "metadata": {**item["metadata"], "ownerReferences": owners}}]


def foundling(item: Json, _number: int) -> list[Json]:
    """Without an owner."""
    return [{**item, "metadata": {**item["metadata"], "ownerReferences": []}}]


def broken(item: Json, _number: int) -> list[Json]:
    """That does not read."""
    return [{**item, "spec": 5}]


def lost(_item: Json, _number: int) -> list[Json]:
    """That was not collected."""
    return []


def twin(item: Json, number: int) -> list[Json]:
    """Beside another of its name, which is not it."""
    return [item, {**item, "metadata": {**item["metadata"], "uid": f"twin-{number}"}}]


def later(item: Json, _number: int) -> list[Json]:
    """Beside itself as it was at another moment, and once more as it is."""
    return [item, {**item, "metadata": {**item["metadata"], "resourceVersion": "later"}}, item]


def again(item: Json, _number: int) -> list[Json]:
    """Twice."""
    return [item, item]


def thief(item: Json, _number: int) -> list[Json]:
    """With the uid of another object."""
    return [{**item, "metadata": {**item["metadata"], "uid": "of several"}}]


def undated(item: Json, _number: int) -> list[Json]:
    """With the uid of another object, and no version that could be deleted."""
    return [{**item, "metadata": {**item["metadata"], "uid": "of several", "resourceVersion": ""}}]


def unversioned(item: Json, _number: int) -> list[Json]:
    """Beside itself as it was at another moment, and neither says at which."""
    bare = {**item, "metadata": {**item["metadata"], "resourceVersion": ""}}
    return [bare, {**bare, "status": {}}]


CHANGES: Final = (orphan, foundling, broken, lost, twin, later, again, thief, undated, unversioned)


def beside(kind: str, version: str, name: str, **more: object) -> Json:
    """Something that sets have besides Grove's own kinds."""
    return {"apiVersion": version, "kind": kind, "metadata": {"name": name, "namespace": "ml", **more}}


def fabric() -> list[Json]:
    """Two of everything that an operator has besides, each two different."""
    found = []
    for number, channel in enumerate(("resourceClaimTemplate", "resourceClaimTemplateName")):
        about = {"uid": f"uid-{number}", "resourceVersion": "1"}
        properties: Json = {"spec": {"properties": {"channel": {"properties": {channel: {}}}}}}
        schema = {"schema": {"openAPIV3Schema": {"properties": properties}}}
        claims = {"managed": {"app.kubernetes.io/managed-by": "grove-operator"}, "anybody": {}}
        offers = {"offers": {"computeDomains": ("nvidia", "design")[number]}}
        found += [
            *(beside("ResourceClaim", "resource.k8s.io/v1", key, labels=claims[key], **about) for key in claims),
            {**beside("ComputeDomain", "resource.nvidia.com/v1beta1", "d", **about), "spec": {"numNodes": number}},
            {**beside("ResourceClaimTemplate", "resource.k8s.io/v1", "t"), "spec": {"of": number}},
            {
                **beside("CustomResourceDefinition", "v1", "computedomains.resource.nvidia.com", uid=f"{number}"),
                "spec": {"versions": [schema]},
            },
            {**beside("Snapshot", "snapshot.grove.io/v1", "s"), "takenAt": "2026-11-20T09:00:00Z", **offers},
        ]
    return found


FABRIC: Final = tuple(fabric())


@st.composite
def inputs(draw: st.DrawFn) -> list[Json]:
    """The objects of the example, some of them changed."""
    items = []
    for number, item in enumerate(OBJECTS):
        change = draw(st.sampled_from((None, None, None, None, *CHANGES)))
        items += [item] if change is None else change(item, number)
    return items + draw(st.lists(st.sampled_from(FABRIC), max_size=6))


@given(inputs(), st.data())
@pytest.mark.req("IN-032")
@pytest.mark.req("IN-033")
@pytest.mark.req("IN-030")
def test_pl001_the_order_of_objects_changes_nothing(items: list[Json], data: st.DataObject) -> None:
    first, second = read(items), read(data.draw(st.permutations(items)))
    assert second.faults == first.faults
    assert content_of(second) == content_of(first)
    assert (second.pods_without_clique, second.ignored) == (first.pods_without_clique, first.ignored)


def test_in033_each_orphan_is_reported() -> None:
    """Two cliques of groups that are not there: that the first was found says nothing of the second."""
    of_groups = [item for item in OBJECTS if item["metadata"]["name"].startswith("phi-0-pool-")]
    cliques = [item for item in of_groups if item["kind"] == "PodClique"]
    rest = [item for item in OBJECTS if item not in cliques]
    orphans = [one for number, item in enumerate(cliques) for one in orphan(item, number)]
    names = {item["metadata"]["name"] for item in cliques}
    for several in (orphans, orphans[::-1]):
        found = read([*rest, *several])
        assert len(orphans) == len(found.faults) > 1
        assert not names & {one.ref.name for some in found.cluster.cliques_of.values() for one in some}


@pytest.mark.parametrize(
    "kind", ["ResourceClaim", "ComputeDomain", "ResourceClaimTemplate", "CustomResourceDefinition"]
)
def test_in032_two_of_a_name_that_differ_are_reported_and_neither_counts(kind: str) -> None:
    first, *more = (item for item in FABRIC if item["kind"] == kind)
    second = next(item for item in more if item["metadata"]["name"] == first["metadata"]["name"])
    found = read([first, second])
    assert [(fault.path, fault.got) for fault in found.faults] == [("metadata.name", "a second one that differs")]
    assert (found.cluster.domains, found.cluster.claims, found.cluster.served.domains) == ({}, {}, None)
    assert read([first, first]).faults == ()


def test_in047_captures_that_contradict_each_other_are_reported() -> None:
    first, second = (item for item in FABRIC if item["kind"] == "Snapshot")
    (fault,) = read([first, second, first]).faults
    assert fault.path == "offers"
    assert read([first, first]).faults == ()
