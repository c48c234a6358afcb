"""What would avert a termination, and what is behind it: lost nodes, the scheduler's words, room for the new pods."""

from collections.abc import Iterable
from datetime import datetime, timedelta
from enum import Enum, unique
from typing import NamedTuple

from grove_core.kernel.refs import Ref
from grove_core.kernel.structs import Struct


class ReadyPodsToEndBreach(NamedTuple):
    """The ready pods that one PodClique needs so that its breach ends (PL-041).

    Attributes:
        pods: the number of pods that have to become ready; pods that are being deleted do not count.
        before: when the delay of its breach ends; None where it has ended already.
        replicas: the ``replicas`` that the PodClique needs for so many pods; None where it has enough.
        starting_pods_count_already: whether its pods that are starting count as healthy now, so that it is not enough
            if one of these becomes ready.
        gated: whether so many pods become ready only once Grove's scheduling gate of some of them opens (PL-057).
    """

    clique: Ref
    pods: int
    before: datetime | None
    replicas: int | None = None
    starting_pods_count_already: bool = False
    gated: bool = False


class LongerDelay(NamedTuple):
    """The delays that put a termination off if they are longer than ``above`` (PL-042).

    Attributes:
        fields: paths in the PodCliqueSet.
    """

    fields: tuple[str, ...]
    above: timedelta


class LostNodeOfPods(NamedTuple):
    """A node that does not answer, and the pods on it that are not ready (PL-044).

    Attributes:
        taint: the key of its taint.
        since: since when it does not answer; None where that is not shown.
    """

    node: str
    taint: str
    since: datetime | None
    pods: int


class SchedulerMessage(NamedTuple):
    """A message of the scheduler, and the number of pods that it is about (PL-046)."""

    message: str
    pods: int


@unique
class RoomForReplacement(Enum):
    """Whether the gangs of a terminated replica find room again (PL-045)."""

    NODES_MISSING = "NodesMissing"
    """The input lacks Nodes, or a pod on them has requests that cannot be read."""
    PODS_MISSING = "PodsMissing"
    """They fit on the nodes of the input, which lacks pods (PL-050)."""
    PART_OF_GANG = "PartOfGang"
    """Its pods are a part of a gang whose other pods stay; places for a part are not searched."""
    UNDECIDED = "Undecided"
    """No placement of every pod was found, and no proof that the gangs cannot start."""
    FITS = "Fits"
    """Its gangs fit on the nodes together."""
    CANNOT = "Cannot"
    """They do not."""


class TerminationHints(Struct, frozen=True, kw_only=True):
    """What is known about one termination besides its reasons.

    Attributes:
        replica: of the set or of a scaling group, which waits for its termination or is terminated now.
        ready_pods: what averts it if all of it happens (PL-040, PL-043); empty where ready pods do not avert it.
        spares_not: replicas of scaling groups that are terminated nevertheless if ``ready_pods`` become ready.
        longer_delay: what puts it off; None where a longer delay does not.
        unready: the number of pods that are not ready, of the PodCliques behind it.
        nodes: the nodes that do not answer, if all pods with a node that are not ready are on few of these.
        messages: of the scheduler about these pods, the most frequent first.
        room: whether the gangs find room after the termination.
    """

    replica: Ref
    ready_pods: tuple[ReadyPodsToEndBreach, ...] = ()
    spares_not: tuple[Ref, ...] = ()
    longer_delay: LongerDelay | None = None
    unready: int = 0
    nodes: tuple[LostNodeOfPods, ...] = ()
    messages: tuple[SchedulerMessage, ...] = ()
    room: RoomForReplacement = RoomForReplacement.NODES_MISSING


def hints_by_replica(hints: Iterable[TerminationHints]) -> dict[Ref, TerminationHints]:
    """Return hints by the replica that they are about."""
    return {one.replica: one for one in hints}
