"""Gang terminations as a part of deletions: the gangs, why, and the causes."""

from datetime import datetime
from typing import NamedTuple

from grove_core.kernel.errors import BrokenInvariant
from grove_core.kernel.reasons import Reason
from grove_core.kernel.refs import Guard, Ref
from grove_core.kernel.structs import Struct


class GangTerminationReasons(NamedTuple):
    """Why a deletion is a part of a gang termination.

    Attributes:
        membership: that the object is part of the gang.
        delay: the delay that has ended.
    """

    membership: Reason
    delay: Reason


class GangTermination(Struct, frozen=True):
    """The termination of one gang, of which a deletion is a part (PL-019).

    Attributes:
        replica: the terminated replica of the PodCliqueSet or of the scaling group.
        trigger: the PodClique or scaling group whose termination delay ended first.
        deadline: when that delay ended; aware UTC.
        because: why the deletion is a part of it; None in attempts that were recorded without reasons.
    """

    replica: Ref
    trigger: Ref
    deadline: datetime
    because: GangTerminationReasons | None = None

    @property
    def delay(self) -> Reason | None:
        """The reason that names the delay; None where there are no reasons."""
        return None if self.because is None else self.because.delay


class TerminationBasis(Struct, frozen=True):
    """What makes a deletion a part of gang terminations: the gangs, and the causes (PL-015, PL-019).

    Attributes:
        causes: with the versions that the decision is based on; never empty. A companion (stage CLEANUP) is deleted
            only while all of them are unchanged. A cause itself (stage CAUSE) is deleted after its companions (PL-014).
        gangs: first the replica of the set, then that of a scaling group; never empty.
    """

    causes: tuple[tuple[Ref, Guard], ...]
    gangs: tuple[GangTermination, ...]

    def __post_init__(self) -> None:
        if not self.causes or not self.gangs:
            raise BrokenInvariant("PL-019", f"a termination of {len(self.gangs)} gangs for {len(self.causes)} causes")
