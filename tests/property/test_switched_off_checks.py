"""A check that is switched off names its code, and says beside it why (CONTRIBUTING, "Layers")."""

import re
import tokenize
from pathlib import Path
from typing import Final

import pytest

ROOT: Final = Path(__file__).parents[2]
FOLDERS: Final = ("grove_core", "grove_shell", "tests", "benchmarks", "docs", "integrations", "examples")
FILES: Final = sorted([*ROOT.glob("*.py"), *(path for folder in FOLDERS for path in (ROOT / folder).rglob("*.py"))])

_OFF: Final = re.compile(r"#\s*(?:noqa|type:\s*ignore|ruff:|mypy:|pragma:)", re.IGNORECASE)
_WITH_REASON: Final = re.compile(
    r"(?:#\s*(?:noqa: [A-Z]+\d+(?:, ?[A-Z]+\d+)*|type: ignore\[[a-z-]+(?:, ?[a-z-]+)*\])\s*)+"
    r"(?:- |# )(?!noqa|type:)\S.*"
)


def unreasoned(lines: list[str]) -> list[int]:
    """Numbers of the lines that switch a check off and do not say which, or why."""
    words = iter([f"{line}\n" for line in lines])
    return [
        token.start[0]
        for token in tokenize.generate_tokens(lambda: next(words, ""))
        if token.type == tokenize.COMMENT
        and (found := _OFF.search(token.string))
        and not _WITH_REASON.fullmatch(token.string[found.start() :])
    ]


def test_every_switched_off_check_has_its_reason() -> None:
    texts = ((path, path.read_text(encoding="utf-8")) for path in FILES)
    found = [
        f"{path.relative_to(ROOT)}:{number}"
        for path, text in texts
        if _OFF.search(text)  # else no comment of it can be one
        for number in unreasoned(text.splitlines())
    ]
    assert not found, "\n".join(["", *found])


@pytest.mark.parametrize(
    "comment",
    [
        "# noqa: S101 - a promise to the reader",
        "# noqa: PLR0915, C901 - one dispatch",
        "# type: ignore[assignment]  # the kind stays",
        "# type: ignore[attr-defined]  # noqa: SLF001 - no other way",
        "# why this is so",
    ],
)
def test_a_reason_is_enough(comment: str) -> None:
    assert unreasoned([f"x = 1  {comment}"]) == []


@pytest.mark.parametrize(
    "comment",
    [
        "# noqa",
        "# noqa: S101",
        "# noqa - I know better",
        "# type: ignore  # the kind stays",
        "# type: ignore[assignment]",
        "# type: ignore[assignment]  # noqa: SLF001",
        "# words first  # noqa: S101",
    ],
)
def test_what_says_too_little_is_found(comment: str) -> None:
    assert unreasoned([f"x = 1  {comment}"]) == [1]
