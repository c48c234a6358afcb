"""What admission can answer: yes, or no with every objection and where it is; both with warnings."""

from dataclasses import dataclass
from typing import TypeAlias

from grove_core.kernel.reasons import Reason


@dataclass(frozen=True, slots=True)
class Remark:
    """One thing that is said of a field: where it is, what stands there, and the rule that says it."""

    path: str
    got: str
    reason: Reason

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


AdmissionVerdict: TypeAlias = Admit | Deny
