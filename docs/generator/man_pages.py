"""Manual pages of all commands in roff, made of the text of ``--help``; only click is needed to make them (RL-004)."""

import re
from collections.abc import Iterator
from textwrap import wrap
from typing import Final

import click

from docs.generator.commands import every_command
from docs.generator.markdown import docstring
from grove_core.version import VERSION
from grove_shell.cli.main import grove

_VERBATIM: Final = "\b"
_CODES: Final = "Exit codes: "
_EXAMPLES: Final = re.compile(r"Examples?:\n")
_CODE_SPAN: Final = re.compile(r"``?([^`\n]+)``?")
_SENTENCE_END: Final = re.compile(r"(?<=[.:;])  +")
_WIDTH: Final = 60  # of a line before its hyphens are escaped, which leaves most lines below 80
_ENVIRONMENT: Final = (
    ("KUBECONFIG", "Kubeconfig of commands that read a cluster; without it ~/.kube/config."),
    ("NO_COLOR", "No styles on a terminal, whatever its value, unless it is empty."),
    ("FORCE_COLOR", "Styles also where the output is no terminal."),
    ("COLUMNS", "Width of pages; without it that of the terminal."),
    ("XDG_CACHE_HOME", "Where the single-file executable unpacks itself, in a folder grove; without it ~/.cache."),
)


def man_pages(date: str = "") -> dict[str, str]:
    """Return the text of each manual page by its file name, such as ``grove-plan.1``.

    Args:
        date: of the release, as ``2026-11-20``; empty if it is not known.
    """
    top = click.Context(grove, info_name="grove", **grove.context_settings)
    contexts = (top, *every_command())
    names = {context: context.command_path.replace(" ", "-") for context in contexts}
    return {f"{names[one]}.1": _page(one, names[one], date, sorted(names.values())) for one in contexts}


def _page(context: click.Context, name: str, date: str, every: list[str]) -> str:
    command = context.command
    meaning, *paragraphs = docstring(command.help).split("\n\n")
    head = (
        f'.TH {_quoted(name.upper())} 1 {_quoted(date)} {_quoted(f"grove {VERSION}")} "Grove"',
        *(".SH NAME", f"{roff_text(name)} \\-", *_text(_one_line(meaning).rstrip("."))),
        *(".SH SYNOPSIS", *_synopsis(context)),
        ".SH DESCRIPTION",
        *_text(_one_line(meaning)),
    )
    body = (*_description(paragraphs), *_options(context), *_commands(context), *_environment(context))
    related = [one for one in every if one != name and _is_beside(one, name)]
    see = (".SH SEE ALSO", *_references(related)) if related else ()
    return "\n".join((*head, *body, *see)) + "\n"


def _is_beside(other: str, name: str) -> bool:
    """Whether a page refers to another one: to the page above it, and to those directly below it."""
    return other == name.rpartition("-")[0] or other == "grove" or other.rpartition("-")[0] == name


def _references(names: list[str]) -> Iterator[str]:
    for place, name in enumerate(names):
        yield f".BR {roff_text(name)} (1){',' if place < len(names) - 1 else ''}"


def _synopsis(context: click.Context) -> Iterator[str]:
    yield f".B {roff_text(context.command_path)}"
    yield roff_text(" ".join(context.command.collect_usage_pieces(context)))


def _description(paragraphs: list[str]) -> Iterator[str]:
    """Yield paragraphs as they stand in help; examples and exit codes as sections of their own, at the end."""
    examples = [one for one in paragraphs if _EXAMPLES.match(one.removeprefix(_VERBATIM).lstrip("\n"))]
    codes = [one for one in paragraphs if one.startswith(_CODES)]
    for one in paragraphs:
        if one in examples or one in codes:
            continue
        yield from _verbatim(one) if one.startswith(_VERBATIM) else (".PP", *_text(_one_line(one)))
    for one in examples:
        yield ".SH EXAMPLES"
        yield from _verbatim(_EXAMPLES.sub("", one, count=1), below_heading=True)
    for one in codes:
        yield ".SH EXIT STATUS"
        yield from _text(_one_line(one).removeprefix(_CODES))


def _verbatim(paragraph: str, *, below_heading: bool = False) -> Iterator[str]:
    """Yield a block whose lines stay as they are, indented as in help."""
    lines = paragraph.removeprefix(_VERBATIM).strip("\n").splitlines()
    yield from (() if below_heading else (".PP",))
    yield ".nf"
    yield from (roff_text(line.removeprefix("  ") if below_heading else line) for line in lines)
    yield ".fi"


def _options(context: click.Context) -> Iterator[str]:
    """Yield each option, and each argument of which help says more than its place in the synopsis."""
    found = (param.get_help_record(context) for param in context.command.get_params(context))
    records = [one for one in found if one is not None and one[1]]
    if records:
        yield ".SH OPTIONS"
    for names, meaning in records:
        yield from (".TP", f".B {roff_text(names)}", *_text(meaning))


def _commands(context: click.Context) -> Iterator[str]:
    command = context.command
    if not isinstance(command, click.Group):
        return
    yield ".SH COMMANDS"
    for name in command.list_commands(context):
        inner = command.get_command(context, name)
        assert inner is not None  # noqa: S101 - a group has the commands that it lists
        summary = _one_line(docstring(inner.help).partition("\n\n")[0])
        yield from (".TP", f".BR {roff_text(f'{context.command_path} {name}'.replace(' ', '-'))} (1)", *_text(summary))


def _environment(context: click.Context) -> Iterator[str]:
    if context.parent is None:
        yield ".SH ENVIRONMENT"
        for name, meaning in _ENVIRONMENT:
            yield from (".TP", f".B {name}", *_text(meaning))


def _text(words: str) -> Iterator[str]:
    """Yield running text, each sentence on lines of its own, so that a formatter sets the space between sentences."""
    for sentence in filter(None, _SENTENCE_END.split(_CODE_SPAN.sub(r"\1", words).strip())):
        lines = wrap(sentence, _WIDTH, break_on_hyphens=False, break_long_words=False)
        yield from map(roff_text, lines)


def _one_line(paragraph: str) -> str:
    return re.sub(r"\s*\n\s*", " ", paragraph).strip()


def roff_text(text: str) -> str:
    """Return text that roff prints as it is: a hyphen to copy, no request at the beginning of a line."""
    plain = text.replace("\\", "\\e").replace("-", "\\-").replace("'", "\\(aq").replace("`", "\\(ga")
    plain = plain.replace("~", "\\(ti").replace("^", "\\(ha").replace('"', "\\(dq")
    return f"\\&{plain}" if plain.startswith((".", " ")) else plain


def _quoted(text: str) -> str:
    return f'"{text.replace(chr(34), "")}"'
