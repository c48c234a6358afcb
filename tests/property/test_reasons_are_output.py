"""Nothing is decided by a reason: no condition in the code reads one, its facts or its sentence (PL-003)."""

import ast
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final, TypeGuard

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
    tree = ast.parse(source)
    found = [node for node in ast.walk(tree) if _is_subject(node) and _is_reason(node.value)]
    for function in _functions(tree):
        names = _names_of(function, _is_reason) | {"because"}
        found += [node for node in ast.walk(function) if _is_subject(node) and _is_named(node.value, names)]
    return [f"{line}: {text}" for line, text in dict.fromkeys((node.lineno, ast.unparse(node)) for node in found)]


def _is_subject(node: ast.AST) -> TypeGuard[ast.Attribute]:
    return isinstance(node, ast.Attribute) and node.attr == "subject"


def _is_reason(node: ast.expr) -> bool:
    inner = node.value if isinstance(node, ast.Subscript) else node
    return isinstance(inner, ast.Attribute) and inner.attr == "because"


def _is_named(node: ast.expr, names: set[str]) -> bool:
    """Whether a value has one of the names, or is picked from one; ``because`` is how reasons are called here."""
    inner = node.value if isinstance(node, ast.Subscript) else node
    return isinstance(inner, ast.Name) and inner.id in names


def reads_in(source: str) -> list[str]:
    """The reads of reasons in conditions, also by a local name of what is read, as ``line: expression``."""
    tree = ast.parse(source)
    found = [
        (node.lineno, ast.unparse(node))
        for condition in _conditions(tree)
        for node in ast.walk(condition)
        if isinstance(node, ast.Attribute) and node.attr in READ
    ]
    for function in _functions(tree):
        names = _names_of(function, lambda value: isinstance(value, ast.Attribute) and value.attr in READ)
        found += [
            (node.lineno, node.id)
            for condition in _conditions(function)
            for node in ast.walk(condition)
            if isinstance(node, ast.Name) and node.id in names
        ]
    return [f"{line}: {text}" for line, text in dict.fromkeys(found)]


def _functions(tree: ast.AST) -> Iterator[ast.AST]:
    return (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))


def _names_of(function: ast.AST, is_meant: Callable[[ast.expr], bool]) -> set[str]:
    """The local names that a function gives to values of a sort, by themselves, in tuples and by ``:=``."""
    return {
        target.id
        for node in ast.walk(function)
        for target, value in _assignments(node)
        if isinstance(target, ast.Name) and is_meant(value)
    }


def _assignments(node: ast.AST) -> Iterator[tuple[ast.expr, ast.expr]]:
    pairs: list[tuple[ast.expr, ast.expr]] = []
    match node:
        case ast.Assign(targets=targets, value=value):
            pairs = [(target, value) for target in targets]
        case ast.AnnAssign(target=place, value=ast.expr() as value):
            pairs = [(place, value)]
        case ast.NamedExpr(target=name, value=value):
            pairs = [(name, value)]
        case _:
            pass
    for target, value in pairs:
        if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) and len(target.elts) == len(value.elts):
            yield from zip(target.elts, value.elts, strict=True)
        else:
            yield target, value


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
    assert reads_in("def f(one):\n    said = one.reason.sentence\n    return 1 if said == 'x' else 2") == ["3: said"]
    assert reads_in("def f(one):\n    a, said = 1, one.sentence\n    if (said, a): pass") == ["3: said"]
    assert reads_in("def f(one):\n    while len(said := one.sentence): pass\n    return said.startswith('x')") == [
        "2: one.sentence",
        "2: said",
    ]
    assert reads_in("def f(one):\n    said = one.reason.sentence\n    return f'{said}.'") == []


def test_pl003_an_object_taken_from_a_reason_is_found() -> None:
    assert subjects_in("ref = one.because.subject") == ["1: one.because.subject"]
    assert subjects_in("ref = one.because[0].subject") == ["1: one.because[0].subject"]
    assert subjects_in("ref = finding.subject") == []
    assert subjects_in("def f(because):\n    return because[0].subject") == ["2: because[0].subject"]
    assert subjects_in("def f(one):\n    why = one.because\n    return why[0].subject") == ["3: why[0].subject"]
    assert subjects_in("def f(one):\n    why = one.because[0]\n    return why.subject") == ["3: why.subject"]
    assert subjects_in("def f(one):\n    ref = one.finding\n    return ref.subject") == []


def test_pl003_a_reason_picked_by_its_position_is_found() -> None:
    assert positions_in("delay = one.because[-1]") == ["1: one.because[-1]"]
    assert positions_in("others = one.because[1:]") == ["1: one.because[1:]"]
    assert positions_in("first = one.because[0]") == []


def test_pl003_a_comparison_with_a_rule_is_found() -> None:
    assert rules_compared_in("if seen.guard is Reason.LATE: pass") == ["1: seen.guard is Reason.LATE"]
    assert rules_compared_in("found = stored.reason == Reason.LATE.code") == []
    assert rules_compared_in("verdict is ConditionStatus.TRUE") == []
