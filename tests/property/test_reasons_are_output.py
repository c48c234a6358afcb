"""Nothing is decided by a reason: no condition in the code reads one, its facts or its sentence (PL-003)."""

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

ROOT: Final = Path(__file__).parents[2]
READ: Final = frozenset({"facts", "sentence", "rule", "wording", "fact_names", "requirement"})
"""The attributes of reasons and of their rules."""

ALLOWED: Final = {
    "grove_core/kernel/reasons.py": "refuses a reason without the facts of its rule (PL-003)",
}


def _conditions(tree: ast.AST) -> Iterator[ast.expr]:
    """Every expression that steers: tests, subjects of matches, filters of comprehensions, keys of lookups."""
    for node in ast.walk(tree):
        match node:
            case ast.If() | ast.IfExp() | ast.While() | ast.Assert():
                yield node.test
            case ast.Match():
                yield node.subject
            case ast.comprehension():
                yield from node.ifs
            case ast.Compare() | ast.BoolOp():
                yield node
            case _:
                pass


def subjects_in(source: str) -> list[str]:
    """The addresses that are taken from a reason of a verdict or finding, as ``line: expression``."""
    found = (node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Attribute) and node.attr == "subject")
    return [f"{node.lineno}: {ast.unparse(node)}" for node in found if _is_reason(node.value)]


def _is_reason(node: ast.expr) -> bool:
    inner = node.value if isinstance(node, ast.Subscript) else node
    return isinstance(inner, ast.Attribute) and inner.attr == "because"


def reads_in(source: str) -> list[str]:
    """The reads of reasons in conditions, as ``line: expression``."""
    found = (
        f"{node.lineno}: {ast.unparse(node)}"
        for condition in _conditions(ast.parse(source))
        for node in ast.walk(condition)
        if isinstance(node, ast.Attribute) and node.attr in READ
    )
    return list(dict.fromkeys(found))


def positions_in(source: str) -> list[str]:
    """The reasons that are picked or left out by their position, but for the first, as ``line: expression``."""
    found = (node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Subscript))
    return [
        f"{node.lineno}: {ast.unparse(node)}"
        for node in found
        if isinstance(node.value, ast.Attribute) and node.value.attr == "because" and ast.unparse(node.slice) != "0"
    ]


def rules_compared_in(source: str) -> list[str]:
    """The comparisons with a rule, as ``line: expression``; its code in a stored condition is another thing."""
    compared = (node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Compare))
    return [
        f"{node.lineno}: {ast.unparse(node)}" for node in compared if any(map(_is_rule, (node.left, *node.comparators)))
    ]


def _is_rule(node: ast.expr) -> bool:
    match node:
        case ast.Attribute(value=ast.Name(id=name), attr=member):
            return member.isupper() and name.endswith(("Reason", "Denial"))
        case _:
            return False


MODULES: Final = sorted(
    str(path.relative_to(ROOT)) for package in ("grove_core", "grove_shell") for path in (ROOT / package).rglob("*.py")
)


@pytest.mark.parametrize("module", MODULES)
def test_pl003_no_condition_reads_a_reason(module: str) -> None:
    found = reads_in((ROOT / module).read_text(encoding="utf-8"))
    assert not found or module in ALLOWED, found


@pytest.mark.parametrize("module", MODULES)
def test_pl003_no_decision_compares_rules(module: str) -> None:
    assert not rules_compared_in((ROOT / module).read_text(encoding="utf-8"))


@pytest.mark.parametrize("module", [module for module in MODULES if module.startswith("grove_core/")])
def test_pl003_no_reason_is_picked_by_its_position(module: str) -> None:
    assert not positions_in((ROOT / module).read_text(encoding="utf-8"))


@pytest.mark.parametrize("module", MODULES)
def test_pl003_no_object_is_taken_from_a_reason(module: str) -> None:
    found = subjects_in((ROOT / module).read_text(encoding="utf-8"))
    assert not found or module == "grove_shell/manifests/schema_validation.py", found  # adds reasons about one manifest


def test_pl003_the_list_of_exceptions_is_short_and_used() -> None:
    assert len(ALLOWED) < 2
    for module in ALLOWED:
        assert reads_in((ROOT / module).read_text(encoding="utf-8")), module


def test_pl003_a_condition_on_a_reason_is_found() -> None:
    assert reads_in("if one.because[0].rule is Why.X: pass") == ["1: one.because[0].rule"]
    assert reads_in("x = [one for one in found if 'until' in dict(one.facts)]") == ["1: one.facts"]
    assert reads_in("match held.because[0].rule:\n    case _: pass") == ["1: held.because[0].rule"]
    assert reads_in("shown = [one.sentence for one in step.because]") == []


def test_pl003_an_object_taken_from_a_reason_is_found() -> None:
    assert subjects_in("ref = one.because.subject") == ["1: one.because.subject"]
    assert subjects_in("ref = one.because[0].subject") == ["1: one.because[0].subject"]
    assert subjects_in("ref = finding.subject") == []


def test_pl003_a_reason_picked_by_its_position_is_found() -> None:
    assert positions_in("delay = one.because[-1]") == ["1: one.because[-1]"]
    assert positions_in("others = one.because[1:]") == ["1: one.because[1:]"]
    assert positions_in("first = one.because[0]") == []


def test_pl003_a_comparison_with_a_rule_is_found() -> None:
    assert rules_compared_in("if seen.guard is Reason.LATE: pass") == ["1: seen.guard is Reason.LATE"]
    assert rules_compared_in("found = stored.reason == Reason.LATE.code") == []
    assert rules_compared_in("verdict is ConditionStatus.TRUE") == []
