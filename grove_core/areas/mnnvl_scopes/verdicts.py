"""Verdicts of MNNVL by annotation on the domains and claims of a set."""

from enum import Enum, unique
from typing import ClassVar, Literal, NamedTuple, TypeAlias

from grove_core.kernel.frozen import FrozenDict, FrozenMap
from grove_core.kernel.reasons import Reason
from grove_core.kernel.refs import Ref
from grove_core.kernel.structs import Struct
from grove_core.resources.compute_domain import ComputeDomain
from grove_core.resources.domain_sharing import CliquePositionInSet, DomainMembership
from grove_core.resources.metadata_readers import Resource
from grove_core.resources.owned_object import OwnedObject


@unique
class SharedObjectState(Enum):
    """The state of a shared domain or claim, and what follows from it."""

    BELONGS = "Belongs"
    """It exists and has the right owner."""
    HANDED_OVER = "HandedOver"
    """It exists and gets another owner."""
    MADE_AGAIN = "MadeAgain"
    """It is in use and gone; it is created again."""
    WAITED_FOR = "WaitedFor"
    """It is in use and being deleted; it is created again when it is gone."""
    TAKEN = "Taken"
    """An object that serves another user has its name."""
    LEFT_ALONE = "LeftAlone"
    """It is in use, and MNNVL by annotation is off: it stays as it is."""
    SURPLUS = "Surplus"
    """Its user is gone; it is deleted."""
    KEPT = "Kept"
    """Its user is gone, but pods may still use it: the deletion is withheld."""
    UNKNOWN = "Unknown"
    """The input does not show whether it exists."""


class MissingSharedObject(Struct, frozen=True):
    """A shared domain or claim that is created again.

    Attributes:
        ref: the ComputeDomain or ResourceClaim.
        membership: of the PodCliques that use it.
        owner: the object that is going to own it.
    """

    state: ClassVar = SharedObjectState.MADE_AGAIN
    ref: Ref
    because: Reason
    membership: DomainMembership
    owner: Resource


class SharedObjectOfWrongOwner(Struct, frozen=True):
    """A shared domain or claim that ``owner`` should own."""

    state: ClassVar = SharedObjectState.HANDED_OVER
    because: Reason
    found: ComputeDomain | OwnedObject
    owner: Resource

    @property
    def ref(self) -> Ref:
        """Return the ComputeDomain or ResourceClaim."""
        return self.found.ref


class SurplusSharedObject(Struct, frozen=True):
    """A shared domain or claim that is deleted."""

    state: ClassVar = SharedObjectState.SURPLUS
    because: Reason
    found: ComputeDomain | OwnedObject

    @property
    def ref(self) -> Ref:
        """Return the ComputeDomain or ResourceClaim."""
        return self.found.ref


class WithheldSharedObject(Struct, frozen=True):
    """A shared domain or claim of which a creation or deletion is withheld."""

    state: Literal[
        SharedObjectState.WAITED_FOR, SharedObjectState.TAKEN, SharedObjectState.KEPT, SharedObjectState.UNKNOWN
    ]
    ref: Ref
    because: Reason


class UnchangedSharedObject(Struct, frozen=True):
    """A shared domain or claim that stays as it is."""

    state: Literal[SharedObjectState.BELONGS, SharedObjectState.LEFT_ALONE]
    ref: Ref
    because: Reason


SharedObjectVerdict: TypeAlias = (
    MissingSharedObject | SharedObjectOfWrongOwner | SurplusSharedObject | WithheldSharedObject | UnchangedSharedObject
)


class SharedDomainsJudgement(NamedTuple):
    """The shared domains and claims of one set.

    Attributes:
        verdicts: on the domains and claims that are in use, and on surplus ones.
        annotations: name of a clique in the template -> the MNNVL annotations of its new PodCliques (MS-010).
        positions: name of a PodClique -> its position by the template; empty if no PodClique has a shared claim.
    """

    verdicts: tuple[SharedObjectVerdict, ...] = ()
    annotations: FrozenDict[str, FrozenMap] = FrozenDict()
    positions: FrozenDict[str, CliquePositionInSet] = FrozenDict()
