"""Runs ``grove operator`` as a process of its own against a small server of an empty cluster."""

import asyncio
import json
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import IO, Any

from aiohttp import web

from tests.command_line.process import GROVE, ROOT
from tests.operator.stub_server import listening_server, not_found

Json = dict[str, Any]


class EmptyCluster:
    """Lists hold nothing, watches report nothing, and the Lease belongs to its last writer.

    Attributes:
        busy: how the Lease is answered from now on; None for as a server does.
    """

    def __init__(self) -> None:
        self.lease: Json = {}
        self.busy: web.Response | None = None
        self.version = 1
        self.asked_for_lease = asyncio.Event()
        self.has_leader = asyncio.Event()
        self.end = asyncio.Event()

    async def answer(self, request: web.Request) -> web.StreamResponse:
        if "/leases" in request.path:
            return await self._lease(request)
        if request.query.get("watch"):
            stream = web.StreamResponse()
            await stream.prepare(request)
            await self.end.wait()
            return stream
        if request.path.startswith("/apis/grove.io/") or "limit" in request.query:
            return web.json_response({"metadata": {"resourceVersion": "1"}, "items": []})
        return not_found(request)

    async def _lease(self, request: web.Request) -> web.StreamResponse:
        if self.busy is not None:
            self.asked_for_lease.set()
            return web.Response(status=self.busy.status, headers=self.busy.headers, text="busy")
        if request.method != "GET":
            self.give(await request.json())
        return web.json_response(self.lease) if self.lease else not_found(request)

    def give(self, lease: Json, holder: str | None = None) -> None:
        """Write it, for another one where one is named."""
        self.version += 1
        self.has_leader.set()
        spec = {**lease["spec"], **({} if holder is None else {"holderIdentity": holder})}
        self.lease = {**lease, "spec": spec, "metadata": {**lease["metadata"], "resourceVersion": str(self.version)}}

    async def leads(self) -> None:
        """Wait until a request comes."""
        async with asyncio.timeout(60):
            await self.has_leader.wait()

    @asynccontextmanager
    async def served(self, folder: Path) -> AsyncIterator[Path]:
        """Where the kubeconfig is."""
        async with listening_server(self.answer, patience=0.1) as server:
            path = folder / "kubeconfig"
            path.write_text(json.dumps(kubeconfig(server)), encoding="utf-8")
            try:
                yield path
            finally:
                self.end.set()


def kubeconfig(server: str) -> Json:
    one = {"name": "here"}
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{**one, "cluster": {"server": server}}],
        "users": [{**one, "user": {"token": "none"}}],
        "contexts": [{**one, "context": {"cluster": "here", "user": "here"}}],
        "current-context": "here",
    }


def start_operator(kubeconfig: Path, *words: str, stderr: IO[bytes] | int | None = None) -> subprocess.Popen[bytes]:
    """An operator that listens anywhere."""
    config = kubeconfig.parent / "config.json"
    serving = {"host": "127.0.0.1", "port": 0}
    config.write_text(json.dumps({"kind": "OperatorConfiguration", "serving": serving}), encoding="utf-8")
    command = [*GROVE, "operator", "--kubeconfig", str(kubeconfig), "--config", str(config)]
    return subprocess.Popen([*command, *words], stderr=stderr, cwd=ROOT)


async def exit_code(process: subprocess.Popen[bytes], within: float) -> int:
    """Its exit code; the server goes on while it is waited for."""
    try:
        return await asyncio.to_thread(process.wait, within)
    finally:
        process.kill()
