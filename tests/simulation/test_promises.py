"""The table of promises has every code that the checks of ``grove simulate --check`` can print."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from grove_shell.catalogue.specification_rules import specification_rules_by_number

ROOT: Final = Path(__file__).parents[2]
ROW: Final = re.compile(r"^\| SM-051 \| ([A-Z]+\d*) \| [^|]+ \(([A-Z0-9, -]+)\) \|$", re.MULTILINE)
REPORTS: Final = frozenset({"report_broken_promise", "PromiseViolation"})


def rows_in_spec() -> list[tuple[str, str]]:
    """The code of each row of the table, and the rules that it names."""
    text = (ROOT / "specs" / "simulation.md").read_text(encoding="utf-8").partition("\n## Promises\n")[2]
    section = text.partition("\n## ")[0]
    rows = ROW.findall(section)
    assert len(rows) == section.count("\n| SM-051 |"), "a row has another form"
    return rows


def codes_in(source: str) -> Iterator[str]:
    """Yield the code of each report of a violation; that of ``report_broken_promise`` is an argument of its own."""
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.Call):
            continue
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        if name not in REPORTS or (isinstance(node.args[0], ast.Name) and name == "PromiseViolation"):
            continue
        assert isinstance(node.args[0], ast.Constant), f"line {node.lineno}: its code is no literal"
        yield str(node.args[0].value)


@pytest.mark.req("SM-051")
def test_the_table_has_every_code_that_is_printed_and_no_other() -> None:
    sources = (ROOT / "grove_shell" / "simulator").rglob("*.py")
    printed = {code for path in sources for code in codes_in(path.read_text(encoding="utf-8"))}
    listed = [code for code, _ in rows_in_spec()]
    assert len(set(listed)) == len(listed)
    assert set(listed) == printed


@pytest.mark.req("SM-051")
def test_each_promise_names_rules_that_exist() -> None:
    named = {rule for _, rules in rows_in_spec() for rule in rules.split(", ")}
    assert named <= specification_rules_by_number().keys()


def test_codes_are_found() -> None:
    source = 'self.state.report_broken_promise("RS1", text)\nPromiseViolated(PromiseViolation("PL", now, (), text))'
    assert [*codes_in(source)] == ["RS1", "PL"]
