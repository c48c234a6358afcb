"""The operator and the webhooks log names that foreign definitions have, by discovery."""

import asyncio
import io
import json
from collections.abc import Awaitable, Callable
from typing import Any, Final

import pytest
from aiohttp import web

from grove_shell.client.connection_settings import ConnectionSettings
from grove_shell.operator.crd_name_clashes import find_crd_name_clashes, log_crd_name_clashes
from grove_shell.operator.operator_process import OperatorProcessOptions
from grove_shell.settings.operator_settings import OperatorSettings
from grove_shell.settings.webhook_settings import WebhookSettings
from grove_shell.webhooks.webhook_process import WebhookProcess
from tests.operator.stub_server import api_with, listening_server, no_token, not_found

Json = dict[str, Any]
OWN: Final = {"name": "podcliquesets", "singularName": "podcliqueset", "kind": "PodCliqueSet", "shortNames": ["pcs"]}
OTHER: Final = {"name": "others", "singularName": "other", "kind": "Other", "shortNames": ["o", "ctopo"]}
PART: Final = {"name": "others/status", "singularName": "", "kind": "PodGang"}
TAKEN: Final = {
    "definition": "clustertopologies.grove.io",
    "role": "short name",
    "name": "ctopo",
    "holder": "others.grove.io",
}
QUIET: Final = {"serving": {"host": "127.0.0.1", "port": 0}}


async def answer(request: web.Request) -> web.StreamResponse:
    versions = [{"groupVersion": f"grove.io/{version}"} for version in ("v1alpha1", "v1")]
    documents: dict[str, Json] = {
        "/apis/grove.io": {"versions": versions},
        "/apis/grove.io/v1alpha1": {"resources": [OWN, PART]},
        "/apis/grove.io/v1": {"resources": [OTHER]},
    }
    found = documents.get(request.path)
    return not_found(request) if found is None else web.json_response(found)


def logged(out: io.StringIO) -> list[Json]:
    """The lines about taken names, without their time."""
    lines = [json.loads(line) for line in out.getvalue().splitlines()]
    return [
        {key: line[key] for key in TAKEN} | {"level": line["level"]} for line in lines if line["msg"] == "name taken"
    ]


def operator(connection: ConnectionSettings, out: io.StringIO, stop: asyncio.Event) -> Awaitable[int]:
    settings = OperatorSettings.model_validate(QUIET)
    return OperatorProcessOptions(connection=connection, settings=settings, observe_only=True, out=out, stop=stop).run()


def webhooks(connection: ConnectionSettings, out: io.StringIO, stop: asyncio.Event) -> Awaitable[int]:
    settings = WebhookSettings.model_validate({**QUIET, "listening": QUIET["serving"], "farewell": "1ms"})
    process = WebhookProcess(connection=connection, settings=settings, namespace="home", out=out)
    process.stop = stop
    return process.run()


@pytest.mark.parametrize("program", [operator, webhooks])
def test_cl032_it_is_logged_at_the_start(
    program: Callable[[ConnectionSettings, io.StringIO, asyncio.Event], Awaitable[int]],
) -> None:
    out, stop = io.StringIO(), asyncio.Event()

    async def play() -> None:
        async with listening_server(answer, patience=0.1) as server:
            running = asyncio.ensure_future(program(ConnectionSettings(server, None, no_token), out, stop))
            async with asyncio.timeout(20):
                while not logged(out):  # noqa: ASYNC110 - a log has no signal
                    await asyncio.sleep(0.02)
            stop.set()
            assert await running == 0

    asyncio.run(play())
    assert logged(out) == [{**TAKEN, "level": "warning"}]


def test_cl032_a_server_that_does_not_answer_yet_is_asked_again() -> None:
    said, requests = list[Json](), list[str]()

    async def late(request: web.Request) -> web.StreamResponse:
        requests.append(request.path)
        if len(requests) < 3:
            assert request.transport is not None
            request.transport.abort()
        return await answer(request)

    async def play() -> None:
        async with api_with(late) as api, asyncio.timeout(20):
            await log_crd_name_clashes(api, lambda _level, _message, **fields: said.append(fields), pause=0.01)

    asyncio.run(play())
    assert said == [TAKEN]


@pytest.mark.parametrize(
    "body", [b"", b"null", b"[]", b'{"versions": 3}', b'{"versions": [null, {"groupVersion": 1}]}']
)
def test_cl032_what_says_nothing_of_names_takes_none(body: bytes) -> None:
    async def other(_request: web.Request) -> web.StreamResponse:
        return web.Response(body=body, content_type="application/json")

    async def play() -> None:
        async with api_with(other) as api:
            assert await find_crd_name_clashes(api) == ()

    asyncio.run(play())
