"""Builds the wheel and the archive of the sources, and runs programs."""

import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parent.parent.parent


@dataclass(frozen=True)
class Built:
    """A wheel, an archive of the sources, and the latter unpacked."""

    wheel: Path
    archive: Path
    unpacked: Path


def build(source: Path, target: Path, *words: str) -> None:
    """Without an environment of its own, so without a network: hatchling is in the extra ``test``."""
    command = [sys.executable, "-m", "hatchling", "build", "--directory", str(target), *words]
    subprocess.run(command, cwd=source, check=True, capture_output=True, timeout=120)


def run(*words: str | Path, cwd: Path, timeout: int = 120) -> subprocess.CompletedProcess[str]:
    return subprocess.run(words, capture_output=True, text=True, cwd=cwd, check=False, timeout=timeout)
