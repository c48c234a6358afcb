"""Verdicts of MNNVL by annotation on the domains and claims of a set."""

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


class SharedObjectVerdict(NamedTuple):
    """The state of one shared domain or claim.

    Attributes:
        kind: ComputeDomain or ResourceClaim.
        membership: of the PodCliques that use it; None for a surplus object.
        found: the object; None if it does not exist.
        owner: the object that should own it.
    """

    kind: str
    membership: DomainMembership | None
    found: ComputeDomain | OwnedObject | None
    owner: Resource
    state: SharedObjectState
    because: Reason


class SharedDomainsJudgement(NamedTuple):
    """The shared domains and claims of one set.

    Attributes:
        verdicts: on the domains and claims that are in use, and on surplus ones.
        annotations: name of a clique in the template -> the MNNVL annotations of its new PodCliques (MS-010).
        positions: name of a PodClique -> its position by the template; empty if no PodClique has a shared claim.
    """

    verdicts: tuple[SharedObjectVerdict, ...] = ()
    annotations: Mapping[str, FrozenMap] = MappingProxyType({})
    positions: Mapping[str, CliquePosition] = MappingProxyType({})
