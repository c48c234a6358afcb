"""An object that is kept as JSON text reads like the object."""

import json
from contextlib import suppress
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grove_core.kernel.errors import MalformedObject
from grove_core.resources.decoded_pod import UnreadableFields, decode_whole
from grove_core.resources.encoded_object import EncodedObject
from grove_core.resources.object_metadata import ObjectMetadata, metadata_in
from grove_core.resources.pod import Pod, pod_from_json
from tests.property.resources.manifests import any_json, condition, owner, pod

Json = dict[str, Any]
SOUND: Final = pod(
    condition("PodScheduled"),
    condition("Ready", "False"),
    metadata={
        "labels": {"app.kubernetes.io/part-of": "llm", "grove.io/pod-template-hash": "h"},
        "annotations": {"note": "a"},
        "managedFields": [{"time": "2026-11-20T09:00:00Z", "fieldsV1": {"f:spec": {}}}],
        "ownerReferences": [{"uid": "s"}, owner("c")],
    },
)
KEYS: Final = ("name", "namespace", "uid", "resourceVersion", "labels", "annotations", "ownerReferences")
OWNER_KEYS: Final = ("uid", "kind", "name", "apiVersion", "controller")
LONGEST: Final = 1000


def changed(key: str, owner_key: str, value: object) -> Json:
    """Return the pod with another value of a field of its metadata, or of its controller."""
    meta = {**SOUND["metadata"]}
    if key:
        meta[key] = value
    else:
        meta["ownerReferences"] = [{**owner("c"), owner_key: value}]
    return {**SOUND, "metadata": meta}


def read(raw: Json | EncodedObject) -> Pod | str:
    """Return the pod, or every problem of it."""
    try:
        return pod_from_json(raw, {})
    except MalformedObject as fault:
        return str(fault)


@given(st.sampled_from(("", "deletionTimestamp", *KEYS)), st.sampled_from(OWNER_KEYS), any_json())
@pytest.mark.req("OP-002")
def test_metadata_and_pod_are_those_of_the_object(key: str, owner_key: str, value: object) -> None:
    text = json.dumps(changed(key, owner_key, value)).encode()
    with suppress(*UnreadableFields):
        raw = decode_whole(text)  # 0.0 is 0, as where JSON is read
        encoded = EncodedObject(text)
        assert encoded.metadata == metadata_in(raw)
        assert read(encoded) == read(raw)


def test_fields_are_those_of_the_object() -> None:
    encoded = EncodedObject(json.dumps(SOUND).encode())
    assert dict(encoded) == SOUND
    assert len(encoded) == len(SOUND)


@pytest.mark.parametrize("uid", ["p1", "", None])
def test_a_pod_keeps_its_manifest(uid: str | None) -> None:
    raw = changed("uid", "", uid)
    encoded, first = pod_from_json(EncodedObject(json.dumps(raw).encode()), {}), pod_from_json(raw, {})
    assert encoded.manifest == first.manifest is not None


def test_its_controller_and_its_deletion_count() -> None:
    assert EncodedObject(json.dumps(SOUND).encode()).metadata.controller.uid == "c"
    without = {**SOUND, "metadata": {"name": "p", "deletionTimestamp": "2026-11-20T09:00:00Z"}}
    assert EncodedObject(json.dumps(without).encode()).metadata == ObjectMetadata(
        "", "p", "", "", metadata_in({}).controller, {}, deleting=True
    )


@pytest.mark.parametrize("value", ["1e999", "9" * 5000, "[" * 100_000 + "]" * 100_000])
@pytest.mark.parametrize("is_kept", [False, True])
def test_a_value_that_is_none_makes_the_pod_unreadable_where_it_is_read(value: str, *, is_kept: bool) -> None:
    """It is read with the manifest of the first pod of a template."""
    meta = '{"name": "p", "labels": {"grove.io/pod-template-hash": "%s"}}' % ("h" if is_kept else "")
    try:
        encoded = EncodedObject(f'{{"metadata": {meta}, "spec": {{"x": {value}}}}}'.encode())
    except UnreadableFields:
        assert value.startswith("[")  # deeper than the parser goes
        return
    assert isinstance(read(encoded), str) is is_kept


def test_a_malformed_pod_with_such_a_value_has_one_problem() -> None:
    encoded = EncodedObject(b'{"metadata": {"name": "p"}, "spec": {"nodeName": 1, "x": 1e999}}')
    assert "what cannot be decoded" in str(read(encoded))
    readable = EncodedObject(b'{"metadata": {"name": "p"}, "spec": {"nodeName": 1}}')
    assert "spec.nodeName" in str(read(readable))


@pytest.mark.parametrize("wrong", [b"\xff\xfe", b"\xed\xa0\x80"])
def test_text_that_is_not_utf8_is_no_object(wrong: bytes) -> None:
    with pytest.raises(UnreadableFields):
        EncodedObject(b'{"metadata": {"name": "p"}, "x": "' + wrong + b'"}')


@pytest.mark.req("OP-065")
@pytest.mark.parametrize("key", ["name", "namespace", "uid", "resourceVersion"])
def test_no_text_of_metadata_is_longer_than_a_server_stores(key: str) -> None:
    assert EncodedObject(json.dumps(changed(key, "", "9" * LONGEST)).encode())
    with pytest.raises(UnreadableFields):
        EncodedObject(json.dumps(changed(key, "", "9" * (LONGEST + 1))).encode())


@pytest.mark.req("OP-065")
@pytest.mark.parametrize(
    "text", [b"", b"[]", b'{"metadata": {}}', b'{"metadata": {"name": ""}}', b'{"metadata": null}']
)
def test_it_is_no_object_of_a_server(text: bytes) -> None:
    with pytest.raises(UnreadableFields):
        EncodedObject(text)
