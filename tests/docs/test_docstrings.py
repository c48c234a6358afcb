"""Docstrings name what exists: the errors under ``Raises``, the classes in references, and any name in backticks."""

import ast
import builtins
import re
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parents[2]
SOURCES = [path for package in ("grove_core", "grove_shell") for path in sorted((ROOT / package).rglob("*.py"))]
RAISED = re.compile(r"^\s*(\w+(?:, \w+)*): ", re.MULTILINE)
IN_A_SENTENCE = re.compile(r"Raises ((?:[A-Z]\w+(?:, | or | and )?)+)")
REFERENCE = re.compile(r":class:`~?(?:[\w.]+\.)?(\w+)`")
IN_BACKTICKS = re.compile(r"(?<!`)`~?([A-Za-z_][\w.]*)`(?!`)")


class NamesInCode(NamedTuple):
    """What the packages have.

    Attributes:
        docstrings: each with its place.
        defined: public class -> the modules that define it.
        classes: those that they define or import, and Python's own.
        identifiers: of modules, classes, functions, arguments, attributes, and fields of JSON.
    """

    docstrings: list[tuple[str, str]]
    defined: defaultdict[str, list[str]]
    classes: set[str]
    identifiers: set[str]


@cache
def names_in_code() -> NamesInCode:
    found = NamesInCode([], defaultdict(list), set(dir(builtins)), set())
    for path in SOURCES:
        place = path.relative_to(ROOT)
        found.identifiers.update(place.with_suffix("").parts)
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
                where = f"{place}: {getattr(node, 'name', 'the module')}"
                found.docstrings.append((where, ast.get_docstring(node) or ""))
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                found.defined[node.name].append(str(place))
            if isinstance(node, ast.ClassDef | ast.alias):
                found.classes.add(class_named_by(node))
            found.identifiers.update(identifiers_of(node))
    return found


def class_named_by(node: ast.ClassDef | ast.alias) -> str:
    return node.name if isinstance(node, ast.ClassDef) else (node.asname or node.name).rpartition(".")[2]


def identifiers_of(node: ast.AST) -> Iterator[str]:
    match node:
        case ast.ClassDef(name=name) | ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
            yield name
        case ast.Name(id=name) | ast.Attribute(attr=name) | ast.arg(arg=name) | ast.Constant(value=str(name)):
            yield name
        case ast.alias(name=name):
            yield from name.split(".")
        case _:
            pass


def classes_named(docstring: str) -> set[str]:
    """The classes that a docstring names as errors or in references."""
    found = {name for names in IN_A_SENTENCE.findall(docstring) for name in re.findall(r"[A-Z]\w+", names)}
    _, _, section = docstring.partition("\nRaises:\n")
    for names in RAISED.findall(section.partition("\n\n")[0]):
        found |= {name for name in names.split(", ") if name[0].isupper()}
    return {*found, *REFERENCE.findall(docstring)} - {"Nothing"}


def test_errors_and_classes_in_docstrings_exist() -> None:
    code = names_in_code()
    missing = [
        f"{where} names {name}"
        for where, docstring in code.docstrings
        for name in sorted(classes_named(docstring) - code.classes)
    ]
    assert not missing, "\n".join(missing)


def test_a_class_name_is_used_once() -> None:
    """Two pairs of public names differ by their package: a plan of the core and of the library, and a decision."""
    twice = {name: places for name, places in names_in_code().defined.items() if len(places) > 1}
    assert twice.keys() == {"Plan", "Decision"}, twice


def test_names_in_backticks_exist() -> None:
    code = names_in_code()
    missing = [
        f"{where} names {name}"
        for where, docstring in code.docstrings
        for name in IN_BACKTICKS.findall(docstring)
        if not code.identifiers.issuperset(name.split("."))
    ]
    assert not missing, "\n".join(missing)


@pytest.mark.parametrize(
    ("docstring", "found"),
    [
        ("Do it. Raises ValueError or Gone.", {"ValueError", "Gone"}),
        ("Do it.\n\nRaises:\n    Gone, Lost: it went.\n    Late: it came late.\n", {"Gone", "Lost", "Late"}),
        ("Do it with a :class:`a.b.Thing`.", {"Thing"}),
        ("Do it.\n\nRaises:\n    Nothing for any content.\n", set()),
    ],
)
def test_names_are_found(docstring: str, found: set[str]) -> None:
    assert classes_named(docstring) == found
