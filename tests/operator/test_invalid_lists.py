"""Responses with status 200 that are neither a list nor an event, as a proxy sends them."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, Final

import pytest
from aiohttp import web
from hypothesis import given
from hypothesis import strategies as st

from grove_core.kernel.refs import Ref
from grove_core.resources.api_names import GROVE
from grove_core.resources.configuration import ServedApis
from grove_shell.cache.cluster_cache import ClusterCache
from grove_shell.cli.main import run_command_line
from grove_shell.client.api_discovery import check_connection, discover_optional_apis
from grove_shell.client.api_kinds import KINDS
from grove_shell.client.api_session import ApiSession
from grove_shell.client.connection_settings import ClusterAccessError
from grove_shell.client.paged_lists import KindNotListed, list_kind_by_page
from grove_shell.client.proxy_response_check import is_list_of_kind
from grove_shell.client.reflector import Reflector
from tests.operator.list_server import ListingServer
from tests.operator.stub_server import api_with
from tests.property.few_examples import RARELY
from tests.property.workload.sets import clique_raw, set_raw

SET: Final = set_raw(
    clique_raw("worker"), meta={"name": "llama", "namespace": "ml", "uid": "u", "resourceVersion": "1"}
)
LOGIN: Final = "<html>please log in</html>\n"
AS_OF: Final = '"metadata": {"resourceVersion": "1"}'
NO_LISTS: Final = (
    *(
        LOGIN,
        "",
        "{}",
        "[]",
        "null",
        '"items"',
        '{"items": []}',
        '{"items": null, "metadata": {"resourceVersion": ""}}',
    ),
    *(f'{{{AS_OF}, "items": {items}}}' for items in ("5", "[1]", "[{}]")),
    *(f'{{{AS_OF}, "items": [], "kind": {kind}}}' for kind in ('"PodList"', '""', "null", "[]")),
)


def a_list(*items: Any) -> str:
    return json.dumps({"metadata": {"resourceVersion": "1"}, "items": items})


class Saying:
    """Lists and watches are answered with these texts, whatever they are asked for; the last list stays."""

    def __init__(self, *lists: str, watch: str = "") -> None:
        self.lists = list(lists)
        self.watch = watch
        self.watches = 0

    async def answer(self, request: web.Request) -> web.Response:
        if "watch" in request.query:
            self.watches += 1
            return web.Response(text=self.watch)
        return web.Response(text=self.lists.pop(0) if len(self.lists) > 1 else self.lists[0])


def ask(server: Saying, question: Callable[[ApiSession], Awaitable[Any]]) -> Any:
    async def scenario() -> Any:
        async with api_with(server.answer) as api:
            return await question(api)

    return asyncio.run(scenario())


@pytest.mark.parametrize("text", NO_LISTS)
def test_op065_no_list_is_no_empty_list(text: str) -> None:
    async def listed(api: ApiSession) -> None:
        async for page in list_kind_by_page(api, KINDS["PodCliqueSet"]):
            raise AssertionError(page)

    with pytest.raises(KindNotListed, match="PodCliqueSet: the response is not a list") as reported:
        ask(Saying(text), listed)
    assert reported.value.is_transient
    assert not reported.value.is_absent


ANYTHING: Final = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text() | st.just("metadata"), inner),
)


@RARELY
@given(st.lists(st.text(min_size=1)), st.lists(ANYTHING, min_size=1), st.randoms(use_true_random=False))
def test_op065_one_item_that_is_no_object_makes_it_no_list(names: list[str], others: list[Any], chance: Any) -> None:
    """Nothing drawn has a name in its metadata; and null is how Go writes an empty list."""
    kind, as_of = KINDS["Secret"], {"metadata": {"resourceVersion": "1"}}
    items: list[Any] = [{"metadata": {"name": name}} for name in names]
    assert is_list_of_kind({**as_of, "items": items}, kind)
    assert is_list_of_kind({**as_of, "items": None}, kind)
    assert all(
        is_list_of_kind({**as_of, "items": items, "kind": said}, kind)
        for said in ("SecretList", "List", "PartialObjectMetadataList")
    )
    assert not any(is_list_of_kind(one, kind) for one in others)
    mixed = items + others
    chance.shuffle(mixed)
    assert not is_list_of_kind({**as_of, "items": mixed}, kind)


def test_op065_a_page_that_comes_again_is_none() -> None:
    """Else it would be asked for until there is no memory left."""
    page = json.dumps({"metadata": {"resourceVersion": "1", "continue": "more"}, "items": [SET]})
    taken: list[int] = []

    async def listed(api: ApiSession) -> None:
        async for one in list_kind_by_page(api, KINDS["PodCliqueSet"]):
            taken.append(len(one.items))
            assert len(taken) < 5

    with pytest.raises(KindNotListed, match="the response is not a list") as reported:
        ask(Saying(page), listed)
    assert (taken, reported.value.is_transient) == ([1], True)


@pytest.mark.parametrize("watch", [LOGIN, "[]\n", '{"type": "ADDED"}\n', '{"type": "ADDED", "object": {}}\n', "5\n"])
@pytest.mark.req("OP-080")
def test_op065_the_copy_stays_and_the_server_is_asked_again(watch: str) -> None:
    """What is known was listed once; then every list and every watch is answered by another server."""
    server, cache, reported = Saying(a_list(SET), LOGIN, watch=watch), ClusterCache(), list[str]()

    async def follow(api: ApiSession) -> bool:
        following = asyncio.create_task(
            Reflector(api, KINDS["PodCliqueSet"], cache, report=lambda _kind, words: reported.append(words)).run()
        )
        async with asyncio.timeout(20):
            while server.watches < 2 and not following.done():  # noqa: ASYNC110 - the server has no signal
                await asyncio.sleep(0.05)
        died = following.done()
        following.cancel()
        await asyncio.wait([following])
        return died

    assert not ask(server, follow)
    assert cache.find_object(Ref(GROVE, "PodCliqueSet", "ml", "llama")) is not None
    assert dict(cache.failed_watch_reasons) == {}
    assert server.watches >= 2
    assert [words.partition(":")[0] for words in reported] == ["the line is not a watch event"]


def test_op065_what_was_never_listed_is_not_known_to_be_nothing() -> None:
    cache = ClusterCache()

    async def follow(api: ApiSession) -> bool:
        reflector = Reflector(api, KINDS["PodCliqueSet"], cache)
        following = asyncio.create_task(reflector.run())
        await asyncio.sleep(0.3)
        following.cancel()
        await asyncio.wait([following])
        return reflector.synced.is_set()

    assert not ask(Saying(LOGIN), follow)


@pytest.mark.parametrize("text", NO_LISTS)
def test_op065_what_names_no_kinds_does_not_say_that_one_is_missing(text: str) -> None:
    assert ask(Saying(text), discover_optional_apis) == ServedApis()


def test_op065_the_connect_check_reports_the_response() -> None:
    with pytest.raises(ClusterAccessError, match=r"please log in.*is there a proxy on the way"):
        ask(Saying(LOGIN), check_connection)


@pytest.mark.req("OP-044")
def test_op065_a_plan_of_a_login_page_is_none(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    class Proxy(ListingServer):
        async def _answer(self, request: web.Request) -> web.Response:
            self.asked.append(request.path)
            return web.Response(text=LOGIN)

    with Proxy([]) as server:
        assert run_command_line(["plan", "--live", "--kubeconfig", str(server.kubeconfig(tmp_path))], "grove") == 1
    assert "the response is not a list: <html>please log in</html>; is there a proxy" in capsys.readouterr().err
