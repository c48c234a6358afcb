"""A list whose pages expire is begun again once."""

import asyncio
from typing import Any, Final

import pytest
from aiohttp import web

from grove_shell.apply.cluster_writer import ClusterWriter
from grove_shell.cache.cluster_cache import ClusterCache
from grove_shell.client.api_kinds import KINDS
from grove_shell.client.api_session import ApiSession
from grove_shell.client.paged_lists import KindNotListed, list_all_objects_of_kind
from tests.operator.stub_server import api_with
from tests.property.workload.sets import clique_raw, set_raw

POD: Final = KINDS["Pod"]
A_SET: Final = set_raw(clique_raw("a"), meta={"name": "llm", "namespace": "ml", "uid": "u", "resourceVersion": "1"})


class Paged:
    """Two pages; the second is expired, also for a request of all at once where it is ``stubborn``."""

    def __init__(self, *, stubborn: bool) -> None:
        self.stubborn = stubborn
        self.limits: list[str | None] = []

    async def answer(self, request: web.Request) -> web.Response:
        if request.path.endswith("/llm"):
            return web.json_response({**A_SET, "kind": "PodCliqueSet"})
        self.limits.append(request.query.get("limit"))
        if "continue" in request.query:
            status = {"kind": "Status", "reason": "Expired", "message": "too old", "code": 410}
            return web.json_response(status, status=410)
        items = [{"metadata": {"name": str(len(self.limits))}}]
        is_cut = self.stubborn or "limit" in request.query
        token = {"continue": "more"} if is_cut else {}
        return web.json_response({"metadata": {"resourceVersion": "5", **token}, "items": items})

    def ask(self, question: Any) -> Any:
        async def scenario() -> Any:
            async with api_with(self.answer) as api:
                return await asyncio.wait_for(question(api), 2)

        return asyncio.run(scenario())


def test_op080_it_is_begun_again_without_pages() -> None:
    """And what came before counts for nothing."""
    server = Paged(stubborn=False)
    found, version = server.ask(lambda api: list_all_objects_of_kind(api, POD))
    assert ([one["metadata"]["name"] for one in found], version) == (["3"], "5")
    assert server.limits == ["500", "500", None]


def test_op080_it_is_not_begun_a_third_time() -> None:
    server = Paged(stubborn=True)
    with pytest.raises(KindNotListed, match="Pod: too old") as reported:
        server.ask(lambda api: list_all_objects_of_kind(api, POD))
    assert reported.value.is_transient
    assert server.limits == ["500", "500", None, None]


@pytest.mark.req("OP-013")
def test_op080_an_expired_fresh_read_ends() -> None:
    async def relist_set(api: ApiSession) -> None:
        cache = ClusterCache()
        await ClusterWriter(api, cache).relist_set(("ml", "llm"))

    with pytest.raises(KindNotListed):
        Paged(stubborn=True).ask(relist_set)
