"""The way of a write, from the plan to its request, is short enough to read."""

import asyncio
import inspect
from collections.abc import Iterator
from typing import Any, Final
from unittest import mock

import aiohttp
import pytest

from grove_core.kernel.steps import Attempt, AttemptOutcome
from grove_shell.apply.cluster_writer import ClusterWriter
from grove_shell.apply.execute_concurrently import execute_steps_concurrently
from tests.operator.stub_server import api_with
from tests.operator.unlabelled_pods import Server, cache_with, creation_of

MOST: Final = 5


def entered_functions() -> Iterator[str]:
    """The functions of the product that are entered: in this task, innermost first, and in those that wait for it."""
    frame = inspect.currentframe()
    while frame is not None:
        if "/grove_shell/" in frame.f_code.co_filename:
            yield frame.f_code.co_qualname
        frame = frame.f_back
    for task in asyncio.all_tasks() - {asyncio.current_task()}:
        coroutine: Any = task.get_coro()
        while inspect.iscoroutine(coroutine):
            if "/grove_shell/" in coroutine.cr_code.co_filename:
                yield coroutine.cr_code.co_qualname
            coroutine = coroutine.cr_await


@pytest.mark.req("OP-106")
def test_op002_a_new_pod_passes_few_functions_on_its_way_to_the_server() -> None:
    sent: list[list[str]] = []
    connect = aiohttp.BaseConnector.connect

    async def connecting(connector: aiohttp.BaseConnector, request: Any, *rest: Any, **options: Any) -> Any:
        if request.method == "POST":
            sent.append(list(entered_functions()))
        return await connect(connector, request, *rest, **options)

    async def scenario() -> tuple[Attempt, ...]:
        async with api_with(Server().answer) as api:
            writer = ClusterWriter(api, cache_with())
            return await execute_steps_concurrently(writer.step_executor(), [creation_of("llm-0-a-0", "a")])

    with mock.patch.object(aiohttp.BaseConnector, "connect", connecting):
        (attempt,) = asyncio.run(scenario())
    assert attempt.outcome is AttemptOutcome.DONE
    ((*inner, outer),) = sent
    assert "StepExecutor.attempt_step" in inner
    assert "execute_steps_concurrently" in (outer, *inner)
    assert len(inner) + 1 <= MOST, sent
