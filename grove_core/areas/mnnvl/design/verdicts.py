"""The verdicts of MNNVL by the design: the ComputeDomain of each replica of a set."""

from datetime import datetime
from enum import Enum, unique
from typing import ClassVar, Literal, NamedTuple, TypeAlias

from grove_core.kernel.reasons import Reason
from grove_core.kernel.structs import Struct
from grove_core.resources.domains_ready_condition import DomainCreationFailure


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
class ReplicaUseOfComputeDomain(Enum):
    """Whether the existing PodCliques and scaling groups of a replica use a domain (decision D36)."""

    NONE = "none live"
    JOINED = "some name the domain's template"
    WITHOUT = "none names it"


class _OfReplica(Struct, frozen=True):
    """What is known of every ComputeDomain.

    Attributes:
        index: of the replica.
        siblings: whether existing parts of the replica use a domain.
    """

    index: int
    siblings: ReplicaUseOfComputeDomain
    because: tuple[Reason, ...]


class UnchangedComputeDomain(_OfReplica, frozen=True):
    """A ComputeDomain that exists, or that the replica runs without: nothing is done."""

    state: Literal[ReplicaComputeDomainState.JOINED, ReplicaComputeDomainState.WITHOUT]


class MissingComputeDomain(_OfReplica, frozen=True):
    """A ComputeDomain that is created now."""

    state: Literal[ReplicaComputeDomainState.AWAITED, ReplicaComputeDomainState.RESTORED]


class WithheldComputeDomain(_OfReplica, frozen=True):
    """A ComputeDomain of which the creation is withheld, since MNNVL is off or too little is known."""

    state: Literal[ReplicaComputeDomainState.MISSED, ReplicaComputeDomainState.UNKNOWN]


class BlockedComputeDomain(_OfReplica, frozen=True):
    """A ComputeDomain whose creation waits for the deletion of an earlier one, at the longest until ``until``."""

    state: ClassVar = ReplicaComputeDomainState.LEAVING
    until: datetime


class FailedComputeDomainCreation(_OfReplica, frozen=True):
    """A ComputeDomain whose creation failed, and is tried again.

    Attributes:
        error: of the API server; empty if the creation is not refused now.
    """

    state: ClassVar = ReplicaComputeDomainState.FAILED
    error: str


class ComputeDomainNameTaken(_OfReplica, frozen=True):
    """A ComputeDomain that cannot be created, since another object has its name.

    Attributes:
        until: when the wait for the deletion of that object ends; None if there is no such wait.
    """

    state: ClassVar = ReplicaComputeDomainState.FAILED
    until: datetime | None


ReplicaComputeDomain: TypeAlias = (
    UnchangedComputeDomain
    | MissingComputeDomain
    | WithheldComputeDomain
    | BlockedComputeDomain
    | FailedComputeDomainCreation
    | ComputeDomainNameTaken
)
"""The ComputeDomain of one replica."""


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
