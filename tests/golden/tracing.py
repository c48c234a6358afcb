"""From each sentence of ``specs/`` to the code, the tests and the stories that claim it, and back.

``python -m tests.golden.tracing`` prints the matrix, ``--write`` puts it into ``specs/trace.txt``, and the rules as the
program has them with it into ``grove_shell/catalogue/rules.json``.

Rules for this file: it reads text and syntax trees only and imports nothing that it traces, so that it also works while
the project does not; problems are collected and never raised, so that one run names all of them.
"""

import json
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Final

from tests.golden.citations import (
    Citation,
    cited_in,
    claims_in,
    members_in,
    mentions_in,
    named_by,
    promises_in,
    shown_in,
)
from tests.golden.sentences import Sentence, sentences_in
from tests.golden.sources import FILE as SOURCES
from tests.golden.sources import entries_of, named_in

ROOT: Final = Path(__file__).parents[2]
CATALOGUE: Final = "grove_shell/catalogue/rules.json"

HAS_MEMBER: Final = frozenset({"decision", "admission"})

_ID: Final = re.compile(r"[A-Z]{2}-\d{3}")


@dataclass(frozen=True, kw_only=True)
class Trace:
    """Rules and everything that cites them.

    Attributes:
        sentences: the rules, in the order of the files.
        members: members of rule enums.
        tests: a citation for each test and rule.
        claims: classes of tests that are named after a rule, with the sentence that they say it is.
        cases: golden cases, by the rule in their name.
        stories: names of the golden cases that show a reason of a rule in their plan, by rule.
        folders: the names of all golden cases.
        mentions: numbers that stand anywhere else in the code.
        promises: place and words of each sentence under "## Guarantees".
        sources: what ``specs/sources.md`` has a sentence for.
        files: files of ``specs/``, as a source calls them.
        faults: what is wrong with the way the specs are written.
    """

    sentences: tuple[Sentence, ...]
    members: tuple[Citation, ...] = ()
    tests: tuple[Citation, ...] = ()
    claims: tuple[tuple[Citation, str], ...] = ()
    cases: tuple[Citation, ...] = ()
    stories: Mapping[str, frozenset[str]] = field(default_factory=dict)
    folders: frozenset[str] = frozenset()
    mentions: tuple[Citation, ...] = ()
    promises: tuple[tuple[str, str], ...] = ()
    sources: tuple[str, ...] = ()
    files: frozenset[str] = frozenset()
    faults: tuple[str, ...] = ()

    @cached_property
    def by_id(self) -> dict[str, Sentence]:
        return {sentence.id: sentence for sentence in self.sentences}

    @cached_property
    def golden(self) -> dict[str, frozenset[str]]:
        """Places of the golden cases of each rule: named after it, or showing it."""
        found: defaultdict[str, set[str]] = defaultdict(set)
        for case in self.cases:
            found[case.id].add(case.place)
        for requirement, places in self.stories.items():
            found[requirement] |= places
        return {requirement: frozenset(places) for requirement, places in found.items()}

    @cached_property
    def tested(self) -> Counter[str]:
        return Counter(test.id for test in self.tests)

    def badly_written(self) -> list[str]:
        """Faults of form, numbers used twice, prefixes spread over files, examples that do not exist."""
        twice = [
            f"{sentence.place}: {sentence.id} is already used at {self.by_id[sentence.id].place}"
            for sentence in self.sentences
            if self.by_id[sentence.id] is not sentence
        ]
        homes: defaultdict[str, set[str]] = defaultdict(set)
        for sentence in self.sentences:
            homes[sentence.id[:2]].add(sentence.place.rpartition(":")[0])
        spread = [f"{', '.join(sorted(files))}: both number {key}" for key, files in homes.items() if len(files) > 1]
        return sorted([*self.faults, *twice, *spread])

    def lost_examples(self) -> list[str]:
        """Examples that a rule names and nobody wrote."""
        return [
            f"{sentence.place}: {sentence.id} names the example {name}, which is no golden case"
            for sentence in self.sentences
            for name in re.split(r"[,;\s]+", sentence.items.get("example", ""))
            if name and name not in self.folders and not sentence.is_retired
        ]

    def lost_sources(self) -> list[str]:
        """What a rule rests on and nobody can look up, and what can be looked up and no rule rests on."""
        known = {*self.sources, *self.files, *(one.id for one in self.sentences if not one.is_retired)}
        named = {
            sentence.id: dict.fromkeys(named_in(sentence.items.get("source", "")))
            for sentence in self.sentences
            if not sentence.is_retired
        }
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
            *(f"{SOURCES}: {name} stands there twice" for name, times in counted.items() if times > 1),
        ]

    def unknown_or_retired(self) -> list[str]:
        """Citations of rules that do not exist, or no longer."""
        stories = [
            Citation(requirement, place, "its plan")
            for requirement, places in self.stories.items()
            for place in sorted(places)
        ]
        heirs = [
            Citation(sentence.items["retired"].removeprefix("by "), sentence.place, sentence.id)
            for sentence in self.sentences
            if sentence.is_retired
        ]
        wrong = []
        for citation in sorted({*self.members, *self.tests, *self.cases, *self.mentions, *stories, *heirs}):
            sentence = self.by_id.get(citation.id)
            if sentence is None:
                wrong.append(f"{citation}, which no spec states")
            elif sentence.is_retired:
                wrong.append(f"{citation}, which is retired {sentence.items['retired']}")
        return wrong

    def untested(self) -> list[str]:
        """Rules that nothing tests and that do not say why."""
        return [
            f"{sentence.place}: {sentence.id} — {sentence.title}"
            for sentence in self.sentences
            if sentence.kind != "assumption"
            and not sentence.excuse
            and not self.tested[sentence.id]
            and sentence.id not in self.golden
        ]

    def without_one_member(self) -> list[str]:
        """Decision and admission rules that have no enum member, or several."""
        members: defaultdict[str, list[Citation]] = defaultdict(list)
        for member in self.members:
            members[member.id].append(member)
        wrong = []
        for sentence in self.sentences:
            own = members[sentence.id]
            if sentence.kind not in HAS_MEMBER or sentence.is_retired or len(own) == 1:
                continue
            if own:
                places = ", ".join(f"{member.name} ({member.place})" for member in own)
                wrong.append(f"{sentence.place}: {sentence.id} has {len(own)} members: {places}")
            elif "open" not in sentence.items:
                wrong.append(f"{sentence.place}: {sentence.id} ({sentence.kind}) has no member in any rules.py")
        return wrong

    def misquoted(self) -> list[str]:
        """Classes of tests that do not say the sentence of the rule they are named after, or say it a second time."""
        wrong = [
            f"{claim.place}: {claim.name} does not begin with the sentence of {claim.id}: {_even(sentence.text)}"
            for claim, told in self.claims
            if (sentence := self.by_id.get(claim.id)) is not None and _even(told) != _even(sentence.text)
        ]
        first = {claim.id: claim.place for claim, _ in reversed(self.claims)}
        return wrong + [
            f"{claim.place}: {claim.name} says the sentence of {claim.id} a second time, after {first[claim.id]}"
            for claim, _ in self.claims
            if claim.place != first[claim.id]
        ]

    def unkept(self) -> list[str]:
        """Guarantees that name no rule that keeps them, or one that does not hold, and specs that give none."""
        held = {sentence.id for sentence in self.sentences if not sentence.is_retired}
        wrong = []
        for place, words in self.promises:
            named = _ID.findall(words)
            if not words:
                wrong.append(f"{place}: guarantees nothing")
            elif not named:
                wrong.append(f"{place}: no rule keeps '{words}'")
            wrong += [
                f"{place}: {number} is to keep '{words}', and does not hold" for number in named if number not in held
            ]
        return wrong

    def never_shown(self) -> list[str]:
        """Members of decision rules that no golden plan gives as a reason."""
        return [
            f"{member.place}: {member.name} ({member.id}) is the reason of nothing in tests/golden"
            for member in self.members
            if (sentence := self.by_id.get(member.id)) is not None
            and sentence.kind == "decision"
            and member.id not in self.stories
        ]

    def text(self) -> str:
        """The matrix: a line for each prefix with its sums, then a line for each rule, sorted by number."""
        names: defaultdict[str, list[str]] = defaultdict(list)
        for member in self.members:
            names[member.id].append(member.name)
        lines = [
            "# Generated by: python -m tests.golden.tracing --write",
            "# prefix, rules that hold, members of rules.py, golden cases and tests that cite one, rules with neither",
            *self._sums(),
            "# number, digest of the sentence, member of rules.py, golden cases, other tests, title",
        ]
        for sentence in sorted(self.by_id.values(), key=lambda sentence: sentence.id):
            known_as = ",".join(names[sentence.id]) or "-"
            golden, tested = len(self.golden.get(sentence.id, ())), self.tested[sentence.id]
            excuse = f" [{sentence.excuse}]" if sentence.excuse else ""
            lines.append(
                f"{sentence.id} {sentence.digest}  rule {known_as:<34} golden {golden:>2}  tests {tested:>2}  "
                f"{sentence.title}{excuse}"
            )
        return "\n".join(lines) + "\n"

    def _sums(self) -> Iterator[str]:
        """What each prefix comes to, in the order of the alphabet: a thin area is seen, and a number that moves."""
        held = [sentence for sentence in self.by_id.values() if not sentence.is_retired]
        for prefix in sorted({sentence.id[:2] for sentence in held}):
            own = [sentence.id for sentence in held if sentence.id.startswith(prefix)]
            golden = sum(len(self.golden.get(number, ())) for number in own)
            tested = sum(self.tested[number] for number in own)
            neither = sum(number not in self.golden and not self.tested[number] for number in own)
            members = sum(member.id in own for member in self.members)
            yield (
                f"# {prefix}  rules {len(own):>3}  members {members:>3}  golden {golden:>4}  tests {tested:>4}  "
                f"neither {neither:>2}"
            )

    def catalogue(self) -> str:
        """The rules that hold, as the program has them with it: JSON, a line for each, in the order of the specs."""
        codes = {member.id: member.code for member in self.members}
        rules = (
            {
                "id": sentence.id,
                "title": sentence.title,
                "text": sentence.text,
                "kind": sentence.kind,
                "source": sentence.items.get("source", ""),
                "because": sentence.items.get("because", ""),
                "code": codes.get(sentence.id, ""),
                "instead_of": sentence.items.get("instead of", ""),
                "generations": sentence.items.get("generations", "").split(", "),
            }
            for sentence in sorted(self.by_id.values(), key=lambda sentence: sentence.id)
            if not sentence.is_retired
        )
        told = ({key: value for key, value in rule.items() if value not in ("", [""])} for rule in rules)
        lines = (json.dumps(rule, ensure_ascii=False) for rule in told)
        return "[\n" + ",\n".join(lines) + "\n]\n"


def _even(text: str) -> str:
    """As code and specifications write a sentence alike: in one line, names between single backticks."""
    return " ".join(text.replace("``", "`").split())


def trace_of(root: Path = ROOT) -> Trace:
    """Read specs, code, tests and golden cases of a checkout."""

    def read(path: Path) -> tuple[str, str]:
        return path.read_text(encoding="utf-8"), path.relative_to(root).as_posix()

    sentences: list[Sentence] = []
    faults: list[str] = []
    promises: list[tuple[str, str]] = []
    for path in sorted((root / "specs").glob("*.md")):
        more_sentences, more_faults = sentences_in(*read(path))
        sentences += more_sentences
        faults += more_faults
        promises += promises_in(*read(path)) if more_sentences else ()
    test_files = [read(path) for path in sorted((root / "tests").rglob("test_*.py"))]
    prefixes = frozenset(sentence.id[:2] for sentence in sentences)

    code = [read(path) for package in ("grove_core", "grove_shell") for path in sorted((root / package).rglob("*.py"))]
    folders = sorted(path.parent for path in (root / "tests" / "golden").rglob("given.yaml"))
    cases: list[Citation] = []
    stories: defaultdict[str, set[str]] = defaultdict(set)
    for folder in folders:
        place = folder.relative_to(root).as_posix()
        cases += [Citation(requirement, place, "its name") for requirement in named_by(folder.name)]
        plan = folder / "plan.yaml"
        for requirement in shown_in(plan.read_text(encoding="utf-8")) if plan.exists() else ():
            stories[requirement].add(place)

    return Trace(
        sentences=tuple(sentences),
        members=tuple(
            member
            for source, file in code
            if file.startswith("grove_core/") and file.endswith("/rules.py")
            for member in members_in(source, file)
        ),
        tests=tuple(test for file in test_files for test in cited_in(*file)),
        claims=tuple(claim for file in test_files for claim in claims_in(*file)),
        cases=tuple(cases),
        stories={requirement: frozenset(places) for requirement, places in stories.items()},
        folders=frozenset(folder.name for folder in folders),
        mentions=tuple(mention for source, file in code for mention in mentions_in(source, file, prefixes)),
        promises=tuple(promises),
        sources=tuple(entries_of((root / SOURCES).read_text(encoding="utf-8"))),
        files=frozenset(
            (
                *(path.relative_to(root).as_posix() for path in (root / "specs").glob("*.md")),
                *(f"specs/decisions/{path.name[:4]}" for path in (root / "specs" / "decisions").glob("*.md")),
            )
        ),
        faults=tuple(faults),
    )


def main(arguments: list[str]) -> int:
    """Print the matrix, or write it."""
    trace = trace_of()
    text = trace.text()
    if arguments == ["--write"]:
        (ROOT / "specs" / "trace.txt").write_text(text, encoding="utf-8")
        (ROOT / CATALOGUE).write_text(trace.catalogue(), encoding="utf-8")
    elif arguments:
        sys.stderr.write("usage: python -m tests.golden.tracing [--write]\n")
        return 64
    else:
        sys.stdout.write(text)
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
