"""Mutants that no test finds, and mypy does: the check of types is a part of CI as tests are.

One run is enough for all of them: each stands in its module as a function beside the original.
"""

import ast
import re
import subprocess
import sys
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from tests.mutation.judge import function_of

_MUTANT: Final = re.compile(r"(x.*__mutmut_)(\d+|orig)$")
_ERROR: Final = re.compile(r"(?P<file>[^:]+\.py):(?P<line>\d+): error: (?P<words>.*)")


def found_by_types(mutated: Path, names: Collection[str], configuration: Path) -> set[str]:
    """Those of the mutants at which mypy has an objection that it has not at the original.

    Args:
        mutated: the folder of the package with all mutants, as mutmut makes it.
        names: of the mutants.
        configuration: of mypy.
    """
    originals = {f"{function_of(name)}__mutmut_orig" for name in names}
    with TemporaryDirectory() as folder:
        place = Path(folder) / mutated.name
        functions: dict[str, list[tuple[int, int, str]]] = {}
        for path in mutated.rglob("*.py"):
            module = ".".join((mutated.name, *path.relative_to(mutated).with_suffix("").parts))
            text = _with_only(path.read_text(encoding="utf-8"), module, {*names, *originals})
            copy = place / path.relative_to(mutated)
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_text(text, encoding="utf-8")
            functions[str(copy.relative_to(folder))] = [
                (node.lineno, node.end_lineno or node.lineno, f"{module}.{node.name}") for node in _mutants_in(text)
            ]
        (place / "py.typed").touch()
        objections = _objections(Path(folder), mutated.name, configuration, functions)
    return {name for name in names if objections[name] - objections[f"{function_of(name)}__mutmut_orig"]}


def _objections(
    folder: Path, package: str, configuration: Path, functions: Mapping[str, list[tuple[int, int, str]]]
) -> Mapping[str, set[str]]:
    """What mypy says of each function."""
    command = [sys.executable, "-m", "mypy", "--strict", "--config-file", str(configuration), package]
    said = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False).stdout
    found: defaultdict[str, set[str]] = defaultdict(set)
    for error in filter(None, map(_ERROR.match, said.splitlines())):
        line = int(error["line"])
        for first, last, name in functions.get(error["file"], ()):
            if first <= line <= last:
                found[name].add(error["words"])
    return found


def _mutants_in(text: str) -> Iterator[ast.FunctionDef]:
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef) and _MUTANT.match(node.name):
            yield node


def _with_only(text: str, module: str, names: Collection[str]) -> str:
    """A module without the mutants that are not asked for, and nothing between a caller and a type; lines stay."""
    lines = ["\n" if line.lstrip().startswith("@_mutmut_mutated(") else line for line in text.splitlines(keepends=True)]
    for node in _mutants_in(text):
        if f"{module}.{node.name}" not in names:
            first = min((one.lineno for one in node.decorator_list), default=node.lineno)
            indent = lines[node.lineno - 1][: node.col_offset]
            for at in range(first - 1, node.end_lineno or node.lineno):
                lines[at] = "\n"
            lines[first - 1] = f"{indent}pass\n"
    return "".join(lines)
