"""The fabric daemon beside a daemon, run as a child process."""

import asyncio
import json
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final, Protocol

from grove_core.areas.domain_cliques.daemon.daemon_input import FabricDaemonState
from grove_core.areas.domain_cliques.daemon.verdicts import PeerMap
from grove_core.kernel.structs import replace

READY: Final = "ready"
NOT_READY: Final = "not ready"
_TERMINATION_TIMEOUT_S: Final = 5.0
_FIRST_BACKOFF_S: Final = 1.0
_MAX_BACKOFF_S: Final = 30.0


class FabricProcess(Protocol):
    """Starts, updates and stops a fabric daemon."""

    @property
    def fabric_state(self) -> FabricDaemonState | None:
        """The running fabric daemon; None if none runs."""
        ...

    async def start(self, index: int, peers: PeerMap) -> None:
        """Start it; it reads its index only now."""
        ...

    async def push_peer_map(self, peers: PeerMap) -> None:
        """Send a new peer map to the running fabric daemon."""
        ...

    async def stop(self) -> None:
        """Stop it if it runs, and wait until it has ended."""
        ...


def hosts_file_command(peers: Path) -> tuple[str, ...]:
    """Return the command that keeps the peer map in a hosts file instead of running a fabric daemon."""
    return (sys.executable, "-m", "grove_shell.domain_daemon.hosts_file_writer", str(peers))


class FabricChildProcess:
    """A child process that reads peer maps as lines of JSON and prints ``ready`` or ``not ready`` (DC-124).

    A process that ends by itself is started again with exponential backoff.

    Attributes:
        on_change: called when the state changes without a call of this object.
    """

    def __init__(self, command: Sequence[str], report: Callable[[str], None]) -> None:
        """Start without a process.

        Args:
            report: called with a message if the process does not start, or ends by itself.
        """
        self.fabric_state: FabricDaemonState | None = None
        self.on_change: Callable[[], None] = lambda: None
        self._command = tuple(command)
        self._report = report
        self._process: Process | None = None
        self._reader: asyncio.Task[None] | None = None
        self._backoff = _FIRST_BACKOFF_S

    @property
    def pid(self) -> int | None:
        """The process id; None if no process runs."""
        return self._process.pid if self._process is not None else None

    async def start(self, index: int, peers: PeerMap) -> None:
        """See :class:`FabricProcess`."""
        self.fabric_state = FabricDaemonState(index, peers)
        try:
            self._process = await asyncio.create_subprocess_exec(
                *self._command, stdin=PIPE, stdout=PIPE, start_new_session=True
            )
        except OSError as fault:
            self._process = None
            self._reader = asyncio.create_task(self._on_end(f"{self._command[0]}: {fault.strerror or fault}"))
            return
        self._reader = asyncio.create_task(self._read_output(self._process))
        self._write_peers()

    async def push_peer_map(self, peers: PeerMap) -> None:
        """See :class:`FabricProcess`."""
        if self.fabric_state is not None:
            self.fabric_state = replace(self.fabric_state, peers=peers)
            self._write_peers()

    async def stop(self) -> None:
        """See :class:`FabricProcess`."""
        process, reader = self._process, self._reader
        self.fabric_state = self._process = self._reader = None
        if reader is not None:
            reader.cancel()
            await asyncio.gather(reader, return_exceptions=True)
        if process is not None:
            await _terminate(process)

    def _write_peers(self) -> None:
        state, process = self.fabric_state, self._process
        if state is None or process is None or process.stdin is None:
            return
        line = json.dumps({"index": state.index, "hosts": state.peers.hosts_file_lines}, separators=(",", ":"))
        with suppress(OSError):
            process.stdin.write(f"{line}\n".encode())

    async def _read_output(self, process: Process) -> None:
        while line := await _read_line(process):
            word = line.decode("utf-8", "replace").strip()
            if self.fabric_state is not None and word in {READY, NOT_READY}:
                self.fabric_state = replace(self.fabric_state, ready=word == READY)
                self._backoff = _FIRST_BACKOFF_S if word == READY else self._backoff
                self.on_change()
        code = await process.wait()
        await self._on_end(f"the fabric daemon ended with {code}")

    async def _on_end(self, message: str) -> None:
        """Mark the fabric daemon as not ready, and as not running after the backoff, so that it is started again."""
        self._report(message)
        self._process = None
        if self.fabric_state is not None:
            self.fabric_state = replace(self.fabric_state, ready=False)
            self.on_change()
        await asyncio.sleep(self._backoff)
        self._backoff = min(self._backoff * 2, _MAX_BACKOFF_S)
        self.fabric_state = self._reader = None
        self.on_change()


async def _read_line(process: Process) -> bytes:
    """Return the next line that fits into the buffer, and skip longer ones; empty at the end of the output."""
    while process.stdout is not None:
        with suppress(ValueError):  # longer than the buffer, which is empty again now
            return await process.stdout.readline()
    return b""


async def _terminate(process: Process) -> None:
    if process.stdin is not None:
        process.stdin.close()
    with suppress(ProcessLookupError):
        process.terminate()
    try:
        async with asyncio.timeout(_TERMINATION_TIMEOUT_S):
            await process.wait()
    except TimeoutError:
        with suppress(ProcessLookupError):
            process.kill()
        await process.wait()
