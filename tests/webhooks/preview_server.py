"""An API server for previews of updates: it lists stored objects by label, and counts what it is asked for."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from typing import Any, Final

from aiohttp import web

from grove_shell.client.api_kinds import KINDS
from grove_shell.client.connection_settings import ConnectionSettings
from tests.operator.stub_server import listening_server, no_token, not_found

Json = dict[str, Any]
_BY_PLURAL: Final = {kind.plural: name for name, kind in KINDS.items()}


class PreviewServer:
    """What is stored.

    Attributes:
        labels: of every namespace; None where namespaces may not be read.
        refused: plurals that may not be listed.
        pause: seconds before each answer.
        asked: how often each plural was asked for.
    """

    def __init__(self, objects: Iterable[Json]) -> None:
        self.objects = list(objects)
        self.labels: Json | None = {}
        self.refused: set[str] = set()
        self.pause = 0.0
        self.asked: Counter[str] = Counter()

    @asynccontextmanager
    async def connection(self) -> AsyncIterator[ConnectionSettings]:
        async with listening_server(self._answer, patience=0.1) as server:
            yield ConnectionSettings(server, None, no_token)

    async def _answer(self, request: web.Request) -> web.Response:
        *_, before, last = request.path.split("/")
        self.asked["namespaces" if before == "namespaces" else last] += 1
        await asyncio.sleep(self.pause)
        if before == "namespaces":
            metadata = {"name": last, "labels": self.labels}
            found = {"apiVersion": "v1", "kind": "Namespace", "metadata": metadata}
            return _forbidden("namespaces") if self.labels is None else web.json_response(found)
        if last in self.refused:
            return _forbidden(last)
        if last not in _BY_PLURAL:
            return not_found(request)
        return web.json_response(self._list(_BY_PLURAL[last], request))

    def _list(self, kind: str, request: web.Request) -> Json:
        key, _, value = request.query.get("labelSelector", "").partition("=")
        namespace = request.path.split("/namespaces/")[-1].split("/")[0]
        items = [
            one
            for one in self.objects
            if one["kind"] == kind
            and one["metadata"].get("namespace") in {namespace, None}
            and (not key or one["metadata"].get("labels", {}).get(key) == value)
        ]
        return {"kind": f"{kind}List", "apiVersion": KINDS[kind].api_version, "metadata": {"resourceVersion": "9"}} | {
            "items": items
        }


def _forbidden(plural: str) -> web.Response:
    message = f'{plural} is forbidden: User "grove-preview" cannot list resource "{plural}"'
    status = {"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "Forbidden", "code": 403}
    return web.json_response({**status, "message": message}, status=403)
