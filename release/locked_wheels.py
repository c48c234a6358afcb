"""Wheels of the dependencies, with the versions and digests of ``locked.txt``.

``python -m release.locked_wheels`` writes that file anew, with the newest versions that ``pyproject.toml`` allows.
"""

import hashlib
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from release.single_file import MACHINE, PYTHONS

ROOT: Final = Path(__file__).parents[1]
LOCKED: Final = Path(__file__).with_name("locked.txt")
_GLIBC: Final = ("manylinux_2_28", "manylinux_2_17", "manylinux2014", "manylinux_2_12", "manylinux_2_5", "manylinux1")
"""Wheels are for glibc 2.28, which Debian 10, Ubuntu 20.04 and RHEL 8 have, or for an older one."""


def download_locked_wheels(python: str, folder: Path) -> list[Path]:
    """Return the wheels of all dependencies for a version of Python; another digest than the locked one is refused.

    Raises:
        subprocess.CalledProcessError: no package index answers, or a file has another digest.
    """
    _download(python, folder, "--require-hashes", "--no-deps", "-r", str(LOCKED))
    return sorted(folder.glob("*.whl"))


def _download(python: str, folder: Path, *words: str) -> None:
    platforms = [word for one in _GLIBC for word in ("--platform", f"{one}_{MACHINE}")]
    chosen = ("--only-binary", ":all:", "--implementation", "cp", "--python-version", python, *platforms)
    command = (sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--dest", str(folder))
    subprocess.run((*command, *chosen, *words), check=True)  # noqa: S603 - the words are those of this module


def locked_text(wheels: Sequence[Path]) -> str:
    """Return the text of ``locked.txt``: each distribution with its version, and the digests of these wheels.

    Raises:
        ValueError: two versions of one distribution.
    """
    versions: dict[str, str] = {}
    digests: dict[str, set[str]] = {}
    for wheel in wheels:
        name, version, *_ = wheel.name.split("-")
        if versions.setdefault(name, version) != version:
            raise ValueError(f"two versions of {name}: {versions[name]} and {version}")
        digests.setdefault(name, set()).add(hashlib.sha256(wheel.read_bytes()).hexdigest())
    lines = ["# Written by python -m release.locked_wheels: what the single file holds.\n"]
    for name, version in sorted(versions.items()):
        marks = "".join(f" \\\n    --hash=sha256:{digest}" for digest in sorted(digests[name]))
        lines.append(f"{name.replace('_', '-').lower()}=={version}{marks}\n")
    return "".join(lines)


def lock() -> None:
    """Write ``locked.txt``: the versions that the oldest Python gets, for all of them."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    found: list[Path] = []
    with tempfile.TemporaryDirectory() as folder:
        constraints = Path(folder) / "constraints.txt"
        constraints.touch()
        for python in PYTHONS:
            into = Path(folder) / python
            _download(python, into, "--constraint", str(constraints), *project["dependencies"])
            found += into.glob("*.whl")
            parts = (wheel.name.split("-") for wheel in found)
            constraints.write_text("".join(sorted({f"{name}=={version}\n" for name, version, *_ in parts})), "utf-8")
        LOCKED.write_text(locked_text(found), encoding="utf-8")


if __name__ == "__main__":
    lock()
