"""The commit that is released: its time, its files, and whether the working tree is the same (RL-002)."""

import io
import os
import subprocess
import tarfile
from pathlib import Path


def commit_time(root: Path) -> int:
    """Return the time of all files of a release, in seconds since 1970: SOURCE_DATE_EPOCH, else that of the commit.

    Raises:
        ValueError: there is no commit, and SOURCE_DATE_EPOCH is not set.
    """
    given = os.environ.get("SOURCE_DATE_EPOCH") or _git(root, "log", "-1", "--format=%ct").strip()
    if not given:
        raise ValueError("this is no checkout of a commit: set SOURCE_DATE_EPOCH to the seconds since 1970")
    return int(given)


def differing_files(root: Path) -> list[str]:
    """Return the files that differ from the commit or are not in it; all that there is if there is no commit."""
    if not _git(root, "rev-parse", "HEAD"):
        return ["all: this is no checkout of a commit"]
    return [line[3:] for line in _git(root, "status", "--porcelain").splitlines()]


def export_commit(root: Path, folder: Path, commit: str = "HEAD") -> Path:
    """Write the files of a commit into a new folder and return it; later changes of the tree are not released.

    Raises:
        subprocess.CalledProcessError: git failed.
    """
    words = ("git", "-C", str(root), "archive", "--format=tar", commit)
    packed = subprocess.run(words, capture_output=True, check=True).stdout  # noqa: S603 - the user's own git
    with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
        archive.extractall(folder, filter="data")
    return folder


def _git(root: Path, *words: str) -> str:
    """Return what git prints; nothing where it fails."""
    try:
        done = subprocess.run(("git", "-C", str(root), *words), capture_output=True, text=True, check=False)  # noqa: S603, S607 - the user's own git
    except FileNotFoundError:
        return ""
    return done.stdout if done.returncode == 0 else ""
