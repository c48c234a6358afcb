"""Parses spec files: a rule is a heading, a sentence in a quote block and a list; given-up numbers are in tables."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

RETIRED_FILE: Final = "retired.md"
HEADING: Final = re.compile(r"^#.*$", re.MULTILINE)
RULE_HEADING: Final = re.compile(r"### (?P<id>[A-Z]{2}-\d{3}) — (?P<title>\S.*?)\s*")
ITEM: Final = re.compile(r"^- ([a-z][a-z ]*):(.*(?:\n  +\S.*)*)", re.MULTILINE)
_QUOTE: Final = re.compile(r"^>(.*)$", re.MULTILINE)
_ROW: Final = re.compile(r"^\| ([A-Z]{2}-\d{3}) \| ([^|]+) \| ([^|]+) \|$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class SpecificationRule:
    """One rule as a spec file states it.

    Attributes:
        id: its number, e.g. ``GT-033``.
        text: the sentence, on one line.
        items: the list below it, by key; values are on one line.
        place: file and line.
    """

    id: str
    title: str
    text: str
    items: Mapping[str, str]
    place: str

    @property
    def kind(self) -> str:
        """``decision``, ``admission``, ``invariant``, ``progress``, ``naming`` or ``assumption``."""
        return self.items.get("kind", "")

    @property
    def replaced_rule_number(self) -> str:
        """Number of the rule of ``design`` that it replaces; empty without one."""
        return self.items.get("instead of", "")

    @property
    def generations(self) -> tuple[str, ...]:
        """The generations of the Go operator's rules that have it; empty for all of them, and for other rules."""
        return tuple(filter(None, self.items.get("generations", "").split(", ")))


@dataclass(frozen=True, slots=True)
class RetiredRule:
    """A number that was given up; ``now`` is the number of the rule that has it, ``known limits`` or ``gone``."""

    id: str
    title: str
    now: str
    place: str


def parse_specification_rules(text: str, file: str) -> list[SpecificationRule]:
    """Return all rules of one spec file, in its order."""
    found, line, before = [], 1, 0
    headings = [*HEADING.finditer(text)]
    ends = [*(heading.start() for heading in headings[1:]), len(text)]
    for heading, end in zip(headings, ends, strict=True):
        rule = RULE_HEADING.fullmatch(heading[0])
        if rule is None:
            continue
        line, before = line + text.count("\n", before, heading.start()), heading.start()
        body = text[heading.end() : end]
        quote = " ".join(part.strip() for part in _QUOTE.findall(body))
        items = {key: " ".join(value.split()) for key, value in ITEM.findall(body)}
        found.append(SpecificationRule(rule["id"], rule["title"], quote, items, f"{file}:{line}"))
    return found


def retired_rules_in(text: str, file: str) -> list[RetiredRule]:
    """Return the rows of the tables of given-up numbers."""
    return [
        RetiredRule(row[1], row[2], row[3], f"{file}:{text[: row.start()].count(chr(10)) + 1}")
        for row in _ROW.finditer(text)
    ]


def specification_folder() -> Path:
    """Return the folder of the spec files: in the wheel that of this package, in a checkout the one beside it."""
    packaged = Path(__file__).with_name("specs")
    return packaged if packaged.is_dir() else Path(__file__).parents[2] / "specs"
