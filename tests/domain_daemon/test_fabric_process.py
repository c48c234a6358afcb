"""The fabric daemon as a child process: readiness, failures, other output, and its end."""

import asyncio
import os
import signal
import sys
from pathlib import Path
from typing import Final

from grove_core.areas.domain_cliques.daemon.verdicts import PeerMap
from grove_shell.domain_daemon.fabric_process import FabricChildProcess, hosts_file_command
from tests.domain_daemon.single_domain import until


def test_dc124_ended_child_is_restarted(tmp_path: Path) -> None:
    hosts, reports = tmp_path / "hosts", list[str]()

    async def live() -> None:
        fabric = FabricChildProcess(hosts_file_command(hosts), reports.append)

        await fabric.start(3, PeerMap(((3, "10.0.0.1"),)))
        assert fabric.fabric_state is not None
        assert not fabric.fabric_state.ready
        await until(lambda: fabric.fabric_state is not None and fabric.fabric_state.ready)
        assert hosts.read_text() == "# index 3\n10.0.0.1\tcompute-domain-daemon-0003\n"
        await fabric.push_peer_map(PeerMap(((0, "10.0.0.9"), (3, "10.0.0.1"))))
        await until(lambda: "10.0.0.9\tcompute-domain-daemon-0000" in hosts.read_text())
        assert fabric.pid is not None
        os.kill(fabric.pid, signal.SIGKILL)
        await until(lambda: fabric.fabric_state is not None and not fabric.fabric_state.ready)
        await until(lambda: fabric.fabric_state is None)
        await fabric.start(4, PeerMap(((4, "10.0.0.1"),)))
        await until(lambda: fabric.fabric_state is not None and fabric.fabric_state.ready)
        await fabric.stop()
        assert not hosts.exists()

    asyncio.run(live())
    assert reports == ["the fabric daemon ended with -9"]


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


def test_dc124_other_output_of_a_child_is_ignored() -> None:
    reports, states = list[str](), list[bool]()

    async def live() -> None:
        fabric = FabricChildProcess((sys.executable, "-c", CHATTY), reports.append)
        fabric.on_change = lambda: states.append(fabric.fabric_state is not None and fabric.fabric_state.ready)
        await fabric.start(0, PeerMap(()))
        await until(lambda: fabric.fabric_state is None)
        await fabric.stop()

    asyncio.run(live())
    assert states == [True, False, True, False, False]
    assert reports == ["the fabric daemon ended with 3"]


def test_dc124_failed_start_is_reported(tmp_path: Path) -> None:
    reports = list[str]()

    async def live() -> None:
        fabric = FabricChildProcess((str(tmp_path / "none"),), reports.append)
        await fabric.start(0, PeerMap(()))
        await until(lambda: reports)
        assert fabric.fabric_state is not None
        assert not fabric.fabric_state.ready
        await fabric.stop()

    asyncio.run(live())
    assert reports == [f"{tmp_path / 'none'}: No such file or directory"]
