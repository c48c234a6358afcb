"""Verdicts about topologies, and the part of them that other areas use."""

from enum import Enum, unique
from typing import NamedTuple

from grove_core.kernel.frozen import FrozenDict
from grove_core.kernel.reasons import Reason


@unique
class TopologyResolution(Enum):
    """Which topology applies to a set, and whether its PodGangs can be placed by it."""

    NONE = "None"
    """No topology applies."""
    OFF = "Off"
    """One would apply, but topology-aware scheduling is off."""
    UNKNOWN = "Unknown"
    """The input does not show whether the topology exists."""
    MISSING = "Missing"
    """The topology does not exist."""
    LACKING = "Lacking"
    """The topology lacks a domain that the set asks for."""
    USED = "Used"
    """The set's PodGangs are placed by the topology."""


@unique
class FitVerdict(Enum):
    """Whether pods fit on nodes."""

    FITS = "Fits"
    """A placement was found."""
    CANNOT = "CannotFit"
    """It is proven that there is no placement."""
    UNDECIDED = "NotDecided"
    """Neither a placement nor a proof was found."""


@unique
class TopologyDeletionHold(Enum):
    """Whether Grove's finalizer holds a topology when it is deleted."""

    HELD = "Held"
    """Sets use it."""
    FREE = "Free"
    """No set uses it, or it is deleted although sets use it (TP-053)."""
    UNKNOWN = "Unknown"
    """The input does not show all users."""


class TopologyJudgement(NamedTuple):
    """The topology of one set.

    Attributes:
        resolution: which topology applies, and whether it is usable.
        name: of the topology; empty where none applies.
        keys: domain -> key of the node label; empty unless the resolution is USED.
    """

    resolution: TopologyResolution
    because: tuple[Reason, ...]
    name: str = ""
    keys: FrozenDict[str, str] = FrozenDict()


class GangTopology(NamedTuple):
    """The input of the workload area for PodGangs: their topology, or why they are withheld.

    Attributes:
        topology: name of the topology that goes into new PodGangs; empty where none applies.
        keys: domain -> key of the node label.
        waiting: why PodGangs are withheld; empty where they are created (TP-010, TP-011, TP-013).
        follows: why PodGangs with other constraints are updated (TP-025); None where they are not.
        locked: why PodGangs with other constraints stay as they are (TP-026); None where they do not.
    """

    topology: str = ""
    keys: FrozenDict[str, str] = FrozenDict()
    waiting: tuple[Reason, ...] = ()
    follows: Reason | None = None
    locked: Reason | None = None
