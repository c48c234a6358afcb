"""Finds matches and chains of conditions in source that a new member of an enum or union would pass without notice."""

import ast
import builtins
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

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


def _assigns_what_is_tested(statement: ast.stmt, chain: Sequence[ast.If]) -> bool:
    """Whether a statement is anything else than an assignment to names that the branches do not test."""
    if not isinstance(statement, ast.Assign | ast.AnnAssign):
        return True
    targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
    assigned = {part.id for one in targets for part in ast.walk(one) if isinstance(part, ast.Name)}
    tested = {part.id for one in chain for part in ast.walk(one.test) if isinstance(part, ast.Name)}
    return not assigned.isdisjoint(tested)


def _chains(block: Sequence[ast.stmt]) -> Iterator[list[ast.If]]:
    """The branches of which one is taken: of an ``if`` with its ``elif``, and of those after it if all of it leaves.

    Assignments to other names may stand between them.
    """
    chain: list[ast.If] = []
    for statement in block:
        if chain and not _assigns_what_is_tested(statement, chain):
            continue
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


def _chains_in(tree: ast.Module) -> Iterator[list[ast.If]]:
    """The chains of a module that do not end in ``assert_never``."""
    elifs = {id(one) for node in ast.walk(tree) if isinstance(node, ast.If) for one in _branches(node)[0][1:]}
    blocks = (
        block
        for node in ast.walk(tree)
        for name in ("body", "orelse", "finalbody")
        if isinstance(block := getattr(node, name, None), list) and not any(id(one) in elifs for one in block)
    )
    return (chain for block in blocks for chain in _chains(block) if chain)


def open_chains_in(source: str) -> list[str]:
    """The chains that test one subject against three members and are not closed, as ``line: subject``."""
    found = []
    tree = ast.parse(source)
    collections = _collections_of(tree)
    for chain in _chains_in(tree):
        members = defaultdict[tuple[str, str], set[str]](set)
        for branch in chain:
            for subject, tested in _member_tests(branch.test, collections):
                for member in tested:
                    members[subject, member.rpartition(".")[0]].add(member)
        found += [f"{chain[0].lineno}: {subject}" for (subject, _), all_of in members.items() if len(all_of) >= LONG]
    return found


def _named_classes(value: ast.expr) -> list[str]:
    """The names in ``A | B`` or ``(A, B)``; none if it has anything else."""
    match value:
        case ast.Name(id=name):
            return [name]
        case ast.BinOp(left=left, op=ast.BitOr(), right=right):
            parts = [_named_classes(left), _named_classes(right)]
        case ast.Tuple(elts=elements):
            parts = [_named_classes(one) for one in elements]
        case _:
            return []
    return [name for part in parts for name in part] if all(parts) else []


def unions_in(sources: Iterable[str]) -> dict[str, frozenset[str]]:
    """The classes of each union that is a ``TypeAlias``, by its name; unions in it are replaced by their classes."""
    aliases: dict[str, list[str]] = {}
    for node in (node for source in sources for node in ast.parse(source).body):
        if isinstance(node, ast.AnnAssign) and ast.unparse(node.annotation) == "TypeAlias" and node.value is not None:
            classes = _named_classes(node.value)
            if len(classes) > 1 and not hasattr(builtins, classes[0]):
                aliases[ast.unparse(node.target)] = classes

    def classes_of(name: str) -> Iterator[str]:
        for one in aliases[name]:
            yield from classes_of(one) if one in aliases else (one,)

    return {name: frozenset(classes_of(name)) for name in aliases}


def open_class_chains_in(source: str, unions: Mapping[str, frozenset[str]]) -> list[str]:
    """The chains with branches for classes of one union that are not closed, as ``line: subject``."""
    found = []
    for chain in _chains_in(ast.parse(source)):
        tested = defaultdict[str, list[list[str]]](list)
        for branch in chain:
            match branch.test:
                case ast.Call(func=ast.Name(id="isinstance"), args=[subject, classes]):
                    tested[ast.unparse(subject)].append(_named_classes(classes))
        rest = _branches(chain[-1])[1]
        least = LONG - 1 if rest and not isinstance(rest[-1], ast.Raise) else LONG
        found += [
            f"{chain[0].lineno}: {subject}"
            for subject, branches in tested.items()
            if any(sum(not union.isdisjoint(classes) for classes in branches) >= least for union in unions.values())
        ]
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
