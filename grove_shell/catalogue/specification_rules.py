"""Parses spec files, and finds rules by number, reason code and rule set.

A rule is a heading, a sentence in a quote block, a list, and rows in the tables of its file; given-up numbers are in
tables, too.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

from grove_core.areas.domain_cliques import rules as domain_cliques
from grove_core.areas.gang_termination import rules as gang_termination
from grove_core.areas.gang_termination.field import rules as field
from grove_core.areas.gang_termination.field.go_operator_rule_generations import RELEASES, generation_of_release
from grove_core.areas.mnnvl import rules as mnnvl
from grove_core.areas.mnnvl.field import rules as mnnvl_field
from grove_core.areas.mnnvl_scopes import rules as mnnvl_scopes
from grove_core.areas.scheduling import rules as scheduling
from grove_core.areas.topology import rules as topology
from grove_core.areas.workload import rules as workload
from grove_core.areas.workload.field import rules as workload_field
from grove_core.kernel.reasons import FORMER_CODES, Rule
from grove_core.plan import rules as planning
from grove_core.rule_sets import rules as sparing
from grove_core.rule_sets.go_operator import FIELD
from grove_core.rule_sets.rule_set_by_name import rule_set

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
        details: its times, limits and cases, from the tables of its file.
    """

    id: str
    title: str
    text: str
    items: Mapping[str, str]
    place: str
    details: tuple[str, ...] = ()

    @property
    def rule_kind(self) -> str:
        """``decision``, ``admission``, ``invariant``, ``progress`` or ``naming``."""
        return self.items.get("kind", "")

    @property
    def replaced_rule_number(self) -> str:
        """Number of the rule of ``design`` that it replaces; empty without one."""
        return self.items.get("instead of", "")

    @property
    def go_operator_generations(self) -> tuple[str, ...]:
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
    rows = _ROW.findall(text)
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
        details = tuple(f"{case}: {value}" for number, case, value in rows if number == rule["id"])
        found.append(SpecificationRule(rule["id"], rule["title"], quote, items, f"{file}:{line}", details))
    return found


def parse_retired_rules(text: str, file: str) -> list[RetiredRule]:
    """Return the rows of the tables of given-up numbers."""
    return [
        RetiredRule(row[1], row[2], row[3], f"{file}:{text[: row.start()].count(chr(10)) + 1}")
        for row in _ROW.finditer(text)
    ]


def specification_folder() -> Path:
    """Return the folder of the spec files: in the wheel that of this package, in a checkout the one beside it."""
    packaged = Path(__file__).with_name("specs")
    return packaged if packaged.is_dir() else Path(__file__).parents[2] / "specs"


_WITH_CODES: Final = (
    planning,
    gang_termination,
    field,
    workload,
    workload_field,
    mnnvl_field,
    mnnvl,
    mnnvl_scopes,
    scheduling,
    topology,
    domain_cliques,
    sparing,
)
_FIELD_PREFIX: Final = "GF-"


@cache
def specification_rules_by_number() -> Mapping[str, SpecificationRule]:
    """Return every rule by its number, in order."""
    found = (
        rule
        for path in specification_folder().glob("*.md")
        for rule in parse_specification_rules(path.read_text("utf-8"), path.name)
    )
    return {rule.id: rule for rule in sorted(found, key=lambda rule: rule.id)}


@cache
def retired_rules() -> Mapping[str, RetiredRule]:
    """Return every number that was given up."""
    text = (specification_folder() / RETIRED_FILE).read_text("utf-8")
    return {rule.id: rule for rule in parse_retired_rules(text, RETIRED_FILE)}


@cache
def reason_codes_by_rule_number() -> Mapping[str, str]:
    """Return number of a rule -> the reason code that plans show of it."""
    enums = (one for module in _WITH_CODES for one in vars(module).values() if isinstance(one, type))
    return {rule.requirement: rule.code for enum in enums if issubclass(enum, Rule) for rule in enum}


def go_operator_releases_of_generation(generation: str) -> tuple[str, ...]:
    """Return the releases of the Go operator with these rules, oldest first."""
    return tuple(release for release, found in RELEASES.items() if found.name == generation)


def go_operator_generations() -> tuple[str, ...]:
    """Return the generations of the Go operator's rules, oldest first."""
    return tuple(dict.fromkeys(found.name for found in RELEASES.values()))


def go_operator_generation_of(name: str) -> str:
    """Return the generation of a rule set; empty for the design. Raises KeyError for an unknown rule set."""
    kind, _, release = rule_set(name).name.partition("@")
    return generation_of_release(release).name if kind == FIELD else ""


def go_operator_rules_replacing_design(generation: str) -> tuple[SpecificationRule, ...]:
    """Return the rules of a generation of the Go operator that replace rules of the design."""
    return tuple(
        one
        for one in specification_rules_by_number().values()
        if one.id.startswith(_FIELD_PREFIX)
        and one.replaced_rule_number
        and (not one.go_operator_generations or generation in one.go_operator_generations)
    )


def find_rules_by_number_or_reason(word: str) -> tuple[SpecificationRule, ...]:
    """Return the rules with this number or reason code, also an earlier code, ignoring case."""
    asked, codes = word.casefold(), reason_codes_by_rule_number()
    asked = next((code.casefold() for former, code in FORMER_CODES.items() if former.casefold() == asked), asked)
    rules = specification_rules_by_number().values()
    return tuple(one for one in rules if asked and asked in {one.id.casefold(), codes.get(one.id, "").casefold()})
