"""Objects with metadata that no API server stores end no process."""

import asyncio
import json
from collections.abc import Callable
from typing import Any, Final

import pytest
from aiohttp import web
from hypothesis import given
from hypothesis import strategies as st

from grove_core.resources.encoded_object import EncodedObject
from grove_core.resources.labels import SET
from grove_core.resources.object_metadata import metadata_in
from grove_shell.cache.cluster_cache import ClusterCache
from grove_shell.cache.root_keys import root_key_from_labels
from grove_shell.client import reflector
from grove_shell.client.api_kinds import KINDS, ApiKind
from grove_shell.client.api_response import ApiResponse
from grove_shell.client.api_session import NoServerResponse
from grove_shell.client.proxy_response_check import (
    ListBody,
    encoded_list_in_response,
    is_api_object,
    is_list_of_kind,
    parse_watch_event,
    parse_watch_event_encoded,
)
from grove_shell.client.reflector import ENCODED, WHOLE, ObjectDecoding, Reflector
from tests.operator.stub_server import api_with
from tests.property.few_examples import RARELY

DEEP: Final = "[" * 100_000
SOUND: Final = {
    "name": "x",
    "namespace": "ml",
    "uid": "u",
    "resourceVersion": "7",
    "labels": {SET.primary: "llm"},
    "annotations": None,
    "ownerReferences": [{"kind": "PodCliqueSet", "name": "llm", "uid": "s", "controller": True}],
}
NO_TEXTS: Final[tuple[Any, ...]] = (["a"], {}, 5, True)
NO_MAPS: Final[tuple[Any, ...]] = (["a"], [], "a", 5)
NO_OWNERS: Final[tuple[Any, ...]] = ({"a": 1}, {}, "a", ["a"], [None], [[]])
BROKEN: Final[tuple[dict[str, Any], ...]] = (
    *({key: no_text} for key in ("name", "namespace", "uid", "resourceVersion") for no_text in NO_TEXTS),
    *({key: no_map} for key in ("labels", "annotations") for no_map in NO_MAPS),
    *({"ownerReferences": no_owners} for no_owners in NO_OWNERS),
    {"resourceVersion": "9" * 5000},
)


def event(what: Any, **broken: Any) -> str:
    return json.dumps({"type": what, "object": {"metadata": SOUND | broken}})


DEADLY: Final = (
    event("ADDED", ownerReferences={"a": 1}),
    event("MODIFIED", labels=["a"]),
    event("DELETED", resourceVersion="9" * 5000),
    event([]),
    DEEP,
)
NO_EVENTS: Final = (
    *DEADLY,
    *(event("ADDED", **broken) for broken in BROKEN),
    *map(event, ({}, [[]], 5, None)),
    json.dumps({"type": "BOOKMARK", "object": {"metadata": {"resourceVersion": ["7"]}}}),
    json.dumps({"type": "ERROR", "object": {"code": ["410"]}}),
    json.dumps({"type": "ERROR", "object": {"code": 500, "message": ["no"]}}),
    json.dumps({"type": "ERROR", "object": {"code": 500, "metadata": [1]}}),
)


@pytest.mark.parametrize("parse", [parse_watch_event, parse_watch_event_encoded])
@pytest.mark.parametrize("line", NO_EVENTS, ids=lambda line: line[:60])
def test_op065_it_is_no_event(line: str, parse: Callable[[bytes], object]) -> None:
    with pytest.raises(NoServerResponse, match="the line is not a watch event"):
        parse(line.encode())


@pytest.mark.parametrize("kind", ["ADDED", "MODIFIED", "DELETED"])
def test_op065_an_event_with_its_object_as_text(kind: str) -> None:
    line = event(kind).encode()
    encoded = parse_watch_event_encoded(line)
    assert isinstance(encoded[1], EncodedObject)
    assert (encoded[0], dict(encoded[1])) == parse_watch_event(line)


@pytest.mark.parametrize("broken", BROKEN, ids=lambda broken: str(broken)[:60])
def test_op065_nor_is_a_list_with_it_one(broken: dict[str, Any]) -> None:
    whole = {"metadata": SOUND}
    kind, as_of = KINDS["Pod"], {"metadata": {"resourceVersion": "1"}}
    assert is_list_of_kind({**as_of, "items": [whole]}, kind)
    assert not is_list_of_kind({**as_of, "items": [whole, {"metadata": SOUND | broken}]}, kind)
    assert not is_list_of_kind({"metadata": SOUND | broken, "items": [whole]}, kind)


@pytest.mark.parametrize("broken", BROKEN, ids=lambda broken: str(broken)[:60])
def test_op065_nor_is_one_with_items_as_text(broken: dict[str, Any]) -> None:
    def listed(item: dict[str, Any], of_list: dict[str, Any]) -> ListBody[EncodedObject | dict[str, Any]] | None:
        body = json.dumps({"metadata": of_list, "items": [{"metadata": SOUND}, {"metadata": item}]})
        return encoded_list_in_response(KINDS["Pod"], ApiResponse(200, body.encode()))

    found = listed(SOUND, {"resourceVersion": "1"})
    assert found is not None
    assert [dict(item) for item in found.items] == [{"metadata": SOUND}] * 2
    assert listed(SOUND | broken, {"resourceVersion": "1"}) is None
    assert listed(SOUND, SOUND | broken) is None


@pytest.mark.parametrize("items", [None, []])
def test_op065_an_empty_list_is_one(items: list[Any] | None) -> None:
    body = {"kind": "PodList", "metadata": {"resourceVersion": "1"}, "items": items}
    response = ApiResponse(200, json.dumps(body).encode())
    assert encoded_list_in_response(KINDS["Pod"], response) == ListBody({"resourceVersion": "1"}, [])
    assert encoded_list_in_response(KINDS["PodClique"], response) is None


def test_op075_a_controller_without_a_name_says_nothing() -> None:
    nameless = SOUND | {"ownerReferences": [{"kind": "PodCliqueSet", "uid": "s", "controller": True}]}
    assert root_key_from_labels("Pod", metadata_in({"metadata": nameless})) == ("ml", "llm")


def test_op065_what_goes_deep_and_has_no_end_is_no_answer() -> None:
    assert ApiResponse(200, DEEP.encode()).json_body() == {}
    assert ApiResponse(500, DEEP.encode()).error_message == DEEP[:200]


@pytest.mark.parametrize("line", DEADLY, ids=lambda line: line[:60])
@pytest.mark.parametrize("decoding", [WHOLE, ENCODED], ids=["whole", "encoded"])
def test_op065_a_reflector_outlives_it(line: str, decoding: ObjectDecoding, monkeypatch: pytest.MonkeyPatch) -> None:
    """Receive it, in a watch and then in lists, and list again."""
    monkeypatch.setattr(reflector, "_LONGEST_BACKOFF", 0.05)
    monkeypatch.setattr(reflector, "_RELIST_AFTER", 0.2)
    asks, reported = list[str](), list[str]()

    async def answer(request: web.Request) -> web.Response:
        asks.append("watch" if "watch" in request.query else "list")
        if asks[-1] == "watch":
            return web.Response(text=line + "\n")
        items = f'[{{"metadata": {DEEP}}}]' if len(asks) > 1 else "[]"
        return web.Response(text=f'{{"metadata": {{"resourceVersion": "1"}}, "items": {items}}}')

    async def scenario() -> bool:
        async with api_with(answer) as api:
            keeping = Reflector(
                api,
                KINDS["Pod"],
                ClusterCache(),
                report=lambda _kind, words: reported.append(words),
                decoding=decoding,
            )
            following = asyncio.create_task(keeping.run())
            async with asyncio.timeout(10):
                while asks.count("list") < 3 and not following.done():  # noqa: ASYNC110 - the server has no signal
                    await asyncio.sleep(0.02)
            died = following.done()
            following.cancel()
            await asyncio.wait([following])
        return died

    assert not asyncio.run(scenario())
    assert [words.partition(":")[0] for words in reported] == ["the line is not a watch event", "Pod"]


JUNK: Final = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=6,
)
OWNERS: Final = st.lists(
    st.dictionaries(st.sampled_from(["kind", "name", "uid", "controller"]), JUNK | st.just("PodCliqueSet"))
)
METADATA: Final = st.fixed_dictionaries(
    {"name": st.text(min_size=1)},
    optional={
        **dict.fromkeys(("namespace", "uid", "resourceVersion"), st.text() | JUNK),
        **dict.fromkeys(("labels", "annotations"), st.dictionaries(st.sampled_from([*SET.keys, "a"]), JUNK) | JUNK),
        "ownerReferences": OWNERS | JUNK,
        "finalizers": JUNK,
    },
)


@RARELY
@given(st.sampled_from(list(KINDS.values())), METADATA, JUNK, JUNK)
def test_op065_what_is_an_object_has_its_place(kind: ApiKind, meta: dict[str, Any], spec: Any, status: Any) -> None:
    """Even an unreadable object is put into a cache and removed from it."""
    raw = {"kind": kind.kind, "apiVersion": kind.api_version, "metadata": meta, "spec": spec, "status": status}
    if is_api_object(raw):
        cache = ClusterCache()
        cache.put(kind.kind, raw)
        cache.drop(kind.kind, raw)
