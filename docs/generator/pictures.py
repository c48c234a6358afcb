"""Pictures of what commands print, and the page that shows them all.

One line of ``pictures.yaml`` is one picture. ``pytest --bless tests/docs/test_pictures.py`` runs the commands.
"""

import os
import shlex
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from textwrap import wrap
from typing import Final, NamedTuple

import yaml

from docs.generator.console_blocks import COLUMNS
from docs.generator.terminal_svg import terminal_svg
from grove_shell.cli.main import run_command_line

LIST: Final = Path(__file__).with_name("pictures.yaml")
FOLDER: Final = Path(__file__).parents[1] / "pictures" / "outputs"
LOG: Final = "plans.jsonl"
"""The decision log that `grove replay` reads; who draws the pictures puts one into the present folder."""
_MOST: Final = 40


class Picture(NamedTuple):
    """A picture: name of its file, command line, what it shows, and the page that explains it."""

    name: str
    command: str
    shows: str
    page: str


def _listed() -> tuple[Picture, ...]:
    lines = yaml.load(LIST.read_text(encoding="utf-8"), yaml.CSafeLoader)
    return tuple(Picture(one["name"], one["command"], one["shows"], one["page"]) for one in lines)


PICTURES: Final = _listed()


def outputs_page() -> str:
    """Return the page with every picture."""
    parts = [
        "# What the commands show\n",
        f"Each picture is made by running the command on files of this repository, on a terminal of {COLUMNS} columns.",
        f"Outputs of more than {_MOST} lines are cut.\n",
    ]
    for one in PICTURES:
        name = "grove " + " ".join(word for word in one.command.split()[:2] if word.isalpha())
        parts.append(f"## {one.shows[0].upper()}{one.shows[1:]}\n")
        parts.append(f"`{name}`, explained [here]({one.page}).\n")
        parts.append(f"![Output of {name}: {one.shows}](../pictures/outputs/{one.name}.svg)\n")
    return "\n".join(parts)


def picture_of(one: Picture) -> str:
    """Run the command of a picture in the present folder, as on a terminal with colours, and return what it prints."""
    out = _Terminal()
    err = _StreamBeside(out)
    with _environment({"COLUMNS": str(COLUMNS), "TERM": "xterm-256color"}), redirect_stdout(out), redirect_stderr(err):
        run_command_line(shlex.split(one.command), "grove")
    lines = out.getvalue().rstrip("\n").splitlines()
    more = [f"\x1b[2m... and {len(lines) - _MOST} more lines\x1b[0m"] if len(lines) > _MOST + 1 else []
    shown = [*_typed(one.command), *(lines[:_MOST] if more else lines), *more]
    return terminal_svg(f"Output of grove {one.command}", shown, COLUMNS)


def _typed(command: str) -> Iterator[str]:
    """Yield the lines of a command as a shell shows them; one that is too long goes on in the next line."""
    parts = wrap(f"grove {command}", COLUMNS - 4, break_long_words=False, break_on_hyphens=False)
    for at, part in enumerate(parts):
        prompt, end = ("\x1b[2m$\x1b[0m" if at == 0 else "\x1b[2m>\x1b[0m"), " \\" if at < len(parts) - 1 else ""
        yield f"{prompt} \x1b[1m{part}{end}\x1b[0m"


class _Terminal(StringIO):
    """Standard output of a terminal."""

    def isatty(self) -> bool:
        """Return true, as a terminal does."""
        return True


class _StreamBeside(StringIO):
    """Standard error beside a terminal, which shows it too; it is none, or it would have bars of progress."""

    def __init__(self, terminal: StringIO) -> None:
        """Write to the terminal."""
        super().__init__()
        self._terminal = terminal

    def write(self, text: str) -> int:
        """Write to the terminal in the order of both streams."""
        return self._terminal.write(text)


@contextmanager
def _environment(changes: Mapping[str, str]) -> Iterator[None]:
    """Run with an environment of a terminal with colours, whatever the present one is."""
    before = dict(os.environ)
    for name in ("NO_COLOR", "FORCE_COLOR", "COLORTERM"):
        os.environ.pop(name, None)
    os.environ.update(changes)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)
