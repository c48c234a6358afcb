"""Exit code and duration of a shutdown of an operator process (OP-033, OP-064)."""

import asyncio
import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import IO, Final

import pytest
from aiohttp import web

from grove_shell.cli.main import run_command_line
from grove_shell.exit_codes import DONE, LOST
from grove_shell.operator.health_server import HealthServer
from tests.command_line.process import GROVE, ROOT
from tests.operator.operator_process import EmptyCluster, exit_code, start_operator

FULL: Final = Path("/dev/full")
SOON: Final = 20.0
NO_DISK: Final = pytest.mark.skipif(not FULL.exists(), reason="this system has no /dev/full")


async def code_of(folder: Path, *words: str, lost: bool, stderr: IO[bytes] | int | None = subprocess.DEVNULL) -> int:
    """Of an operator that led, and then was stopped, or lost the Lease."""
    cluster = EmptyCluster()
    async with cluster.served(folder) as kubeconfig:
        process = start_operator(kubeconfig, *words, stderr=stderr)
        await cluster.leads()
        if lost:
            cluster.give(cluster.lease, holder="they")
        else:
            process.send_signal(signal.SIGTERM)
        return await exit_code(process, SOON)


@NO_DISK
@pytest.mark.parametrize(("lost", "code"), [(False, DONE), (True, LOST)])
@pytest.mark.req("OP-030")
@pytest.mark.req("OP-033")
def test_op064_a_full_disk_under_the_decision_log_leaves_the_code_alone(tmp_path: Path, lost: bool, code: int) -> None:
    log = tmp_path / "log"
    with log.open("wb") as out:
        found = asyncio.run(code_of(tmp_path, "--decision-log", str(FULL), lost=lost, stderr=out))
    said = log.read_text(encoding="utf-8")
    assert (found, said.count("the decision log ends here")) == (code, 1), said


@NO_DISK
@pytest.mark.parametrize(("lost", "code"), [(False, DONE), (True, LOST)])
def test_op064_a_full_disk_under_standard_error_leaves_the_code_alone(tmp_path: Path, lost: bool, code: int) -> None:
    with FULL.open("wb") as out:
        assert asyncio.run(code_of(tmp_path, lost=lost, stderr=out)) == code


def test_op064_standard_error_has_no_reader(tmp_path: Path) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "wb") as out:
        assert asyncio.run(code_of(tmp_path, lost=False, stderr=out)) == DONE


def test_op033_a_server_that_is_busy_does_not_hold_up_the_end(tmp_path: Path) -> None:
    async def scenario() -> tuple[int, float, bool]:
        cluster = EmptyCluster()
        async with cluster.served(tmp_path) as kubeconfig:
            process = start_operator(kubeconfig, stderr=subprocess.DEVNULL)
            await cluster.leads()
            cluster.busy = web.Response(status=429, headers={"Retry-After": "20"})
            begun = time.monotonic()
            process.send_signal(signal.SIGTERM)
            code = await exit_code(process, SOON)
            return code, time.monotonic() - begun, cluster.asked_for_lease.is_set()

    code, seconds, was_asked = asyncio.run(scenario())
    assert (code, was_asked) == (DONE, True)
    assert seconds < 10


def test_op033_an_endless_metrics_client_does_not_delay_shutdown() -> None:
    async def scenario() -> float:
        page = b"x" * 50_000_000  # more than goes into the buffers between the two
        serving = HealthServer(host="127.0.0.1", port=0, missing=list, metrics=lambda: page)
        async with serving as port:
            _, out = await asyncio.open_connection("127.0.0.1", port)
            out.write(b"GET /metrics HTTP/1.1\r\nHost: here\r\n\r\n")
            await asyncio.sleep(0.3)
            begun = time.monotonic()
        out.close()
        return time.monotonic() - begun

    assert 1 < asyncio.run(scenario()) < 8


@pytest.mark.parametrize(
    "words",
    [
        ["operator"],
        ["webhooks"],
        ["daemon", "--domain", "ml/fast", "--clique", "c"],
        ["domain-controller"],
    ],
)
def test_op033_stopped_while_files_are_read(tmp_path: Path, words: list[str]) -> None:
    """An unwritten pipe is where it is at that moment.

    Python runs a handler between two steps of its own, so a signal that comes right before the read waits for it: it is
    sent again.
    """
    pipe = tmp_path / "kubeconfig"
    os.mkfifo(pipe)
    command = [*GROVE, *words, "--kubeconfig", str(pipe)]
    with subprocess.Popen(command, stderr=subprocess.DEVNULL, cwd=ROOT) as process, pipe.open("wb"):  # opens when read
        try:
            assert code_after_signals(process) == DONE
        finally:
            process.kill()


def code_after_signals(process: subprocess.Popen[bytes]) -> int:
    """The exit code after SIGTERM, sent every second until the process ends."""
    for _ in range(int(SOON)):
        process.send_signal(signal.SIGTERM)
        with suppress(subprocess.TimeoutExpired):
            return process.wait(timeout=1.0)
    return process.wait(timeout=0)


def test_op033_stopped_while_a_server_does_not_respond(tmp_path: Path) -> None:
    async def scenario() -> tuple[int, float]:
        asked = asyncio.Event()

        class Silent(EmptyCluster):
            async def answer(self, request: web.Request) -> web.StreamResponse:
                asked.set()
                await self.end.wait()
                return web.Response(status=500)

        async with Silent().served(tmp_path) as kubeconfig:
            process = start_operator(kubeconfig, stderr=subprocess.DEVNULL)
            async with asyncio.timeout(60):
                await asked.wait()
            begun = time.monotonic()
            process.send_signal(signal.SIGTERM)
            return await exit_code(process, SOON), time.monotonic() - begun

    code, seconds = asyncio.run(scenario())
    assert code == DONE
    assert seconds < 5


def test_op033_the_caller_of_a_command_gets_its_signal_handler_back() -> None:
    code = (
        "import signal\nfrom grove_shell.cli.main import run_command_line\n"
        "def mine(*_): pass\n"
        "signal.signal(signal.SIGTERM, mine)\n"
        "assert run_command_line(['operator', '--kubeconfig', 'nowhere'], 'grove') == 1\n"
        "assert signal.getsignal(signal.SIGTERM) is mine"
    )
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=False, capture_output=True).returncode == 0


def test_op033_in_a_thread_there_are_no_signals_to_listen_for() -> None:
    before, codes = signal.getsignal(signal.SIGTERM), list[int]()
    thread = threading.Thread(target=lambda: codes.append(run_command_line(["operator", "--help"], "grove")))
    thread.start()
    thread.join(60)
    assert codes == [0]
    assert signal.getsignal(signal.SIGTERM) is before
