"""Compiles and evaluates CEL expressions; the only module that uses the CEL library.

An evaluation takes at most 9,999 steps of loops, the library's limit, and an expression is nested at most 32 deep.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from typing import Any, Final, NamedTuple, TypeAlias

from grove_core.resources.naming_rules import most_similar_name
from grove_shell.exit_codes import CommandFailed

try:
    from cel_expr_python import cel
    from cel_expr_python.ext import ext_math, ext_optional, ext_strings
except ImportError as missing:
    raise CommandFailed("policies need cel-expr-python: pip install 'grove-plan[policies]'") from missing

MOST_CHARACTERS: Final = 4_000
"""The longest expression; the library reads up to 100,000 characters."""
MOST_OF_A_VALUE: Final = 100_000
"""The most characters, or values within values, of a result: variables could double it again and again."""
_FUNCTIONS: Final = (
    *("size", "has", "all", "exists", "exists_one", "filter", "map", "contains", "startsWith", "endsWith", "matches"),
    *("duration", "timestamp", "int", "uint", "double", "string", "bool", "bytes", "type", "dyn", "sum", "min", "max"),
    *("lowerAscii", "upperAscii", "split", "join", "replace", "substring", "indexOf", "trim", "format", "orValue"),
    *("hasValue", "value", "getFullYear", "getMonth", "getDate", "getDayOfWeek", "getHours", "getMinutes", "math"),
)
_ERROR: Final = re.compile(r"ERROR: <input>:(-?\d+):(-?\d+): (.*)")
_UNDECLARED: Final = re.compile(r"undeclared reference to '([^']+)'")
_STATUS: Final = re.compile(r"\A[A-Z_]+: | \[[A-Z_]+\]\Z")
_STRING: Final = re.compile(
    r"""\'\'\'(?s:.)*?\'\'\'|\"\"\"(?s:.)*?\"\"\"|[rR]'[^'\n]*'|[rR]"[^"\n]*"|'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*\""""
)
_VARIABLE: Final = re.compile(r"(?<![\w.])variables\s*\.\s*(\w+)")
VARIABLES: Final = "variables."
Environment: TypeAlias = Any
"""The library's: the names with their types, and the functions."""


class ExpressionProblem(NamedTuple):
    """A problem of an expression at a line and a column, both from 1."""

    line: int
    column: int
    text: str


class NotEvaluated(Exception):
    """An expression has no value; the text says why, such as that a key is not there."""


@dataclass(frozen=True, slots=True)
class CompiledExpression:
    """An expression that was compiled and type-checked.

    Attributes:
        result: name of its type, such as ``BOOL``; ``DYN`` where only the evaluation shows it.
        variables: names of the variables that it needs, those that its variables need included.
        fields: of ``set`` or ``plan`` that it names; None where it uses the value as a whole.
    """

    text: str
    program: Any
    result: str
    variables: frozenset[str]
    fields: frozenset[str] | None


class ExpressionCompiler:
    """Compiles expressions that may use some names.

    Args:
        names: of ``set`` or ``plan``, whose fields are checked -> its fields.
        hints: name that is not there -> why.

    Attributes:
        environment: in which its expressions are evaluated, once all variables are added.
    """

    def __init__(self, names: Mapping[str, Sequence[str]], hints: Mapping[str, str]) -> None:
        self._fields = names
        self._hints = hints
        self._types: dict[str, Any] = {name: cel.Type.Map(cel.Type.STRING, cel.Type.DYN) for name in names}
        self._types["now"] = cel.Type.TIMESTAMP
        self._needed: dict[str, frozenset[str]] = {}
        self.environment = _environment(self._types)

    def add_variable(self, name: str, compiled: CompiledExpression | None) -> None:
        """Make a variable known to the expressions that follow; None for one with problems."""
        self._types[VARIABLES + name] = cel.Type.DYN if compiled is None else compiled.program.return_type()
        self._needed[name] = frozenset({name}) | (frozenset() if compiled is None else compiled.variables)
        self.environment = _environment(self._types)

    def compile(self, text: str) -> tuple[CompiledExpression | None, tuple[ExpressionProblem, ...]]:
        """Return the compiled expression, or every problem of it."""
        if len(text) > MOST_CHARACTERS:
            return None, (ExpressionProblem(1, 1, f"longer than {MOST_CHARACTERS:,} characters"),)
        code = _STRING.sub(lambda found: "'" * len(found[0]) if "\n" not in found[0] else found[0], text)
        fields = tuple(self._unknown_fields(code))
        try:
            program = self.environment.compile(text)
        except (RuntimeError, TypeError, ValueError) as fault:
            problems = tuple(self._problems_in(str(fault), text.split("\n")))
            is_syntax = any(one.text.startswith("Syntax error") for one in problems)
            return None, problems if is_syntax else tuple(sorted((*problems, *fields)))
        if fields:
            return None, fields
        named = (self._needed[name] for name in _VARIABLE.findall(text) if name in self._needed)
        needed = frozenset[str]().union(*named)
        return CompiledExpression(text, program, program.return_type().name(), needed, self._named_fields(text)), ()

    def _named_fields(self, text: str) -> frozenset[str] | None:
        """Return the fields of ``set`` or ``plan`` that are named; None where the name stands without one.

        Names in strings count too: what is missed would not be there for ``has()``.
        """
        (name,) = self._fields
        found = re.findall(rf"\b{name}\s*\.\s*\??(\w+)", text)
        return frozenset(found) if len(found) == len(re.findall(rf"\b{name}\b", text)) else None

    def _problems_in(self, report: str, lines: Sequence[str]) -> Iterator[ExpressionProblem]:
        found = _ERROR.findall(_STATUS.sub("", report))
        for at_line, at_column, words in found or [("1", "1", _STATUS.sub("", report).partition("\n")[0])]:
            line, column = max(1, int(at_line)), max(1, int(at_column))
            undeclared = _UNDECLARED.search(words)
            if undeclared is None:
                yield ExpressionProblem(line, column, _STATUS.sub("", words))
                continue
            begin = column - 1 - len(undeclared[1].rpartition(".")[0])  # of a name with dots its last dot is reported
            is_there = begin >= 0 and line <= len(lines) and lines[line - 1].startswith(undeclared[1], begin)
            yield ExpressionProblem(line, begin + 1 if is_there else column, self._on_unknown(undeclared[1]))

    def _on_unknown(self, whole: str) -> str:
        name = whole if whole.startswith(VARIABLES) else whole.partition(".")[0]
        if name in self._hints:
            return f'"{name}" is {self._hints[name]}'
        if name in _FUNCTIONS:
            return f'no function "{name}" with these arguments'
        near = most_similar_name(name, (*self._types, *_FUNCTIONS, *self._hints))
        if near in self._hints:
            return f'unknown name "{name}"; "{near}" is {self._hints[near]}'
        return f'unknown name "{name}"' + (f"; did you mean {near}?" if near else f"; known: {', '.join(self._types)}")

    def _unknown_fields(self, code: str) -> Iterator[ExpressionProblem]:
        """Yield fields of ``set`` and ``plan`` that these never have: ``has()`` would say no, always."""
        for name, fields in self._fields.items():
            if re.search(rf"\(\s*{name}\s*,", code):
                continue  # the name of a loop
            for found in re.finditer(rf"(?<![\w.]){name}\s*\.\s*\??(\w+)(?!\w*\s*\()", code):
                if found[1] not in fields:
                    line = code.count("\n", 0, found.start(1)) + 1
                    column = found.start(1) - code.rfind("\n", 0, found.start(1))
                    near = most_similar_name(found[1], fields)
                    hint = f"; did you mean {near}?" if near else f"; known: {', '.join(fields)}"
                    yield ExpressionProblem(line, column, f'{name} has no field "{found[1]}"{hint}')


@cache
def _extensions() -> tuple[Any, ...]:
    return ext_strings.ExtStrings(), ext_optional.ExtOptional(), ext_math.ExtMath()


@cache
def _list_functions() -> tuple[Any, ...]:
    """Return ``sum``, ``min`` and ``max`` of lists, as Kubernetes has them."""
    shape = {"return_type": cel.Type.DYN, "parameters": [cel.Type.List(cel.Type.DYN)], "is_member": True}
    called = {"sum": sum, "min": min, "max": max}
    return tuple(
        cel.FunctionDecl(name, [cel.Overload(f"list_{name}", impl=impl, **shape)]) for name, impl in called.items()
    )


def _environment(types: Mapping[str, Any]) -> Environment:
    return cel.NewEnv(variables=dict(types), extensions=_extensions(), functions=_list_functions())


class Bindings:
    """The values of the names of expressions, for one evaluation after the other."""

    def __init__(self, environment: Environment, values: Mapping[str, Any], now: datetime) -> None:
        self._environment = environment
        self._values: dict[str, Any] = {**values, "now": now}
        self._activation: Any = None

    def bind(self, name: str, value: object) -> None:
        """Set the value of a variable."""
        self._values[VARIABLES + name] = value
        self._activation = None

    def evaluate(self, expression: CompiledExpression) -> Any:  # noqa: ANN401 - any value
        """Return the value.

        Raises:
            NotEvaluated: there is none.
        """
        if self._activation is None:  # it converts each value once, when an expression first reads it
            self._activation = self._environment.Activation(self._values)
        try:
            found = expression.program.eval(self._activation)
            if found.type() == cel.Type.ERROR:
                raise NotEvaluated(_STATUS.sub("", str(found.value())))
            value = found.plain_value()
        except (RuntimeError, TypeError, ValueError, OverflowError) as fault:
            raise NotEvaluated(_STATUS.sub("", str(fault)).partition("\n")[0]) from fault
        if _is_larger_than(value, MOST_OF_A_VALUE):
            raise NotEvaluated(f"it gives more than {MOST_OF_A_VALUE:,} characters or values")
        return value


def _is_larger_than(value: object, most: int) -> bool:
    """Return whether a value has more than so many characters, or values within it."""
    todo, count = [value], 0
    while todo and count <= most:
        inner = todo.pop()
        if isinstance(inner, dict):
            todo.extend(inner.values())
        elif isinstance(inner, list):
            todo.extend(inner)
        count += len(inner) if isinstance(inner, str | bytes | bytearray) else 1
    return count > most
