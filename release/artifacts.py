"""All files of a release, written into one folder (RL-001)."""

import json
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from release import bill_of_materials, krew_plugin, single_file
from release.checksums import SUMS, write_checksums
from release.single_file import single_file_content

KREW_MANIFEST: Final = "grove.yaml"


@dataclass(frozen=True, slots=True)
class Source:
    """What is released.

    Attributes:
        root: the folder with the files of the commit.
        seconds: the time of every file in the artifacts, since 1970.
    """

    root: Path
    seconds: int


@dataclass(frozen=True, slots=True)
class Addresses:
    """What the krew manifest says of the place of a release.

    Attributes:
        downloads: the folder from which the archives are downloaded.
        homepage: the project; empty if it is not known.
    """

    downloads: str
    homepage: str = ""


def write_artifacts(folder: Path, source: Source, addresses: Addresses, dependencies: Mapping[str, list[Path]]) -> None:
    """Write all artifacts and their checksums into a new folder.

    Args:
        folder: where to write; it is made.
        source: what is released.
        addresses: what the krew manifest says of places.
        dependencies: wheels of everything that grove needs, by version of Python.

    Raises:
        subprocess.CalledProcessError: a tool failed; it has printed why.
        ValueError: what the tools made contradicts itself.
    """
    folder.mkdir()
    build_distributions(folder, source)
    (wheel,) = folder.glob("*.whl")
    program = single_file_content({python: [*wheels, wheel] for python, wheels in dependencies.items()}, source.seconds)
    document = bill_of_materials.bill_of_materials(next(iter(dependencies.values())))
    runnable = folder / single_file.FILE
    runnable.write_bytes(program)
    runnable.chmod(0o755)
    text = json.dumps(document, indent=2, sort_keys=True) + "\n"
    (folder / bill_of_materials.FILE).write_text(text, encoding="utf-8")
    licenses = {name: (source.root / name).read_bytes() for name in ("LICENSE", "NOTICE")}
    archive = krew_plugin.krew_archive(program, licenses, source.seconds)
    (folder / krew_plugin.ARCHIVE).write_bytes(archive)
    manifest = krew_plugin.krew_manifest(archive, addresses.downloads, addresses.homepage)
    (folder / KREW_MANIFEST).write_text(manifest, encoding="utf-8")
    write_checksums(folder)


def build_distributions(folder: Path, source: Source) -> None:
    """Write the wheel and the source archive."""
    command = (sys.executable, "-m", "hatchling", "build", "--directory", str(folder))
    environment = {"SOURCE_DATE_EPOCH": str(source.seconds), "PATH": "", "PYTHONPATH": str(source.root)}
    subprocess.run(command, cwd=source.root, env=environment, check=True, capture_output=True)  # noqa: S603 - as above


def differing_artifacts(first: Path, second: Path) -> list[str]:
    """Return the names of files that two folders have with other bytes, or that one of them lacks."""
    names = {path.name for folder in (first, second) for path in folder.iterdir()}
    return sorted(name for name in names if content_of(first / name) != content_of(second / name))


def content_of(path: Path) -> bytes | None:
    """Return the content of a file; None if it is not there."""
    return path.read_bytes() if path.is_file() else None


def holds_something_else(folder: Path) -> bool:
    """Whether a folder holds files, and no release."""
    return folder.is_dir() and any(folder.iterdir()) and not (folder / SUMS).is_file()


def replace_release(folder: Path, made: Path) -> None:
    """Move the files of a release into a folder, in place of the release that it holds."""
    folder.mkdir(parents=True, exist_ok=True)
    for path in folder.iterdir():
        path.unlink()
    for path in made.iterdir():
        shutil.move(path, folder / path.name)
