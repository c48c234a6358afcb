"""Format problems of spec files, which the parser of the product reads over.

As in ``tracing``, problems are collected and never raised.
"""

import hashlib
import re
from collections import Counter
from collections.abc import Iterator
from typing import Final

from grove_shell.catalogue.specification_rules import (
    HEADING,
    ITEM,
    RULE_HEADING,
    RetiredRule,
    SpecificationRule,
    parse_retired_rules,
    parse_specification_rules,
)

KINDS: Final = frozenset({"decision", "invariant", "admission", "progress", "naming"})
EXCUSES: Final = ("open", "waived", "by construction")
NOT_A_RULE: Final = frozenset({"known limits", "gone"})

LONGEST_RULE: Final = 50
"""Words of a rule."""

LONGEST_BECAUSE: Final = 60
"""Words of a ``because``. What it would require beyond its rule stands in the tables of the spec."""

_LIKE_A_RULE: Final = re.compile(r"#+\s*[A-Za-z]{2}-?\d")
_ID: Final = re.compile(r"[A-Z]{2}-\d{3}")


def excuse_of(rule: SpecificationRule) -> str:
    """The reason that the spec gives for a missing test; empty where it gives none."""
    return next((f"{key}: {rule.items[key]}" for key in EXCUSES if rule.items.get(key)), "")


def digest_of(rule: SpecificationRule) -> str:
    """Eight hexadecimal digits that change with the words of the sentence, and not with its line breaks."""
    return hashlib.sha256(" ".join(rule.text.split()).encode()).hexdigest()[:8]


def checked_retired_rules_in(text: str, file: str) -> tuple[list[RetiredRule], list[str]]:
    """All lines of the tables of given-up numbers, and their format problems."""
    found = parse_retired_rules(text, file)
    problems = [
        f"{rule.place}: {rule.id} must say which rule has it now, or one of {sorted(NOT_A_RULE)}"
        for rule in found
        if not _ID.fullmatch(rule.now) and rule.now not in NOT_A_RULE
    ]
    read = {rule.place for rule in found}
    problems += [
        f"{file}:{number}: write '| XX-000 | title | XX-001 |', not {line!r}"
        for number, line in enumerate(text.splitlines(), 1)
        if line.startswith("|") and not line.startswith(("| rule ", "|---")) and f"{file}:{number}" not in read
    ]
    return [rule for rule in found if _ID.fullmatch(rule.now) or rule.now in NOT_A_RULE], problems


def checked_rules_in(text: str, file: str) -> tuple[list[SpecificationRule], list[str]]:
    """All rules of one spec file, and its format problems."""
    found = parse_specification_rules(text, file)
    problems = [f"{rule.place}: {rule.id} {fault}" for rule in found for fault in _faults_of(rule)]
    headings = [*HEADING.finditer(text)]
    ends = [*(heading.start() for heading in headings[1:]), len(text)]
    for heading, end in zip(headings, ends, strict=True):
        place, rule = f"{file}:{text.count(chr(10), 0, heading.start()) + 1}", RULE_HEADING.fullmatch(heading[0])
        if rule is None:
            if _LIKE_A_RULE.match(heading[0]):
                problems.append(f"{place}: write a rule's heading as '### XX-000 — Title', not {heading[0]!r}")
            continue
        keys = Counter(key for key, _ in ITEM.findall(text[heading.end() : end]))
        problems += [f"{place}: {rule['id']} says '{key}' twice" for key, times in keys.items() if times > 1]
    return found, problems


def _faults_of(rule: SpecificationRule) -> Iterator[str]:
    if not rule.text:
        yield "has no sentence in a quote block"
    if rule.rule_kind not in KINDS:
        yield f"is of kind '{rule.rule_kind}', which is none of {', '.join(sorted(KINDS))}"
    elif "MUST" not in rule.text:
        yield "has no MUST in its sentence"
    because = rule.items.get("because", "")
    for what, words, most in (("sentence", rule.text, LONGEST_RULE), ("because", because, LONGEST_BECAUSE)):
        if len(words.split()) > most:
            yield f"has a {what} of {len(words.split())} words, more than {most}"
    if "MUST" in because:
        yield "requires something in its because"
    for key in EXCUSES:
        if key in rule.items and not rule.items[key]:
            yield f"says '{key}' without saying why"
