"""Docstrings name what exists: the errors under ``Raises`` and the classes in references."""

import ast
import builtins
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCES = [path for package in ("grove_core", "grove_shell") for path in sorted((ROOT / package).rglob("*.py"))]
RAISED = re.compile(r"^\s*(\w+(?:, \w+)*): ", re.MULTILINE)
IN_A_SENTENCE = re.compile(r"Raises ((?:[A-Z]\w+(?:, | or | and )?)+)")
REFERENCE = re.compile(r":class:`~?(?:[\w.]+\.)?(\w+)`")


def names_known(trees: list[ast.Module]) -> set[str]:
    """Every class that the packages define or import, and Python's own."""
    nodes = [node for tree in trees for node in ast.walk(tree)]
    defined = {node.name for node in nodes if isinstance(node, ast.ClassDef)}
    imported = [one for node in nodes if isinstance(node, ast.Import | ast.ImportFrom) for one in node.names]
    return {*dir(builtins), *defined, *((one.asname or one.name).rpartition(".")[2] for one in imported)}


def classes_named(docstring: str) -> set[str]:
    """The classes that a docstring names as errors or in references."""
    found = {name for names in IN_A_SENTENCE.findall(docstring) for name in re.findall(r"[A-Z]\w+", names)}
    _, _, section = docstring.partition("\nRaises:\n")
    for names in RAISED.findall(section.partition("\n\n")[0]):
        found |= {name for name in names.split(", ") if name[0].isupper()}
    return {*found, *REFERENCE.findall(docstring)} - {"Nothing"}


def test_errors_and_classes_in_docstrings_exist() -> None:
    trees = {path: ast.parse(path.read_text(encoding="utf-8")) for path in SOURCES}
    known = names_known(list(trees.values()))
    missing = [
        f"{path.relative_to(ROOT)}: {getattr(node, 'name', 'the module')} names {name}"
        for path, tree in trees.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
        for name in sorted(classes_named(ast.get_docstring(node) or "") - known)
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
