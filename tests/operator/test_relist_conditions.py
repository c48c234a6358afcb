"""Labels are restored only by a leader with a full cache (OP-107)."""

import asyncio
import io
from datetime import UTC, datetime
from typing import Any, Final
from unittest import mock

import pytest
from aiohttp import web

from grove_shell.apply import pod_relist
from grove_shell.client.connection import Connection
from grove_shell.client.kinds import KINDS
from grove_shell.operator.process import OperatorProcess
from grove_shell.settings.operator import OperatorSettings
from tests.operator.stub_server import listening_server, no_token, not_found
from tests.operator.unlabelled_pods import a_clique

PLURALS: Final = {kind.plural: kind for kind in KINDS.values()}


class Cluster:
    """It has one PodClique of which nobody makes a pod, for its set is gone.

    Attributes:
        calls: how often all pods of its namespace were listed.
        waits: which kind it lists to nobody yet.
    """

    def __init__(self, waits: str) -> None:
        self.calls = 0
        self.waits = waits

    async def answer(self, request: web.Request) -> web.StreamResponse:
        if "/leases/" in request.path:
            return web.json_response(self._lease(request.path.rpartition("/")[2]))
        kind = PLURALS.get(request.path.rpartition("/")[2])
        if kind is None:
            return not_found(request)
        if "watch" in request.query or kind.kind == self.waits:
            await asyncio.sleep(60)
        self.calls += kind.kind == "Pod" and not request.query.get("labelSelector")
        items = [a_clique("a")] if kind.kind == "PodClique" else []
        head = {"kind": f"{kind.kind}List", "apiVersion": kind.api_version, "metadata": {"resourceVersion": "9"}}
        return web.json_response({**head, "items": items})

    @staticmethod
    def _lease(name: str) -> dict[str, Any]:
        now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
        spec = {"holderIdentity": "another", "leaseDurationSeconds": 60, "acquireTime": now, "renewTime": now}
        head = {"kind": "Lease", "apiVersion": "coordination.k8s.io/v1", "spec": spec}
        return {**head, "metadata": {"name": name, "namespace": "default", "uid": "lease", "resourceVersion": "3"}}


def called(*, elects: bool, waits: str = "") -> int:
    """How often it was called within half a second, a look being due a hundred times in a second."""
    cluster, stop = Cluster(waits), asyncio.Event()
    told = {"leaderElection": {"enabled": elects}, "serving": {"host": "127.0.0.1", "port": 0}}

    async def scenario() -> None:
        async with listening_server(cluster.answer, patience=0.1) as server:
            way, settings = Connection(server, None, no_token), OperatorSettings.model_validate(told)
            process = OperatorProcess(connection=way, settings=settings, out=io.StringIO(), stop=stop)
            running = asyncio.create_task(process.run())
            await asyncio.sleep(0.5)
            assert not running.done()
            stop.set()
            await running

    with mock.patch.object(pod_relist, "_PAUSE", 0.01):
        asyncio.run(scenario())
    return cluster.calls


def test_op107_who_leads_and_knows_everything_looks_around_once() -> None:
    assert called(elects=False) == 1


@pytest.mark.req("OP-030")
def test_op107_who_waits_to_lead_does_not() -> None:
    assert called(elects=True) == 0


def test_op107_nor_does_who_does_not_know_everything_yet() -> None:
    """All that were not listed yet would be strangers."""
    assert called(elects=False, waits="PodGang") == 0
