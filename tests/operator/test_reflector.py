"""A reflector on a server that misbehaves."""

import asyncio
import json
import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

import pytest
from aiohttp import web

from grove_shell.cache.cluster_cache import ClusterCache
from grove_shell.cache.root_keys import RootKey
from grove_shell.client import reflector
from grove_shell.client.api_kinds import KINDS
from grove_shell.client.reflector import Reflector
from tests.operator.stub_server import Answer, api_with
from tests.property.workload.sets import clique_raw, set_raw

A_WHILE: Final = 1.0
FEW: Final = 10


class Curt:
    """A server that ends every watch at once, with these last words."""

    def __init__(self, words: list[dict[str, Any]]) -> None:
        self.words = words
        self.asked = 0

    async def answer(self, request: web.Request) -> web.Response:
        self.asked += 1
        if "watch" in request.query:
            return web.Response(text="".join(json.dumps(each) + "\n" for each in self.words))
        return web.json_response({"metadata": {"resourceVersion": "5"}, "items": []})


NOTHING_NEW: Final = {"type": "BOOKMARK", "object": {"metadata": {"resourceVersion": "5"}}}


@pytest.mark.parametrize("code", [None, 200, 410, 500])
def test_op080_a_watch_that_ends_at_once_is_not_begun_a_thousand_times(code: int | None) -> None:
    async def scenario() -> float:
        last = NOTHING_NEW if code == 200 else {"type": "ERROR", "object": {"kind": "Status", "code": code}}
        curt = Curt([] if code is None else [last])
        async with api_with(curt.answer) as api:
            following = asyncio.create_task(Reflector(api, KINDS["Pod"], ClusterCache()).run())
            begun = time.monotonic()
            async with asyncio.timeout(20):
                while time.monotonic() < begun + A_WHILE or curt.asked < 3:  # noqa: ASYNC110 - the server has no signal
                    await asyncio.sleep(0.05)
            whiles = (time.monotonic() - begun) / A_WHILE
            following.cancel()
            await asyncio.wait([following])
        return curt.asked / whiles

    assert asyncio.run(scenario()) <= (2 * FEW if code else FEW)


@pytest.mark.parametrize("lasting", [False, True])
def test_op080_what_stood_for_a_while_is_no_watch_that_ended_at_once(
    monkeypatch: pytest.MonkeyPatch, *, lasting: bool
) -> None:
    """Also where nothing was new; a while is nothing here, and the pause without end."""
    monkeypatch.setattr(reflector, "_FIRST_BACKOFF", 100)
    monkeypatch.setattr(reflector, "_LONGEST_BACKOFF", -1 if lasting else 100)
    curt = Curt([NOTHING_NEW])
    if lasting:
        follow(curt.answer, "Pod", ClusterCache(), lambda: curt.asked > 3)
    else:
        with pytest.raises(TimeoutError):
            follow(curt.answer, "Pod", ClusterCache(), lambda: curt.asked > 3, seconds=0.5)


def test_op034_a_kind_that_a_cluster_may_do_without_is_none() -> None:
    async def ignorant(_request: web.Request) -> web.Response:
        return web.json_response({"kind": "Status", "code": 404, "message": "page not found"}, status=404)

    async def scenario() -> tuple[ClusterCache, list[str]]:
        cache, reported = ClusterCache(), list[str]()
        async with api_with(ignorant) as api:
            for kind in ("ComputeDomain", "Service"):
                keeping = Reflector(api, KINDS[kind], cache, report=lambda kind, _words: reported.append(kind))
                following = asyncio.create_task(keeping.run())
                await asyncio.wait_for(keeping.synced.wait(), 10)
                following.cancel()
                await asyncio.wait([following])
        return cache, reported

    cache, reported = asyncio.run(scenario())
    assert (set(cache.failed_watch_reasons), reported) == ({"Service"}, ["Service"])


class Reported(ClusterCache):
    """A cache with one set, that counts how often a whole kind is reported."""

    def __init__(self) -> None:
        super().__init__()
        self.put("PodCliqueSet", A_SET)
        self.reported = 0
        self.requeued: list[RootKey] = []
        self.changed = self.requeued.append

    def replace_all_of_kind(self, kind: str, items: Iterable[Mapping[str, Any]], version: str) -> None:
        self.reported += 1
        super().replace_all_of_kind(kind, items, version)

    def mark_kind_unlisted(self, kind: str, why: str) -> None:
        self.reported += 1
        super().mark_kind_unlisted(kind, why)


A_SET: Final = set_raw(
    clique_raw("worker"), meta={"name": "llama", "namespace": "ml", "uid": "u", "resourceVersion": "1"}
)
NOT_SHOWN: Final = ((404, "ComputeDomain"), (404, "ClusterTopology"), (404, "Service"), (403, "Service"))


def follow(answer: Answer, kind: str, cache: ClusterCache, until: Callable[[], bool], seconds: float = 10) -> None:
    """Keep a copy of a kind until something holds."""

    async def scenario() -> None:
        async with api_with(answer) as api:
            following = asyncio.create_task(Reflector(api, KINDS[kind], cache).run())
            async with asyncio.timeout(seconds):
                while not until():  # noqa: ASYNC110 - the awaited state is in the copy, which has no signal
                    await asyncio.sleep(0.02)
            following.cancel()
            await asyncio.wait([following])

    asyncio.run(scenario())


@pytest.mark.parametrize(("status", "kind"), NOT_SHOWN)
def test_op020_a_kind_that_stays_unreadable_requeues_nothing(
    status: int, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is listed again every minute, here every fifth of a second; its cache and the sets are notified once."""
    monkeypatch.setattr(reflector, "_PAUSE_WHILE_UNLISTED", 0.2)
    monkeypatch.setattr(reflector, "_LONGEST_BACKOFF", 0.2)
    cache, times = Reported(), list[str]()

    async def answer(request: web.Request) -> web.Response:
        times.append(request.path)
        return web.json_response({"kind": "Status", "code": status, "message": "no"}, status=status)

    follow(answer, kind, cache, lambda: len(times) >= 5)
    assert cache.reported == 1
    assert cache.requeued.count(("ml", "llama")) <= 1


def test_op034_what_comes_and_goes_is_reported_each_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """A kind that is not served, then served, then not served again, and at last forbidden."""
    monkeypatch.setattr(reflector, "_PAUSE_WHILE_UNLISTED", 0.02)
    cache, lists = Reported(), list[int]([404, 404, 200, 404, 404, 403])

    async def answer(request: web.Request) -> web.Response:
        if "watch" in request.query:
            return web.json_response({"kind": "Status", "code": 404, "message": "gone"}, status=404)
        status = lists.pop(0) if len(lists) > 1 else lists[0]
        body = {"metadata": {"resourceVersion": "5"}, "items": []}
        return web.json_response(body if status == 200 else {"kind": "Status", "message": str(status)}, status=status)

    follow(answer, "ComputeDomain", cache, lambda: "ComputeDomain" in cache.failed_watch_reasons)
    assert cache.reported == 4


def test_op080_a_watch_that_was_cut_goes_on_from_its_last_event() -> None:
    """Half an answer, again and again: no event comes twice."""
    watched: list[str] = []

    async def cutting(request: web.Request) -> web.StreamResponse:
        if "watch" not in request.query:
            return web.json_response({"metadata": {"resourceVersion": "5"}, "items": []})
        since = request.query["resourceVersion"]
        watched.append(since)
        answer = web.StreamResponse(headers={"Content-Length": "1000000"})
        await answer.prepare(request)
        for version in (int(since) + 1, int(since) + 2):
            one = {**A_SET, "metadata": {**A_SET["metadata"], "resourceVersion": str(version)}}
            await answer.write(json.dumps({"type": "MODIFIED", "object": one}).encode() + b"\n")
        assert request.transport is not None
        request.transport.close()
        return answer

    follow(cutting, "PodCliqueSet", ClusterCache(), lambda: len(watched) > 2)
    assert watched[:3] == ["5", "7", "9"]
