"""What can happen to a cluster between two reconciles, and during one."""

from dataclasses import dataclass
from enum import Enum, unique
from typing import Final


@unique
class EventKind(Enum):
    """The kinds of events; the value is the sentence with which a history shows it, and plain ones come first."""

    TIME_PASSES = "time passes"
    DELAY_PASSES = "the longest termination delay passes"
    POD_FAILS = "a pod is no longer ready"
    PODS_FAIL = "no pod of a PodClique is ready any more"
    PODS_BECOME_READY = "all pods of a PodClique become ready"
    ALL_PODS_BECOME_READY = "all pods become ready"
    NODE_GOES = "a node goes with its pods"
    UPDATE_BEGINS = "an update begins"
    UPDATE_ENDS = "all updates end"
    CLIQUE_SCALED = "a PodClique is scaled"
    GROUP_SCALED = "a scaling group is scaled"
    SET_SCALED = "the set is scaled"
    OPERATOR_CRASHES = "the operator crashes between its writes, and starts again"
    WRITE_REFUSED = "the API server refuses one write"
    WRITES_FAIL = "every write fails"
    RESPONSES_LOST = "every write is done, and its response is lost"
    FRESH_READ_FAILS = "the fresh read before a termination fails"


EVENTS_OF_WRITES: Final = frozenset(
    {
        EventKind.OPERATOR_CRASHES,
        EventKind.WRITE_REFUSED,
        EventKind.WRITES_FAIL,
        EventKind.RESPONSES_LOST,
        EventKind.FRESH_READ_FAILS,
    }
)
"""Those that happen to the writes of a round."""


@dataclass(frozen=True, slots=True)
class Event:
    """One event; the numbers are taken modulo what there is, so every event fits every cluster.

    Attributes:
        kind: what happens.
        which: which object it happens to, in the order of their names; or how the writes fail.
        amount: how much: seconds, replicas, or the number of writes before it.
    """

    kind: EventKind
    which: int = 0
    amount: int = 0
