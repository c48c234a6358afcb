"""``grove plan --watch`` as a process, and what it has printed so far."""

import os
import pty
import signal
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from tests.command_line.process import GROVE, ROOT

_LONGEST: Final = 60.0


class Watching:
    """A process that plans until it is stopped, and what it has printed."""

    def __init__(self, process: "subprocess.Popen[bytes]", descriptor: int) -> None:
        self.process, self._descriptor = process, descriptor
        self.text = ""
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def until(self, *words: str) -> str:
        """Wait until all words were printed, in this order; return everything that was."""
        begun = time.monotonic()
        while not self._has(words):
            assert time.monotonic() - begun < _LONGEST, self.text
            assert self.process.poll() is None, self.text
            time.sleep(0.05)
        return self.text

    def stop(self, number: signal.Signals) -> int:
        self.process.send_signal(number)
        code = self.process.wait(timeout=20)
        self._reader.join(timeout=5)
        return code

    def _has(self, words: tuple[str, ...]) -> bool:
        at = 0
        for word in words:
            at = self.text.find(word, at)
            if at < 0:
                return False
            at += len(word)
        return True

    def _read(self) -> None:
        while True:
            try:
                part = os.read(self._descriptor, 65_536)
            except OSError:
                return
            if not part:
                return
            self.text += part.decode().replace("\r\n", "\n")


@contextmanager
def watching(*words: str, terminal: bool = False, **environment: str) -> Iterator[Watching]:
    """Run it within the block; ``environment`` is added to that of this process."""
    outer, inner = pty.openpty() if terminal else os.pipe()
    known = {**os.environ, "NO_COLOR": "1", "COLUMNS": "100", "TERM": "xterm", **environment}
    command = [*GROVE, "plan", *words, "--watch"]
    with subprocess.Popen(command, stdout=inner, stderr=inner, cwd=ROOT, env=known) as process:
        os.close(inner)
        try:
            yield Watching(process, outer)
        finally:
            process.kill()
    os.close(outer)
