"""Docstrings name what exists: the errors under ``Raises``, the classes in references, and any name in backticks.

Those of functions name the errors that these raise themselves, and describe parameters where there are many; those of
generators say what they yield.
"""

import ast
import builtins
import re
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parents[2]
SOURCES = [path for package in ("grove_core", "grove_shell") for path in sorted((ROOT / package).rglob("*.py"))]
RAISED = re.compile(r"^\s*(\w+(?:, \w+)*): ", re.MULTILINE)
IN_A_SENTENCE = re.compile(r"\b[Rr]aises? ((?:[A-Z]\w+(?:, | or | and )?)+)")
REFERENCE = re.compile(r":class:`~?(?:[\w.]+\.)?(\w+)`")
IN_BACKTICKS = re.compile(r"(?<!`)`~?([A-Za-z_][\w.]*)`(?!`)")
CALL_IN_DOUBLE_BACKTICKS = re.compile(r"(?<!`)``([A-Za-z_][\w.]*)\(")
FUNCTION_IN_DOUBLE_BACKTICKS = re.compile(r"(?<!`)``([a-z_][a-z0-9]*_\w*)``(?!`)")
"""A name of several words. A single word in double backticks may be a value, a field or a program."""
ARGS = re.compile(r"^Args:$", re.MULTILINE)
RETURN = re.compile(r"Returns?\b")
MANY = 4
"""From so many parameters on, a public function describes those whose name and type do not say enough."""
NEVER = frozenset({"AssertionError", "NotImplementedError", "KeyboardInterrupt"})
"""Raised for what does not happen, or not by the function's doing."""

Function = ast.FunctionDef | ast.AsyncFunctionDef


class NamesInCode(NamedTuple):
    """What the packages have.

    Attributes:
        docstrings: each with its place.
        defined: public class -> the modules that define it.
        classes: those that they define, import or raise, and Python's own.
        identifiers: of modules, classes, functions, arguments, attributes, and fields of JSON.
        undescribed: public functions with many parameters and a docstring without ``Args``.
        returning: generators with a docstring that says what they return.
        silent: public functions that raise an error which their docstring does not name, with the error.
    """

    docstrings: list[tuple[str, str]]
    defined: defaultdict[str, list[str]]
    classes: set[str]
    identifiers: set[str]
    undescribed: list[str]
    returning: list[str]
    silent: list[str]


@cache
def names_in_code() -> NamesInCode:
    found = NamesInCode([], defaultdict(list), set(dir(builtins)), set(), [], [], [])
    for path in SOURCES:
        place = path.relative_to(ROOT)
        found.identifiers.update(place.with_suffix("").parts)
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
                where = f"{place}: {getattr(node, 'name', 'the module')}"
                docstring = ast.get_docstring(node) or ""
                found.docstrings.append((where, docstring))
                if isinstance(node, Function) and lacks_args(node, docstring):
                    found.undescribed.append(where)
                if isinstance(node, Function) and returns_in_words(node, docstring):
                    found.returning.append(where)
                if isinstance(node, Function):
                    found.silent.extend(f"{where} raises {name}" for name in errors_unnamed(node, docstring))
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                found.defined[node.name].append(str(place))
            if isinstance(node, ast.ClassDef | ast.alias):
                found.classes.add(class_named_by(node))
            if isinstance(node, ast.Raise):
                found.classes.add(class_raised_by(node))
            found.identifiers.update(identifiers_of(node))
    return found


def lacks_args(node: Function, docstring: str) -> bool:
    """Whether a public function should describe its parameters and does not.

    Parameters of commands are described by their options. A function without a docstring is inside another one, or
    overrides one that has it.
    """
    if node.name.startswith("_") or not docstring or ARGS.search(docstring) or len(parameters_of(node)) < MANY:
        return False
    return not is_command(node)


def is_command(node: Function) -> bool:
    """Whether it is a command, whose docstring is its help."""
    return any(
        isinstance(one, ast.Call) and isinstance(one.func, ast.Attribute) and one.func.attr == "command"
        for one in node.decorator_list
    )


def errors_unnamed(node: Function, docstring: str) -> list[str]:
    """The errors that the body of a public function raises by their class, and its docstring does not name."""
    if node.name.startswith("_") or not docstring or is_command(node):
        return []
    raised = {class_raised_by(one) for one in own_nodes(node) if isinstance(one, ast.Raise)}
    return sorted(name for name in raised - NEVER - classes_named(docstring) if name[:1].isupper())


def class_raised_by(node: ast.Raise) -> str:
    """The class of the error, without its module; the name of a function or variable that gives it; else empty."""
    error = node.exc.func if isinstance(node.exc, ast.Call) else node.exc
    return "" if error is None else ast.unparse(error).rpartition(".")[2]


def parameters_of(node: Function) -> list[str]:
    given = node.args
    starred = filter(None, (given.vararg, given.kwarg))
    named = [one.arg for one in (*given.posonlyargs, *given.args, *given.kwonlyargs, *starred)]
    return named[named[:1] in (["self"], ["cls"]) :]


def returns_in_words(node: Function, docstring: str) -> bool:
    return RETURN.match(docstring) is not None and is_generator(node)


def is_generator(node: Function) -> bool:
    """Whether its own body yields."""
    return any(isinstance(one, ast.Yield | ast.YieldFrom) for one in own_nodes(node))


def own_nodes(node: Function) -> Iterator[ast.AST]:
    """Everything in the body of a function, but for what is in functions and classes inside it."""
    left: list[ast.AST] = [*node.body]
    while left:
        one = left.pop()
        yield one
        if not isinstance(one, Function | ast.Lambda | ast.ClassDef):
            left.extend(ast.iter_child_nodes(one))


def class_named_by(node: ast.ClassDef | ast.alias) -> str:
    return node.name if isinstance(node, ast.ClassDef) else (node.asname or node.name).rpartition(".")[2]


def identifiers_of(node: ast.AST) -> Iterator[str]:
    match node:
        case ast.ClassDef(name=name) | ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
            yield name
        case ast.Name(id=name) | ast.Attribute(attr=name) | ast.arg(arg=name) | ast.Constant(value=str(name)):
            yield name
        case ast.alias(name=name):
            yield from name.split(".")
        case _:
            pass


def classes_named(docstring: str) -> set[str]:
    """The classes that a docstring names as errors or in references."""
    found = {name for names in IN_A_SENTENCE.findall(docstring) for name in re.findall(r"[A-Z]\w+", names)}
    _, _, section = docstring.partition("\nRaises:\n")
    for names in RAISED.findall(section.partition("\n\n")[0]):
        found |= {name for name in names.split(", ") if name[0].isupper()}
    return {*found, *REFERENCE.findall(docstring)} - {"Nothing"}


def names_in_backticks(docstring: str) -> list[str]:
    """The names in backticks; of those in double backticks the ones that are called or look like functions."""
    patterns = (IN_BACKTICKS, CALL_IN_DOUBLE_BACKTICKS, FUNCTION_IN_DOUBLE_BACKTICKS)
    return [name for pattern in patterns for name in pattern.findall(docstring)]


def test_errors_and_classes_in_docstrings_exist() -> None:
    code = names_in_code()
    missing = [
        f"{where} names {name}"
        for where, docstring in code.docstrings
        for name in sorted(classes_named(docstring) - code.classes)
    ]
    assert not missing, "\n".join(missing)


def test_a_class_name_is_used_once() -> None:
    """Two pairs of public names differ by their package: a plan of the core and of the library, and a decision."""
    twice = {name: places for name, places in names_in_code().defined.items() if len(places) > 1}
    assert twice.keys() == {"Plan", "Decision"}, twice


def test_names_in_backticks_exist() -> None:
    code = names_in_code()
    missing = [
        f"{where} names {name}"
        for where, docstring in code.docstrings
        for name in names_in_backticks(docstring)
        if not code.identifiers.issuperset(name.split("."))
    ]
    assert not missing, "\n".join(missing)


def test_functions_with_many_parameters_describe_them() -> None:
    undescribed = names_in_code().undescribed
    assert not undescribed, "without Args:\n" + "\n".join(undescribed)


def test_functions_name_the_errors_that_they_raise() -> None:
    silent = names_in_code().silent
    assert not silent, "not in the docstring:\n" + "\n".join(silent)


def test_generators_say_what_they_yield() -> None:
    returning = names_in_code().returning
    assert not returning, "generators that begin with Return:\n" + "\n".join(returning)


@pytest.mark.parametrize(
    ("source", "is_found"),
    [
        ("def f(a, b, c, d):\n    'Do it.'", True),
        ("async def f(self, a, b, *c, d, **e):\n    'Do it.'", True),
        ("def f(self, a, b, c):\n    'Do it.'", False),
        ("def f(a, b, c, d):\n    'Do it.\\n\\nArgs:\\n    a: the first.'", False),
        ("def _f(a, b, c, d):\n    'Do it.'", False),
        ("def f(a, b, c, d): ...", False),
        ("@group.command('f')\ndef f(a, b, c, d):\n    'Do it.'", False),
    ],
)
def test_missing_descriptions_are_found(source: str, *, is_found: bool) -> None:
    node = function_in(source)
    assert lacks_args(node, ast.get_docstring(node) or "") == is_found


@pytest.mark.parametrize(
    ("source", "is_found"),
    [
        ("def f():\n    'Return numbers.'\n    for one in ():\n        yield one", True),
        ("async def f():\n    'Returns numbers.'\n    yield 1", True),
        ("def f():\n    'Yield numbers.'\n    yield from ()", False),
        ("def f():\n    'Return numbers.'\n    return (one for one in ())", False),
        ("def f():\n    'Return g.'\n    def g():\n        yield 1\n    return g", False),
    ],
)
def test_generators_that_return_are_found(source: str, *, is_found: bool) -> None:
    node = function_in(source)
    assert returns_in_words(node, ast.get_docstring(node) or "") == is_found


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("def f(a):\n    'Do it.'\n    raise Gone(a)", ["Gone"]),
        ("async def f(a):\n    'Do it. Raises Gone.'\n    if a: raise Gone\n    raise m.Lost('x') from None", ["Lost"]),
        ("def f(a):\n    'Do it. Raises Gone or Lost.'\n    if a: raise Gone\n    raise Lost", []),
        ("def f(a):\n    'Raise Gone for nothing.'\n    raise Gone", []),
        ("def f(a):\n    'Do it.\\n\\nRaises:\\n    Gone: it went.'\n    raise Gone", []),
        ("def f(a):\n    'Do it.'\n    def g():\n        raise Gone\n    raise made(a)", []),
        ("def f(a):\n    'Do it.'\n    try: g()\n    except Gone: raise\n    raise AssertionError", []),
        ("def _f(a):\n    'Do it.'\n    raise Gone", []),
        ("@group.command('f')\ndef f(a):\n    'Do it.'\n    raise Gone", []),
    ],
)
def test_errors_that_are_not_named_are_found(source: str, found: list[str]) -> None:
    node = function_in(source)
    assert errors_unnamed(node, ast.get_docstring(node) or "") == found


def function_in(source: str) -> Function:
    (node,) = ast.parse(source).body
    assert isinstance(node, Function)
    return node


@pytest.mark.parametrize(
    ("docstring", "found"),
    [
        ("Do it. Raises ValueError or Gone.", {"ValueError", "Gone"}),
        ("Do it.\n\nRaises:\n    Gone, Lost: it went.\n    Late: it came late.\n", {"Gone", "Lost", "Late"}),
        ("Do it with a :class:`a.b.Thing`.", {"Thing"}),
        ("Do it.\n\nRaises:\n    Nothing for any content.\n", set()),
    ],
)
def test_names_are_found(docstring: str, found: set[str]) -> None:
    assert classes_named(docstring) == found


@pytest.mark.parametrize(
    ("docstring", "found"),
    [
        ("As `a.b_c` does.", ["a.b_c"]),
        ('``index_after("llama-0", 1)`` is 1.', ["index_after"]),
        ("As by ``after_event`` of the core.", ["after_event"]),
        ("The field ``spec`` of ``llama-0`` is ``apps/v1``.", []),
    ],
)
def test_names_in_backticks_are_found(docstring: str, found: list[str]) -> None:
    assert names_in_backticks(docstring) == found
