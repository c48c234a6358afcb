"""Pages of all commands with their options, and of exit codes."""

import re
from collections.abc import Iterator
from typing import Final

import click

from docs.generator.markdown import code, docstring, fenced, prose, table
from grove_shell import exit_codes
from grove_shell.cli.main import grove

_VERBATIM: Final = "\b"
_CODES: Final = re.compile(r"Exit codes: (.*?)(?=\n\n|\Z)", re.DOTALL)

_MEANINGS: Final = {
    "DONE": "done, whatever the result",
    "ERROR": "bad input, a refused manifest, a wrong configuration, or a cluster that cannot be reached",
    "CHANGES": "there are changes, and `--detailed-exitcode` was given",
    "FAIL_ON": "a class of `--fail-on` is present, a policy denies, an expectation was not met, or a set does not fit",
    "STALE": "the cluster has changed, and a saved plan is stale",
    "USAGE": "wrong usage: an option, an argument, or a name that is not in the input",
    "LOST": "the operator lost its Lease to another process",
    "INTERRUPTED": "Ctrl-C",
}
"""Meanings of the constants of ``grove_shell/exit_codes.py``; a test fails where one is missing."""


def every_command() -> Iterator[click.Context]:
    """Yield the context of each command, in the order of ``grove --help``; subcommands instead of their group."""
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
    """Return the page of all commands."""
    parts = [
        "# Commands\n",
        "The text of `--help` of each command. Aliases: `kubectl grove` for `grove`, `grove upgrade-check` for",
        "`grove compare`. See also [exit codes](exit-codes.md).\n",
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
            yield code(names), prose(meaning) or "argument"


def _paragraphs(text: str) -> Iterator[str]:
    for paragraph in text.split("\n\n"):
        if paragraph.startswith(_VERBATIM):
            yield fenced(paragraph.removeprefix(_VERBATIM).strip("\n"))
        else:
            yield prose(paragraph) + "\n"


def exit_codes_page() -> str:
    """Return the page of exit codes: the list, and the text of each command."""
    constants = {name: value for name, value in vars(exit_codes).items() if name.isupper() and isinstance(value, int)}
    rows = [(str(value), code(name), _MEANINGS[name]) for name, value in constants.items()]
    described = [(code(context.command_path), words) for context in every_command() if (words := _codes_of(context))]
    silent = [code(context.command_path) for context in every_command() if not _codes_of(context)]
    return "\n".join(
        (
            "# Exit codes\n",
            "One list for all commands (CL-001, `grove_shell/exit_codes.py`). They are part of the interface: a number",
            "never changes its meaning.\n",
            table(("code", "name", "meaning"), rows),
            "## By command\n",
            "From `--help` of each command:\n",
            table(("command", "exit codes"), described),
            f"These commands use the list above: {', '.join(silent)}.\n",
        )
    )


def _codes_of(context: click.Context) -> str:
    found = _CODES.search(docstring(context.command.help))
    return prose(" ".join(found[1].split())) if found else ""
