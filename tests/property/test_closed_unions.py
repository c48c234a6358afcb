"""Alternatives are closed: a new one is an error of the type checker, wherever code distinguishes them.

A match over a union of ours, and a chain of three or more tests of one subject against members of an enum, end in
``assert_never``.
"""

import ast
from collections import defaultdict
from collections.abc import Iterator, Sequence
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
}
LONG: Final = 3


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


def _member_tests(test: ast.expr) -> Iterator[tuple[str, str]]:
    """The (subject, member) pairs that a condition compares: ``state is State.X``, also beside other conditions."""
    for part in test.values if isinstance(test, ast.BoolOp) else [test]:
        match part:
            case ast.Compare(ops=[ast.Is() | ast.Eq()], comparators=[ast.Attribute(value=enum, attr=member)]):
                if member.isupper() and ast.unparse(enum)[0].isupper():
                    yield ast.unparse(part.left), member
            case _:
                pass


def _branches(chain: ast.If) -> tuple[list[ast.If], list[ast.stmt]]:
    """The branches of an ``if`` with its ``elif``, and the body of its ``else``."""
    branches, rest = [chain], chain.orelse
    while len(rest) == 1 and isinstance(rest[0], ast.If):
        branches.append(rest[0])
        rest = rest[0].orelse
    return branches, rest


def _chains(block: Sequence[ast.stmt]) -> Iterator[list[ast.If]]:
    """The branches of which one is taken: of an ``if`` with its ``elif``, and of those after it if all of it leaves."""
    chain: list[ast.If] = []
    for statement in block:
        if isinstance(statement, ast.If):
            branches, rest = _branches(statement)
            chain += branches
            leaves = all(isinstance(one.body[-1], ast.Return | ast.Continue | ast.Raise) for one in branches)
            if leaves and not rest:
                continue
            if "assert_never" in "".join(map(ast.unparse, rest)):
                chain = []
        yield chain
        chain = []
    yield chain


def open_chains_in(source: str) -> list[str]:
    """The chains that test one subject against three members and are not closed, as ``line: subject``."""
    found = []
    tree = ast.parse(source)
    elifs = {id(one) for node in ast.walk(tree) if isinstance(node, ast.If) for one in _branches(node)[0][1:]}
    blocks = (
        block
        for node in ast.walk(tree)
        for name in ("body", "orelse", "finalbody")
        if isinstance(block := getattr(node, name, None), list) and not any(id(one) in elifs for one in block)
    )
    for chain in (chain for block in blocks for chain in _chains(block)):
        members = defaultdict[str, set[str]](set)
        for branch in chain:
            for subject, member in _member_tests(branch.test):
                members[subject].add(member)
        found += [f"{chain[0].lineno}: {subject}" for subject, tested in members.items() if len(tested) >= LONG]
    return found


@pytest.mark.parametrize("module", MODULES)
def test_every_match_and_every_long_chain_is_closed(module: str) -> None:
    source = (ROOT / module).read_text(encoding="utf-8")
    found = open_matches_in(source)
    assert not found or module in ALLOWED, found
    assert not open_chains_in(source)


def test_the_list_of_exceptions_is_used() -> None:
    for module in ALLOWED:
        assert open_matches_in((ROOT / module).read_text(encoding="utf-8")), module


def test_an_open_match_is_found() -> None:
    assert open_matches_in("match fate:\n    case Keep():\n        pass\n    case _:\n        pass") == ["1: fate"]
    assert open_matches_in("match word:\n    case 'In':\n        pass") == []
    assert open_matches_in("match fate:\n    case Keep():\n        pass\n    case _:\n        assert_never(fate)") == []


TWO: Final = "if x.s is S.A and y:\n    a()\nelif x.s is S.B:\n    b()\n"
APART: Final = "if s is S.A:\n    return 1\nif s == S.B:\n    return 2\n"


def test_an_open_chain_is_found() -> None:
    assert open_chains_in(TWO) == []
    assert open_chains_in(f"{TWO}elif x.s is S.C:\n    c()\nelse:\n    d()") == ["1: x.s"]
    assert open_chains_in(f"{TWO}elif x.s is S.C:\n    c()\nelse:\n    assert_never(x.s)") == []
    assert open_chains_in(f"{TWO}if x.s is S.C:\n    c()") == []  # both may be taken
    assert open_chains_in(f"{APART}if s is S.C:\n    return 3") == ["1: s"]
    assert open_chains_in(f"{APART}if s is S.A:\n    return 3") == []  # two members
