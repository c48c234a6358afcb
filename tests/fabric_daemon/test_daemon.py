"""One daemon against a server on the loopback that has one domain: what it asks, runs, tells and leaves behind."""

import asyncio
import io
import json
import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

import pytest

from grove_core.areas.domain_cliques.judge import decide
from grove_core.areas.domain_cliques.protocols import Setup
from grove_core.areas.domain_cliques.situation import Daemon, Memory, Situation
from grove_core.areas.domain_cliques.verdicts import REQUESTS, Answer, Deed, Peers, Read, Reply, Wait
from grove_core.kernel.decisions import Decision
from grove_core.kernel.refs import Ref
from grove_core.resources.keys import DOMAIN, NVIDIA
from grove_shell.actions.manifests import objects_of
from grove_shell.client.access import DAEMON, DOMAIN_CONTROLLER, Access
from grove_shell.client.api import Api
from grove_shell.client.bucket import Bucket
from grove_shell.client.connection import NoAccess
from grove_shell.client.reflector import Reflector
from grove_shell.domain_controller.rounds import DomainRounds
from grove_shell.domain_controller.shelf import DomainShelf
from grove_shell.fabric_daemon.fabric import ChildFabric, stand_in
from grove_shell.fabric_daemon.following import Following
from grove_shell.fabric_daemon.habits import SteadyClock
from grove_shell.fabric_daemon.identity import Told, problems_in
from grove_shell.fabric_daemon.kinds import CLIQUES, DOMAINS, PODS, register_of
from grove_shell.fabric_daemon.process import DaemonProcess
from grove_shell.fabric_daemon.requests import Requests, http_of
from grove_shell.fabric_daemon.telling import Telling
from grove_shell.manifests.installation import Installation
from tests.manifests.recorder import Asked, Recorder, asked_by
from tests.property.domain_cliques.play import play
from tests.property.domain_cliques.players import Players

Json = dict[str, Any]
GROUP: Final = NVIDIA.partition("/")[0]
ME: Final = Daemon(
    node="n1",
    ip="10.0.0.1",
    clique="rack.1",
    namespace="ml",
    domain="training",
    domain_uid="uid-of-domain",
    pod_namespace="driver",
    pod="pod-1",
    pod_uid="uid-1",
)


@dataclass
class OneDomain:
    """A server that stores the one entry that is applied to it.

    Attributes:
        peers: looked at whenever an entry is taken away: whether the fabric daemon still ran.
    """

    peers: Path
    version: int = 5
    nodes: list[Json] = field(default_factory=list)
    ran: list[bool] = field(default_factory=list)

    @property
    def domain(self) -> Json:
        metadata = {"name": "training", "namespace": "ml", "uid": "uid-of-domain", "resourceVersion": str(self.version)}
        status = {"nodes": self.nodes}
        return {"apiVersion": NVIDIA, "kind": "ComputeDomain", "metadata": metadata, "spec": {}, "status": status}

    def answer(self, one: Asked, _before: int) -> tuple[int, Json]:
        if one.resource == "computedomains/status":
            self.version += 1
            index = {"index": 0, "cliqueID": "rack.1", "ipAddress": "10.0.0.1"}
            if not self.nodes:
                self.nodes = [{"name": "n1", **index, "status": "NotReady"}]
            elif self.nodes[0]["status"] == "NotReady":
                self.nodes = [{**self.nodes[0], "status": "Ready"}]
            else:
                self.ran.append(self.peers.exists())
                self.nodes = []
            return 200, self.domain
        if one.verb == "list":
            return 200, {"metadata": {"resourceVersion": str(self.version)}, "items": [self.domain]}
        return 404, {}


async def until(wanted: Callable[[], Any]) -> None:
    async with asyncio.timeout(20):
        while not wanted():  # noqa: ASYNC110 - a child process sets no event
            await asyncio.sleep(0.02)


@asynccontextmanager
async def one_daemon(folder: Path) -> Any:
    """A daemon process in this very process, whose fabric daemon is a real child."""
    server = OneDomain(folder / "hosts")
    recorder, out = Recorder(server.answer), io.StringIO()
    async with recorder.connection() as connection:
        process = DaemonProcess(
            connection=connection,
            me=ME,
            setup=Setup(has_pods=False),
            fabric=stand_in(server.peers),
            telling=Telling(out, as_json=True),
            grace=timedelta(seconds=5),
        )
        running = asyncio.create_task(process.run())
        await until(lambda: server.nodes and server.nodes[0]["status"] == "Ready")
        yield server, recorder, out, running


@pytest.mark.req("DC-122")
@pytest.mark.req("DC-123")
@pytest.mark.req("DC-125")
def test_dc120_it_follows_its_own_and_leaves_in_order(tmp_path: Path) -> None:
    async def live() -> None:
        async with one_daemon(tmp_path) as (server, recorder, out, running):
            await asyncio.sleep(0.3)
            os.kill(os.getpid(), signal.SIGTERM)
            assert await running == 0
        assert server.ran == [False]
        followed = {(one.resource, one.verb) for one in recorder.asked if one.verb in {"list", "watch"}}
        assert followed == {("computedomains", "list"), ("computedomains", "watch")}
        read = {one.resource for one in recorder.asked if one.verb == "get"}
        assert read == {"computedomaincliques"}
        lines = [json.loads(line) for line in out.getvalue().splitlines()]
        told = [line["because"][0]["requirement"] for line in lines if "because" in line]
        assert [one for one in told if one not in {"DC-012", "DC-065"}] == [
            *("DC-020", "DC-040", "DC-038", "DC-037", "DC-038", "DC-053", "DC-054")
        ]

    asyncio.run(live())


@pytest.mark.parametrize("count", [10, 12])
def test_dc121_whole_before_it_waits(count: int) -> None:
    """Ten go at once, each further one after a fifth of a second more."""
    pauses: list[float] = []

    async def nap(seconds: float) -> None:
        pauses.append(seconds)

    async def ask() -> None:
        recorder = Recorder(lambda _one, _before: (429, {}))
        async with recorder.connection() as connection, Api(connection, tries=1) as api:
            requests = Requests(api, ME, Bucket(5.0, 10, clock=lambda: 0.0, sleep=nap))
            target = Ref(NVIDIA, "ComputeDomain", "ml", "training")
            answers = [await requests.ask(Read(target)) for _ in range(count)]
        assert {answer.reply for answer in answers} == {Reply.BUSY}
        assert {answer.retry_after for answer in answers} == {timedelta(seconds=1)}
        assert len(recorder.asked) == count

    asyncio.run(ask())
    assert pauses == pytest.approx([0.2 * more for more in range(1, count - 9)])


def test_dc124_a_child_that_ends_is_not_ready_and_then_none_runs(tmp_path: Path) -> None:
    hosts, told = tmp_path / "hosts", list[str]()

    async def live() -> None:
        fabric = ChildFabric(stand_in(hosts), told.append)

        await fabric.start(3, Peers(((3, "10.0.0.1"),)))
        assert fabric.state is not None
        assert not fabric.state.ready
        await until(lambda: fabric.state is not None and fabric.state.ready)
        assert hosts.read_text() == "# index 3\n10.0.0.1\tcompute-domain-daemon-0003\n"
        await fabric.push(Peers(((0, "10.0.0.9"), (3, "10.0.0.1"))))
        await until(lambda: "10.0.0.9\tcompute-domain-daemon-0000" in hosts.read_text())
        assert fabric.pid is not None
        os.kill(fabric.pid, signal.SIGKILL)
        await until(lambda: fabric.state is not None and not fabric.state.ready)
        await until(lambda: fabric.state is None)
        await fabric.start(4, Peers(((4, "10.0.0.1"),)))
        await until(lambda: fabric.state is not None and fabric.state.ready)
        await fabric.stop()
        assert not hosts.exists()

    asyncio.run(live())
    assert told == ["the fabric daemon ended with -9"]


CHATTY: Final = """
import sys, time
sys.stdin.readline()
print("ready", flush=True)
time.sleep(0.1)
print("x" * 200_000, flush=True)
print("not ready", flush=True)
time.sleep(0.1)
print("ready", flush=True)
sys.exit(3)
"""


def test_dc124_a_child_may_say_more_than_the_two_words() -> None:
    told, states = list[str](), list[bool]()

    async def live() -> None:
        fabric = ChildFabric((sys.executable, "-c", CHATTY), told.append)
        fabric.changed = lambda: states.append(fabric.state is not None and fabric.state.ready)
        await fabric.start(0, Peers(()))
        await until(lambda: fabric.state is None)
        await fabric.stop()

    asyncio.run(live())
    assert states == [True, False, True, False, False]
    assert told == ["the fabric daemon ended with 3"]


def test_dc132_a_daemon_that_hears_nothing_any_more_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    is_broken = asyncio.Event()

    async def broken(*_: object) -> str:
        await is_broken.wait()
        raise KeyError("type")

    async def live() -> None:
        async with one_daemon(tmp_path) as (server, _, _, running):
            is_broken.set()
            with pytest.raises(ExceptionGroup) as fault:
                await asyncio.wait_for(running, 10)
            assert fault.value.subgroup(KeyError) is not None
            assert not server.peers.exists(), "its fabric daemon went with it"

    monkeypatch.setattr(Following, "_watch", broken)
    asyncio.run(live())


def test_dc120_a_watch_without_a_token_is_told_and_begun_again(monkeypatch: pytest.MonkeyPatch) -> None:
    told, heard = list[str](), list[int]()
    trouble = [NoAccess("the plugin gave no token")] * 2

    async def watch(_following: object, version: str) -> str:
        if trouble:
            raise trouble.pop()
        await asyncio.sleep(60)
        return version

    async def listed(_following: object) -> str:
        heard.append(5)
        return "5"

    async def live() -> None:
        nobody: Any = None
        following = Following(nobody, DOMAINS, ("ml", "d"), register_of, lambda *_: None, told=told.append)
        task = asyncio.create_task(following.run())
        await until(lambda: not trouble)
        await asyncio.sleep(0.05)
        assert not task.done()
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)

    monkeypatch.setattr(Following, "_watch", watch)
    monkeypatch.setattr(Following, "_list", listed)
    asyncio.run(live())
    assert told == ["the plugin gave no token"]
    assert heard == [5]


def test_dc124_a_program_that_does_not_start_is_told(tmp_path: Path) -> None:
    told = list[str]()

    async def live() -> None:
        fabric = ChildFabric((str(tmp_path / "none"),), told.append)
        await fabric.start(0, Peers(()))
        await asyncio.sleep(0.05)
        assert fabric.state is not None
        assert not fabric.state.ready
        await fabric.stop()

    asyncio.run(live())
    assert told == [f"{tmp_path / 'none'}: No such file or directory"]


def test_dc123_what_stays_the_same_is_said_once() -> None:
    out = io.StringIO()
    telling = Telling(out, clock=lambda: datetime(2026, 11, 20, 9, tzinfo=UTC))
    decision = decide(Situation(me=ME, setup=Setup(), memory=Memory(), now=datetime(2026, 11, 20, tzinfo=UTC)))
    assert isinstance(decision.verdict, Wait)
    telling.decided(decision)
    telling.decided(decision)
    line = "waits                      it has not seen ComputeDomain/training yet  DC-012"
    assert out.getvalue() == f"09:00:00.000  {line}\n"
    telling.answered(Read(ME.pod_ref), Answer(reply=Reply.LOST, detail="no answer in time"))
    telling.decided(decision)
    assert out.getvalue().count(line) == 2
    assert "reads the other object: lost detail=no answer in time" in out.getvalue()


GOOD: Final = Told(
    domain="ml/training",
    clique="rack.1",
    node="n1",
    ip="10.0.0.1",
    protocol="ssa",
    limit=18,
    peers="hosts",
    grace=timedelta(seconds=1),
)


@pytest.mark.parametrize(
    ("more", "paths"),
    [
        ({}, []),
        ({"clique": ""}, []),
        ({"fabric": ("true",), "peers": ""}, []),
        ({"protocol": "sharded"}, ["--pod"]),
        ({"protocol": "csa", "limit": 0, "domain": "training"}, ["--protocol", "--limit", "--domain"]),
        ({"clique": "Rack_1", "pod": "x", "node": "N!", "ip": "here"}, ["--pod", "--clique", "--node", "--ip"]),
        ({"node": "", "ip": "", "peers": "/nowhere/hosts"}, ["--node", "--ip", "--peers"]),
        ({"fabric": ("no such program",)}, ["--fabric"]),
    ],
)
def test_dc126_all_that_is_wrong_is_said(more: Json, paths: list[str]) -> None:
    told = Told(**{**{name: getattr(GOOD, name) for name in GOOD.__slots__}, **more})
    assert [problem.path for problem in problems_in(told)] == paths


def requests_of_worlds() -> Iterator[Asked]:
    """Whatever daemons ask for in worlds with every protocol and every fault."""
    found: set[Asked] = set()

    def watched(situation: Situation) -> Decision[Deed]:
        decision = decide(situation)
        deed = decision.verdict
        if isinstance(deed, REQUESTS):
            http = http_of(deed, situation.me)
            found.add(asked_by(http.method, http.path, watches=False)._replace(name=""))
        return decision

    for seed in range(60):
        play(seed, Players(decide=watched))
    yield from found


def declared(access: tuple[Access, ...]) -> set[Asked]:
    return {Asked(one.group, one.resource, verb) for one in access if not one.unasked for verb in one.verbs}


def test_dc129_daemons_ask_for_what_is_declared() -> None:
    kinds = (DOMAINS, CLIQUES, PODS)
    followed = {Asked(kind.group, kind.plural, verb) for kind in kinds for verb in ("list", "watch")}
    known = {Asked("", "pods", "get"), Asked(GROUP, "computedomains", "get")}  # who it is, is asked for at the start
    assert followed | known | set(requests_of_worlds()) == declared(DAEMON)


def test_dc129_the_controller_asks_for_what_is_declared() -> None:
    """A left-over entry in a clique, a pod without fabric, and a domain that does not say so yet."""
    labels = {DOMAIN: "uid-of-domain"}
    held = {"nodeName": "n9", "ipAddress": "10.0.0.9", "cliqueID": "rack.1", "index": 0}
    meta = {"namespace": "driver", "uid": "u", "resourceVersion": "3"}
    clique = {"metadata": {**meta, "name": "uid-of-domain.rack.1", "labels": labels}, "daemons": [held]}
    pod = {
        "metadata": {**meta, "name": "p", "labels": labels},
        "spec": {"nodeName": "n1"},
        "status": {"podIP": "10.0.0.1"},
    }
    items = {"computedomains": OneDomain(Path()).domain, "computedomaincliques": clique, "pods": pod}

    def answer(one: Asked, _before: int) -> tuple[int, Json]:
        if one.verb == "list":
            return 200, {"metadata": {"resourceVersion": "9"}, "items": [items[one.resource]]}
        return 409, {}

    recorder = Recorder(answer)

    async def live() -> None:
        async with recorder.connection() as connection, Api(connection) as api:
            shelf = DomainShelf()
            rounds = DomainRounds(api, shelf, lambda *_: None, SteadyClock(), cleanup=timedelta(milliseconds=20))
            tasks = [asyncio.create_task(Reflector(api, kind, shelf).run()) for kind in (DOMAINS, CLIQUES, PODS)]
            tasks.append(asyncio.create_task(rounds.run()))
            await recorder.until(*declared(DOMAIN_CONTROLLER))
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    asyncio.run(live())
    assert {one._replace(name="") for one in recorder.asked} == declared(DOMAIN_CONTROLLER)


def test_dc129_their_roles_are_printed_when_asked_for() -> None:
    plain, more = objects_of(Installation()), objects_of(Installation(), (), ("daemons",))
    assert more[2:] == plain
    for role, access in zip(more[:2], (DAEMON, DOMAIN_CONTROLLER), strict=True):
        assert (role["kind"], role["metadata"].get("namespace")) == ("ClusterRole", None)
        granted = {
            Asked(group, resource, verb)
            for rule in role["rules"]
            for group in rule["apiGroups"]
            for resource in rule["resources"]
            for verb in rule["verbs"]
        }
        assert granted == {Asked(one.group, one.resource, verb) for one in access for verb in one.verbs}
