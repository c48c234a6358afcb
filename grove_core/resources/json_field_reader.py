"""Typed look-ups in untrusted JSON: a value of a wrong type is noted with its path, and a default is returned.

A look-up never raises, so that one pass finds every problem of an object (IN-030).
"""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from types import MappingProxyType
from typing import Final, TypeVar

from grove_core.kernel.errors import MalformedObject, ObjectProblem, ProblemKind
from grove_core.kernel.time_formats import parse_time, short_duration_text

_LONGEST_SHOWN: Final = 60
_MOST_BITS_SHOWN: Final = 256
_EMPTY: Final[Mapping[str, object]] = MappingProxyType({})
_INT32: Final = 2**31 - 1
T = TypeVar("T")


def short_json(value: object) -> str:
    """Return a value as reports show it: JSON-like, short, on one line."""
    if value is None:
        return "nothing"
    if isinstance(value, Mapping):
        return f"an object with {len(value)} {'key' if len(value) == 1 else 'keys'}"
    if isinstance(value, timedelta):
        return short_duration_text(value)
    if isinstance(value, list | tuple):
        return f"a list of {len(value)}"
    if isinstance(value, int) and value.bit_length() > _MOST_BITS_SHOWN:
        return f"an integer of {value.bit_length()} bits"
    text = str(value).lower() if isinstance(value, bool) else f'"{value}"' if isinstance(value, str) else str(value)
    text = "".join(char if char.isprintable() else " " for char in text[: _LONGEST_SHOWN + 1])
    return text if len(text) <= _LONGEST_SHOWN else text[: _LONGEST_SHOWN - 3] + "..."


class JsonFieldReader:
    """One JSON object that is being read.

    Attributes:
        raw: the object; empty where it was absent or no object.
        problems: all problems found so far, shared by all parts of one object.
    """

    __slots__ = ("_above", "_step", "problems", "raw")

    def __init__(
        self, raw: object, step: str, problems: list[ObjectProblem], above: "JsonFieldReader | None" = None
    ) -> None:
        """Read an object; ``step`` leads to it from the object ``above``. Paths are put together only for a report."""
        self.raw: Mapping[str, object] = _EMPTY
        self.problems = problems
        self._step = step
        self._above = above
        if raw.__class__ is dict or isinstance(raw, Mapping):  # the first is ten times as fast
            self.raw = raw
        elif raw is not None:
            self.add_problem("", "an object", raw)

    @property
    def path(self) -> str:
        """Where the object stands in the whole, e.g. ``status.conditions[1]``."""
        above = self._above.path if self._above is not None else ""
        return f"{above}.{self._step}" if above and self._step else above or self._step

    def add_problem(self, key: str, expected: str, got: object, kind: ProblemKind = ProblemKind.WRONG_VALUE) -> None:
        """Add a problem at ``key`` of this object.

        Args:
            key: of the field; empty for the object itself.
            expected: what is valid there, as a noun phrase.
            got: the value found.
            kind: of the problem.
        """
        base = self.path
        path = f"{base}.{key}" if base and key and not key.startswith("[") else f"{base}{key}"
        self.problems.append(ObjectProblem(path=path, expected=expected, got=short_json(got), kind=kind))

    def result_or_problems(self, found: T) -> T:
        """Return what was read of the object; raises MalformedObject with every problem where there is one (IN-030)."""
        if self.problems:
            raise MalformedObject(tuple(self.problems))
        return found

    def __contains__(self, key: str) -> bool:
        return self.raw.get(key) is not None

    def text(self, key: str, *, required: bool = False) -> str:
        """A string; empty where absent."""
        value = self.raw.get(key)
        if value is None and not required:
            return ""
        if isinstance(value, str) and (value or not required):
            return value
        if value is None:
            self.add_problem(key, "a value", value, ProblemKind.MISSING)
        else:
            self.add_problem(key, "a string", value)
        return ""

    def integer(self, key: str, *, at_least: int = 0, required: bool = False) -> int | None:
        """A 32-bit integer that is not below ``at_least``; None where absent."""
        value = self.raw.get(key)
        if value.__class__ is int and at_least <= value <= _INT32:
            return value
        if value is not None or required:
            self.add_problem(key, f"an integer of at least {at_least}", value)
        return None

    def boolean(self, key: str) -> bool | None:
        """A boolean; None where absent."""
        value = self.raw.get(key)
        if value is None or isinstance(value, bool):
            return value
        self.add_problem(key, "true or false", value)
        return None

    def time(self, key: str, *, required: bool = False) -> datetime | None:
        """An RFC 3339 time as aware UTC; None where absent."""
        value = self.raw.get(key)
        moment = parse_time(value) if isinstance(value, str) else None
        if moment is None and (value is not None or required):
            self.add_problem(key, "an RFC 3339 time", value)
        return moment

    def text_list(self, key: str) -> tuple[str, ...]:
        """A list of strings; empty where absent."""
        found = []
        for index, value in enumerate(self._list(key)):
            if isinstance(value, str):
                found.append(value)
            else:
                self.add_problem(f"{key}[{index}]", "a string", value)
        return tuple(found)

    def inner_object(self, key: str) -> "JsonFieldReader":
        """An object inside this one; an empty one where absent."""
        return JsonFieldReader(self.raw.get(key), key, self.problems, self)

    def inner_objects(self, key: str) -> Iterator["JsonFieldReader"]:
        """The objects of a list; nothing where absent."""
        for index, value in enumerate(self._list(key)):
            part = JsonFieldReader(value, f"{key}[{index}]", self.problems, self)
            if value is None:
                part.add_problem("", "an object", value)
            yield part

    def _list(self, key: str) -> Sequence[object]:
        value = self.raw.get(key)
        if isinstance(value, list) or isinstance(value, tuple):  # noqa: SIM101 - frozen JSON has tuples, and is rare
            return value
        if value is not None:
            self.add_problem(key, "a list", value)
        return ()
