"""The exceptions for an input and for the core itself: malformed objects, and a broken invariant.

A wrong argument raises TypeError or ValueError instead. A value in a saved plan raises MalformedPlanValue, which
`document_reading` turns into MalformedObject. `grove_core.testing` raises InvariantViolated.
"""

from enum import Enum, auto
from typing import assert_never

from grove_core.kernel.structs import Struct


class ProblemKind(Enum):
    """What is wrong with a field; decides in which words its problem is reported (IN-030)."""

    WRONG_VALUE = auto()
    MISSING = auto()
    """It must have a value, whichever, and has none."""
    UNKNOWN_FIELD = auto()
    """``expected`` says so, as a sentence."""


class ObjectProblem(Struct, frozen=True, kw_only=True):
    """One problem of one object (IN-030).

    Attributes:
        path: field path, e.g. ``spec.template.cliques[0].spec.minAvailable``; empty for the object itself.
        expected: what is valid there, as a noun phrase.
        got: the value found, shortened.
    """

    path: str
    expected: str
    got: str
    kind: ProblemKind = ProblemKind.WRONG_VALUE

    def __str__(self) -> str:
        where = f"{self.path}: " if self.path else ""
        return where + value_mismatch_text(self.kind, self.expected, self.got)


def value_mismatch_text(kind: ProblemKind, expected: str, got: str) -> str:
    """Return what is wrong with a value, e.g. ``is required`` or ``expected a list, got "a"``."""
    match kind:
        case ProblemKind.MISSING:
            return "is required"
        case ProblemKind.UNKNOWN_FIELD:
            return expected
        case ProblemKind.WRONG_VALUE:
            return f"expected {expected}, got {got}"
        case _:
            assert_never(kind)


class MalformedObject(Exception):
    """An input object is malformed; carries every problem of the object, each once (IN-030)."""

    def __init__(self, problems: tuple[ObjectProblem, ...]) -> None:
        self.problems = tuple(dict.fromkeys(problems))
        super().__init__("; ".join(map(str, self.problems)))


class BrokenInvariant(Exception):
    """The code broke one of its own rules, a defect of the core. The core never catches it.

    Attributes:
        requirement: the id of the rule, e.g. ``PL-003``.
    """

    def __init__(self, requirement: str, detail: str) -> None:
        super().__init__(f"{requirement}: {detail}")
        self.requirement = requirement
