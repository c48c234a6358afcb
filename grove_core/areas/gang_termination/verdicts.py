"""The possible answers of gang termination, as closed unions."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, NamedTuple, TypeAlias

from grove_core.areas.gang_termination.rules import Why
from grove_core.kernel.conditions import Truth
from grove_core.kernel.frozen import Json
from grove_core.kernel.reasons import Reason
from grove_core.kernel.refs import Ref
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


ReplicaFate: TypeAlias = Keep | Wait | Terminate
GroupFate: TypeAlias = Keep | Wait | Terminate | Delegate | Suspend

KEEPS: Final = Keep.__name__
WAITS: Final = Wait.__name__
ENDS: Final = Terminate.__name__
DELEGATES: Final = Delegate.__name__
SUSPENDS: Final = Suspend.__name__
"""What findings call them; the verdicts on a termination are these, and ``Unknown`` where nothing can be said."""


def word_of(fate: GroupFate) -> str:
    """What findings call a fate."""
    return type(fate).__name__


class Breach(NamedTuple):
    """A breached constituent of a replica, since when, and the delay that counts for it (GT-030)."""

    ref: Ref
    since: datetime
    delay: timedelta


build: Final = tuple.__new__  # what a NamedTuple's own constructor calls, without the half of the time it adds


class CliqueJudgement(NamedTuple):
    """One clique: whether it is breached.

    A plain tuple, made once for each clique of a cluster; its reason is built only when somebody asks.

    Attributes:
        ready: GT-002.
        was_available: after this round; None while it is not recorded (GT-015).
        breach, why: GT-011 to GT-015.
        since: since when the breach has this status.
    """

    clique: PodClique
    ready: int
    was_available: bool | None
    breach: Truth
    why: Why
    since: datetime

    @property
    def reason(self) -> Reason:
        """Why it is (not) breached."""
        return self.why.because(self.clique.ref, ready=self.ready, needed=self.clique.min_available)


class GroupJudgement(NamedTuple):
    """One scaling group: its condition, and what it does about its replicas. Reasons: ``group.py``.

    Attributes:
        delay: effective delay (GT-030); None if gang termination is off.
        breached: replica index -> its breached cliques, for the breached replicas, sorted by index (GT-040).
        breach, since: GT-041 to GT-043.
        fate: for the group as a whole.
        replica_fates: replica index -> fate, for the breached replicas.
        acting: replica index -> its breaches, where a delay counts for them and nothing forbids to act on them.
        guard: why none of its replicas is ended whatever is breached, if so.
        lost: how many further replicas count as breached, because nothing of them is left (GT-066).
    """

    group: ScalingGroup
    delay: timedelta | None
    breached: Mapping[int, Sequence[CliqueJudgement]]
    breach: Truth
    since: datetime
    fate: GroupFate
    replica_fates: Mapping[int, GroupFate]
    acting: Mapping[int, Sequence[Breach]]
    guard: Why | None = None
    lost: int = 0

    @property
    def left(self) -> int:
        """Replicas that do not count as breached."""
        return self.group.replicas - len(self.breached) - self.lost


class ReplicaJudgement(NamedTuple):
    """One replica of the set. Reasons: ``replica.py``.

    Attributes:
        breaches: its breached constituents; empty where no delay is set.
    """

    index: int  # type: ignore[assignment]  # hides tuple.index, which nobody looks for here
    fate: ReplicaFate
    breaches: Sequence[Breach]


class Judgement(NamedTuple):
    """Everything gang termination has to say about one set; verdicts only, reasons are derived from them on demand.

    Attributes:
        cliques: those that can be judged, maybe made anew at each look; cliques being deleted are in ``leaving``.
        unknown: set where nothing can be said (GT-024); then the others are empty.
        guard: why nothing is ended whatever is breached, if so.
    """

    cliques: Sequence[CliqueJudgement] = ()
    leaving: tuple[PodClique, ...] = ()
    groups: tuple[GroupJudgement, ...] = ()
    replicas: tuple[ReplicaJudgement, ...] = ()
    unknown: tuple[Reason, ...] = ()
    guard: Why | None = None


class Availability(NamedTuple):
    """How many replicas of a set are available (GT-045, GF-037).

    Attributes:
        replicas: as specified.
    """

    available: int
    replicas: int

    @property
    def verdict(self) -> str:
        """As a finding tells it: ``1/2``."""
        return f"{self.available}/{self.replicas}"

    @property
    def fields(self) -> dict[str, Json]:
        """As the status of the set tells it (GT-046)."""
        return {"replicas": self.replicas, "availableReplicas": self.available}


class TerminatingReplicas(NamedTuple):
    """What is being ended: replicas of the set, and of scaling groups by the group's name."""

    replicas: frozenset[int] = frozenset()
    parts: frozenset[tuple[str, int]] = frozenset()

    def holds(self, replica: int, group: str, group_replica: int) -> bool:
        """Whether something of a place in the set ends with it."""
        return replica in self.replicas or (group, group_replica) in self.parts


def terminating_among(
    replicas: Iterable[tuple[int, ReplicaFate]], groups: Iterable[tuple[str, Mapping[int, GroupFate]]]
) -> TerminatingReplicas:
    """What ends of some replicas with their fates, and of the replicas of some groups, these by name. Linear."""
    return TerminatingReplicas(
        frozenset(index for index, fate in replicas if isinstance(fate, Terminate)),
        frozenset(
            (name, index) for name, fates in groups for index, fate in fates.items() if isinstance(fate, Terminate)
        ),
    )


def terminating_of(judgement: Judgement) -> TerminatingReplicas:
    """What a judgement ends."""
    return terminating_among(
        ((replica.index, replica.fate) for replica in judgement.replicas),
        ((judged.group.ref.name, judged.replica_fates) for judged in judgement.groups),
    )
