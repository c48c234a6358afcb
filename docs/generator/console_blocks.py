"""Breaks the long lines of console blocks as the program does on a terminal of 100 columns."""

import re
from typing import Final

from grove_shell.styled_text_page import wrapped_line

COLUMNS: Final = 100
_BLOCK: Final = re.compile(r"(?<=```console\n).*?(?=```)", re.DOTALL)
_PROMPT: Final = "$ "


def wrap_console_blocks(markdown: str) -> str:
    """Return a page whose console blocks have lines of at most 100 columns, except for commands and long words."""
    return _BLOCK.sub(lambda block: "".join(map(_wrapped, block[0].splitlines())), markdown)


def _wrapped(line: str) -> str:
    if line.startswith(_PROMPT):
        return f"{line}\n"
    parts = wrapped_line(((line, ""),), COLUMNS)
    return "".join("".join(text for text, _ in part).rstrip() + "\n" for part in parts)
