"""The checks of the tests decide on their own."""

import ast
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_sm064_they_import_no_decision_that_they_check() -> None:
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    (forbidden,) = [
        tuple(contract["forbidden_modules"])
        for contract in contracts
        if contract.get("source_modules") == ["grove_shell.simulator.checks"]
    ]
    imported = {
        node.module or ""
        for path in Path(__file__).parent.glob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.ImportFrom)
    }
    assert "grove_core.areas.mnnvl.rules" in imported
    assert not [name for name in sorted(imported) if f"{name}.".startswith(tuple(f"{one}." for one in forbidden))]
