"""The core may import, call and keep only what cannot make two runs differ.

The import contracts in ``pyproject.toml`` list what is forbidden; this is the other half, the list of what is allowed.
It reads the sources and runs nothing of them.
"""

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

CORE: Final = Path(__file__).parents[2] / "grove_core"
CORE_FILES: Final = tuple(sorted(path.relative_to(CORE).as_posix() for path in CORE.rglob("*.py")))

ALLOWED_MODULES: Final = frozenset(
    {
        "__future__",
        "abc",
        "collections",
        "collections.abc",
        "dataclasses",
        "datetime",
        "difflib",
        "enum",
        "fractions",
        "functools",
        "hashlib",
        "itertools",
        "json",
        "operator",
        "re",
        "string",
        "types",
        "typing",
    }
)
ALLOWED_FOR_NOUNS: Final = frozenset({"pydantic", "pydantic_core", "msgspec"})
"""Allowed in ``resources/`` only, where JSON is parsed."""
USES_MSGSPEC: Final = frozenset({"kernel/frozen.py", "kernel/structs.py"})
"""Equal JSON is found by its text (specs/decisions/0021); values are structs (specs/decisions/0023)."""

ALLOWED_FOR_TESTING: Final = frozenset({"hypothesis", "warnings"})
"""Allowed in ``testing/`` only, which nothing imports (specs/decisions/0019)."""

FORBIDDEN_BUILTINS: Final = frozenset({"__import__", "breakpoint", "eval", "exec", "input", "open", "print"})
FORBIDDEN_CALLS: Final = FORBIDDEN_BUILTINS | {"getenv", "now", "time", "today", "utcnow"}
CLOCK_IF_UNASKED: Final = "time"
"""A clock takes no argument; ``fields.time("creationTimestamp")`` reads a field."""
CLOCKS: Final = frozenset({"now", "today", "utcnow"})

MUTABLE_DISPLAYS: Final = (ast.List, ast.Dict, ast.Set, ast.ListComp, ast.DictComp, ast.SetComp, ast.GeneratorExp)
MUTABLE_CALLS: Final = frozenset(
    {"ChainMap", "Counter", "OrderedDict", "bytearray", "count", "cycle", "defaultdict", "deque", "dict", "iter"}
    | {"list", "set"}
)
FREEZING_CALLS: Final = frozenset({"MappingProxyType", "frozenset", "tuple"})


def called(node: ast.Call) -> str:
    """The last word of what is called: ``now`` for ``datetime.now()``."""
    match node.func:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
    return ""


def is_allowed(module: str, file: str) -> bool:
    top = module.partition(".")[0]
    if top in ALLOWED_FOR_NOUNS:
        return file.startswith("resources/") or (top == "msgspec" and file in USES_MSGSPEC)
    if top in ALLOWED_FOR_TESTING:
        return file.startswith("testing/")
    return module in ALLOWED_MODULES or top == "grove_core"


def modules_of(node: ast.Import | ast.ImportFrom) -> tuple[str, ...]:
    if isinstance(node, ast.Import):
        return tuple(alias.name for alias in node.names)
    return (node.module or "",) if not node.level else ()  # a relative import stays in the core


def kept_for_ever(body: list[ast.stmt]) -> Iterator[ast.expr]:
    """Values bound when a module is imported: at its top level, in its classes, under its conditions."""
    for statement in body:
        match statement:
            case ast.Assign(value=value) | ast.AugAssign(value=value) | ast.AnnAssign(value=ast.expr() as value):
                yield value
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                pass
            case _:
                for part in ("body", "orelse", "finalbody"):
                    yield from kept_for_ever(getattr(statement, part, []))
                for handler in getattr(statement, "handlers", []):
                    yield from kept_for_ever(handler.body)


def parts_of(value: ast.expr) -> tuple[ast.expr, ...]:
    """What a value hands on: its branches and operands, the members of what is frozen."""
    match value:
        case ast.Tuple(elts=members):
            return tuple(members)
        case ast.IfExp():
            return (value.body, value.orelse)
        case ast.BinOp():
            return (value.left, value.right)
        case ast.NamedExpr() | ast.Starred():
            return (value.value,)
        case ast.Call(args=arguments) if called(value) in FREEZING_CALLS:
            return tuple(member for argument in arguments for member in members_of(argument))
    return ()


def members_of(display: ast.expr) -> tuple[ast.expr, ...]:
    """The members of a display that a freezing call turns into a value."""
    return tuple(display.values) if isinstance(display, ast.Dict) else tuple(getattr(display, "elts", ()))


def mutable_in(value: ast.expr) -> Iterator[ast.expr]:
    """Containers in a value that could be changed later."""
    if isinstance(value, MUTABLE_DISPLAYS) or (isinstance(value, ast.Call) and called(value) in MUTABLE_CALLS):
        yield value
    for part in parts_of(value):
        yield from mutable_in(part)


def offence_of(node: ast.AST, file: str) -> str:
    """What is wrong with one node by itself; empty if nothing is."""
    match node:
        case ast.Import() | ast.ImportFrom():
            strange = [module for module in modules_of(node) if not is_allowed(module, file)]
            return f"imports {', '.join(strange)}" if strange else ""
        case ast.Call() if called(node) == CLOCK_IF_UNASKED and (node.args or node.keywords):
            return ""
        case ast.Call() if called(node) in FORBIDDEN_CALLS:
            return f"calls {called(node)}()"
        case ast.Attribute(attr=name, value=ast.Name(id="datetime" | "date")) if name in CLOCKS:
            return f"holds the clock {name}"
        case ast.Attribute(attr=name, value=ast.Attribute(attr="datetime" | "date")) if name in CLOCKS:
            return f"holds the clock {name}"
        case ast.Name(id=name) if name in FORBIDDEN_BUILTINS:
            return f"hands on {name}"
        case ast.Global():
            return f"declares global {', '.join(node.names)}"
        case ast.AsyncFunctionDef() | ast.Await():
            return "waits for something"
    return ""


def offences_in(source: str, file: str) -> list[str]:
    """Everything impure in one source, each with its line."""
    tree = ast.parse(source)
    callees = {id(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
    found = {
        (node.lineno, offence)
        for node in ast.walk(tree)
        if isinstance(node, ast.expr | ast.stmt) and id(node) not in callees and (offence := offence_of(node, file))
    }
    found |= {
        (
            node.lineno,
            f"keeps a mutable {type(node).__name__} between calls; use a tuple, frozenset or MappingProxyType",
        )
        for value in kept_for_ever(tree.body)
        for node in mutable_in(value)
    }
    return [f"grove_core/{file}:{line}: {offence}" for line, offence in sorted(found)]


@pytest.mark.parametrize("file", CORE_FILES)
def test_no_file_of_the_core_reaches_for_the_world(file: str) -> None:
    found = offences_in((CORE / file).read_text(encoding="utf-8"), file)
    assert not found, "\n" + "\n".join(found)


def test_the_core_was_found() -> None:
    assert "version.py" in CORE_FILES


class TestTheCheckItself:
    """A checker that finds nothing proves nothing: each offence is made once, and seen."""

    @pytest.mark.parametrize(
        ("source", "offence"),
        [
            ("import os", "imports os"),
            ("import os.path as p", "imports os.path"),
            ("import json, sys, time", "imports sys, time"),
            ("from time import monotonic", "imports time"),
            ("import pydantic", "imports pydantic"),
            ("from grove_shell.world import files", "imports grove_shell.world"),
            ("from grove_core_extras import x", "imports grove_core_extras"),
            ("def f():\n    import random", "imports random"),
            ("if TYPE_CHECKING:\n    import logging", "imports logging"),
            ("import importlib", "imports importlib"),
            ("x = datetime.now()", "calls now()"),
            ("x = datetime.now(UTC)", "calls now()"),
            ("x = dt.datetime.utcnow()", "calls utcnow()"),
            ("x = date.today()", "calls today()"),
            ("def f():\n    return clock.time()", "calls time()"),
            ("x = field(default_factory=datetime.now)", "holds the clock now"),
            ("x = field(default_factory=dt.date.today)", "holds the clock today"),
            ("def f():\n    return open('x')", "calls open()"),
            ("def f():\n    print(1)", "calls print()"),
            ("def f():\n    return list(map(print, ()))", "hands on print"),
            ("x = input()", "calls input()"),
            ("exec('1')", "calls exec()"),
            ("eval('1')", "calls eval()"),
            ("__import__('os')", "calls __import__()"),
            ("load = __import__", "hands on __import__"),
            ("x = environment.getenv('A')", "calls getenv()"),
            ("def f():\n    global seen\n    seen = 1", "declares global seen"),
            ("async def f() -> None: ...", "waits for something"),
        ],
    )
    def test_the_world_is_seen(self, source: str, offence: str) -> None:
        assert [line.partition(": ")[2] for line in offences_in(source, "areas/x.py")] == [offence]

    @pytest.mark.parametrize(
        ("source", "kind"),
        [
            ("seen = []", "List"),
            ("seen: Final = {}", "Dict"),
            ("seen = {1, 2}", "Set"),
            ("seen = [n for n in (1, 2)]", "ListComp"),
            ("seen = {n: n for n in (1, 2)}", "DictComp"),
            ("seen = (n for n in (1, 2))", "GeneratorExp"),
            ("seen: dict[str, int] = dict()", "Call"),
            ("seen = collections.defaultdict(int)", "Call"),
            ("numbers = itertools.count()", "Call"),
            ("a = b = set()", "Call"),
            ("pair = ((), [])", "List"),
            ("x = MappingProxyType({'a': []})", "List"),
            ("x = () if y else []", "List"),
            ("x = [1] + [2]", "List"),
            ("x = (y := [])", "List"),
            ("class C:\n    seen = {}", "Dict"),
            ("if True:\n    seen = []", "List"),
            ("try:\n    pass\nexcept ValueError:\n    seen = []", "List"),
        ],
    )
    def test_memory_is_seen(self, source: str, kind: str) -> None:
        found = offences_in(source, "areas/x.py")
        assert found
        assert all(f"keeps a mutable {kind} " in line for line in found)

    @pytest.mark.parametrize(
        "source",
        [
            "import json\nimport re\nfrom collections.abc import Mapping\nfrom datetime import UTC, datetime",
            "import grove_core\nfrom grove_core.kernel import refs",
            "from . import verdicts",
            "x: Final = (1, 2)",
            "x: Final = MappingProxyType({'a': 1})",
            "x = frozenset({1, 2})",
            "x = tuple(sorted([2, 1]))",
            "x = tuple([1, 2])",
            "x = field(default_factory=list)",
            "def f():\n    seen = []\n    return seen",
            "class C:\n    def f(self):\n        self.seen = []",
            "def f(snapshot):\n    return snapshot.now",
            "def f(now):\n    return now",
            "def f(fields):\n    return fields.time('startedAt')",
            "x = datetime(2026, 1, 1, tzinfo=UTC)",
        ],
    )
    def test_values_are_welcome(self, source: str) -> None:
        assert offences_in(source, "areas/x.py") == []

    @pytest.mark.parametrize(
        ("file", "allowed"), [("resources/pod.py", True), ("kernel/refs.py", False), ("plan/resources.py", False)]
    )
    def test_only_nouns_may_use_pydantic(self, file: str, allowed: bool) -> None:
        found = offences_in("from pydantic import BaseModel\nfrom pydantic_core import core_schema", file)
        assert (found == []) is allowed

    @pytest.mark.parametrize(("file", "allowed"), [("testing/check.py", True), ("plan/planner.py", False)])
    def test_only_the_package_for_tests_may_use_hypothesis(self, file: str, allowed: bool) -> None:
        found = offences_in("import hypothesis\nimport warnings", file)
        assert (found == []) is allowed

    def test_every_offence_is_reported_with_its_place(self) -> None:
        assert offences_in("import os\nx = []\n", "plan/laws.py") == [
            "grove_core/plan/laws.py:1: imports os",
            "grove_core/plan/laws.py:2: keeps a mutable List between calls; use a tuple, frozenset or MappingProxyType",
        ]
