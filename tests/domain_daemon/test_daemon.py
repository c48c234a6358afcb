"""One daemon against a loopback server: its requests, child process, log and entry."""

import asyncio
import io
import json
import os
import signal
import sys
import time
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

import pytest

from grove_core.areas.domain_cliques.daemon.daemon_input import DaemonInput, RegistrationState
from grove_core.areas.domain_cliques.daemon.judge import next_daemon_action
from grove_core.areas.domain_cliques.daemon.registration_protocols import DaemonRegistrationSettings
from grove_core.areas.domain_cliques.daemon.verdicts import (
    ReadObjectRequest,
    RequestFailed,
    RequestResultKind,
    TooManyRequests,
    WaitAction,
)
from grove_core.kernel.refs import Ref
from grove_core.resources.api_names import NVIDIA
from grove_shell.client.api_session import ApiSession, NoServerResponse
from grove_shell.client.rate_limiter import RateLimiter
from grove_shell.client.reflector import Reflector
from grove_shell.domain_daemon.daemon_identity import DaemonCommandOptions, problems_in_daemon_options
from grove_shell.domain_daemon.daemon_log import DaemonDecisionLog
from grove_shell.domain_daemon.daemon_process import SingleObjectWatch
from grove_shell.domain_daemon.daemon_requests import DOMAINS, DaemonRequestSender, parse_daemon_registry
from tests.domain_daemon.single_domain import IDENTITY, running_daemon, until
from tests.manifests.request_recorder import Recorder

Json = dict[str, Any]


@pytest.mark.req("DC-120")
@pytest.mark.req("DC-123")
@pytest.mark.req("DC-124")
def test_dc120_watches_its_own_objects_and_deregisters_in_order(tmp_path: Path) -> None:
    async def live() -> None:
        async with running_daemon(tmp_path) as (server, recorder, out, running):
            await asyncio.sleep(0.3)
            os.kill(os.getpid(), signal.SIGTERM)
            assert await running == 0
        assert server.ran == [False]
        followed = {(one.resource, one.verb) for one in recorder.asked if one.verb in {"list", "watch"}}
        assert followed == {("computedomains", "list"), ("computedomains", "watch")}
        read = {one.resource for one in recorder.asked if one.verb == "get"}
        assert read == {"computedomaincliques"}
        lines = [json.loads(line) for line in out.getvalue().splitlines()]
        rules = [line["because"][0]["requirement"] for line in lines if "because" in line]
        assert [one for one in rules if one not in {"DC-012", "DC-065"}] == [
            *("DC-020", "DC-040", "DC-038", "DC-037", "DC-038", "DC-053", "DC-054")
        ]

    asyncio.run(live())


@pytest.mark.parametrize("count", [10, 12])
def test_dc120_rate_limit(count: int) -> None:
    """Ten go at once, each further one after a fifth of a second more."""
    pauses: list[float] = []

    async def nap(seconds: float) -> None:
        pauses.append(seconds)

    async def ask() -> None:
        recorder = Recorder(lambda _one, _before: (429, {}))
        async with recorder.connection() as connection, ApiSession(connection, tries=1) as api:
            requests = DaemonRequestSender(api, IDENTITY, RateLimiter(5.0, 10, clock=lambda: 0.0, sleep=nap))
            target = Ref(NVIDIA, "ComputeDomain", "ml", "training")
            answers = [await requests.send_request(ReadObjectRequest(target)) for _ in range(count)]
        assert {answer.kind for answer in answers} == {RequestResultKind.TOO_MANY_REQUESTS}
        delays = {answer.retry_after for answer in answers if isinstance(answer, TooManyRequests)}
        assert delays == {timedelta(seconds=1)}
        assert len(recorder.asked) == count

    asyncio.run(ask())
    assert pauses == pytest.approx([0.2 * more for more in range(1, count - 9)])


def test_dc132_daemon_ends_with_its_watch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    is_broken = asyncio.Event()

    async def broken(*_: object) -> str:
        await is_broken.wait()
        raise KeyError("type")

    async def live() -> None:
        async with running_daemon(tmp_path) as (server, _, _, running):
            is_broken.set()
            with pytest.raises(ExceptionGroup) as fault:
                await asyncio.wait_for(running, 10)
            assert fault.value.subgroup(KeyError) is not None
            assert not server.peers.exists(), "its fabric daemon went with it"

    monkeypatch.setattr(Reflector, "_watch", broken)
    asyncio.run(live())


def test_dc120_watch_without_token_is_reported_and_repeated(monkeypatch: pytest.MonkeyPatch) -> None:
    reports, versions = list[str](), list[int]()
    trouble = [NoServerResponse("the plugin gave no token")] * 2

    async def watch(_watch: object) -> None:
        if trouble:
            raise trouble.pop()
        await asyncio.sleep(60)

    async def listed(reflector: Reflector) -> str:
        reflector._updated_at = time.monotonic()  # noqa: SLF001 - as the list does that this replaces
        versions.append(5)
        return "5"

    async def live() -> None:
        no_api: Any = None
        watch_ = SingleObjectWatch(
            no_api, DOMAINS, ("ml", "d"), parse_daemon_registry, lambda *_: None, report=reports.append
        )
        task = asyncio.create_task(watch_.run())
        await until(lambda: not trouble)
        await asyncio.sleep(0.05)
        assert not task.done()
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)

    monkeypatch.setattr(Reflector, "_watch", watch)
    monkeypatch.setattr(Reflector, "_list", listed)
    asyncio.run(live())
    assert reports == ["the plugin gave no token"]
    assert versions == [5]


def test_dc123_same_decision_is_logged_once() -> None:
    out = io.StringIO()
    log = DaemonDecisionLog(out, clock=lambda: datetime(2026, 11, 20, 9, tzinfo=UTC))
    decision = next_daemon_action(
        DaemonInput(
            identity=IDENTITY,
            settings=DaemonRegistrationSettings(),
            state=RegistrationState(pod_labelled=True),
            now=datetime(2026, 11, 20, tzinfo=UTC),
        )
    )
    assert isinstance(decision.verdict, WaitAction)
    log.on_decision(decision)
    log.on_decision(decision)
    line = "waits                      it has not observed ComputeDomain/training yet  DC-012"
    assert out.getvalue() == f"09:00:00.000  {line}\n"
    log.on_request_result(
        ReadObjectRequest(IDENTITY.pod_ref),
        RequestFailed(RequestResultKind.NO_RESPONSE, detail="no answer in time"),
    )
    log.on_decision(decision)
    assert out.getvalue().count(line) == 2
    assert "reads the other object: no response detail=no answer in time" in out.getvalue()


@pytest.mark.req("DC-123")
@pytest.mark.parametrize("as_json", [False, True])
def test_op064_unwritable_log_lines_are_dropped(*, as_json: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """The disk is full, or standard error is closed."""
    with Path("/dev/full").open("w", encoding="utf-8", buffering=1) as full:
        DaemonDecisionLog(full, as_json=as_json).write_message("info", "x" * 10_000)
        with suppress(OSError):
            full.close()
    monkeypatch.setattr(sys, "stderr", None)
    DaemonDecisionLog(as_json=as_json).write_message("info", "dropped")


GOOD: Final = DaemonCommandOptions(
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
def test_cl005_every_problem_is_reported(more: Json, paths: list[str]) -> None:
    arguments = DaemonCommandOptions(**{**{name: getattr(GOOD, name) for name in GOOD.__slots__}, **more})
    assert [problem.path for problem in problems_in_daemon_options(arguments)] == paths
