"""Citations of rules in code, tests and golden cases: enum members, names, marks, docstrings and saved plans.

As in ``tracing``, nothing is imported and problems are not raised.
"""

import ast
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

_IN_NAME: Final = re.compile(r"(?:test_)?(?P<prefix>[a-z]{2})(?P<number>\d{3})(?:_|$)")
_IN_CLASS: Final = re.compile(r"Test(?P<prefix>[A-Z]{2})(?P<number>\d{3})(?![0-9])")
_IN_PLAN: Final = re.compile(r"""(?:\brequirement["']?:\s*["']?|^\s*- \w+ )(?P<id>[A-Z]{2}-\d{3})\b""", re.MULTILINE)
_ROW: Final = re.compile(r"^\| ([A-Z]{2}-\d{3}) \|", re.MULTILINE)
_MENTION: Final = re.compile(r"\b[A-Z]{2}-\d{3}\b")


@dataclass(frozen=True, order=True)
class Citation:
    """A place that cites a rule.

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
    """Members of rule enums: ``NAME = RuleSentence("XX-000", ...)`` in a class body."""
    found = []
    for owner in ast.walk(ast.parse(source)):
        for statement in owner.body if isinstance(owner, ast.ClassDef) else ():
            match statement:
                case ast.Assign(
                    targets=[ast.Name(id=name)],
                    value=ast.Call(func=ast.Name(id="RuleSentence") | ast.Attribute(attr="RuleSentence")) as call,
                ) if requirement := _requirement_of(call):
                    code = _code_of(call) or "".join(word.capitalize() for word in name.split("_"))
                    found.append(Citation(requirement, f"{file}:{statement.lineno}", name, code))
    return found


def _code_of(call: ast.Call) -> str:
    given = (keyword.value for keyword in call.keywords if keyword.arg == "code")
    return next((str(value.value) for value in given if isinstance(value, ast.Constant)), "")


def _requirement_of(call: ast.Call) -> str:
    given = [*call.args[:1], *(keyword.value for keyword in call.keywords if keyword.arg == "requirement")]
    return next((str(value.value) for value in given if isinstance(value, ast.Constant)), "")


def cited_in(source: str, file: str) -> list[Citation]:
    """Tests whose name, class or ``req`` mark cites a rule: one citation for each test and rule."""
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
                for requirement in inherited | rules_in_name(name) | _marks_in(node.decorator_list):
                    yield Citation(requirement, f"{file}:{node.lineno}", f"{owner}{name}")
            case ast.ClassDef(name=name):
                cited = _cited_by(_IN_CLASS.match(name)) | _marks_in(node.decorator_list)
                yield from _tests_of(node.body, file, f"{owner}{name}.", inherited | cited)
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Attribute(attr="TestCase")):
                for requirement in inherited | _cited_by(_IN_CLASS.match(name)):
                    yield Citation(requirement, f"{file}:{node.lineno}", f"{owner}{name}")


def rules_in_name(name: str) -> set[str]:
    """The rule at the start of the name of a test or of a golden case."""
    return _cited_by(_IN_NAME.match(name))


def quotes_in(source: str, file: str) -> list[tuple[Citation, str]]:
    """Classes ``TestXX000`` with the first paragraph of their docstring, on one line; empty where they have none."""
    if "class Test" not in source:  # most files, and parsing takes long
        return []
    return [
        (Citation(requirement, f"{file}:{node.lineno}", node.name), " ".join(quoted.split("\n\n")[0].split()))
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.ClassDef)
        for requirement in _cited_by(_IN_CLASS.match(node.name))
        for quoted in [ast.get_docstring(node) or ""]
    ]


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


def rules_shown_in(plan: str) -> set[str]:
    """The rules whose reasons a saved plan contains."""
    return {match["id"] for match in _IN_PLAN.finditer(plan)}


def guarantees_in(text: str, file: str) -> list[tuple[str, str]]:
    """Place and text of each sentence under "## Guarantees" of a spec file."""
    before, found, rest = text.partition("\n## Guarantees\n")
    if not found:
        return [(file, "")]
    place = f"{file}:{len(before.splitlines()) + 2}"
    return [(place, " ".join(one.split())) for one in re.split(r"(?<=\.)\s+", rest.partition("\n## ")[0].strip())]


def rows_in(text: str, file: str) -> list[Citation]:
    """Return the rows of the tables of a spec that begin with a rule number: its times, limits and cases."""
    return [
        Citation(row[1], f"{file}:{text.count(chr(10), 0, row.start()) + 1}", "a row") for row in _ROW.finditer(text)
    ]


def mentions_in(source: str, file: str, prefixes: frozenset[str]) -> list[Citation]:
    """Rule numbers in comments, docstrings and messages, for prefixes that a spec uses."""
    return [
        Citation(number, f"{file}:{line_number}", "a line")
        for line_number, line in enumerate(source.splitlines(), start=1)
        for number in _MENTION.findall(line)
        if number[:2] in prefixes
    ]
