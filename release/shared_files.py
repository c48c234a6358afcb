"""Files that a wheel installs below its prefix: manual pages, and completions where shells look for them (RL-005)."""

import os
from datetime import UTC, datetime
from typing import Final

from click.shell_completion import ShellComplete, get_completion_class

from docs.generator.man_pages import man_pages
from grove_shell.cli.main import grove

COMPLETIONS: Final = {
    "bash": "share/bash-completion/completions/grove",
    "zsh": "share/zsh/site-functions/_grove",
    "fish": "share/fish/vendor_completions.d/grove.fish",
}


def shared_files() -> dict[str, str]:
    """Return the text of each file by its path below the prefix; the date of the pages is SOURCE_DATE_EPOCH."""
    seconds = os.environ.get("SOURCE_DATE_EPOCH")
    date = datetime.fromtimestamp(int(seconds), UTC).date().isoformat() if seconds else ""
    pages = {f"share/man/man1/{name}": page for name, page in man_pages(date).items()}
    return pages | {path: completion_script(shell) for shell, path in COMPLETIONS.items()}


def completion_script(shell: str) -> str:
    """Return what ``grove completion SHELL`` prints, without a look at the shell of this machine."""
    made = get_completion_class(shell)
    assert made is not None  # noqa: S101 - click knows the three shells
    return ShellComplete.source(made(grove, {}, "grove", "_GROVE_COMPLETE"))
