"""The fabric daemon beside a daemon: what it can be told, and the child process that it really is."""

import asyncio
import json
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Final, Protocol

from grove_core.areas.domain_cliques.daemon_context import FabricState
from grove_core.areas.domain_cliques.verdicts import PeerMap

READY: Final = "ready"
NOT_READY: Final = "not ready"
_FAREWELL: Final = 5.0
_FIRST_PAUSE: Final = 1.0
_LONGEST_PAUSE: Final = 30.0


class FabricProcess(Protocol):
    """Whoever runs fabric daemons."""

    @property
    def state(self) -> FabricState | None:
        """The one that runs; None where none does."""
        ...

    async def start(self, index: int, peers: PeerMap) -> None:
        """Start one; it reads its index only now."""
        ...

    async def push(self, peers: PeerMap) -> None:
        """Give the one that runs a new peer map."""
        ...

    async def stop(self) -> None:
        """End the one that runs, if one does; it is gone when this returns."""
        ...


def hosts_file_command(peers: Path) -> tuple[str, ...]:
    """The command of the stand-in that keeps the peer map in a file."""
    return (sys.executable, "-m", "grove_shell.domain_daemon.hosts_file_writer", str(peers))


class FabricChildProcess:
    """A child process that is handed peer maps as lines of JSON and answers ``ready`` or ``not ready`` (DC-124).

    One that ends by itself is started again, after a pause that doubles.

    Attributes:
        changed: is called whenever the state is another by itself.
    """

    def __init__(self, command: Sequence[str], told: Callable[[str], None]) -> None:
        """Run nothing yet.

        Args:
            command: what to run.
            told: hears of a process that did not start, or ended by itself.
        """
        self.state: FabricState | None = None
        self.changed: Callable[[], None] = lambda: None
        self._command = tuple(command)
        self._told = told
        self._process: Process | None = None
        self._reader: asyncio.Task[None] | None = None
        self._pause = _FIRST_PAUSE

    @property
    def pid(self) -> int | None:
        """Of the process that runs."""
        return self._process.pid if self._process is not None else None

    async def start(self, index: int, peers: PeerMap) -> None:
        """See :class:`FabricProcess`."""
        self.state = FabricState(index, peers)
        try:
            self._process = await asyncio.create_subprocess_exec(
                *self._command, stdin=PIPE, stdout=PIPE, start_new_session=True
            )
        except OSError as fault:
            self._process = None
            self._reader = asyncio.create_task(self._fall(f"{self._command[0]}: {fault.strerror or fault}"))
            return
        self._reader = asyncio.create_task(self._listen(self._process))
        self._write()

    async def push(self, peers: PeerMap) -> None:
        """See :class:`FabricProcess`."""
        if self.state is not None:
            self.state = replace(self.state, peers=peers)
            self._write()

    async def stop(self) -> None:
        """See :class:`FabricProcess`."""
        process, reader = self._process, self._reader
        self.state = self._process = self._reader = None
        if reader is not None:
            reader.cancel()
            await asyncio.gather(reader, return_exceptions=True)
        if process is not None:
            await _ended(process)

    def _write(self) -> None:
        state, process = self.state, self._process
        if state is None or process is None or process.stdin is None:
            return
        line = json.dumps({"index": state.index, "hosts": state.peers.hosts}, separators=(",", ":"))
        with suppress(OSError):
            process.stdin.write(f"{line}\n".encode())

    async def _listen(self, process: Process) -> None:
        while line := await _line_of(process):
            word = line.decode("utf-8", "replace").strip()
            if self.state is not None and word in {READY, NOT_READY}:
                self.state = replace(self.state, ready=word == READY)
                self._pause = _FIRST_PAUSE if word == READY else self._pause
                self.changed()
        code = await process.wait()
        await self._fall(f"the fabric daemon ended with {code}")

    async def _fall(self, words: str) -> None:
        """It is not ready from now on, and none runs after a pause."""
        self._told(words)
        self._process = None
        if self.state is not None:
            self.state = replace(self.state, ready=False)
            self.changed()
        await asyncio.sleep(self._pause)
        self._pause = min(self._pause * 2, _LONGEST_PAUSE)
        self.state = self._reader = None
        self.changed()


async def _line_of(process: Process) -> bytes:
    """The next line that may be one of the two words, empty where the output has ended; others may be of any length."""
    while process.stdout is not None:
        with suppress(ValueError):  # longer than the buffer, which is empty again now
            return await process.stdout.readline()
    return b""


async def _ended(process: Process) -> None:
    """Ask it to end, and end it if it does not."""
    if process.stdin is not None:
        process.stdin.close()
    with suppress(ProcessLookupError):
        process.terminate()
    try:
        async with asyncio.timeout(_FAREWELL):
            await process.wait()
    except TimeoutError:
        with suppress(ProcessLookupError):
            process.kill()
        await process.wait()
