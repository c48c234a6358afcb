"""Verdicts about topologies, and the part of them that other areas use."""

from collections.abc import Iterator, Mapping
from enum import Enum, unique
from typing import ClassVar, Literal, TypeAlias, assert_never

from grove_core.kernel.frozen import FrozenDict
from grove_core.kernel.reasons import Reason
from grove_core.kernel.structs import Struct
from grove_core.resources.naming_rules import GroupReplicaKey
from grove_core.resources.podcliqueset import PodCliqueSet
from grove_core.resources.podcliqueset_spec import TopologyConstraint
from grove_core.resources.podgang import (
    NO_PACK,
    NO_PLACEMENT,
    GangPackConstraint,
    PackedGroupReplica,
    PodGangConstraints,
)
from grove_core.snapshot.expected_replicas import ExpectedClique, ExpectedGang, GroupMembership


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


class PlacingTopology(Struct, frozen=True):
    """A topology by which PodGangs are placed.

    Attributes:
        name: it goes into new PodGangs.
        keys: domain -> key of the node label.
    """

    name: str
    keys: FrozenDict[str, str]

    def constraints_of_gang(self, root: PodCliqueSet, gang: ExpectedGang) -> PodGangConstraints:
        """Return the topology constraints of one gang. Linear in its cliques."""
        template, keys = root.spec.template, self.keys
        own = _constraint_of_group(gang.group) or template.topology_constraint
        packs = ((clique.name, _pack(clique.template.topology_constraint, keys)) for clique in gang.cliques)
        return PodGangConstraints(
            self.name,
            _pack(own, keys),
            tuple(sorted((name, pack) for name, pack in packs if pack != NO_PACK)),
            () if gang.group else tuple(sorted(_packed_groups(gang, keys))),
        )


class NoTopology(Struct, frozen=True):
    """No topology applies to the set."""

    resolution: ClassVar = TopologyResolution.NONE
    name: ClassVar = ""
    because: tuple[Reason, ...]


class DisabledTopology(Struct, frozen=True):
    """The topology of this name would apply to the set, but topology-aware scheduling is off."""

    resolution: ClassVar = TopologyResolution.OFF
    name: str
    because: tuple[Reason, ...]


class UnknownTopology(Struct, frozen=True):
    """The input does not show whether the topology of the set exists."""

    resolution: ClassVar = TopologyResolution.UNKNOWN
    name: str
    because: tuple[Reason, ...]


class UnusableTopology(Struct, frozen=True):
    """The topology of the set does not exist, or lacks a domain that the set asks for.

    Attributes:
        faults: what is wrong; at least one.
        which: why this topology applies.
    """

    resolution: Literal[TopologyResolution.MISSING, TopologyResolution.LACKING]
    name: str
    faults: tuple[Reason, ...]
    which: Reason

    @property
    def because(self) -> tuple[Reason, ...]:
        """The faults, then why this topology applies."""
        return (*self.faults, self.which)


class PlacedByTopology(Struct, frozen=True):
    """The PodGangs of the set are placed by its topology."""

    resolution: ClassVar = TopologyResolution.USED
    topology: PlacingTopology
    because: tuple[Reason, ...]

    @property
    def name(self) -> str:
        """The name of the topology."""
        return self.topology.name


TopologyJudgement: TypeAlias = NoTopology | DisabledTopology | UnknownTopology | UnusableTopology | PlacedByTopology
"""The topology of one set."""


class GangsWithoutTopology(Struct, frozen=True):
    """No topology applies: PodGangs are created without constraints, and existing ones keep theirs."""


class WithheldGangs(Struct, frozen=True):
    """New PodGangs are withheld, since their topology is not usable (TP-010, TP-011, TP-013)."""

    because: tuple[Reason, ...]


class GangsPlacedByTopology(Struct, frozen=True):
    """PodGangs are placed by a topology.

    Attributes:
        follows: whether existing PodGangs with other constraints are updated (TP-025), or stay as they are (TP-026).
        because: why they are updated, or stay.
    """

    topology: PlacingTopology
    follows: bool
    because: Reason


GangTopology: TypeAlias = GangsWithoutTopology | WithheldGangs | GangsPlacedByTopology
"""The input of other areas for PodGangs: their topology, or why they are withheld."""


def topology_constraints_of_gang(topology: GangTopology, root: PodCliqueSet, gang: ExpectedGang) -> PodGangConstraints:
    """Return the topology constraints of one gang; empty where it is placed by no topology."""
    match topology:
        case GangsPlacedByTopology(placing):
            return placing.constraints_of_gang(root, gang)
        case GangsWithoutTopology() | WithheldGangs():
            return NO_PLACEMENT
        case _:
            assert_never(topology)


def _packed_groups(gang: ExpectedGang, keys: Mapping[str, str]) -> Iterator[PackedGroupReplica]:
    """Yield the constraints of scaling group replicas that are part of a base gang (TP-020)."""
    members: dict[GroupReplicaKey, list[ExpectedClique]] = {}
    for clique in gang.cliques:
        if clique.group is not None and _constraint_of_group(clique.group) is not None:
            members.setdefault(clique.group.key, []).append(clique)
    for replica, cliques in members.items():
        yield PackedGroupReplica(
            replica.name, tuple(one.name for one in cliques), _pack(_constraint_of_group(cliques[0].group), keys)
        )


def _constraint_of_group(group: GroupMembership | None) -> TopologyConstraint | None:
    return group.template.topology_constraint if group is not None else None


def _pack(constraint: TopologyConstraint | None, keys: Mapping[str, str]) -> GangPackConstraint:
    required, preferred = constraint.domains if constraint is not None else ("", "")
    return GangPackConstraint(keys.get(required, ""), keys.get(preferred, ""))
