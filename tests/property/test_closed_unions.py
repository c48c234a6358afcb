"""Alternatives are closed: a new one is an error of the type checker, wherever code distinguishes them.

A match over a union of ours, and a chain of three or more tests of one subject against members of an enum, end in
``assert_never``. So does a test for three or more members, ``state in {State.X, State.Y, State.Z}``: of a new member it
would silently say no.
"""

import ast
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
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


def _members_in(value: ast.expr | None, collections: Mapping[str, Sequence[str]]) -> Sequence[str]:
    """The members of an enum that an expression consists of: ``State.X``, a set of them, or the name of such a set."""
    match value:
        case ast.Attribute(value=enum, attr=member) if member.isupper() and ast.unparse(enum)[0].isupper():
            return [ast.unparse(value)]
        case ast.Set(elts=parts) | ast.Tuple(elts=parts) | ast.List(elts=parts):
            members = [_members_in(part, {}) for part in parts]
            return [member for one in members for member in one] if all(members) else []
        case ast.Call(func=ast.Name(id="frozenset" | "set" | "tuple"), args=[collection]):
            return _members_in(collection, collections)
        case ast.Name(id=name):
            return collections.get(name, [])
        case _:
            return []


def _collections_of(tree: ast.Module) -> dict[str, Sequence[str]]:
    """The names of the constants of a module that consist of members of an enum, with these members."""
    constants = (node for node in tree.body if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name))
    return {ast.unparse(node.target): _members_in(node.value, {}) for node in constants}


def _member_tests(test: ast.expr, collections: Mapping[str, Sequence[str]]) -> Iterator[tuple[str, Sequence[str]]]:
    """The (subject, members) pairs that a condition compares, also beside other conditions.

    These are ``state is State.X`` and ``state in {State.X, State.Y}``, and their negations.
    """
    for part in test.values if isinstance(test, ast.BoolOp) else [test]:
        if isinstance(part, ast.Compare) and len(part.ops) == 1:
            members = _members_in(part.comparators[0], collections)
            if members:
                yield ast.unparse(part.left), members


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
    collections = _collections_of(tree)
    elifs = {id(one) for node in ast.walk(tree) if isinstance(node, ast.If) for one in _branches(node)[0][1:]}
    blocks = (
        block
        for node in ast.walk(tree)
        for name in ("body", "orelse", "finalbody")
        if isinstance(block := getattr(node, name, None), list) and not any(id(one) in elifs for one in block)
    )
    for chain in (chain for block in blocks for chain in _chains(block)):
        members = defaultdict[tuple[str, str], set[str]](set)
        for branch in chain:
            for subject, tested in _member_tests(branch.test, collections):
                for member in tested:
                    members[subject, member.rpartition(".")[0]].add(member)
        found += [f"{chain[0].lineno}: {subject}" for (subject, _), all_of in members.items() if len(all_of) >= LONG]
    return found


def large_memberships_in(source: str) -> list[str]:
    """The tests of one subject for three members or more, outside of a chain too, as ``line: subject``."""
    tree = ast.parse(source)
    collections = _collections_of(tree)
    return [
        f"{node.lineno}: {subject}"
        for node in ast.walk(tree)
        if isinstance(node, ast.Compare)
        for subject, members in _member_tests(node, collections)
        if max(Counter(member.rpartition(".")[0] for member in members).values()) >= LONG
    ]


@pytest.mark.parametrize("module", MODULES)
def test_every_match_and_every_long_chain_is_closed(module: str) -> None:
    source = (ROOT / module).read_text(encoding="utf-8")
    found = open_matches_in(source)
    assert not found or module in ALLOWED, found
    assert not open_chains_in(source)
    assert not large_memberships_in(source)


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


MEMBERSHIP: Final = "if s in {S.A, S.B}:\n    return 1\n"
CONSTANT: Final = "_MANY: Final = frozenset({S.A, S.B, S.C})\n"


def test_a_membership_counts_as_a_test_of_each_member() -> None:
    assert open_chains_in(MEMBERSHIP) == []
    assert open_chains_in(f"{MEMBERSHIP}if s is not S.C:\n    return 2") == ["1: s"]
    assert open_chains_in(f"{MEMBERSHIP}if s is not T.A:\n    return 2") == []  # a member of another enum


def test_a_large_membership_is_found() -> None:
    assert large_memberships_in("a = s in {S.A, S.B}") == []
    assert large_memberships_in("a = [s for s in t if s not in (S.A, S.B, S.C)]") == ["1: s"]
    assert large_memberships_in(f"{CONSTANT}a = x.s in _MANY") == ["2: x.s"]
    assert large_memberships_in("a = s in {S.A, S.B, T.A}") == []
    assert large_memberships_in("a = s in {'x', 'y', 'z'}") == []
