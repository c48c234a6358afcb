"""A decision record has a question, a decision and the rejected alternatives."""

import re
from functools import cache
from pathlib import Path
from typing import Final

import pytest

ROOT: Final = Path(__file__).parents[2]
DECISIONS: Final = sorted((ROOT / "specs" / "decisions").glob("*.md"))
IN_BACKTICKS: Final = re.compile(r"(?<!`)`([\w.]+)`(?!`)")
PARTS: Final = ("Question", "Decision", "Rejected")


def faults_of(text: str) -> list[str]:
    """What a decision lacks: a title, one of its parts, an answer to it, or their order."""
    parts = re.split(r"^## (.+)$", text, flags=re.MULTILINE)
    bodies = dict(zip(parts[1::2], parts[2::2], strict=True))
    faults = [f"no '## {name}' with words" for name in PARTS if not bodies.get(name, "").strip()]
    if not re.match(r"# (?:\d+\.|\d{4}) \S", text):
        faults.append("no title with its number")
    if not faults and [name for name in bodies if name in PARTS] != list(PARTS):
        faults.append("its parts in another order")
    return faults


@cache
def names_in_project() -> str:
    """The sources, and the names of all files and folders of the packages and tests."""
    paths = [path for name in ("grove_core", "grove_shell", "tests", "benchmarks") for path in (ROOT / name).rglob("*")]
    sources = (path.read_text(encoding="utf-8") for path in paths if path.suffix == ".py")
    return "\n".join((*map(str, paths), *sources))


@pytest.mark.parametrize("path", [*DECISIONS, ROOT / "CONTRIBUTING.md"], ids=lambda path: path.stem[:12])
def test_names_of_code_exist(path: Path) -> None:
    """In a decision, and in CONTRIBUTING but for examples of what not to do."""
    lines = path.read_text(encoding="utf-8").splitlines()
    text = "\n".join(line for line in lines if not line.startswith("- Bad:"))
    names = [name for name in IN_BACKTICKS.findall(text) if "_" in name]
    parts = {part for name in names for part in name.split(".") if part not in {"", "py"}}
    assert [part for part in sorted(parts) if part not in names_in_project()] == []


@pytest.mark.parametrize("path", DECISIONS, ids=lambda path: path.name[:4])
def test_a_decision_has_its_parts(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert faults_of(text) == []
    assert re.match(r"# 0*(\d+)", text)[1] == str(int(path.name[:4]))  # type: ignore[index]  # there is a title


def test_numbers_are_used_once_and_none_is_left_out() -> None:
    assert [int(path.name[:4]) for path in DECISIONS] == list(range(1, len(DECISIONS) + 1))


@pytest.mark.parametrize(
    ("text", "faults"),
    [
        ("# 1. So\n\n## Question\n\nWhy?\n\n## Decision\n\nSo.\n\n## Rejected\n\n- Not so.\n", []),
        (
            "# So\n\n## Question\n\nWhy?\n\n## Decision\n\n## Rejected\n\n- No.\n",
            ["no '## Decision' with words", "no title with its number"],
        ),
        (
            "# 1. So\n\n## Decision\n\nSo.\n\n## Question\n\nWhy?\n\n## Rejected\n\n- No.\n",
            ["its parts in another order"],
        ),
    ],
)
def test_what_is_missing_is_reported(text: str, faults: list[str]) -> None:
    assert faults_of(text) == faults
