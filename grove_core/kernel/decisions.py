"""A verdict together with its reasons; there is no verdict without them."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Generic, TypeVar

from grove_core.kernel.errors import BrokenInvariant
from grove_core.kernel.reasons import Reason
from grove_core.kernel.refs import Ref

V = TypeVar("V")


@dataclass(frozen=True, slots=True)
class Decision(Generic[V]):
    """What was decided and why; ``because`` is never empty (PL-003)."""

    verdict: V
    because: tuple[Reason, ...]

    def __post_init__(self) -> None:
        if not self.because:
            raise BrokenInvariant("PL-003", f"verdict {self.verdict!r} without a reason")


@dataclass(frozen=True, slots=True)
class Finding:
    """A decision as the plan lists it: which question, about what, answered how.

    Attributes:
        subject: the object, or one replica of it.
        question: ``breach``, ``termination`` ...; with the subject it is unique in a plan.
        verdict: the answer as a word.
        because: never empty.
        deadline: when the first delay behind the verdict ends or ended; None where no delay decides it.
    """

    subject: Ref
    question: str
    verdict: str
    because: tuple[Reason, ...]
    deadline: datetime | None = None

    @property
    def sort_key(self) -> tuple[tuple[str, str, str, int], str]:
        """Order by subject, then question."""
        return (self.subject.sort_key, self.question)


def reasons_on(question: str, findings: Iterable[Finding]) -> tuple[Reason, ...]:
    """The reasons of every answer to one question, in the order of the findings."""
    return tuple(why for one in findings if one.question == question for why in one.because)
