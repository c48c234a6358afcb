"""The README shows real output: each console block is run, and must print what it says (rewrite with --bless)."""

import re
from pathlib import Path
from typing import Final

import pytest

from tests.console_blocks import hold_to_what_is_said

ROOT: Final = Path(__file__).parent.parent
README: Final = ROOT / "README.md"


def test_cl004_the_readme_shows_what_the_program_says(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, *, bless: bool
) -> None:
    monkeypatch.chdir(ROOT)
    assert hold_to_what_is_said(README, capsys, bless=bless)


def test_cl004_the_library_example_runs(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    code = re.search(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)
    assert code is not None
    exec(compile(code[1], "README.md", "exec"), {})  # noqa: S102 - our own README
    assert "PodClique/llama-70b-0-router Delete ['GangTerminated', 'DelayExpired']" in capsys.readouterr().out
