"""What kubectl asks for completions of its plugin: the program ``kubectl_complete-grove`` (CL-117)."""

from collections.abc import Sequence
from typing import Final

import click
from click.shell_completion import BashComplete

from grove_shell.cli.main import grove
from grove_shell.exit_codes import DONE

_FILES: Final = ":0"
_NO_FILES: Final = ":4"
"""The last line, as cobra reads it: whether kubectl shall complete names of files instead."""


def complete_for_kubectl(words: Sequence[str]) -> int:
    """Print the completions of the last word, one a line with its meaning behind a tab, and the directive for kubectl.

    Args:
        words: those behind ``kubectl grove``; the last one is being written, and may be empty.
    """
    *before, incomplete = words or ("",)
    items = BashComplete(grove, {}, "kubectl grove", "").get_completions(list(before), incomplete)
    for item in items:
        if item.type == "plain":
            click.echo(f"{item.value}\t{item.help}" if item.help else item.value)
    click.echo(_FILES if any(item.type in {"file", "dir"} for item in items) else _NO_FILES)
    return DONE
