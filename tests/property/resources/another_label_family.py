"""Adds a family of label keys to ``grove_core/resources/labels.py``, before any other module of the core is loaded."""

import ast
import importlib.util
import sys
from pathlib import Path
from typing import Final

MODULE: Final = "grove_core.resources.labels"
PREFIX: Final = "example.com/"


class _OneMoreKey(ast.NodeTransformer):
    """Gives each declared label one more key, named after the constant: ``example.com/set``."""

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AnnAssign:
        value = node.value
        if isinstance(node.target, ast.Name) and isinstance(value, ast.Call) and ast.unparse(value.func) == "LabelKeys":
            others = value.args.pop(2) if len(value.args) > 2 else ast.Tuple([], ast.Load())
            assert isinstance(others, ast.Tuple)
            key = ast.Constant(PREFIX + node.target.id.lower())
            value.args.append(ast.Tuple([*others.elts, key], ast.Load()))
        return node


def add_family() -> None:
    """Load the module with one more key for each label."""
    spec = importlib.util.find_spec(MODULE)
    assert spec is not None
    assert spec.origin is not None
    tree = _OneMoreKey().visit(ast.parse(Path(spec.origin).read_text(encoding="utf-8")))
    sys.modules[MODULE] = module = importlib.util.module_from_spec(spec)
    exec(compile(ast.fix_missing_locations(tree), spec.origin, "exec"), module.__dict__)  # noqa: S102 - the change under test
