"""The cache stays current while watches fail and lists work, and the server's messages are reported."""

import asyncio
import json
from collections.abc import Callable
from typing import Any, Final

import pytest
from aiohttp import web

from grove_core.kernel.refs import Ref
from grove_core.resources.api_names import GROVE
from grove_shell.cache.cluster_cache import ClusterCache
from grove_shell.client import reflector
from grove_shell.client.api_kinds import KINDS
from grove_shell.client.reflector import Reflector
from tests.domain_daemon.single_domain import until
from tests.operator.stub_server import api_with
from tests.property.workload.sets import clique_raw, set_raw

Watch = Callable[[web.Request], web.Response]
LATER: Final = set_raw(clique_raw("a"), meta={"name": "late", "namespace": "ml", "uid": "l", "resourceVersion": "9"})
LATE: Final = Ref(GROVE, "PodCliqueSet", "ml", "late")
WENT_BACK: Final = "the server is at an older state than it showed before: the cache is replaced"
WORDS: Final = "no watch for you"
KEPT: Final = (429, 500, 503, 504)
SILENT: Final = (404, 410)


def refused(status: int) -> Watch:
    return lambda _: web.json_response({"kind": "Status", "message": WORDS, "code": status}, status=status)


def error(status: int | None, *before: dict[str, Any]) -> Watch:
    event = {"type": "ERROR", "object": {"kind": "Status", "message": WORDS, "code": status}}
    return lambda _: web.Response(text="".join(json.dumps(each) + "\n" for each in (*before, event)))


def empty(_request: web.Request) -> web.Response:
    return web.Response()


def no_event(_request: web.Request) -> web.Response:
    return web.Response(text="<html>please log in</html>\n")


class Server:
    """The first list is empty; what is made after it is in every other one, and in no watch.

    Args:
        watch: the answer to each.
        later: the statuses of the second list and the next; the last one stays.
    """

    def __init__(self, watch: Watch, *later: int) -> None:
        self.watch = watch
        self.statuses = (200, *later)
        self.since: list[str] = []
        self.lists = 0
        self.cache = ClusterCache()
        self.reported: list[str] = []
        self.unwatched = ""

    async def answer(self, request: web.Request) -> web.Response:
        if "watch" in request.query:
            self.since.append(request.query["resourceVersion"])
            return self.watch(request)
        status = self.statuses[min(self.lists, len(self.statuses) - 1)]
        self.lists += 1
        if status != 200:
            return web.json_response({"kind": "Status", "message": WORDS, "code": status}, status=status)
        version, items = ("5", []) if self.lists == 1 else ("9", [LATER])
        return web.json_response({"metadata": {"resourceVersion": version}, "items": items})

    def follow(self, until: Callable[[], bool]) -> bool:
        """Whether something comes to hold in a while in which twenty watches fail."""

        async def scenario() -> bool:
            async with api_with(self.answer) as api:
                keeping = Reflector(
                    api,
                    KINDS["PodCliqueSet"],
                    self.cache,
                    report=lambda _kind, words: self.reported.append(words),
                )
                following = asyncio.create_task(keeping.run())
                while not (until() or len(self.since) > 20 or following.done()):  # noqa: ASYNC110 - there is no signal
                    await asyncio.sleep(0.01)
                following.cancel()
                await asyncio.wait([following])
                self.unwatched = keeping.unwatched
                return until()

        return asyncio.run(asyncio.wait_for(scenario(), 20))

    def shows(self) -> bool:
        return self.cache.find_object(LATE) is not None


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reflector, "_FIRST_BACKOFF", 0.02)
    monkeypatch.setattr(reflector, "_LONGEST_BACKOFF", 0.05)
    monkeypatch.setattr(reflector, "_PAUSE_WHILE_UNLISTED", 0.05)


@pytest.mark.parametrize("watch", [refused(status) for status in (400, 401, 403, 404, 405, 410)])
def test_op080_a_watch_that_is_refused_is_followed_by_a_list(watch: Watch) -> None:
    server = Server(watch)
    assert server.follow(server.shows)


@pytest.mark.parametrize("status", [None, 400, 404, 410, 429, 500, 504])
def test_op080_a_watch_that_begins_with_an_error_is_followed_by_a_list(status: int | None) -> None:
    server = Server(error(status))
    assert server.follow(server.shows)


@pytest.mark.parametrize("making", [refused, error])
@pytest.mark.parametrize("status", [400, 401, 403, 404, 410, 500])
def test_op080_the_words_of_a_refusal_are_reported_once(making: Callable[[int], Watch], status: int) -> None:
    server = Server(making(status))
    server.follow(lambda: False)
    assert server.reported == ([] if status in SILENT else [WORDS])
    assert server.unwatched == (WORDS if status == 403 else "")


@pytest.mark.parametrize("status", KEPT)
def test_op080_trouble_of_the_server_costs_no_list(status: int) -> None:
    server = Server(refused(status))
    server.follow(lambda: False)
    assert (server.lists, set(server.since), server.reported) == (1, {"5"}, [WORDS])


def test_op080_an_error_after_events_goes_on_behind_them() -> None:
    """What an error says that is no first line is about the time after them."""

    def one_later(request: web.Request) -> web.Response:
        version = str(int(request.query["resourceVersion"]) + 1)
        return error(500, {"type": "BOOKMARK", "object": {"metadata": {"resourceVersion": version}}})(request)

    server = Server(one_later)
    server.follow(lambda: len(server.since) > 2)
    assert (server.lists, server.since[:3], server.reported[:1]) == (1, ["5", "6", "7"], [WORDS])


def test_op080_a_kind_that_is_not_shown_any_more_is_lost() -> None:
    server = Server(refused(403), 403)
    assert server.follow(lambda: "PodCliqueSet" in server.cache.failed_watch_reasons)
    assert server.reported == [WORDS, f"PodCliqueSet: {WORDS}"]


def test_op004_what_is_not_shown_once_more_is_reported_once_more() -> None:
    """Though nothing came on a watch in between."""
    server = Server(refused(404), 403, 403, 200, 403)
    assert server.follow(lambda: server.lists > 5)
    assert server.reported == [f"PodCliqueSet: {WORDS}"] * 2


@pytest.mark.parametrize("watch", [*map(refused, KEPT), empty, no_event])
def test_op080_a_silent_watch_is_checked(watch: Watch, monkeypatch: pytest.MonkeyPatch) -> None:
    """Five minutes are a fifth of a second here."""
    monkeypatch.setattr(reflector, "_RELIST_AFTER", 0.2)
    server = Server(watch)
    assert server.follow(server.shows)


def test_op080_a_watch_with_events_is_not_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reflector, "_RELIST_AFTER", 0.2)
    bookmark = {"type": "BOOKMARK", "object": {"metadata": {"resourceVersion": "6"}}}
    server = Server(error(503, bookmark))
    server.follow(lambda: False)
    assert server.lists == 1


def test_op080_a_store_that_went_back_is_believed() -> None:
    """After a restore of etcd: the watch is too old, and the list is of a time before."""
    cache, reported, lists = ClusterCache(), list[str](), 0

    def in_version(name: str, uid: str, version: str) -> dict[str, Any]:
        return set_raw(clique_raw("a"), meta={"name": name, "namespace": "ml", "uid": uid, "resourceVersion": version})

    async def answer(request: web.Request) -> web.Response:
        nonlocal lists
        if "watch" in request.query:
            return web.json_response({"kind": "Status", "code": 410}, status=410)
        lists += 1
        items = [in_version("same", "s", "9000"), in_version("again", "new", "9100")]
        before = [in_version("same", "s", "4000"), in_version("again", "old", "4100")]
        version, found = ("9300", items) if lists == 1 else (str(5000 + lists), before)
        return web.json_response({"metadata": {"resourceVersion": version}, "items": found})

    async def follow() -> None:
        async with api_with(answer) as api:
            kind = KINDS["PodCliqueSet"]
            task = asyncio.create_task(
                Reflector(api, kind, cache, report=lambda _, words: reported.append(words)).run()
            )
            await until(lambda: lists >= 4)
            task.cancel()
            await asyncio.wait([task])

    asyncio.run(follow())
    assert [words for words in reported if "older state" in words] == [WENT_BACK]
    refs = [Ref(GROVE, "PodCliqueSet", *root_key) for root_key in cache.root_keys()]
    found = {ref.name: (item.uid, item.resource_version) for ref in refs if (item := cache.find_object(ref))}
    assert found == {"same": ("s", "4000"), "again": ("old", "4100")}


@pytest.mark.parametrize("what", ["BOOKMARK", "MODIFIED"])
def test_op080_older_news_on_a_watch_show_that_a_store_went_back(what: str) -> None:
    """The watch continues over the restored store; a list brings the rest."""
    old = {**LATER, "metadata": {**LATER["metadata"], "resourceVersion": "4"}}
    line = json.dumps({"type": what, "object": old}) + "\n"
    server = Server(lambda _: web.Response(text=line))
    assert server.follow(lambda: server.lists > 1 and server.shows())


def test_op080_events_of_others_before_a_list_count_as_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    """An answer to a write was of a version that the list is older than; the list shows what was before."""
    server, since = Server(refused(410)), list[str]()

    def newest(kind: str) -> int:
        since.append(kind)
        return 8 if len(since) < 2 else 0

    monkeypatch.setattr(server.cache, "newest_resource_version", newest)
    assert server.follow(server.shows)
    assert (server.reported, since[:2]) == ([WENT_BACK], ["PodCliqueSet"] * 2)


def test_op080_responses_to_writes_are_reported() -> None:
    """Of every kind that is written, topologies too."""
    cache = ClusterCache()
    cache.put("PodCliqueSet", LATER)
    cache.put("ClusterTopology", {"metadata": {"name": "aws", "uid": "t", "resourceVersion": "12"}})
    reported = {
        kind: cache.newest_resource_version(kind)
        for kind in ("PodCliqueSet", "ClusterTopology", "ClusterTopologyBinding")
    }
    assert reported == {"PodCliqueSet": 9, "ClusterTopology": 12, "ClusterTopologyBinding": 0}
