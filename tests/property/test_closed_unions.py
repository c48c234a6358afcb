"""Alternatives are closed: a new one is an error of the type checker, wherever code distinguishes them.

A match over a union of ours, and a chain of three or more tests of one subject against members of an enum, end in
``assert_never``. So does a test for three or more members, ``state in {State.X, State.Y, State.Z}``: of a new member it
would silently say no.

A chain of ``isinstance`` over a union of ours ends in the same way if it has three branches, or two and an ``else``
that does not raise. A branch with another condition beside ``isinstance`` does not count.
"""

from pathlib import Path
from typing import Final

import pytest

from tests.property.open_alternatives import (
    large_memberships_in,
    open_chains_in,
    open_class_chains_in,
    open_matches_in,
    unions_in,
)

ROOT: Final = Path(__file__).parents[2]
MODULES: Final = sorted(
    str(path.relative_to(ROOT)) for package in ("grove_core", "grove_shell") for path in (ROOT / package).rglob("*.py")
)
ALLOWED: Final = {
    "grove_core/kernel/wants.py": "a pair of wants that no case names is a broken invariant",
    "grove_shell/converge/model/daemon_model.py": "an action that a run without faults never has is a broken invariant",
}
ALLOWED_CHAINS: Final = {
    "grove_core/testing/played_cluster.py": "most kinds of events do not change what becomes of a write",
    "grove_shell/html/object_diffs.py": "what it shows of an object may be any kind, also one without a spec",
}
UNIONS: Final = unions_in((ROOT / module).read_text(encoding="utf-8") for module in MODULES)


@pytest.mark.parametrize("module", MODULES)
def test_every_match_and_every_long_chain_is_closed(module: str) -> None:
    source = (ROOT / module).read_text(encoding="utf-8")
    found = open_matches_in(source)
    assert not found or module in ALLOWED, found
    assert not (open_chains_in(source) or open_class_chains_in(source, UNIONS)) or module in ALLOWED_CHAINS
    assert not large_memberships_in(source)


def test_the_list_of_exceptions_is_used() -> None:
    for module in ALLOWED:
        assert open_matches_in((ROOT / module).read_text(encoding="utf-8")), module
    for module in ALLOWED_CHAINS:
        source = (ROOT / module).read_text(encoding="utf-8")
        assert open_chains_in(source) or open_class_chains_in(source, UNIONS), module


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
    assert open_chains_in(f"{APART}t = f(s)\nif s is S.C:\n    return 3") == ["1: s"]
    assert open_chains_in(f"{APART}s = f(s)\nif s is S.C:\n    return 3") == []  # another subject


ALIASES: Final = (
    "Action: TypeAlias = Make | Delete | Apply\n",
    "Make: TypeAlias = Create | Ensure\nT: TypeAlias = int\n",
)
CLASSES: Final = "if isinstance(x, Create):\n    a()\nelif isinstance(x, Delete):\n    b()\n"


def test_an_open_chain_of_classes_is_found() -> None:
    unions = unions_in(ALIASES)
    assert unions == {"Action": {"Create", "Ensure", "Delete", "Apply"}, "Make": {"Create", "Ensure"}}
    assert open_class_chains_in(CLASSES, unions) == []
    assert open_class_chains_in(f"{CLASSES}else:\n    c()", unions) == ["1: x"]
    assert open_class_chains_in(f"{CLASSES}else:\n    raise ValueError", unions) == []
    assert open_class_chains_in(f"{CLASSES}elif isinstance(x, Ensure | Apply):\n    c()", unions) == ["1: x"]
    assert open_class_chains_in(f"{CLASSES}else:\n    assert_never(x)", unions) == []
    assert open_class_chains_in(f"{CLASSES}elif isinstance(x, int):\n    c()", unions) == []
    assert open_class_chains_in(f"{CLASSES}elif isinstance(x, Apply) and y:\n    c()", unions) == []


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
