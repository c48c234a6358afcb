"""Verdicts of MNNVL about the replicas of a set, and the part of them that other areas use."""

from datetime import datetime
from enum import Enum, unique
from typing import NamedTuple

from grove_core.kernel.frozen import FrozenDict
from grove_core.kernel.reasons import Reason
from grove_core.resources.domains_ready_condition import DomainCreationFailure

"""The question of findings on ComputeDomains, in either mode."""


@unique
class ReplicaComputeDomainState(Enum):
    """The state of a replica's ComputeDomain."""

    JOINED = "Joined"
    """It exists, and the replica uses it."""
    AWAITED = "Awaited"
    """It is created now, and the parts of the replica are withheld until it exists."""
    LEAVING = "Leaving"
    """An earlier one is being deleted, and the parts of the replica are withheld until it is gone."""
    RESTORED = "Restored"
    """It is gone, and is created again for the parts that use it."""
    FAILED = "Failed"
    """It cannot be created; the replica runs without it, and the creation is retried."""
    WITHOUT = "Without"
    """The replica runs without one, and none is created."""
    MISSED = "Missed"
    """It is gone, parts of the replica use it, and MNNVL is off."""
    UNKNOWN = "Unknown"
    """The input does not show whether it exists, and the parts of the replica are withheld."""


@unique
class ComputeDomainUseBySiblings(Enum):
    """Whether the existing PodCliques and scaling groups of a replica use a domain (decision D36)."""

    NONE = "none live"
    JOINED = "some name the domain's template"
    WITHOUT = "none names it"


class ReplicaComputeDomain(NamedTuple):
    """The ComputeDomain of one replica.

    Attributes:
        siblings: whether existing parts of the replica use a domain.
        until: when the wait for an earlier domain ends; None if there is none.
        name_is_taken: whether another object holds its name, or a domain that is being deleted.
        error: why its creation fails; empty if that is not known now.
    """

    index: int  # type: ignore[assignment]  # hides tuple.index, which is not used
    siblings: ComputeDomainUseBySiblings
    state: ReplicaComputeDomainState
    because: tuple[Reason, ...]
    until: datetime | None = None
    name_is_taken: bool = False
    error: str = ""

    @property
    def is_used_by_new_parts(self) -> bool:
        """Whether new parts of the replica use the domain (MN-020, MN-021)."""
        return self.siblings is ComputeDomainUseBySiblings.JOINED or (
            self.siblings is ComputeDomainUseBySiblings.NONE and self.state is ReplicaComputeDomainState.JOINED
        )

    @property
    def withholds_new_parts(self) -> bool:
        """Whether new parts of the replica are withheld (MN-010); they are not if it has parts already."""
        return self.siblings is ComputeDomainUseBySiblings.NONE and self.state in {
            ReplicaComputeDomainState.AWAITED,
            ReplicaComputeDomainState.LEAVING,
            ReplicaComputeDomainState.UNKNOWN,
        }


class MnnvlJudgement(NamedTuple):
    """The ComputeDomains of one set.

    Attributes:
        criterion: the criterion that decided whether the set has domains (MN-001 to MN-003, MN-008).
        replicas: the domains by replica; without replicas that have no domain and need none.
        failure: the replicas whose domain could not be created; None if unknown.
    """

    criterion: Reason
    is_wanted: bool
    replicas: tuple[ReplicaComputeDomain, ...] = ()
    failure: DomainCreationFailure | None = DomainCreationFailure()


class ComputeDomainsOfNewParts(NamedTuple):
    """The input of the workload area for new PodCliques and scaling groups: their domain, or why they are withheld.

    Attributes:
        templates: replica -> the ResourceClaimTemplate that its new parts name (MN-020, MN-021).
        waiting: replica -> why its parts are withheld (MN-010).
    """

    templates: FrozenDict[int, str] = FrozenDict()
    waiting: FrozenDict[int, tuple[Reason, ...]] = FrozenDict()
