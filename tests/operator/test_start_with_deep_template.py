"""An operator process beside a foreign template that is nested too deeply."""

import asyncio
import io
import json

import aiohttp
from aiohttp import web

from grove_core.resources.api_names import CLAIM_TEMPLATE_KIND
from grove_shell.client.api_kinds import KINDS
from grove_shell.client.connection_settings import ConnectionSettings
from grove_shell.operator.operator_process import OperatorProcessOptions
from grove_shell.settings.operator_settings import OperatorSettings
from tests.operator.stub_server import listening_server, no_token, not_found
from tests.operator.test_nesting_limit import listed, template, written

PLURALS = {kind.plural: kind.kind for kind in KINDS.values()}


async def answer(request: web.Request) -> web.StreamResponse:
    kind = PLURALS.get(request.path.rpartition("/")[2])
    if kind is None:
        return not_found(request)
    if "watch" in request.query:
        await asyncio.sleep(0.2)
        return web.Response()
    items = [written(template(), 1200)] if kind == CLAIM_TEMPLATE_KIND else []
    return web.Response(body=listed(kind, *items), content_type="application/json")


def test_op004_an_operator_starts_beside_it_and_reports_its_readiness() -> None:
    out, stop = io.StringIO(), asyncio.Event()

    async def ready() -> str:
        reported = OperatorSettings()
        serving = reported.serving.model_copy(update={"host": "127.0.0.1", "port": 0})
        settings = reported.model_copy(update={"serving": serving})
        async with listening_server(answer, patience=0.1) as server:
            way = ConnectionSettings(server=server, tls=None, token=no_token)
            running = asyncio.create_task(
                OperatorProcessOptions(connection=way, settings=settings, observe_only=True, out=out, stop=stop).run()
            )
            async with asyncio.timeout(20), aiohttp.ClientSession() as session:
                while "caches are filled" not in out.getvalue():  # noqa: ASYNC110 - a log has no signal
                    await asyncio.sleep(0.02)
                port = json.loads(out.getvalue().splitlines()[0])["port"]
                words = await (await session.get(f"http://127.0.0.1:{port}/readyz")).text()
            stop.set()
            await running
        return words

    first, reported = asyncio.run(ready()).splitlines()
    assert first == "ok"
    assert reported.startswith(f"{CLAIM_TEMPLATE_KIND} ml/t: cannot be read: ")
