"""What the ``source:`` of a rule names, so that a check can tell whether it is anywhere.

Most rules rest on documents that are not shipped: a design, its decisions, catalogues of faults and laws, what was
read or measured elsewhere. ``specs/sources.md`` says in one sentence what each of them says, so that a source can be
followed by whoever has only this repository.

Rules for this file: as for ``tracing``, which calls it; it reads text only, and nothing of the project.
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
        | the\ existing\ (?:operator|driver|API|admission\ rules|defaults)
    )\b (?: ,?\ (?P<titles>"[^"]+"(?:\ and\ "[^"]+")*) )?""",
    re.VERBOSE,
)
_OPENING: Final = re.compile(r"(?:^|; )(?P<title>\"[^\"]+\")")
_TITLE: Final = re.compile(r"\"[^\"]+\"")
_RULE: Final = re.compile(r"\b[A-Z]{2}-\d{3}\b")
_FILE: Final = re.compile(r"\bspecs/(?:decisions/\d{4}|\w+\.md)|\bdecision (?P<number>\d{4})\b")


def entries_of(text: str) -> list[str]:
    """What ``specs/sources.md`` has a sentence for, in its order."""
    return [match["key"] for line in text.split("\n- ") if (match := _ENTRY.match(f"- {line.removeprefix('- ')}"))]


def named_in(source: str) -> Iterator[str]:
    """Everything that a ``source:`` names by a number or a title, each as ``specs/sources.md`` calls it.

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
