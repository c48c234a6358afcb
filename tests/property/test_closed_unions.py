"""A match over a union of ours ends in ``assert_never``: a new alternative is then an error of the type checker."""

import ast
from pathlib import Path
from typing import Final

import pytest

ROOT: Final = Path(__file__).parents[2]
MODULES: Final = sorted(
    str(path.relative_to(ROOT)) for package in ("grove_core", "grove_shell") for path in (ROOT / package).rglob("*.py")
)
ALLOWED: Final = {
    "grove_core/kernel/wants.py": "a pair of wants that no case names is a broken invariant",
    "grove_shell/converge/model/daemon_model.py": "an action that a run without faults never has is a broken invariant",
    "grove_shell/views/history_lines.py": "an entry that is like no other has a line of its own",
}


def _is_literal(pattern: ast.pattern) -> bool:
    if isinstance(pattern, ast.MatchOr):
        return all(map(_is_literal, pattern.patterns))
    return isinstance(pattern, ast.MatchValue) and isinstance(pattern.value, ast.Constant)


def open_matches_in(source: str) -> list[str]:
    """The matches over other values than literals that do not end in ``assert_never``, as ``line: subject``."""
    found = []
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.Match) or any(_is_literal(case.pattern) for case in node.cases):
            continue
        last = node.cases[-1]
        is_default = isinstance(last.pattern, ast.MatchAs) and last.pattern.pattern is None and last.guard is None
        if not (is_default and "assert_never" in ast.unparse(last)):
            found.append(f"{node.lineno}: {ast.unparse(node.subject)}")
    return found


@pytest.mark.parametrize("module", MODULES)
def test_every_match_is_closed(module: str) -> None:
    found = open_matches_in((ROOT / module).read_text(encoding="utf-8"))
    assert not found or module in ALLOWED, found


def test_the_list_of_exceptions_is_used() -> None:
    for module in ALLOWED:
        assert open_matches_in((ROOT / module).read_text(encoding="utf-8")), module


def test_an_open_match_is_found() -> None:
    assert open_matches_in("match fate:\n    case Keep():\n        pass\n    case _:\n        pass") == ["1: fate"]
    assert open_matches_in("match word:\n    case 'In':\n        pass") == []
    assert open_matches_in("match fate:\n    case Keep():\n        pass\n    case _:\n        assert_never(fate)") == []
