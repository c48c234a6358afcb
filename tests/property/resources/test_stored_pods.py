"""Pods of a JSON array, decoded at once: they are the pods that are read one by one."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grove_core.resources.decoded_pod import UnreadableFields, decode_stored_pods, decode_whole
from grove_core.resources.pod import Pod, pod_from_json, pods_from_fields
from tests.property.resources.manifests import condition, owner, pod

Json = dict[str, Any]
TEMPLATES = st.sampled_from(["", "h1", "h2"])
PODS = st.builds(
    lambda state, template: pod(
        condition("PodScheduled"),
        condition("Ready", state),
        metadata={"ownerReferences": [owner("c")], "labels": {"grove.io/pod-template-hash": template}},
    ),
    st.sampled_from(["True", "False", "Unknown"]),
    TEMPLATES,
)


def with_name(number: int, raw: Json) -> Json:
    return {**raw, "metadata": {**raw["metadata"], "name": f"p-{number}"}}


def parts(pods: list[Pod]) -> list[object]:
    return [(one, one.manifest, one.requests) for one in pods]


@given(st.lists(PODS, max_size=5))
@pytest.mark.req("IN-006")
def test_pods_of_an_array_are_the_pods_read_one_by_one(raws: list[Json]) -> None:
    raws = [with_name(number, raw) for number, raw in enumerate(raws)]
    at_once = pods_from_fields(decode_stored_pods(json.dumps(raws)), raws.__getitem__, {}, {})
    shared: dict[str, str] = {}
    memo: dict[bytes, Any] = {}
    assert parts(at_once) == parts([pod_from_json(raw, shared, memo) for raw in raws])


def test_a_manifest_of_another_pod_is_no_manifest_of_a_pod() -> None:
    raw = pod(metadata={"labels": {"grove.io/pod-template-hash": "h1"}})
    other = {"metadata": {**raw["metadata"], "uid": "another"}}
    with pytest.raises(ValueError, match="another"):
        pods_from_fields(decode_stored_pods(json.dumps([raw])), lambda _: other, {}, {})


@pytest.mark.parametrize("change", [{"kind": "PodClique"}, {"apiVersion": "v2"}, {"metadata": {"name": "p"}}])
def test_only_stored_pods_are_decoded_at_once(change: Json) -> None:
    with pytest.raises(UnreadableFields):
        decode_stored_pods(json.dumps([{**pod(), **change}]))


def test_whole_numbers_are_integers_however_they_are_written() -> None:
    found = decode_whole('{"a": 2.0, "b": 1e2, "c": 0.5}')
    assert found == {"a": 2, "b": 100, "c": 0.5}
    assert [type(value) for value in found.values()] == [int, int, float]
    with pytest.raises(UnreadableFields):
        decode_whole("1e999")
