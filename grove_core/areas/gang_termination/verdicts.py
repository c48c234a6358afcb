"""The verdicts of gang termination by whatever rules: breaches, and the fates of replicas and groups."""

from datetime import datetime, timedelta
from typing import Final, NamedTuple, TypeAlias

from grove_core.kernel.frozen import FrozenDict, Json
from grove_core.kernel.reasons import Reason, Rule
from grove_core.kernel.refs import Ref
from grove_core.kernel.structs import Struct
from grove_core.resources.naming_rules import GroupReplicaKey
from grove_core.resources.podclique import PodClique
from grove_core.resources.scaling_group import ScalingGroup


class Keep(Struct, frozen=True):
    """Leave it as it is; no delay runs."""


class Wait(Struct, frozen=True):
    """Leave it as it is; the first delay ends at ``until``."""

    until: datetime


class Terminate(Struct, frozen=True):
    """Terminate it now, as a whole."""


class Delegate(Struct, frozen=True):
    """Leave the decision to the set (GT-052)."""


class Suspend(Struct, frozen=True):
    """Do nothing while an update runs (GT-053)."""


ReplicaFate: TypeAlias = Keep | Wait | Terminate
GroupFate: TypeAlias = Keep | Wait | Terminate | Delegate | Suspend

KEEPS: Final = Keep.__name__
WAITS: Final = Wait.__name__
TERMINATES: Final = Terminate.__name__
DELEGATES: Final = Delegate.__name__
SUSPENDS: Final = Suspend.__name__
"""The fates as verdicts of findings; the verdict is ``Unknown`` where the set cannot be judged."""


def finding_verdict_of_fate(fate: GroupFate) -> str:
    """Return a fate as the verdict of a finding."""
    return type(fate).__name__


class MinAvailableBreach(NamedTuple):
    """A breach of a constituent: since when it lasts, and its effective delay (GT-030)."""

    ref: Ref
    since: datetime
    delay: timedelta


class ReplicaJudgement(NamedTuple):
    """One replica of the set; reasons are derived from it when they are needed.

    Attributes:
        number: its index.
        breaches: of its constituents; empty where no delay is set.
    """

    number: int
    fate: ReplicaFate
    breaches: tuple[MinAvailableBreach, ...]


class SetAvailability(NamedTuple):
    """The number of available replicas of a set (GT-044, GF-037), and of all that are specified."""

    available: int
    replicas: int

    @property
    def as_finding_verdict(self) -> str:
        """Return it as the verdict of a finding: ``1/2``."""
        return f"{self.available}/{self.replicas}"

    @property
    def as_status_fields(self) -> dict[str, Json]:
        """Return it as fields of the status of the set (GT-046)."""
        return {"replicas": self.replicas, "availableReplicas": self.available}

    def as_reason(self, why: Rule, root: Ref) -> tuple[Reason, ...]:
        """Return the reason that states it."""
        return (why.because(root, **self._asdict()),)


class ReplicasToTerminate(NamedTuple):
    """Replicas that are terminated: of the set by index, and of scaling groups by the name of the group and index."""

    replicas: frozenset[int] = frozenset()
    parts: frozenset[tuple[str, int]] = frozenset()

    def includes_clique(self, replica: int, group_replica: GroupReplicaKey | None) -> bool:
        """Return whether a PodClique of these replicas belongs to one that is terminated; None: it is standalone."""
        return replica in self.replicas or group_replica in self.parts


class GroupReplicaFates(NamedTuple):
    """The fates of the replicas of one scaling group.

    Attributes:
        breached: its breached cliques that are not being deleted.
        acting: replica index -> its breaches that may be acted on.
        fates: replica index -> fate, for the replicas with breached cliques.
    """

    group: ScalingGroup
    breached: tuple[PodClique, ...]
    acting: FrozenDict[int, tuple[MinAvailableBreach, ...]]
    fates: FrozenDict[int, GroupFate]


class SetReplicaFates(NamedTuple):
    """The fates of the replicas of a set and of its scaling groups, by whatever rules."""

    replicas: tuple[ReplicaJudgement, ...]
    groups: tuple[GroupReplicaFates, ...]

    @property
    def replicas_to_terminate(self) -> ReplicasToTerminate:
        """Return the replicas that are terminated."""
        return ReplicasToTerminate(
            frozenset(one.number for one in self.replicas if isinstance(one.fate, Terminate)),
            frozenset(
                (one.group.ref.name, index)
                for one in self.groups
                for index, fate in one.fates.items()
                if isinstance(fate, Terminate)
            ),
        )
