"""When the controller reconciles a domain again, and when it does not any more (DC-132)."""

import asyncio
import json
from datetime import UTC, datetime, timedelta
from typing import Any

from grove_shell.client.api_response import ApiResponse
from grove_shell.domain_controller.domain_cache import ComputeDomainCache
from grove_shell.domain_controller.domain_reconcile_loop import DomainReconcileLoop
from tests.domain_controller.objects import domain
from tests.skipped_time import now, run_skipping_time

NINE = datetime(2026, 11, 20, 9, tzinfo=UTC)
SOON = timedelta(milliseconds=20)


class Server:
    """Refuses every write, and counts how often pods are listed."""

    def __init__(self, cache: ComputeDomainCache, *, deletes: bool) -> None:
        self.lists = self.writes = 0
        self._cache = cache
        self._deletes = deletes

    async def request(self, method: str, _path: str, **_asked: Any) -> ApiResponse:
        await asyncio.sleep(0)
        if method == "GET":
            self.lists += 1
            return ApiResponse(200, json.dumps({"metadata": {"resourceVersion": "200"}, "items": []}).encode())
        self.writes += 1
        if self._deletes:  # the deletion event arrives before the response
            self._cache.drop("ComputeDomain", domain(150))
        return ApiResponse(409, b'{"message": "the object has been modified"}')


async def run_for(seconds: float, *, deletes: bool) -> Server:
    cache = ComputeDomainCache()
    server = Server(cache, deletes=deletes)
    clock = lambda: NINE + timedelta(seconds=now())  # noqa: E731 - a clock
    loop = DomainReconcileLoop(server, cache, lambda *_: None, clock, cleanup_interval=SOON)  # type: ignore[arg-type]  # a stand-in
    cache.replace_all_of_kind("Pod", [], "190")
    cache.put("ComputeDomain", domain(104))
    task = asyncio.create_task(loop.run())
    await asyncio.sleep(seconds)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    return server


def test_dc132_deleted_domain_lists_no_pods() -> None:
    server = run_skipping_time(run_for(0.3, deletes=True))
    assert server.writes == 1
    assert server.lists == 0


def test_dc132_refused_write_is_requeued_with_delay() -> None:
    server = run_skipping_time(run_for(0.3, deletes=False))
    assert server.writes >= 2
    assert 1 <= server.lists <= 15
