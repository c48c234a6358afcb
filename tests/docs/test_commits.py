"""The subjects of the latest commits can be read in a list (CONTRIBUTING.md, "Commits")."""

import shutil
import subprocess
from pathlib import Path
from typing import Final

import pytest

ROOT: Final = Path(__file__).parents[2]
LATEST: Final = 50
LONGEST: Final = 72


def subjects() -> list[str]:
    """The subjects of the latest commits, merges left out; none where there is no repository."""
    git = shutil.which("git")
    if git is None or not (ROOT / ".git").exists():
        return []
    command = [git, "log", "--no-merges", f"-{LATEST}", "--format=%s"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    return done.stdout.splitlines()


def test_subjects_are_short() -> None:
    found = subjects()
    if not found:
        pytest.skip("no repository")
    assert [one for one in found if len(one) > LONGEST or one.endswith(".")] == []
