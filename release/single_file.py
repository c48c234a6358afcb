"""The single file: a zip archive that Python runs, with the packages for several versions of Python (RL-006)."""

import hashlib
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from grove_core.version import VERSION
from release.fixed_archives import packed_zip

MACHINE: Final = "x86_64"
PYTHONS: Final = ("3.11", "3.12", "3.13", "3.14")
FILE: Final = f"grove-{VERSION}-linux-{MACHINE}.pyz"
_SHEBANG: Final = b"#!/usr/bin/env python3\n"
_SITE: Final = ("purelib", "platlib")


def single_file_content(wheels: Mapping[str, Sequence[Path]], seconds: int) -> bytes:
    """Return the content of the single file.

    Args:
        wheels: every wheel that grove needs, and its own, by version of Python such as ``3.11``.
        seconds: the time of every file in it, since 1970.
    """
    named = {python: {path.name: path for path in paths} for python, paths in wheels.items()}
    everywhere = set.intersection(*(set(names) for names in named.values()))
    archives = {"common.zip": packages_of([next(iter(named.values()))[name] for name in sorted(everywhere)])}
    for python, paths in named.items():
        own = [paths[name] for name in sorted(paths.keys() - everywhere)]
        archives[f"cp{python.replace('.', '')}.zip"] = packages_of(own)
    packed = {name: packed_zip(files, seconds) for name, files in archives.items()}
    digest = hashlib.sha256()
    for name, content in sorted(packed.items()):
        digest.update(name.encode() + hashlib.sha256(content).digest())
    program = Path(__file__).with_name("bootstrap.py").read_bytes()
    about = _contents_module(digest.hexdigest(), sorted(wheels, key=_as_numbers)).encode()
    return _SHEBANG + packed_zip({"__main__.py": program, "contents.py": about, **packed}, seconds, compressed=False)


def _as_numbers(python: str) -> tuple[int, ...]:
    return tuple(int(part) for part in python.split("."))


def requirements(pythons: Sequence[str] = PYTHONS) -> str:
    """Return where a single file for these versions of Python runs."""
    span = pythons[0] if len(pythons) == 1 else f"{', '.join(pythons[:-1])} or {pythons[-1]}"
    return f"Python {span} on Linux with glibc ({MACHINE})"


def _contents_module(digest: str, pythons: Sequence[str]) -> str:
    known = {"DIGEST": digest, "PYTHONS": tuple(pythons), "MACHINE": MACHINE, "NEEDS": requirements(pythons)}
    return "".join(f"{name} = {value!r}\n" for name, value in known.items())


def packages_of(wheels: Sequence[Path]) -> dict[str, bytes]:
    """Return the files that wheels install into site-packages, by their paths there; without programs and manuals."""
    found: dict[str, bytes] = {}
    for wheel in wheels:
        with zipfile.ZipFile(wheel) as opened:
            for name in opened.namelist():
                path = _path_in_site_packages(name)
                if path:
                    found[path] = opened.read(name)
    return found


def _path_in_site_packages(name: str) -> str:
    """Return where a file of a wheel is installed; empty for a folder, and for a file of another place."""
    first, _, rest = name.partition("/")
    if name.endswith("/"):
        return ""
    if not first.endswith(".data"):
        return name
    scheme, _, path = rest.partition("/")
    return path if scheme in _SITE else ""
