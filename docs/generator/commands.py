"""Commands with all their options, and exit codes, as click and the code know them."""

import re
from collections.abc import Iterator
from typing import Final

import click

from docs.generator.markdown import code, docstring, fenced, prose, table
from grove_shell import exits
from grove_shell.cli.main import grove

_VERBATIM: Final = "\b"
_CODES: Final = re.compile(r"Exit codes: (.*?)(?=\n\n|\Z)", re.DOTALL)

_MEANINGS: Final = {
    "DONE": "done: the answer was given, whatever it is",
    "ERROR": "bad input, a refused manifest, a configuration that is wrong, or no way to the cluster",
    "CHANGES": "there are changes, and `--detailed-exitcode` was given",
    "FAIL_ON": "a class of `--fail-on` is present, an expectation was not met, or a set has no place",
    "STALE": "the cluster has gone on, and a saved plan is not its plan any more",
    "USAGE": "wrong usage: an option, an argument, or a name that is not in the input",
    "LOST": "the operator lost its Lease to another process",
    "INTERRUPTED": "Ctrl-C",
}
"""What the code has no sentence for; a test fails where one of its constants is missing here."""


def every_command() -> Iterator[click.Context]:
    """Each command that does something, in the order of `grove --help`, as a context that knows its whole name."""
    top = click.Context(grove, info_name="grove", **grove.context_settings)
    for name in grove.list_commands(top):
        yield from _below(name, top)


def _below(name: str, parent: click.Context) -> Iterator[click.Context]:
    group = parent.command
    assert isinstance(group, click.Group)  # noqa: S101 - only groups have commands below them
    command = group.get_command(parent, name)
    if command is None:
        return
    here = click.Context(command, info_name=name, parent=parent)
    yield here
    if isinstance(command, click.Group):
        for inner in command.list_commands(here):
            yield from _below(inner, here)


def commands_page() -> str:
    """The page of all commands."""
    parts = [
        "# Commands\n",
        "What `--help` says, for each command, made of the same text. Aliases: `kubectl grove` for `grove`,",
        "`grove upgrade-check` for `grove compare`. What a command leaves with is in [exit codes](exit-codes.md).\n",
        *(_section(context) for context in every_command()),
    ]
    return "\n".join(parts)


def _section(context: click.Context) -> str:
    usage = context.command.get_usage(context).removeprefix("Usage: ")
    return "\n".join(
        (
            f"## {context.command_path}\n",
            fenced(usage),
            *_paragraphs(docstring(context.command.help)),
            table(("option or argument", "meaning"), _options(context)),
        )
    )


def _options(context: click.Context) -> Iterator[tuple[str, str]]:
    for parameter in context.command.get_params(context):
        record = parameter.get_help_record(context)
        if record is not None:
            names, meaning = record
            yield code(names), prose(meaning) or "what it is asked about"


def _paragraphs(text: str) -> Iterator[str]:
    for paragraph in text.split("\n\n"):
        if paragraph.startswith(_VERBATIM):
            yield fenced(paragraph.removeprefix(_VERBATIM).strip("\n"))
        else:
            yield prose(paragraph) + "\n"


def exit_codes_page() -> str:
    """The page of exit codes: the list, and what each command says of them."""
    constants = {name: value for name, value in vars(exits).items() if name.isupper() and isinstance(value, int)}
    rows = [(str(value), code(name), _MEANINGS[name]) for name, value in constants.items()]
    said = [(code(context.command_path), words) for context in every_command() if (words := _codes_of(context))]
    silent = [code(context.command_path) for context in every_command() if not _codes_of(context)]
    return "\n".join(
        (
            "# Exit codes\n",
            "One list for all commands (CL-001, `grove_shell/exits.py`). They are part of the interface: a number",
            "never changes its meaning.\n",
            table(("code", "name", "meaning"), rows),
            "## By command\n",
            "As `--help` of each command says it.\n",
            table(("command", "leaves with"), said),
            f"Of these the help says nothing, and the list above holds: {', '.join(silent)}.\n",
        )
    )


def _codes_of(context: click.Context) -> str:
    found = _CODES.search(docstring(context.command.help))
    return prose(" ".join(found[1].split())) if found else ""
