"""What MNNVL by annotation says of a set."""

from collections.abc import Mapping
from enum import Enum, unique
from types import MappingProxyType
from typing import NamedTuple

from grove_core.kernel.frozen import FrozenMap
from grove_core.kernel.reasons import Reason
from grove_core.resources.compute_domain import ComputeDomain
from grove_core.resources.domain_sharing import CliquePosition, DomainMembership
from grove_core.resources.meta import Resource
from grove_core.resources.owned_object import OwnedObject


@unique
class SharedState(Enum):
    """What becomes of a domain or a claim."""

    BELONGS = "Belongs"
    """It is there, and belongs to whom it should."""
    HANDED_OVER = "HandedOver"
    """It gets another owner."""
    MADE_AGAIN = "MadeAgain"
    """It is in use and gone; it is ensured."""
    WAITED_FOR = "WaitedFor"
    """It is in use and goes; one like it is ensured when it is gone."""
    TAKEN = "Taken"
    """Its name is held by what serves another."""
    LEFT_ALONE = "LeftAlone"
    """It is in use, and MNNVL by annotation is off."""
    SURPLUS = "Surplus"
    """Whom it served is gone; it goes too."""
    KEPT = "Kept"
    """Whom it served is gone, and some still use it."""
    UNKNOWN = "Unknown"
    """It was not collected."""


class SharedVerdict(NamedTuple):
    """One domain or claim.

    Attributes:
        kind: ComputeDomain or ResourceClaim.
        member: whose it is; None for what is surplus.
        found: as it is; None where it is not.
        owner: who should own it.
    """

    kind: str
    member: DomainMembership | None
    found: ComputeDomain | OwnedObject | None
    owner: Resource
    state: SharedState
    because: Reason


class ScopeJudgement(NamedTuple):
    """Everything MNNVL by annotation has to say about what exists of one set.

    Attributes:
        fates: domains and claims that are in use, and those that nobody uses any more.
        annotations: name of a clique in the template -> what its new PodCliques say of MNNVL (MS-010, MS-011).
        positions: name of a PodClique -> where it stands by the template; none where nobody holds a claim.
    """

    verdicts: tuple[SharedVerdict, ...] = ()
    annotations: Mapping[str, FrozenMap] = MappingProxyType({})
    positions: Mapping[str, CliquePosition] = MappingProxyType({})
