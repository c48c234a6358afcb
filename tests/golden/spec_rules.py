"""Parses the rules of a spec file (heading, quote, list) and reports format problems.

As in ``tracing``, problems are collected and never raised.
"""

import hashlib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

KINDS: Final = frozenset({"decision", "invariant", "admission", "progress", "naming", "assumption"})
EXCUSES: Final = ("open", "waived", "by construction")
NOT_A_RULE: Final = frozenset({"known limits", "gone"})

_HEADING: Final = re.compile(r"### (?P<id>[A-Z]{2}-\d{3}) — (?P<title>\S.*)")
_LIKE_A_RULE: Final = re.compile(r"#+\s*[A-Za-z]{2}-?\d")
_ITEM: Final = re.compile(r"- (?P<key>[a-z][a-z ]*):(?P<value>.*)")
_ID: Final = re.compile(r"[A-Z]{2}-\d{3}")


@dataclass(frozen=True, kw_only=True)
class SpecRule:
    """One rule as a spec file states it.

    Attributes:
        id: its number, e.g. ``GT-033``.
        title: the words after the dash.
        text: the quote, on one line.
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
        return self.items.get("kind", "")

    @property
    def excuse(self) -> str:
        """The reason that the spec gives for a missing test; empty where it gives none."""
        return next((f"{key}: {self.items[key]}" for key in EXCUSES if self.items.get(key)), "")

    @property
    def digest(self) -> str:
        """Eight hexadecimal digits that change with the words of the sentence, and not with its line breaks."""
        return hashlib.sha256(" ".join(self.text.split()).encode()).hexdigest()[:8]


@dataclass(frozen=True, kw_only=True)
class RetiredRule:
    """A number that was given up.

    Attributes:
        id: its number, e.g. ``OP-004``.
        title: the title that the rule had.
        now: number of the rule that has it now, or one of ``NOT_A_RULE``.
        place: file and line.
    """

    id: str
    title: str
    now: str
    place: str


def retired_rules_in(text: str, file: str) -> tuple[list[RetiredRule], list[str]]:
    """All lines of the tables of given-up numbers, and their format problems."""
    found: list[RetiredRule] = []
    problems: list[str] = []
    for number, line in enumerate(text.splitlines(), 1):
        if not line.startswith("|") or line.startswith(("| rule ", "|---")):
            continue
        place, cells = f"{file}:{number}", [cell.strip() for cell in line.strip().strip("|").split("|")]
        if len(cells) != len(("rule", "title", "now")) or not _ID.fullmatch(cells[0]):
            problems.append(f"{place}: write '| XX-000 | title | XX-001 |', not {line!r}")
        elif not _ID.fullmatch(cells[2]) and cells[2] not in NOT_A_RULE:
            problems.append(f"{place}: {cells[0]} must say which rule has it now, or one of {sorted(NOT_A_RULE)}")
        else:
            found.append(RetiredRule(id=cells[0], title=cells[1], now=cells[2], place=place))
    return found, problems


def spec_rules_in(text: str, file: str) -> tuple[list[SpecRule], list[str]]:
    """All rules of one spec file, and its format problems."""
    found: list[SpecRule] = []
    problems: list[str] = []
    lines = text.splitlines()
    starts = [number for number, line in enumerate(lines) if line.startswith("#")] + [len(lines)]
    for start, end in pairwise(starts):
        place = f"{file}:{start + 1}"
        heading = _HEADING.fullmatch(lines[start].rstrip())
        if heading is None:
            if _LIKE_A_RULE.match(lines[start]):
                problems.append(f"{place}: write a rule's heading as '### XX-000 — Title', not {lines[start]!r}")
            continue
        quote, items, faults = _body_of(lines[start + 1 : end])
        rule = SpecRule(id=heading["id"], title=heading["title"], text=quote, items=items, place=place)
        found.append(rule)
        problems.extend(f"{place}: {rule.id} {fault}" for fault in (*faults, *_faults_of(rule)))
    return found, problems


def _body_of(lines: list[str]) -> tuple[str, dict[str, str], list[str]]:
    """Quote, list items and format problems of the lines below a heading."""
    quote: list[str] = []
    items: dict[str, str] = {}
    faults: list[str] = []
    last = ""
    for line in lines:
        item = _ITEM.fullmatch(line.rstrip())
        if line.startswith(">"):
            quote.append(line[1:].strip())
        elif item is not None:
            last = item["key"]
            if last in items:
                faults.append(f"says '{last}' twice")
            items[last] = item["value"].strip()
        elif last and line.startswith("  ") and line.strip():
            items[last] = f"{items[last]} {line.strip()}".strip()
        else:
            last = ""
    return " ".join(quote), items, faults


def _faults_of(rule: SpecRule) -> Iterator[str]:
    if not rule.text:
        yield "has no sentence in a quote block"
    if rule.kind not in KINDS:
        yield f"is of kind '{rule.kind}', which is none of {', '.join(sorted(KINDS))}"
    elif rule.kind != "assumption" and "MUST" not in rule.text:
        yield "has no MUST in its sentence"
    for key in EXCUSES:
        if key in rule.items and not rule.items[key]:
            yield f"says '{key}' without saying why"
