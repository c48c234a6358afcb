"""The verdicts of MNNVL by the rules of the Go operator: the ComputeDomains that a set needs, and the others of it."""

from enum import Enum, unique
from typing import NamedTuple

from grove_core.kernel.reasons import Reason
from grove_core.kernel.refs import Ref
from grove_core.resources.compute_domain import ComputeDomain
from grove_core.resources.mnnvl_groups import MnnvlGroupDomain


@unique
class NeededDomainState(Enum):
    """The state of a ComputeDomain that a set needs."""

    JOINED = "Joined"
    """It exists."""
    MISSING = "Missing"
    """It does not exist, and is created."""
    FAILED = "Failed"
    """It cannot be created."""
    TAKEN_OVER = "TakenOver"
    """It exists without the operator's marks, which the operator adds."""
    LEAVING = "Leaving"
    """It is being deleted."""
    UNKNOWN = "Unknown"
    """The input does not show whether it exists."""
    MISSED = "Missed"
    """It does not exist, and is not created while MNNVL is off."""


@unique
class UnneededDomainState(Enum):
    """The state of a ComputeDomain of a set that the set does not need, or that goes with the set."""

    SURPLUS = "Surplus"
    """It is deleted."""
    ENDING = "Ending"
    """It goes with the set."""
    LEFT_BEHIND = "LeftBehind"
    """It stays."""


class NeededDomain(NamedTuple):
    """A ComputeDomain that the set needs."""

    domain: MnnvlGroupDomain
    ref: Ref
    state: NeededDomainState
    because: tuple[Reason, ...]


class OtherDomain(NamedTuple):
    """A stored ComputeDomain of the set that it does not need, or that goes with it."""

    found: ComputeDomain
    state: UnneededDomainState
    because: tuple[Reason, ...]


class MnnvlDomainsJudgement(NamedTuple):
    """The ComputeDomains of one set.

    Attributes:
        criteria: why the set has domains or has none; empty where there is nothing to report.
        is_wanted: whether the set has domains.
        needed: the domains that the set needs; with MNNVL off only those that are missing.
        others: the other domains of the set.
    """

    criteria: tuple[Reason, ...] = ()
    is_wanted: bool = False
    needed: tuple[NeededDomain, ...] = ()
    others: tuple[OtherDomain, ...] = ()
