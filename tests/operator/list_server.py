"""An API server that lists given objects, forbids watches, and records every other request."""

import asyncio
import json
import threading
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from aiohttp import web

from grove_shell.client.api_kinds import KINDS

Json = dict[str, Any]
_GROUP = "resource.k8s.io"
_CLAIMS = f"/apis/{_GROUP}"


class ListingServer:
    """It runs beside the test, on the loopback interface, from ``with`` to its end.

    Args:
        items: everything there is; a test may change it.
    """

    def __init__(self, items: list[Json]) -> None:
        self.items = items
        self.refused: set[str] = set()  # in the plural
        self.claims: tuple[str, ...] | None = None  # served versions of claims; None for any that is asked for
        self.asked: list[str] = []
        self.writes: list[str] = []
        self.written_as: dict[str, str] = {}  # a text -> JSON in its place that Python cannot write
        self._loop = asyncio.new_event_loop()
        self._runner: web.AppRunner | None = None
        self._thread = threading.Thread(target=self._loop.run_forever)
        self.url = ""

    def __enter__(self) -> Self:
        self._thread.start()
        self.url = asyncio.run_coroutine_threadsafe(self._serve(), self._loop).result(10)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._runner is not None:
            asyncio.run_coroutine_threadsafe(self._runner.cleanup(), self._loop).result(10)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)
        self._loop.close()

    def kubeconfig(self, folder: Path) -> Path:
        """A file by which it is found."""
        named = {"name": "here"}
        raw = {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{**named, "cluster": {"server": self.url}}],
            "users": [{**named, "user": {"token": "none"}}],
            "contexts": [{**named, "context": {"cluster": "here", "user": "here", "namespace": "inference"}}],
            "current-context": "here",
        }
        path = folder / "kubeconfig"
        path.write_text(json.dumps(raw), encoding="utf-8")
        return path

    async def _serve(self) -> str:
        application = web.Application()
        application.router.add_route("*", "/{path:.*}", self._answer)
        self._runner = web.AppRunner(application)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", 0).start()
        return f"http://127.0.0.1:{self._runner.addresses[0][1]}"

    async def _answer(self, request: web.Request) -> web.Response:
        if request.method != "GET":
            self.writes.append(f"{request.method} {request.path}")
            return web.json_response({"kind": "Status", "message": "nothing is written here"}, status=403)
        selector = request.query.get("labelSelector", "")
        self.asked.append(f"{request.path}?{selector}")
        key, _, text = selector.partition("=")
        *_, namespace, plural = request.path.split("/")
        if self.claims is not None and request.path.startswith(_CLAIMS):
            version = request.path.removeprefix(f"{_CLAIMS}/").partition("/")[0]
            if self.claims and request.path == _CLAIMS:
                return web.json_response({"versions": [{"groupVersion": f"{_GROUP}/{one}"} for one in self.claims]})
            if version not in self.claims:
                return web.json_response({"kind": "Status", "message": "not served", "code": 404}, status=404)
        verb = "watch of " if "watch" in request.query else ""
        if plural in self.refused or verb:
            words = {"kind": "Status", "reason": "Forbidden", "message": f"{verb}{plural} is forbidden", "code": 403}
            return web.json_response(words, status=403)
        inside = "/namespaces/" in request.path
        found = [
            item
            for item in self.items
            if _plural(item["kind"]) == plural
            and (not inside or item["metadata"]["namespace"] == namespace)
            and (not selector or item["metadata"].get("labels", {}).get(key) == text)
        ]
        body = json.dumps({"metadata": {"resourceVersion": "99999"}, "items": found})
        for mark, instead in self.written_as.items():
            body = body.replace(json.dumps(mark), instead)
        return web.Response(text=body, content_type="application/json")


def _plural(kind: str) -> str:
    return KINDS[kind].plural if kind in KINDS else f"{kind.lower()}s"
