"""Names, docstrings, specs and docs use the words of the field; the private ones of earlier versions stay out."""

import re
from pathlib import Path
from typing import Final

import pytest

ROOT: Final = Path(__file__).parents[2]
WORDS: Final = (
    *("nobody", "somebody", "whoever", "whom", "told", "untold", "stranger", "strangers", "toll", "tolls"),
    *("mischief", "troupe", "onlooker", "storyteller", "crowd", "likeness", "roll call", "wards"),
    *("held back", "put off", "in vain", "out of sight", "overtaken", "the existing operator", "wishes", "the world"),
)
"""Persons for objects, metaphors, and words that stand for several things; the glossary has the ones to use."""

ALLOWED: Final = {
    "grove_core/areas/mnnvl_scopes/admission_warnings.py": "the name of a fact, which plans show",
    "grove_core/areas/mnnvl_scopes/rules.py": "the name of a fact, which plans show",
    "grove_core/kernel/reasons.py": "earlier names of reason codes, which readers accept",
    "specs/gang_termination.md": "the name of a golden case",
    "specs/gang_termination_field.md": "names of golden cases",
    "specs/planning.md": "the name of a golden case",
    "specs/workload.md": "the name of a golden case",
}
"""File -> why it keeps one of the words."""

FORBIDDEN: Final = re.compile(
    rf"(?<![A-Za-z])(?:{'|'.join(word.replace(' ', '[ _]') for word in WORDS)})(?![a-z])", re.IGNORECASE
)
FILES: Final = sorted(
    str(path.relative_to(ROOT))
    for pattern in ("grove_core/**/*.py", "grove_shell/**/*.py", "specs/*.md", "docs/**/*.md", "*.md")
    for path in ROOT.glob(pattern)
)


def found_in(text: str) -> list[str]:
    """The forbidden words of a text, each as ``line: word``."""
    found = (one for one in FORBIDDEN.finditer(text) if not one[0].isupper())  # reason codes and labels are public
    return [f"{text.count(chr(10), 0, one.start()) + 1}: {one[0]}" for one in found]


@pytest.mark.parametrize("file", FILES)
def test_no_private_word(file: str) -> None:
    found = found_in((ROOT / file).read_text(encoding="utf-8"))
    assert not found or file in ALLOWED, found


def test_the_list_of_exceptions_is_short_and_used() -> None:
    assert len(ALLOWED) < 20
    for file in ALLOWED:
        assert found_in((ROOT / file).read_text(encoding="utf-8")), file


def test_a_private_word_is_found() -> None:
    assert found_in("line\nas_told(Nobody)") == ["2: told", "2: Nobody"]
    assert found_in("It is held back.") == ["1: held back"]
    assert found_in("foretold") == []
