"""Leader election while the leader stops."""

import asyncio
import time
from typing import Any, Final

import pytest
from aiohttp import web

from grove_shell.operator.leader_elector import LeaderElector
from grove_shell.settings.operator_settings import LeaderElectionSettings
from tests.operator.stub_server import api_with, not_found

TERMS: Final = LeaderElectionSettings(namespace="ml", name="grove")


class Leases:
    """A server with one Lease; it answers at once, or when it is let."""

    def __init__(self) -> None:
        self.lease: dict[str, Any] = {}
        self.asked = asyncio.Event()
        self.let = asyncio.Event()
        self.let.set()
        self.refused: dict[str, int] = {}  # method -> code

    async def answer(self, request: web.Request) -> web.Response:
        self.asked.set()
        await self.let.wait()
        if request.method in self.refused:
            words = {"kind": "Status", "message": "leases is forbidden"}
            return web.json_response(words, status=self.refused[request.method])
        if request.method != "GET":
            self.lease = await request.json()
        return web.json_response(self.lease) if self.lease else not_found(request)


def held_by(holder: str) -> dict[str, Any]:
    metadata = {"name": TERMS.name, "namespace": TERMS.namespace, "resourceVersion": "1"}
    return {"kind": "Lease", "metadata": metadata, "spec": {"holderIdentity": holder}}


def test_op030_nothing_is_written_while_the_lease_is_given_back() -> None:
    async def scenario() -> tuple[list[bool], str]:
        leases = Leases()
        elected = asyncio.Event()
        async with api_with(leases.answer) as api:
            leader = LeaderElector(api, TERMS, "we", lambda leads: elected.set() if leads else None)
            running = asyncio.create_task(leader.run())
            await elected.wait()
            running.cancel()
            await asyncio.wait([running])
            seen = [leader.may_write]
            leases.asked.clear()
            leases.let.clear()
            releasing = asyncio.create_task(leader.release_lease())
            await leases.asked.wait()
            seen.append(leader.may_write)
            leases.let.set()
            await releasing
        return seen, leases.lease["spec"]["holderIdentity"]

    assert asyncio.run(scenario()) == ([True, False], "")


def test_op033_a_server_that_does_not_take_the_lease_back_is_not_waited_for() -> None:
    async def scenario() -> tuple[float, bool]:
        leases, elected = Leases(), asyncio.Event()
        async with api_with(leases.answer) as api:
            leader = LeaderElector(api, TERMS, "we", lambda leads: elected.set() if leads else None, release_within=0.2)
            running = asyncio.create_task(leader.run())
            await elected.wait()
            running.cancel()
            await asyncio.wait([running])
            leases.let.clear()
            begun = time.monotonic()
            await leader.release_lease()
            seconds = time.monotonic() - begun
            leases.let.set()
        return seconds, leader.may_write

    seconds, may_write = asyncio.run(scenario())
    assert not may_write
    assert 0.1 < seconds < 5


Reported = tuple[str, str, str]  # level, message and reason


async def waiting(leases: Leases, tries: int, *, then_refused: int = 0) -> list[Reported]:
    """What a process reports of its Lease over some tries; the server refuses all that follow the first one."""
    reported: list[Reported] = []
    async with api_with(leases.answer) as api:
        terms = TERMS.model_copy(update={"retry_period": 0.01})
        leader = LeaderElector(api, terms, "we", lambda _leads: None, lambda *line: reported.append(line))
        running = asyncio.create_task(leader.run())
        async with asyncio.timeout(20):
            for _ in range(tries):
                await leases.asked.wait()
                leases.asked.clear()
                if then_refused and leases.lease:
                    leases.refused = {"GET": then_refused}
        running.cancel()
        await asyncio.wait([running])
    return reported


def test_op030_another_leads() -> None:
    leases = Leases()
    leases.lease = held_by("they")
    assert asyncio.run(waiting(leases, 5)) == [("info", "does not lead", "they holds it")]


@pytest.mark.parametrize("method", ["GET", "POST"])
def test_op030_the_lease_is_refused(method: str) -> None:
    leases = Leases()
    leases.refused = {method: 403}
    (line,) = asyncio.run(waiting(leases, 5))
    assert line == ("warning", "does not lead", "leases is forbidden")


def test_op030_a_leader_whose_lease_is_refused_does_not_say_that_it_waits() -> None:
    leases = Leases()
    (line,) = asyncio.run(waiting(leases, 5, then_refused=403))
    assert line == ("warning", "the Lease is not renewed", "leases is forbidden")
