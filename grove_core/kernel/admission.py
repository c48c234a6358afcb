"""What admission can answer: yes, or no with every objection and where it is; both with warnings."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, TypeAlias

from grove_core.kernel.decisions import Decision
from grove_core.kernel.reasons import Reason
from grove_core.kernel.wants import Ensured


@dataclass(frozen=True, slots=True)
class Remark:
    """One thing that is said of a field: where it is, what stands there, and the rule that says it."""

    path: str
    got: str
    reason: Reason

    @property
    def sort_key(self) -> tuple[str, str, str, str]:
        """Order by where it is, then by the rule: it is a function of content."""
        return (self.path, self.reason.rule.requirement, self.got, self.reason.sentence)

    def __str__(self) -> str:
        return f"{self.path}: {self.reason.sentence}, got {self.got}"


class Objection(Remark):
    """One thing that is refused."""

    __slots__ = ()


class Caution(Remark):
    """One thing that is allowed and probably not meant."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Admit:
    """The object is accepted as it is, perhaps with warnings."""

    warnings: tuple[Caution, ...] = ()


@dataclass(frozen=True, slots=True)
class Deny:
    """The object is refused; never without an objection. Objections and warnings are sorted by path."""

    objections: tuple[Objection, ...]
    warnings: tuple[Caution, ...] = ()


@dataclass(frozen=True, slots=True)
class Amend:
    """The object is accepted with changes, once some others are there.

    Attributes:
        patch: JSON patch (RFC 6902), in JSON as the standard library writes it; empty where nothing changes.
        ensures: what has to be done before the answer is given; none of it where the request is a dry run.
    """

    patch: tuple[dict[str, Any], ...] = ()
    ensures: tuple[Ensured, ...] = ()
    warnings: tuple[Caution, ...] = ()


AdmissionVerdict: TypeAlias = Admit | Deny
AmendmentVerdict: TypeAlias = Amend | Deny


def verdict_of(
    objections: Iterable[Objection], cautions: Iterable[Caution], admitted: Reason
) -> Decision[AdmissionVerdict]:
    """What objections and cautions come to; admitted with this reason where there is no objection."""
    ordered = tuple(sorted(objections, key=lambda one: one.sort_key))
    warnings = tuple(sorted(cautions, key=lambda one: one.sort_key))
    if not ordered:
        return Decision(Admit(warnings), (admitted,))
    return Decision(Deny(ordered, warnings), tuple(objection.reason for objection in ordered))
