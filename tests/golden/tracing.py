"""From each sentence of ``specs/`` to the code, the tests and the stories that claim it, and back.

``python -m tests.golden.tracing`` prints the matrix, ``--write`` puts it into ``specs/trace.txt``, and the rules as the
program has them with it into ``grove_shell/catalogue/rules.json``.

Rules for this file: it reads text and syntax trees only and imports nothing of the project, so that it also works while
the project does not; problems are collected and never raised, so that one run names all of them.
"""

import ast
import hashlib
import json
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[2]
CATALOGUE: Final = "grove_shell/catalogue/rules.json"

KINDS: Final = frozenset({"decision", "invariant", "admission", "progress", "naming", "assumption"})
HAS_MEMBER: Final = frozenset({"decision", "admission"})
EXCUSES: Final = ("open", "waived", "by construction", "retired")

_HEADING: Final = re.compile(r"### (?P<id>[A-Z]{2}-\d{3}) — (?P<title>\S.*)")
_LIKE_A_RULE: Final = re.compile(r"#+\s*[A-Za-z]{2}-?\d")
_ITEM: Final = re.compile(r"- (?P<key>[a-z][a-z ]*):(?P<value>.*)")
_IN_NAME: Final = re.compile(r"(?:test_)?(?P<prefix>[a-z]{2})(?P<number>\d{3})(?:_|$)")
_IN_CLASS: Final = re.compile(r"Test(?P<prefix>[A-Z]{2})(?P<number>\d{3})(?![0-9])")
_IN_PLAN: Final = re.compile(r"""\brequirement["']?:\s*["']?(?P<id>[A-Z]{2}-\d{3})\b""")
_MENTION: Final = re.compile(r"\b[A-Z]{2}-\d{3}\b")
_ID: Final = re.compile(r"[A-Z]{2}-\d{3}")


# ------------------------------------------------------------------------------------------ sentences


@dataclass(frozen=True, kw_only=True)
class Sentence:
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
    def is_retired(self) -> bool:
        return "retired" in self.items

    @property
    def excuse(self) -> str:
        """Why there is no test, as the spec says it; empty where it says nothing."""
        return next((f"{key}: {self.items[key]}" for key in EXCUSES if self.items.get(key)), "")

    @property
    def digest(self) -> str:
        """Eight digits that change when a word of the sentence does, and not when a line is wrapped differently."""
        return hashlib.sha256(" ".join(self.text.split()).encode()).hexdigest()[:8]


def sentences_in(text: str, file: str) -> tuple[list[Sentence], list[str]]:
    """All rules of one spec file, and what is wrong with the way they are written."""
    found: list[Sentence] = []
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
        sentence = Sentence(id=heading["id"], title=heading["title"], text=quote, items=items, place=place)
        found.append(sentence)
        problems.extend(f"{place}: {sentence.id} {fault}" for fault in (*faults, *_faults_of(sentence)))
    return found, problems


def _body_of(lines: list[str]) -> tuple[str, dict[str, str], list[str]]:
    """Quote, items and faults of the lines below a heading."""
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


def _faults_of(sentence: Sentence) -> Iterator[str]:
    if not sentence.text:
        yield "has no sentence in a quote block"
    if sentence.kind not in KINDS:
        yield f"is of kind '{sentence.kind}', which is none of {', '.join(sorted(KINDS))}"
    elif sentence.kind != "assumption" and "MUST" not in sentence.text:
        yield "obliges nobody: its sentence has no MUST"
    for key in EXCUSES:
        if key in sentence.items and not sentence.items[key]:
            yield f"says '{key}' without saying why"
    if sentence.is_retired and not re.fullmatch(rf"by {_ID.pattern}", sentence.items["retired"]):
        yield "must say which rule took its place: '- retired: by XX-000'"


# ------------------------------------------------------------------------------------------ citations


@dataclass(frozen=True, order=True)
class Citation:
    """A place that claims to follow a rule.

    Attributes:
        code: the reason code of a member of ``rules.py``.
    """

    id: str
    place: str
    name: str
    code: str = ""

    def __str__(self) -> str:
        return f"{self.place}: {self.name} cites {self.id}"


def members_in(source: str, file: str) -> list[Citation]:
    """Members of rule enums: ``NAME = Clause("XX-000", ...)`` in a class body."""
    found = []
    for owner in ast.walk(ast.parse(source)):
        for statement in owner.body if isinstance(owner, ast.ClassDef) else ():
            match statement:
                case ast.Assign(
                    targets=[ast.Name(id=name)],
                    value=ast.Call(func=ast.Name(id="Clause") | ast.Attribute(attr="Clause")) as clause,
                ) if requirement := _requirement_of(clause):
                    code = _code_of(clause) or "".join(word.capitalize() for word in name.split("_"))
                    found.append(Citation(requirement, f"{file}:{statement.lineno}", name, code))
    return found


def _code_of(clause: ast.Call) -> str:
    given = (keyword.value for keyword in clause.keywords if keyword.arg == "code")
    return next((str(value.value) for value in given if isinstance(value, ast.Constant)), "")


def _requirement_of(clause: ast.Call) -> str:
    given = [*clause.args[:1], *(keyword.value for keyword in clause.keywords if keyword.arg == "requirement")]
    return next((str(value.value) for value in given if isinstance(value, ast.Constant)), "")


def cited_in(source: str, file: str) -> list[Citation]:
    """Tests by the rules that their name, their class or a ``req`` mark cites; one citation for a test and a rule."""
    tree = ast.parse(source)
    whole_file = {
        requirement
        for statement in tree.body
        if isinstance(statement, ast.Assign)
        and any(isinstance(target, ast.Name) and target.id == "pytestmark" for target in statement.targets)
        for requirement in _marks_in([statement.value])
    }
    return sorted(_tests_of(tree.body, file, "", whole_file))


def _tests_of(body: list[ast.stmt], file: str, owner: str, inherited: set[str]) -> Iterator[Citation]:
    for node in body:
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) if name.startswith("test"):
                for requirement in inherited | _cited_by(_IN_NAME.match(name)) | _marks_in(node.decorator_list):
                    yield Citation(requirement, f"{file}:{node.lineno}", f"{owner}{name}")
            case ast.ClassDef(name=name):
                cited = _cited_by(_IN_CLASS.match(name)) | _marks_in(node.decorator_list)
                yield from _tests_of(node.body, file, f"{owner}{name}.", inherited | cited)
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Attribute(attr="TestCase")):
                for requirement in inherited | _cited_by(_IN_CLASS.match(name)):
                    yield Citation(requirement, f"{file}:{node.lineno}", f"{owner}{name}")


def _cited_by(match: re.Match[str] | None) -> set[str]:
    return {f"{match['prefix'].upper()}-{match['number']}"} if match else set()


def _marks_in(nodes: Iterable[ast.expr]) -> set[str]:
    """Arguments of every ``pytest.mark.req(...)`` in these expressions."""
    return {
        str(argument.value) if isinstance(argument, ast.Constant) else ast.unparse(argument)
        for outer in nodes
        for node in ast.walk(outer)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "req"
        for argument in node.args
    }


def shown_in(plan: str) -> set[str]:
    """The rules whose reasons a saved plan shows."""
    return {match["id"] for match in _IN_PLAN.finditer(plan)}


def mentions_in(source: str, file: str, prefixes: frozenset[str]) -> list[Citation]:
    """Numbers in comments, docstrings and messages, of areas that have a spec."""
    return [
        Citation(number, f"{file}:{line_number}", "a line")
        for line_number, line in enumerate(source.splitlines(), start=1)
        for number in _MENTION.findall(line)
        if number[:2] in prefixes
    ]


# --------------------------------------------------------------------------------------------- matrix


@dataclass(frozen=True, kw_only=True)
class Trace:
    """Rules and everything that cites them.

    Attributes:
        sentences: the rules, in the order of the files.
        members: members of rule enums.
        tests: a citation for each test and rule.
        cases: golden cases, by the rule in their name.
        stories: names of the golden cases that show a reason of a rule in their plan, by rule.
        folders: the names of all golden cases.
        mentions: numbers that stand anywhere else in the code.
        faults: what is wrong with the way the specs are written.
    """

    sentences: tuple[Sentence, ...]
    members: tuple[Citation, ...] = ()
    tests: tuple[Citation, ...] = ()
    cases: tuple[Citation, ...] = ()
    stories: Mapping[str, frozenset[str]] = field(default_factory=dict)
    folders: frozenset[str] = frozenset()
    mentions: tuple[Citation, ...] = ()
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
        """The matrix: a line for each rule, sorted by number."""
        names: defaultdict[str, list[str]] = defaultdict(list)
        for member in self.members:
            names[member.id].append(member.name)
        lines = [
            "# Generated by: python -m tests.golden.tracing --write",
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


# ---------------------------------------------------------------------------------------------- files


def trace_of(root: Path = ROOT) -> Trace:
    """Read specs, code, tests and golden cases of a checkout."""

    def read(path: Path) -> tuple[str, str]:
        return path.read_text(encoding="utf-8"), path.relative_to(root).as_posix()

    sentences: list[Sentence] = []
    faults: list[str] = []
    for path in sorted((root / "specs").glob("*.md")):
        more_sentences, more_faults = sentences_in(*read(path))
        sentences += more_sentences
        faults += more_faults
    prefixes = frozenset(sentence.id[:2] for sentence in sentences)

    code = [read(path) for package in ("grove_core", "grove_shell") for path in sorted((root / package).rglob("*.py"))]
    folders = sorted(path.parent for path in (root / "tests" / "golden").rglob("given.yaml"))
    cases: list[Citation] = []
    stories: defaultdict[str, set[str]] = defaultdict(set)
    for folder in folders:
        place = folder.relative_to(root).as_posix()
        cases += [Citation(requirement, place, "its name") for requirement in _cited_by(_IN_NAME.match(folder.name))]
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
        tests=tuple(test for path in sorted((root / "tests").rglob("test_*.py")) for test in cited_in(*read(path))),
        cases=tuple(cases),
        stories={requirement: frozenset(places) for requirement, places in stories.items()},
        folders=frozenset(folder.name for folder in folders),
        mentions=tuple(mention for source, file in code for mention in mentions_in(source, file, prefixes)),
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
