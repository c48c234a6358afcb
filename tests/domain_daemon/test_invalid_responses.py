"""A server, or a proxy before it, that answers a daemon 200 with something that is no list, no object and no event."""

import asyncio
import json
from datetime import timedelta
from pathlib import Path
from typing import Final

import pytest
from aiohttp import web

from grove_core.areas.domain_cliques.daemon.verdicts import (
    ListPodsRequest,
    PodsListed,
    ReadObjectRequest,
    RequestFailed,
    RequestResultKind,
)
from grove_core.kernel.refs import Ref
from grove_core.resources.api_names import NVIDIA
from grove_shell.client import reflector
from grove_shell.client.api_response import ApiResponse
from grove_shell.client.connection_settings import ClusterAccessError
from grove_shell.domain_daemon.daemon_identity import DaemonCommandOptions, read_daemon_identity
from grove_shell.domain_daemon.daemon_process import SingleObjectWatch
from grove_shell.domain_daemon.daemon_requests import DOMAINS, parse_daemon_registry, request_result_from_response
from tests.domain_daemon.single_domain import SingleDomainServer, until
from tests.operator.stub_server import api_with

LOGIN: Final = "<html>please log in</html>\n"
NOTHINGS: Final = (
    LOGIN,
    "",
    "{}",
    "[]",
    "null",
    '{"metadata": {}}',
    '{"items": []}',
    '{"items": [{}]}',
    '{"items": 5}',
)
THE_DOMAIN: Final = Ref(NVIDIA, "ComputeDomain", "ml", "training")


@pytest.mark.parametrize("body", NOTHINGS)
@pytest.mark.parametrize(
    "request_", [ListPodsRequest("10.0.0.9"), ReadObjectRequest(THE_DOMAIN)], ids=["list", "object"]
)
def test_dc132_other_bodies_count_as_no_response(request_: ListPodsRequest | ReadObjectRequest, body: str) -> None:
    """Not even that no other pod of the node lives: the entry of a newer one would be taken over."""
    answer = request_result_from_response(request_, ApiResponse(200, body.encode()))
    assert isinstance(answer, RequestFailed)
    assert answer.kind is RequestResultKind.NO_RESPONSE


@pytest.mark.parametrize("body", ["404 page not found\n", "[]", '{"reason": "NotFound", "details": "x"}'])
def test_dc132_unserved_kind_is_no_absence(body: str) -> None:
    """A 404 without the name of the object does not mean that it is absent."""
    assert (
        request_result_from_response(ReadObjectRequest(THE_DOMAIN), ApiResponse(404, body.encode())).kind
        is RequestResultKind.NO_RESPONSE
    )
    gone = b'{"kind": "Status", "reason": "NotFound", "details": {"name": "training"}}'
    assert (
        request_result_from_response(ReadObjectRequest(THE_DOMAIN), ApiResponse(404, gone)).kind
        is RequestResultKind.NOT_FOUND
    )


@pytest.mark.parametrize("body", ["[]", "null", '{"details": "x"}', '{"details": {"causes": ["x"]}}'])
def test_dc132_conflict_without_details(body: str) -> None:
    assert (
        request_result_from_response(ReadObjectRequest(THE_DOMAIN), ApiResponse(409, body.encode())).kind
        is RequestResultKind.CONFLICT
    )


def test_dc132_another_object_counts_as_no_response() -> None:
    other = b'{"kind": "ComputeDomain", "metadata": {"name": "another", "uid": "x"}}'
    assert (
        request_result_from_response(ReadObjectRequest(THE_DOMAIN), ApiResponse(200, other)).kind
        is RequestResultKind.NO_RESPONSE
    )


def test_dc132_empty_list_is_a_response() -> None:
    none = b'{"metadata": {"resourceVersion": "5"}, "items": null}'
    assert request_result_from_response(ListPodsRequest("10.0.0.9"), ApiResponse(200, none)) == PodsListed(
        "10.0.0.9", ()
    )


@pytest.mark.parametrize("watch", [LOGIN, "[]\n", '{"type": "ADDED"}\n', '{"type": "ADDED", "object": {}}\n', "5\n"])
def test_dc132_observation_stays_and_the_list_is_repeated(watch: str) -> None:
    """The first list comes from the server, every later response from a proxy."""
    states, reports, watches = list[bool](), list[str](), 0
    domains = {"metadata": {"resourceVersion": "5"}, "items": [SingleDomainServer(Path()).domain]}

    async def answered(request: web.Request) -> web.Response:
        nonlocal watches
        if "watch" in request.query:
            watches += 1
            return web.Response(text=watch)
        if states:
            return web.Response(text=LOGIN)
        return web.json_response(domains)

    async def follow() -> None:
        async with api_with(answered) as api:
            watch_ = SingleObjectWatch(
                api,
                DOMAINS,
                ("ml", "training"),
                parse_daemon_registry,
                lambda _version, found: states.append(found is not None),
                report=reports.append,
            )
            task = asyncio.create_task(watch_.run())
            await until(lambda: watches >= 3)
            assert not task.done()
            task.cancel()
            await asyncio.wait([task])

    asyncio.run(follow())
    assert states == [True], "no deletion was reported"
    assert [words.partition(":")[0] for words in reports] == ["the line is not a watch event"]


def test_dc132_login_page_is_no_domain() -> None:
    async def answered(_request: web.Request) -> web.Response:
        return web.Response(text=LOGIN)

    async def ask() -> None:
        arguments = DaemonCommandOptions(
            domain="ml/training", clique="rack.1", node="n1", ip="10.0.0.1", protocol="ssa", limit=18, grace=timedelta()
        )
        async with api_with(answered) as api:
            with pytest.raises(ClusterAccessError, match="please log in"):
                await read_daemon_identity(api, arguments)

    asyncio.run(ask())


@pytest.mark.parametrize("code", [400, 401, 403, 410, 429, 500, 503])
@pytest.mark.parametrize("as_event", [False, True], ids=["refused", "ERROR"])
def test_dc132_refused_watch_is_repeated(code: int, *, as_event: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """And after a list, unless the server only has no time for it."""
    monkeypatch.setattr(reflector, "_PAUSE_WHILE_UNLISTED", 0.2)
    reports, requests = list[str](), list[str]()
    words = {"kind": "Status", "message": "no watch for you", "code": code}
    domains = {"metadata": {"resourceVersion": "5"}, "items": [SingleDomainServer(Path()).domain]}

    async def answered(request: web.Request) -> web.Response:
        requests.append("watch" if "watch" in request.query else "list")
        if requests[-1] == "list":
            return web.json_response(domains)
        if as_event:
            return web.Response(text=json.dumps({"type": "ERROR", "object": words}) + "\n")
        return web.json_response(words, status=code)

    async def follow() -> None:
        async with api_with(answered) as api:
            place = ("ml", "training")
            watch_ = SingleObjectWatch(
                api, DOMAINS, place, parse_daemon_registry, lambda *_: None, report=reports.append
            )
            task = asyncio.create_task(watch_.run())
            await until(lambda: requests.count("watch") >= 3)
            task.cancel()
            await asyncio.wait([task])

    asyncio.run(follow())
    keeps = code in {429, 500, 503} and not as_event
    assert requests[:5] == (["list", *["watch"] * 3] if keeps else ["list", "watch"] * 2 + ["list"])
    assert set(reports) == (set() if code == 410 else {"no watch for you"})


@pytest.mark.parametrize("code", [429, 500])
def test_dc132_repeated_watch_continues(code: int) -> None:
    """Not where the watch began: what was states would be states again, for ever."""
    since, versions = list[str](), list[int]()
    domain = SingleDomainServer(Path()).domain

    def at(version: int) -> str:
        changed = {**domain, "metadata": {**domain["metadata"], "resourceVersion": str(version)}}
        return json.dumps({"type": "MODIFIED", "object": changed}) + "\n"

    async def answered(request: web.Request) -> web.Response:
        if "watch" not in request.query:
            return web.json_response({"metadata": {"resourceVersion": "5"}, "items": [domain]})
        since.append(request.query["resourceVersion"])
        error = json.dumps({"type": "ERROR", "object": {"kind": "Status", "code": code}}) + "\n"
        bookmark = json.dumps({"type": "BOOKMARK", "object": {"metadata": {"resourceVersion": "7"}}}) + "\n"
        return web.Response(text=(at(6) + at(7) if len(since) == 1 else bookmark) + error)

    async def follow() -> None:
        async with api_with(answered) as api:
            place = ("ml", "training")
            watch_ = SingleObjectWatch(
                api, DOMAINS, place, parse_daemon_registry, lambda version, _: versions.append(version)
            )
            task = asyncio.create_task(watch_.run())
            await until(lambda: len(since) >= 3)
            task.cancel()
            await asyncio.wait([task])

    asyncio.run(follow())
    assert since[:3] == ["5", "7", "7"]
    assert versions == [5, 6, 7]
