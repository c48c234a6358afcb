"""Console blocks of pages: each command is run, and must print what stands below it (rewrite with --bless)."""

import re
import shlex
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Final

from grove_shell.cli.main import run_command_line

BLOCK: Final = re.compile(r"```console\n(.*?)```", re.DOTALL)
_PROMPT: Final = "$ "
_CODE: Final = "echo $?"
"""The exit code of the command before, as a shell reports it."""


def played(block: str) -> str:
    """The block as it would look if it were typed now, in the present folder."""
    text, code = "", 0
    for line in block.splitlines():
        if not line.startswith(_PROMPT):
            continue
        program, *words = shlex.split(line.removeprefix(_PROMPT))
        if line == f"{_PROMPT}{_CODE}":
            text += f"{line}\n{code}\n"
            continue
        assert program == "grove", f"a console block runs grove only: {line}"
        code, printed = _run_on_one_stream(words)
        text += f"{line}\n{printed}"
    return text


def _run_on_one_stream(words: list[str]) -> tuple[int, str]:
    """Return the exit code of a command and what it prints, both streams in the order in which a terminal shows it."""
    terminal = StringIO()
    with redirect_stdout(terminal), redirect_stderr(terminal):
        code = run_command_line(words, "grove")
    return code, terminal.getvalue()


def check_console_blocks(page: Path, *, bless: bool) -> list[str]:
    """Run each block of a page; what it shows must be what is printed. Returns the blocks.

    Args:
        page: the file in Markdown.
        bless: write what is printed into the page instead.
    """
    before = page.read_text(encoding="utf-8")
    after = BLOCK.sub(lambda match: f"```console\n{played(match[1])}```", before)
    if bless and after != before:
        page.write_text(after, encoding="utf-8")
    assert BLOCK.findall(before if not bless else after) == BLOCK.findall(after)
    return BLOCK.findall(after)
