"""The possible answers about a set's topology, and what other areas may ask of them."""

from collections.abc import Mapping
from enum import Enum, unique
from types import MappingProxyType
from typing import Final, NamedTuple

from grove_core.kernel.reasons import Reason


@unique
class TopologyResolution(Enum):
    """How a set stands to its topology."""

    NONE = "None"
    """No topology applies."""
    OFF = "Off"
    """One would, and topology-aware scheduling is off."""
    UNKNOWN = "Unknown"
    """Whether it exists is not known."""
    MISSING = "Missing"
    """There is no such topology."""
    LACKING = "Lacking"
    """It lacks a domain that the set asks for."""
    USED = "Used"
    """The set's gangs are placed by it."""


@unique
class FitVerdict(Enum):
    """Whether pods have a place."""

    FITS = "Fits"
    """A placement was found."""
    CANNOT = "CannotFit"
    """There is none, and there is a proof of it."""
    UNDECIDED = "NotDecided"
    """Neither was found."""


@unique
class DeletionHold(Enum):
    """Whether Grove holds a topology."""

    HELD = "Held"
    """Sets use it."""
    FREE = "Free"
    """Nobody does, or it goes all the same (TP-053)."""
    UNKNOWN = "Unknown"
    """Who uses it was not collected."""


class TopologyJudgement(NamedTuple):
    """Everything there is to say about the topology of one set.

    Attributes:
        name: of the topology; empty where none applies.
        keys: domain -> key of the node label; empty unless it is used.
    """

    resolution: TopologyResolution
    because: tuple[Reason, ...]
    name: str = ""
    keys: Mapping[str, str] = MappingProxyType({})


class GangTopology(NamedTuple):
    """What who makes PodGangs has to know.

    Attributes:
        topology: its name; empty where new gangs are told nothing.
        keys: domain -> key of the node label.
        waiting: why no gang is made now; empty where they are (TP-010, TP-011, TP-013).
        follows: why gangs that say otherwise are changed (TP-025); None where they are not.
        locked: why they stay as they are (TP-026).
    """

    topology: str = ""
    keys: Mapping[str, str] = MappingProxyType({})
    waiting: tuple[Reason, ...] = ()
    follows: Reason | None = None
    locked: Reason | None = None


NO_GANG_TOPOLOGY: Final = GangTopology()
