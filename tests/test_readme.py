"""The README shows real output: each console block is run, and must print what it says (rewrite with --bless)."""

import re
from collections import Counter
from pathlib import Path
from typing import Final

import pytest

from grove_shell.cli.main import run_command_line
from tests.console_blocks import check_console_blocks

ROOT: Final = Path(__file__).parent.parent
README: Final = ROOT / "README.md"
PICTURE: Final = Path("docs/pictures/node-loss.svg")
_FILLS: Final = re.compile(r"fill: (#\w+)")
_WORDS: Final = re.compile(r"<text[^>]*>([^<]+)</text>")


def test_pl001_the_readme_shows_what_the_program_says(monkeypatch: pytest.MonkeyPatch, *, bless: bool) -> None:
    monkeypatch.chdir(ROOT)
    assert check_console_blocks(README, bless=bless)


def test_sm010_the_picture_is_of_that_scenario(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, bless: bool) -> None:
    """By its words and lanes: what else stands in the file is the drawing library's."""
    monkeypatch.chdir(ROOT)
    drawn = PICTURE if bless else tmp_path / PICTURE.name
    assert (
        run_command_line(["simulate", f"examples/scenarios/{PICTURE.stem}.yaml", "--picture", str(drawn)], "grove") == 0
    )
    shown, now = (path.read_text(encoding="utf-8") for path in (PICTURE, drawn))
    assert f"({PICTURE})" in README.read_text(encoding="utf-8")
    assert "node gpu-1 is lost" in _WORDS.findall(now)
    assert _WORDS.findall(shown) == _WORDS.findall(now)
    assert Counter(_FILLS.findall(shown)) == Counter(_FILLS.findall(now))
