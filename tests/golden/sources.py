"""Parses the ``source:`` of a rule into the sources that it names.

Most rules rest on documents outside the repository: a design, its decisions, catalogues of faults and laws.
``specs/sources.md`` has an entry for each of them, so that a reader of the repository alone can follow a source.

This module reads text only. ``tracing`` calls it.
"""

import re
from collections.abc import Iterator
from typing import Final

FILE: Final = "specs/sources.md"

_ENTRY: Final = re.compile(r"^- `(?P<key>[^`]+)`:(?: |\n  )\S")

_NUMBER: Final = re.compile(r"(?<!generation )\b(?:B|CD|D|F|IX|O|P|RS|TP)\d+\b")
_SPAN: Final = re.compile(r"\b(?P<letters>[A-Z]+)(?P<first>\d+) to (?P=letters)(?P<last>\d+)\b")
_COUNTED: Final = re.compile(
    r"\b(?P<what>invariant|edge case|PR|issue)s? (?P<numbers>(?:IX)?\d+(?:(?:, | and )(?:IX)?\d+)*)"
)
_CHAPTERS: Final = re.compile(
    r"\b(?P<work>grove-api|performance) (?P<numbers>\d+(?:\.\d+)*(?:(?:, | and )\d+(?:\.\d+)+)*)"
)
_WORK: Final = re.compile(
    r"""\b(?P<work>
        ComputeDomain\ State\ Synchronization | ComputeDomain\ convergence | Gang\ Termination\ Design\ Doc
        | compute-domain-api | controller\ conventions | design(?!'s) (?:\ principle)? | grove-api
        | invariant\ catalogue | fault\ catalogue | issue(?!s?\ \d) (?:\ of\ (?:the\ cluster | the\ workload\ area
        | this\ area))? | peer-baseline | performance(?=,|\ \d) | seed\ \d{3}
        | the\ Go\ operator | the\ existing\ (?:driver|API|admission\ rules|defaults)
    )\b (?: ,?\ (?P<titles>"[^"]+"(?:\ and\ "[^"]+")*) )?""",
    re.VERBOSE,
)
_OPENING: Final = re.compile(r"(?:^|; )(?P<title>\"[^\"]+\")")
_TITLE: Final = re.compile(r"\"[^\"]+\"")
_RULE: Final = re.compile(r"\b[A-Z]{2}-\d{3}\b")
_FILE: Final = re.compile(r"\bspecs/(?:decisions/\d{4}|\w+\.md)|\bdecision (?P<number>\d{4})\b")


def source_entries(text: str) -> list[str]:
    """The entries of ``specs/sources.md``, in their order."""
    return [match["key"] for line in text.split("\n- ") if (match := _ENTRY.match(f"- {line.removeprefix('- ')}"))]


def sources_named_in(source: str) -> Iterator[str]:
    """Yield each source that a ``source:`` names by a number or a title, as ``specs/sources.md`` writes it.

    Rules are called by their number, files of ``specs/`` by their path (decisions by its first part). What is neither
    numbered nor a section of a work that is known here is prose, and not named.
    """
    for match in _SPAN.finditer(source):
        yield from (f"{match['letters']}{number}" for number in range(int(match["first"]), int(match["last"]) + 1))
    yield from _NUMBER.findall(source)
    for match in _COUNTED.finditer(source):
        numbers = re.findall(r"(?:IX)?\d+", match["numbers"])
        yield from (number if number.startswith("IX") else f"{match['what']} {number}" for number in numbers)
    for match in _CHAPTERS.finditer(source):
        yield from (f"{match['work']} {number}" for number in re.findall(r"\d+(?:\.\d+)*", match["numbers"]))
    for match in _WORK.finditer(source):
        yield match["work"]
        yield from (f"{match['work']}, {title}" for title in _TITLE.findall(match["titles"] or ""))
    for match in _OPENING.finditer(source):
        yield match["title"]
    yield from _RULE.findall(source)
    for match in _FILE.finditer(source):
        yield f"specs/decisions/{match['number']}" if match["number"] else match[0]
