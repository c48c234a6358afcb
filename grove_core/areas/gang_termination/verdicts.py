"""The possible answers of gang termination, as closed unions."""

from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple, TypeAlias

from grove_core.areas.gang_termination.rules import Why
from grove_core.kernel.conditions import Truth
from grove_core.kernel.decisions import Decision
from grove_core.kernel.reasons import Reason
from grove_core.resources.podclique import PodClique
from grove_core.resources.scaling_group import ScalingGroup


@dataclass(frozen=True, slots=True)
class Keep:
    """Leave it as it is, and no clock runs."""


@dataclass(frozen=True, slots=True)
class Wait:
    """Leave it as it is; the first delay ends at ``until``."""

    until: datetime


@dataclass(frozen=True, slots=True)
class Terminate:
    """End it now, as a whole."""


@dataclass(frozen=True, slots=True)
class Delegate:
    """Leave the matter to the set (GT-052)."""


@dataclass(frozen=True, slots=True)
class Suspend:
    """Do nothing while an update runs (GT-053)."""


@dataclass(frozen=True, slots=True)
class Unknown:
    """Nothing can be said (GT-024)."""


ReplicaFate: TypeAlias = Keep | Wait | Terminate | Unknown
GroupFate: TypeAlias = Keep | Wait | Terminate | Delegate | Suspend | Unknown


class Counts(NamedTuple):
    """Pods of one clique: GT-002 to GT-006."""

    replicas: int
    ready: int
    scheduled: int
    gated: int
    updated: int


class CliqueJudgement(NamedTuple):
    """One clique: its counts and whether it is breached.

    A plain tuple, made once for each clique of a cluster; its reasons are built only when somebody asks.

    Attributes:
        was_available: after this round; None while it is not recorded (GT-015).
        breach, why: GT-011 to GT-015.
        since: since when the breach has this status; of use only where ``breach`` is not news.
    """

    clique: PodClique
    counts: Counts
    was_available: bool | None
    breach: Truth
    why: Why
    since: datetime

    @property
    def reason(self) -> Reason:
        """Why it is (not) breached."""
        return self.why.because(self.clique.ref, ready=self.counts.ready, needed=self.clique.min_available)


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupJudgement:
    """One scaling group: its condition, its counts, and what it does about its replicas.

    Attributes:
        left: replicas that are not breached.
        breach, since: GT-041 to GT-043.
        because: why it is (not) breached; after the group's own reason those of its breached cliques.
        scheduled, available: GT-044.
        fate: for the group as a whole.
        replica_fates: replica index -> fate, for the breached replicas only, sorted by index.
    """

    group: ScalingGroup
    left: int
    scheduled: int
    available: int
    breach: Truth
    since: datetime
    because: tuple[Reason, ...]
    fate: Decision[GroupFate]
    replica_fates: tuple[tuple[int, Decision[GroupFate]], ...]


@dataclass(frozen=True, slots=True)
class ReplicaJudgement:
    """One replica of the set: whether it is available (GT-045), and its fate."""

    index: int
    available: bool
    fate: Decision[ReplicaFate]


@dataclass(frozen=True, slots=True)
class Judgement:
    """Everything gang termination has to say about one set.

    Attributes:
        rules: name of the rule set that judged.
        cliques: those that can be judged, sorted by name; cliques being deleted are in ``leaving``.
        unknown: set where nothing can be said (GT-024); then the three lists are empty.
    """

    rules: str
    cliques: tuple[CliqueJudgement, ...] = ()
    leaving: tuple[PodClique, ...] = ()
    groups: tuple[GroupJudgement, ...] = ()
    replicas: tuple[ReplicaJudgement, ...] = ()
    unknown: tuple[Reason, ...] = ()
