"""The README shows real output: each console block is run, and must print what it says (rewrite with --bless)."""

import re
import shlex
from pathlib import Path
from typing import Final

import pytest

from grove_shell.cli.main import run

ROOT: Final = Path(__file__).parent.parent
README: Final = ROOT / "README.md"
BLOCK: Final = re.compile(r"```console\n(.*?)```", re.DOTALL)


def played(block: str, capsys: pytest.CaptureFixture[str]) -> str:
    """The block as it would look if it were typed now."""
    text = ""
    for line in block.splitlines():
        if line.startswith("$ "):
            run(shlex.split(line.removeprefix("$ grove ")), "grove")
            said = capsys.readouterr()
            text += f"{line}\n{said.err}{said.out}"
    return text


def test_cl004_the_readme_shows_what_the_program_says(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, *, bless: bool
) -> None:
    monkeypatch.chdir(ROOT)
    before = README.read_text(encoding="utf-8")
    after = BLOCK.sub(lambda match: f"```console\n{played(match[1], capsys)}```", before)
    if bless:
        README.write_text(after, encoding="utf-8")
    assert BLOCK.findall(before if not bless else after) == BLOCK.findall(after)
    assert BLOCK.findall(after)


def test_cl004_the_library_example_runs(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    code = re.search(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)
    assert code is not None
    exec(compile(code[1], "README.md", "exec"), {})  # noqa: S102 - our own README
    assert "PodClique/llama-70b-0-router Delete ['GangTerminated', 'DelayExpired']" in capsys.readouterr().out
