"""The version is a semantic one, and the changelog leads up to it."""

import re
from itertools import pairwise
from pathlib import Path
from typing import Final

import pytest

from grove_core.version import VERSION

ROOT: Final = Path(__file__).parent.parent.parent
CHANGELOG: Final = ROOT / "CHANGELOG.md"
HEADING: Final = re.compile(r"^## \[(.+?)\](?: - (\d{4}-\d{2}-\d{2}))?$", re.MULTILINE)
UNRELEASED: Final = "Unreleased"
_NUMBER: Final = r"(0|[1-9]\d*)"
SEMANTIC: Final = re.compile(rf"{_NUMBER}\.{_NUMBER}\.{_NUMBER}(?:-([0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*))?")
"""Of semver.org, without build metadata, which an index does not take."""

Rank = tuple[list[int], bool, list[tuple[bool, int, str]]]


def rank(version: str) -> Rank:
    """Sorts as semver.org says: a release after its candidates, numbers by value and before words."""
    found = SEMANTIC.fullmatch(version)
    assert found is not None, f"{version} is no semantic version"
    *numbers, candidate = found.groups()
    parts = candidate.split(".") if candidate else []
    words = [(not part.isdecimal(), int(part) if part.isdecimal() else 0, part) for part in parts]
    return [int(number) for number in numbers], not candidate, words


def faults_in(changelog: str, version: str) -> list[str]:
    """What is wrong with the headings, beside the version that the code says."""
    headings = HEADING.findall(changelog)
    released = [name for name, _ in headings if name != UNRELEASED]
    faults = [f"{name} has no date" for name, date in headings if name != UNRELEASED and not date]
    faults += [f"{later} stands above {name}" for later, name in pairwise(released) if rank(later) <= rank(name)]
    if UNRELEASED in [name for name, _ in headings[1:]]:
        faults.append("what is unreleased is not at the top")
    if not headings or (headings[0][0] != UNRELEASED and headings[0][0] != version):
        faults.append(f"neither what is unreleased nor {version} is at the top")
    if released and rank(released[0]) > rank(version):
        faults.append(f"{released[0]} is released, and the code says {version}")
    return faults


def test_rl018_the_image_is_labelled_with_the_version() -> None:
    lines = (ROOT / "deploy" / "Dockerfile").read_text(encoding="utf-8").splitlines()
    assert lines[0].endswith(f"-t grove:{VERSION} .")
    assert [line.split("=")[1].rstrip(" \\") for line in lines if "image.version=" in line] == [f'"{VERSION}"']


def test_the_changelog_supports_the_version() -> None:
    changelog = CHANGELOG.read_text(encoding="utf-8")
    assert len(HEADING.findall(changelog)) == len(re.findall(r"^## ", changelog, re.MULTILINE))
    assert faults_in(changelog, VERSION) == []


@pytest.mark.parametrize(
    ("names", "version", "faults"),
    [
        (["Unreleased"], "0.1.0", 0),
        (["Unreleased", "0.2.0 1", "0.1.0 1"], "0.2.0", 0),
        (["0.2.0 1", "0.2.0-rc.10 1", "0.2.0-rc.9 1", "0.2.0-alpha 1"], "0.2.0", 0),
        (["0.2.0 1"], "0.3.0", 1),
        (["Unreleased", "0.2.0 1"], "0.1.9", 1),
        (["0.1.0 1", "Unreleased"], "0.1.0", 1),
        (["Unreleased", "0.9.0 1", "0.10.0 1"], "1.0.0", 1),
        (["Unreleased", "0.1.0"], "0.1.0", 1),
        ([], "0.1.0", 1),
    ],
)
def test_what_would_be_wrong_with_one_is_found(names: list[str], version: str, faults: int) -> None:
    lines = [f"## [{name.replace(' 1', '] - 2026-11-20')}{'' if ' ' in name else ']'}" for name in names]
    assert len(faults_in("\n".join(lines), version)) == faults
