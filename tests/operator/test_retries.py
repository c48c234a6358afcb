"""Retries of the reconcile loop against a server on the loopback."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from itertools import pairwise
from typing import Any, Final

import pytest
from aiohttp import web

from grove_core.resources.api_names import CLIQUE_FINALIZER, SET_FINALIZER
from grove_shell.apply.cluster_writer import ClusterWriter
from grove_shell.apply.planned_round import plan_for_root
from grove_shell.cache.cluster_cache import ClusterCache
from grove_shell.operator.reconcile_loop import ReconcileLoop
from tests.operator.stub_server import api_with
from tests.property.resources.manifests import clique, owner
from tests.property.workload.sets import clique_raw, set_raw

Json = dict[str, Any]
CLIQUES: Final = "/podcliques"


def refusal(status: int, reason: str) -> web.Response:
    words = {"kind": "Status", "status": "Failure", "code": status, "reason": reason, "message": reason}
    return web.json_response(words, status=status)


def tried(
    answer: Callable[[web.Request], Awaitable[web.Response]],
    kind: str,
    raw: Json,
    until: Callable[[ClusterCache], bool],
    *,
    busy: bool = False,
) -> None:
    """Look after what a copy begins with until something holds; where it is busy it is looked at all the time."""

    async def scenario() -> None:
        async with api_with(answer) as api:
            cache = ClusterCache()
            rounds = ReconcileLoop(cache=cache, writer=ClusterWriter(api, cache), decide=plan_for_root)
            cache.changed = rounds.enqueue
            rounds.start()
            cache.put(kind, raw)
            async with asyncio.timeout(20):
                while not until(cache):
                    await asyncio.sleep(0.05)
                    if busy:
                        rounds.enqueue(("ml", "llama"))
            await rounds.close()

    asyncio.run(scenario())


def late_enough(times: list[float]) -> bool:
    """Whether no pause is shorter than its turn asks for; a busy machine makes any of them longer."""
    pauses = [later - sooner for sooner, later in pairwise(times)]
    return all(pause > 0.19 * 2**number for number, pause in enumerate(pauses))


@pytest.mark.parametrize("refused", [(500, "InternalError"), (503, "ServiceUnavailable"), (403, "Forbidden")], ids=str)
@pytest.mark.req("WL-001")
def test_op023_the_server_is_asked_again_to_let_go(refused: tuple[int, str]) -> None:
    """A clique of a set that is gone; twice the server would not drop its finalizer, and nothing else happens there."""
    raw = clique("llama-0-a", owned_by=owner("gone", kind="PodCliqueSet", name="llama"))
    leaving = {"deletionTimestamp": "2026-11-20T09:00:00Z", "finalizers": [CLIQUE_FINALIZER]}
    raw["metadata"] |= {"namespace": "ml", "uid": "a", "resourceVersion": "7", **leaving}
    times: list[float] = []

    async def answer(request: web.Request) -> web.Response:
        assert (request.method, request.path.rpartition("/")[2]) == ("PATCH", "llama-0-a")
        times.append(time.monotonic())
        assert (await request.json())["metadata"]["finalizers"] == []
        if len(times) < 3:
            return refusal(*refused)
        return web.json_response({"kind": "Status", "status": "Success", "details": {"uid": "a"}})

    tried(answer, "PodClique", raw, lambda cache: not cache.has_anything_of_root(("ml", "llama")))
    assert len(times) == 3
    assert late_enough(times)


@pytest.mark.parametrize("busy", [False, True])
def test_op023_a_quota_is_asked_later_each_time_however_busy_the_set_is(busy: bool) -> None:
    """All else is made in each round, for the copy receives no event of it."""
    raw = set_raw(clique_raw("first"))
    raw["metadata"] |= {"name": "llama", "namespace": "ml", "uid": "u", "resourceVersion": "1"}
    raw["metadata"]["finalizers"] = [SET_FINALIZER]
    times: list[float] = []

    async def answer(request: web.Request) -> web.Response:
        if request.method == "POST" and request.path.endswith(CLIQUES):
            times.append(time.monotonic())
            return refusal(403, "exceeded quota")
        return web.json_response({"kind": "Status", "status": "Success"})

    tried(answer, "PodCliqueSet", raw, lambda _cache: len(times) == 5, busy=busy)
    assert late_enough(times), times
