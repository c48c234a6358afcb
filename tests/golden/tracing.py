"""Traces each rule of ``specs/`` to the code, the tests and the golden cases that cite it, and back.

``python -m tests.golden.tracing`` prints the trace matrix. ``--write`` writes it to ``specs/trace.txt``.

This module reads text and syntax trees and imports nothing that it traces but the parser of the spec files, so it works
while the project does not.
Problems are collected and never raised, so one run reports all of them.
"""

import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Final

from grove_shell.catalogue.specification_rules import RetiredRule, SpecificationRule
from tests.golden.citations import (
    Citation,
    cited_in,
    guarantees_in,
    members_in,
    mentions_in,
    quotes_in,
    rows_in,
    rules_in_name,
    rules_shown_in,
)
from tests.golden.sources import FILE as SOURCES
from tests.golden.sources import source_entries, sources_named_in
from tests.golden.spec_rules import NOT_A_RULE, checked_retired_rules_in, checked_rules_in, digest_of, excuse_of

ROOT: Final = Path(__file__).parents[2]
RETIRED: Final = "specs/retired.md"

HAS_MEMBER: Final = frozenset({"decision", "admission"})

_ID: Final = re.compile(r"[A-Z]{2}-\d{3}")


@dataclass(frozen=True, kw_only=True)
class Trace:
    """Rules and everything that cites them.

    Attributes:
        rules: the rules, in the order of the files.
        retired: the numbers that were given up.
        members: members of rule enums.
        tests: a citation for each test and rule.
        quotes: test classes that are named after a rule, with the sentence in their docstring.
        cases: golden cases that are named after a rule.
        shown: paths of the golden cases whose plan has a reason of a rule, by rule.
        case_names: the names of all golden cases.
        mentions: rule numbers anywhere else in the code.
        rows: rows of times, limits and cases in the specs, each of a rule.
        guarantees: place and text of each sentence under "## Guarantees".
        sources: the entries of ``specs/sources.md``.
        files: files of ``specs/``, as a ``source:`` names them.
        faults: problems with the format of the specs.
    """

    rules: tuple[SpecificationRule, ...]
    retired: tuple[RetiredRule, ...] = ()
    members: tuple[Citation, ...] = ()
    tests: tuple[Citation, ...] = ()
    quotes: tuple[tuple[Citation, str], ...] = ()
    cases: tuple[Citation, ...] = ()
    shown: Mapping[str, frozenset[str]] = field(default_factory=dict)
    case_names: frozenset[str] = frozenset()
    mentions: tuple[Citation, ...] = ()
    rows: tuple[Citation, ...] = ()
    guarantees: tuple[tuple[str, str], ...] = ()
    sources: tuple[str, ...] = ()
    files: frozenset[str] = frozenset()
    faults: tuple[str, ...] = ()

    @cached_property
    def by_id(self) -> dict[str, SpecificationRule]:
        return {rule.id: rule for rule in self.rules}

    @cached_property
    def golden(self) -> dict[str, frozenset[str]]:
        """Paths of the golden cases of each rule: those named after it, and those whose plan has a reason of it."""
        found: defaultdict[str, set[str]] = defaultdict(set)
        for case in self.cases:
            found[case.id].add(case.place)
        for requirement, places in self.shown.items():
            found[requirement] |= places
        return {requirement: frozenset(places) for requirement, places in found.items()}

    @cached_property
    def tested(self) -> Counter[str]:
        return Counter(test.id for test in self.tests)

    def badly_written(self) -> list[str]:
        """Format problems, rule numbers used twice, and prefixes that several files use."""
        duplicates = [
            f"{rule.place}: {rule.id} is already used at {self.by_id[rule.id].place}"
            for rule in self.rules
            if self.by_id[rule.id] is not rule
        ]
        counted = Counter(rule.id for rule in self.retired)
        duplicates += [
            f"{rule.place}: {rule.id} is already used"
            for rule in self.retired
            if rule.id in self.by_id or counted[rule.id] > 1
        ]
        files_of: defaultdict[str, set[str]] = defaultdict(set)
        for rule in self.rules:
            files_of[rule.id[:2]].add(rule.place.rpartition(":")[0])
        spread = [f"{', '.join(sorted(files))}: both number {key}" for key, files in files_of.items() if len(files) > 1]
        return sorted([*self.faults, *duplicates, *spread])

    def missing_examples(self) -> list[str]:
        """Examples that a rule names and that do not exist."""
        return [
            f"{rule.place}: {rule.id} names the example {name}, which is no golden case"
            for rule in self.rules
            for name in re.split(r"[,;\s]+", rule.items.get("example", ""))
            if name and name not in self.case_names
        ]

    def source_problems(self) -> list[str]:
        """Sources of rules without an entry in ``specs/sources.md``, and entries that no rule names."""
        known = {*self.sources, *self.files, *self.by_id}
        named = {rule.id: dict.fromkeys(sources_named_in(rule.items.get("source", ""))) for rule in self.rules}
        cited = {name for names in named.values() for name in names}
        counted = Counter(self.sources)
        return [
            *(
                f"{self.by_id[number].place}: {number} rests on {name}, which is not in {SOURCES}, no rule and no file"
                for number, names in named.items()
                for name in names
                if name not in known
            ),
            *(f"{SOURCES}: no rule rests on {name}" for name in counted if name not in cited),
            *(f"{SOURCES}: {name} has two entries" for name, times in counted.items() if times > 1),
        ]

    def unknown_or_retired(self) -> list[str]:
        """Citations of rules that no spec states or that are retired."""
        shown = [
            Citation(requirement, place, "its plan")
            for requirement, places in self.shown.items()
            for place in sorted(places)
        ]
        heirs = [Citation(rule.now, rule.place, rule.id) for rule in self.retired if rule.now not in NOT_A_RULE]
        retired = {rule.id: rule.now for rule in self.retired}
        wrong = []
        for citation in sorted({*self.members, *self.tests, *self.cases, *self.mentions, *self.rows, *shown, *heirs}):
            if citation.id in retired:
                wrong.append(f"{citation}, which is retired (now: {retired[citation.id]})")
            elif citation.id not in self.by_id:
                wrong.append(f"{citation}, which no spec states")
        return wrong

    def untested(self) -> list[str]:
        """Rules without a test that do not give a reason for it."""
        return [
            f"{rule.place}: {rule.id} — {rule.title}"
            for rule in self.rules
            if not excuse_of(rule) and not self.tested[rule.id] and rule.id not in self.golden
        ]

    def without_one_member(self) -> list[str]:
        """Decision and admission rules without exactly one enum member."""
        members: defaultdict[str, list[Citation]] = defaultdict(list)
        for member in self.members:
            members[member.id].append(member)
        wrong = []
        for rule in self.rules:
            own = members[rule.id]
            if rule.rule_kind not in HAS_MEMBER or len(own) == 1:
                continue
            if own:
                places = ", ".join(f"{member.name} ({member.place})" for member in own)
                wrong.append(f"{rule.place}: {rule.id} has {len(own)} members: {places}")
            elif "open" not in rule.items:
                wrong.append(f"{rule.place}: {rule.id} ({rule.rule_kind}) has no member in any rules.py")
        return wrong

    def misquoted(self) -> list[str]:
        """Test classes whose docstring is not the sentence of their rule, or that quote it a second time."""
        wrong = [
            f"{claim.place}: {claim.name} does not begin with the sentence of {claim.id}: {_even(rule.text)}"
            for claim, quoted in self.quotes
            if (rule := self.by_id.get(claim.id)) is not None and _even(quoted) != _even(rule.text)
        ]
        first = {claim.id: claim.place for claim, _ in reversed(self.quotes)}
        return wrong + [
            f"{claim.place}: {claim.name} says the sentence of {claim.id} a second time, after {first[claim.id]}"
            for claim, _ in self.quotes
            if claim.place != first[claim.id]
        ]

    def guarantees_without_rule(self) -> list[str]:
        """Guarantees that name no valid rule, and specs without guarantees."""
        wrong = []
        for place, words in self.guarantees:
            named = _ID.findall(words)
            if not words:
                wrong.append(f"{place}: guarantees nothing")
            elif not named:
                wrong.append(f"{place}: no rule keeps '{words}'")
            wrong += [
                f"{place}: {number} is to keep '{words}', and does not hold"
                for number in named
                if number not in self.by_id
            ]
        return wrong

    def reasons_in_no_plan(self) -> list[str]:
        """Members of decision rules that are a reason in no golden plan."""
        return [
            f"{member.place}: {member.name} ({member.id}) is the reason of nothing in tests/golden"
            for member in self.members
            if (rule := self.by_id.get(member.id)) is not None
            and rule.rule_kind == "decision"
            and member.id not in self.shown
        ]

    def text(self) -> str:
        """The trace matrix: a line of totals for each prefix, then a line for each rule, sorted by number."""
        names: defaultdict[str, list[str]] = defaultdict(list)
        for member in self.members:
            names[member.id].append(member.name)
        lines = [
            "# Generated by: python -m tests.golden.tracing --write",
            "# prefix, rules that hold, members of rules.py, golden cases and tests that cite one, rules with neither",
            *self._sums(),
            "# number, digest of the sentence, member of rules.py, golden cases, other tests, title",
        ]
        for rule in sorted(self.by_id.values(), key=lambda rule: rule.id):
            known_as = ",".join(names[rule.id]) or "-"
            golden, tested = len(self.golden.get(rule.id, ())), self.tested[rule.id]
            excuse = f" [{found}]" if (found := excuse_of(rule)) else ""
            lines.append(
                f"{rule.id} {digest_of(rule)}  rule {known_as:<34} golden {golden:>2}  tests {tested:>2}  "
                f"{rule.title}{excuse}"
            )
        return "\n".join(lines) + "\n"

    def _sums(self) -> Iterator[str]:
        """Totals for each prefix, in alphabetical order: thinly tested areas stand out."""
        for prefix in sorted({number[:2] for number in self.by_id}):
            own = [number for number in self.by_id if number.startswith(prefix)]
            golden = sum(len(self.golden.get(number, ())) for number in own)
            tested = sum(self.tested[number] for number in own)
            neither = sum(number not in self.golden and not self.tested[number] for number in own)
            members = sum(member.id in own for member in self.members)
            yield (
                f"# {prefix}  rules {len(own):>3}  members {members:>3}  golden {golden:>4}  tests {tested:>4}  "
                f"neither {neither:>2}"
            )


def _even(text: str) -> str:
    """A sentence on one line with names in single backticks, for comparing specs with docstrings."""
    return " ".join(text.replace("``", "`").split())


def trace_of(root: Path = ROOT) -> Trace:
    """Read the specs, code, tests and golden cases of a checkout."""

    def read(path: Path) -> tuple[str, str]:
        return path.read_text(encoding="utf-8"), path.relative_to(root).as_posix()

    rules: list[SpecificationRule] = []
    faults: list[str] = []
    guarantees: list[tuple[str, str]] = []
    rows: list[Citation] = []
    for path in sorted((root / "specs").glob("*.md")):
        more_rules, more_faults = checked_rules_in(*read(path))
        rules += more_rules
        faults += more_faults
        if more_rules:
            guarantees += guarantees_in(*read(path))
            rows += rows_in(*read(path))
    retired, more_faults = checked_retired_rules_in(*read(root / RETIRED))
    faults += more_faults
    test_files = [read(path) for path in sorted((root / "tests").rglob("test_*.py"))]
    prefixes = frozenset(rule.id[:2] for rule in rules)

    code = [read(path) for package in ("grove_core", "grove_shell") for path in sorted((root / package).rglob("*.py"))]
    folders = sorted(path.parent for path in (root / "tests" / "golden").rglob("given.yaml"))
    cases: list[Citation] = []
    shown: defaultdict[str, set[str]] = defaultdict(set)
    for folder in folders:
        place = folder.relative_to(root).as_posix()
        cases += [Citation(requirement, place, "its name") for requirement in rules_in_name(folder.name)]
        plan = folder / "plan.yaml"
        for requirement in rules_shown_in(plan.read_text(encoding="utf-8")) if plan.exists() else ():
            shown[requirement].add(place)

    return Trace(
        rules=tuple(rules),
        retired=tuple(retired),
        members=tuple(
            member
            for source, file in code
            if file.startswith("grove_core/") and file.endswith("/rules.py")
            for member in members_in(source, file)
        ),
        tests=tuple(test for file in test_files for test in cited_in(*file)),
        quotes=tuple(claim for file in test_files for claim in quotes_in(*file)),
        cases=tuple(cases),
        shown={requirement: frozenset(places) for requirement, places in shown.items()},
        case_names=frozenset(folder.name for folder in folders),
        mentions=tuple(mention for source, file in code for mention in mentions_in(source, file, prefixes)),
        rows=tuple(rows),
        guarantees=tuple(guarantees),
        sources=tuple(source_entries((root / SOURCES).read_text(encoding="utf-8"))),
        files=frozenset(
            (
                *(path.relative_to(root).as_posix() for path in (root / "specs").glob("*.md")),
                *(f"specs/decisions/{path.name[:4]}" for path in (root / "specs" / "decisions").glob("*.md")),
            )
        ),
        faults=tuple(faults),
    )


def main(arguments: list[str]) -> int:
    """Print the trace matrix, or write it."""
    trace = trace_of()
    text = trace.text()
    if arguments == ["--write"]:
        (ROOT / "specs" / "trace.txt").write_text(text, encoding="utf-8")
    elif arguments:
        sys.stderr.write("usage: python -m tests.golden.tracing [--write]\n")
        return 64
    else:
        sys.stdout.write(text)
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
