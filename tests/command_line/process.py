"""The program as a process, on a terminal or not."""

import os
import pty
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parent.parent.parent
GROVE: Final = [sys.executable, "-m", "grove_shell"]


def grove(*words: str, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    return subprocess.run([*GROVE, *words], input=stdin, capture_output=True, cwd=ROOT, check=False, timeout=120)


def on_a_terminal(*words: str, program: Sequence[str] = GROVE, **environment: str) -> bytes:
    """Return what the command prints when both streams are a terminal; only the test sets NO_COLOR or FORCE_COLOR."""
    outer, inner = pty.openpty()
    inherited = {name: value for name, value in os.environ.items() if name not in {"NO_COLOR", "FORCE_COLOR"}}
    inherited |= {"TERM": "xterm", **environment}
    with subprocess.Popen([*program, *words], stdout=inner, stderr=inner, cwd=ROOT, env=inherited) as process:
        os.close(inner)
        said = b""
        while True:
            try:
                part = os.read(outer, 4096)
            except OSError:
                break
            if not part:
                break
            said += part
        process.wait(timeout=60)
    os.close(outer)
    return said
