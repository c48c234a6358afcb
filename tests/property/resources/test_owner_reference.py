"""The metadata of an unread object, and its controller by its owner references."""

import pytest

from grove_core.resources.object_metadata import ControllerReference, metadata_in, with_default_namespace

SET = {"apiVersion": "grove.io/v1alpha1", "kind": "PodCliqueSet", "name": "llm", "uid": "u"}


@pytest.mark.parametrize("first", [{"kind": "Node", "uid": "n"}, {"kind": "Node", "controller": "true"}, "no owner"])
def test_gt001_the_first_that_controls_is_the_controller(first: object) -> None:
    raw = {"metadata": {"ownerReferences": [first, {**SET, "controller": True}]}}
    assert metadata_in(raw).controller == ControllerReference("u", "PodCliqueSet", "llm", "grove.io/v1alpha1")
    assert metadata_in({"metadata": {"ownerReferences": [first]}}).controller == ControllerReference()


@pytest.mark.parametrize("meta", [None, "llm", [], {"labels": [], "ownerReferences": {}, "name": None}])
def test_malformed_metadata_is_empty(meta: object) -> None:
    found = metadata_in({"metadata": meta})
    assert found == metadata_in({})
    assert (found.namespace_and_name, found.version_number, found.deleting) == (("default", ""), 0, False)


def test_metadata_is_returned_as_it_is_stored() -> None:
    meta = {"namespace": "ml", "name": "llm", "uid": "u", "resourceVersion": "7", "labels": {"a": "b"}}
    found = metadata_in({"metadata": {**meta, "deletionTimestamp": "2026-11-20T09:00:00Z"}})
    assert (found.namespace_and_name, found.uid, found.version_number, found.labels) == (
        ("ml", "llm"),
        "u",
        7,
        {"a": "b"},
    )
    assert found.deleting


def test_an_object_without_a_namespace_gets_the_default_one() -> None:
    raw: dict[str, object] = {"kind": "PodCliqueSet", "metadata": {"name": "llm"}}
    assert with_default_namespace(raw, "ml") == {"kind": "PodCliqueSet", "metadata": {"name": "llm", "namespace": "ml"}}
    assert raw["metadata"] == {"name": "llm"}


@pytest.mark.parametrize(
    ("meta", "namespace"), [({"name": "llm"}, ""), ({"name": "llm", "namespace": "prod"}, "ml"), ("llm", "ml")]
)
def test_a_given_namespace_and_malformed_metadata_stay(meta: object, namespace: str) -> None:
    raw: dict[str, object] = {"metadata": meta}
    assert with_default_namespace(raw, namespace) is raw
