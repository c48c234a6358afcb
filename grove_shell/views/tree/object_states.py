"""States of the objects of a page: the word and the picture of each, so that colour is never alone (HP-005)."""

from collections.abc import Iterable, Mapping
from enum import Enum, unique
from typing import Final, assert_never

from grove_core.forecast_explanation import EntryUrgency
from grove_core.resources.pod import FINISHED_PHASES, Pod


@unique
class ObjectState(Enum):
    """The state of an object of the tree, the most urgent first; the value is the word that the page shows."""

    ENDS = "will end"
    WAITS = "waiting"
    UNKNOWN = "unknown"
    BREACHED = "breached"
    WITHHELD = "withheld"
    DELETED = "being deleted"
    UNSCHEDULED = "no node"
    STARTING = "not ready"
    GATED = "gated"
    CREATED = "created"
    FINISHED = "finished"
    READY = "ready"

    @property
    def css_class(self) -> str:
        """The name of its class in the style, and of its picture."""
        return self.name.lower()

    @property
    def needs_attention(self) -> bool:
        """Whether the tree is open where an object has this state."""
        match self:
            case (
                ObjectState.ENDS
                | ObjectState.WAITS
                | ObjectState.UNKNOWN
                | ObjectState.BREACHED
                | ObjectState.WITHHELD
                | ObjectState.UNSCHEDULED
                | ObjectState.GATED
                | ObjectState.CREATED
            ):
                return True
            case ObjectState.DELETED | ObjectState.STARTING | ObjectState.FINISHED | ObjectState.READY:
                return False
            case _:
                assert_never(self)


STATE_STYLES: Final[Mapping[ObjectState, str]] = {
    ObjectState.ENDS: "bold red",
    ObjectState.WAITS: "bold yellow",
    ObjectState.UNKNOWN: "bold magenta",
    ObjectState.BREACHED: "red",
    ObjectState.WITHHELD: "magenta",
    ObjectState.DELETED: "dim",
    ObjectState.UNSCHEDULED: "yellow",
    ObjectState.STARTING: "yellow",
    ObjectState.GATED: "yellow",
    ObjectState.CREATED: "cyan",
    ObjectState.FINISHED: "dim",
    ObjectState.READY: "green",
}
"""State -> its style on a terminal, beside the word (CL-049)."""
_RANK: Final = {state: place for place, state in enumerate(ObjectState)}
STATE_OF_URGENCY: Final = {
    EntryUrgency.TERMINATES: ObjectState.ENDS,
    EntryUrgency.WAITS: ObjectState.WAITS,
    EntryUrgency.HELD: ObjectState.WITHHELD,
    EntryUrgency.UNKNOWN: ObjectState.UNKNOWN,
    EntryUrgency.GATED: ObjectState.GATED,
    EntryUrgency.KEEPS: ObjectState.READY,
}


def most_urgent_state(states: Iterable[ObjectState]) -> ObjectState:
    """Return the most urgent of some states; ``READY`` where there are none."""
    return min(states, key=_RANK.__getitem__, default=ObjectState.READY)


def state_of_pod(pod: Pod) -> ObjectState:
    """Return the state of a pod as the input has it."""
    if pod.deleting:
        return ObjectState.DELETED
    if pod.phase in FINISHED_PHASES:
        return ObjectState.FINISHED
    if pod.ready:
        return ObjectState.READY
    if pod.scheduled:
        return ObjectState.STARTING
    return ObjectState.GATED if pod.gated or pod.has_grove_gate else ObjectState.UNSCHEDULED
