"""Runs the loop that restores removed labels (OP-107)."""

import asyncio
from collections.abc import Awaitable, Callable
from unittest import mock

from grove_shell.apply import pod_relist
from grove_shell.apply.step_executor import StepExecutor
from grove_shell.cache.cluster_cache import ClusterCache
from grove_shell.operator.cluster_writer import ClusterWriter
from tests.operator.stub_server import api_with
from tests.operator.unlabelled_pods import Server


def run_label_repair(
    server: Server, cache: ClusterCache, meanwhile: Callable[[set[str]], Awaitable[None]], pause: float = 0.01
) -> list[str]:
    """What looks for pods all the time, with a pause between; it leads while there is anything in a set.

    Returns: which faults of ours were told.
    """
    told: list[str] = []

    async def scenario() -> None:
        leads: set[str] = set()
        async with api_with(server.answer) as api:
            acting = ClusterWriter(api, cache, StepExecutor(api, cache))
            looking = asyncio.ensure_future(acting.repair_labels(lambda: bool(leads), told.append))
            await meanwhile(leads)
            assert not looking.done()
            looking.cancel()
            await asyncio.wait([looking])

    with mock.patch.object(pod_relist, "_PAUSE", pause):
        asyncio.run(scenario())
    return told
