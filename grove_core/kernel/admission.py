"""Admission verdicts: admit, amend or deny, with objections and warnings by field path."""

from collections.abc import Iterable
from typing import TypeAlias, assert_never

from grove_core.kernel.decisions import Decision
from grove_core.kernel.errors import ProblemKind
from grove_core.kernel.frozen import FrozenMap
from grove_core.kernel.reasons import Reason
from grove_core.kernel.structs import Struct
from grove_core.kernel.wants import ObjectToEnsure


class FieldRemark(Struct, frozen=True):
    """A remark on one field: its path, its value, and the rule behind the remark."""

    path: str
    got: str
    reason: Reason
    kind: ProblemKind = ProblemKind.WRONG_VALUE

    @property
    def sort_key(self) -> tuple[str, str, str, str]:
        """Order by path, then by rule."""
        return (self.path, self.reason.rule.requirement, self.got, self.reason.sentence)

    def __str__(self) -> str:
        match self.kind:
            case ProblemKind.MISSING:
                return f"{self.path}: is required"
            case ProblemKind.UNKNOWN_FIELD:
                return f"{self.path}: {self.reason.sentence}"
            case ProblemKind.WRONG_VALUE:
                return f"{self.path}: {self.reason.sentence}, got {self.got}"
            case _:
                assert_never(self.kind)


class DenialReason(FieldRemark, frozen=True):
    """A remark that denies the object."""


class AdmissionWarning(FieldRemark, frozen=True):
    """A warning about a field that is allowed and probably not intended."""


class Admit(Struct, frozen=True):
    """The object is admitted unchanged, perhaps with warnings."""

    warnings: tuple[AdmissionWarning, ...] = ()


class Deny(Struct, frozen=True):
    """The object is denied, with at least one objection. Objections and warnings are sorted by path."""

    objections: tuple[DenialReason, ...]
    warnings: tuple[AdmissionWarning, ...] = ()


class AdmitWithChanges(Struct, frozen=True):
    """The object is admitted with changes, after other objects were ensured.

    Attributes:
        patch: JSON patch (RFC 6902); empty where nothing changes.
        ensures: the objects that must be ensured before the response is sent; skipped in a dry run.
    """

    patch: tuple[FrozenMap, ...] = ()
    ensures: tuple[ObjectToEnsure, ...] = ()
    warnings: tuple[AdmissionWarning, ...] = ()


AdmissionVerdict: TypeAlias = Admit | Deny
AmendmentVerdict: TypeAlias = AdmitWithChanges | Deny


def admission_decision(
    objections: Iterable[DenialReason], cautions: Iterable[AdmissionWarning], admitted: Reason
) -> Decision[AdmissionVerdict]:
    """Return a denial with the objections, or an admission for the reason ``admitted`` where there is none."""
    ordered = tuple(sorted(objections, key=lambda one: one.sort_key))
    warnings = tuple(sorted(cautions, key=lambda one: one.sort_key))
    if not ordered:
        return Decision(Admit(warnings), (admitted,))
    return Decision(Deny(ordered, warnings), tuple(objection.reason for objection in ordered))
