"""The possible answers of MNNVL about the replicas of a set, and what other areas may ask of them."""

from collections.abc import Mapping
from datetime import datetime
from enum import Enum, unique
from types import MappingProxyType
from typing import Final, NamedTuple

from grove_core.kernel.frozen import FrozenMap
from grove_core.kernel.reasons import Reason
from grove_core.resources.domains_ready_condition import CreationFailure

QUESTION: Final = "computeDomain"
"""What findings on ComputeDomains answer, in either mode."""


@unique
class DomainState(Enum):
    """What becomes of a replica's ComputeDomain."""

    JOINED = "Joined"
    """It is there, and the replica uses it."""
    AWAITED = "Awaited"
    """It is made now, and the replica's parts wait for it."""
    LEAVING = "Leaving"
    """One of before is on its way out, and the replica's parts wait until it is gone."""
    RESTORED = "Restored"
    """It is made again for those who use it."""
    FAILED = "Failed"
    """It cannot be made; the replica does without, and it is tried again."""
    WITHOUT = "Without"
    """The replica runs without one, and stays so."""
    MISSED = "Missed"
    """Its replica uses it, it is gone, and MNNVL is off."""
    UNKNOWN = "Unknown"
    """Whether it exists is not known, and the replica's parts wait."""


@unique
class SiblingUse(Enum):
    """What the parts of a replica that live already have in common (decision D36)."""

    NONE = "none live"
    JOINED = "some name the domain's template"
    WITHOUT = "none names it"


class ReplicaDomain(NamedTuple):
    """One replica of a set.

    Attributes:
        index: of the replica.
        until: when waiting ends by itself; None where it does not.
        is_taken: whether its name is somebody else's, or that of one which goes.
        error: why it failed, if somebody says so at this moment.
    """

    index: int  # type: ignore[assignment]  # hides tuple.index, which nobody looks for here
    siblings: SiblingUse
    state: DomainState
    because: tuple[Reason, ...]
    until: datetime | None = None
    name_is_taken: bool = False
    error: str = ""

    @property
    def joins_new_parts(self) -> bool:
        """Whether new parts of the replica name the domain's template (MN-020, MN-021)."""
        return self.siblings is SiblingUse.JOINED or (
            self.siblings is SiblingUse.NONE and self.state is DomainState.JOINED
        )

    @property
    def withholds_parts(self) -> bool:
        """Whether the replica's parts are held back (MN-010): those that live are not alone in it."""
        return self.siblings is SiblingUse.NONE and self.state in {
            DomainState.AWAITED,
            DomainState.LEAVING,
            DomainState.UNKNOWN,
        }


class MnnvlJudgement(NamedTuple):
    """Everything MNNVL has to say about one set.

    Attributes:
        criterion: which of the criteria decided, and how (MN-001 to MN-003, MN-008).
        replicas: those of which there is something to say, by index.
        failure: what could not be made; None where nothing can be said of it.
    """

    criterion: Reason
    is_wanted: bool
    replicas: tuple[ReplicaDomain, ...] = ()
    failure: CreationFailure | None = CreationFailure()


class CliqueDomains(NamedTuple):
    """What who makes cliques and groups has to know.

    Attributes:
        templates: replica -> the ResourceClaimTemplate that its new parts name (MN-020, MN-021).
        waiting: replica -> why none of its parts is made now (MN-010).
        annotations: name of a clique in the template -> what its new PodCliques say of MNNVL (MS-010, MS-011).
    """

    templates: Mapping[int, str] = MappingProxyType({})
    waiting: Mapping[int, tuple[Reason, ...]] = MappingProxyType({})
    annotations: Mapping[str, FrozenMap] = MappingProxyType({})


NO_CLIQUE_DOMAINS: Final = CliqueDomains()
