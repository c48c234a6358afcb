"""Verdicts about topologies, and the part of them that other areas use."""

from collections.abc import Iterator, Mapping
from enum import Enum, unique
from typing import NamedTuple

from grove_core.kernel.frozen import FrozenDict
from grove_core.kernel.reasons import Reason
from grove_core.resources.podcliqueset import PodCliqueSet
from grove_core.resources.podcliqueset_spec import TopologyConstraint
from grove_core.resources.podgang import (
    NO_PACK,
    NO_PLACEMENT,
    GangPackConstraint,
    PackedGroupReplica,
    PodGangConstraints,
)
from grove_core.snapshot.expected_replicas import ExpectedClique, ExpectedGang


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

    def constraints_of_gang(self, root: PodCliqueSet, gang: ExpectedGang) -> PodGangConstraints:
        """Return the topology constraints of one gang; empty where no topology applies. Linear in its cliques."""
        if not self.topology:
            return NO_PLACEMENT
        template, keys = root.spec.template, self.keys
        own = (_constraint_of_group(gang.cliques[0]) if gang.group else None) or template.topology_constraint
        packs = ((clique.name, _pack(clique.template.topology_constraint, keys)) for clique in gang.cliques)
        return PodGangConstraints(
            self.topology,
            _pack(own, keys),
            tuple(sorted((name, pack) for name, pack in packs if pack != NO_PACK)),
            () if gang.group else tuple(sorted(_packed_groups(gang, keys))),
        )


def _packed_groups(gang: ExpectedGang, keys: Mapping[str, str]) -> Iterator[PackedGroupReplica]:
    """Yield the constraints of scaling group replicas that are part of a base gang (TP-020)."""
    members: dict[tuple[str, int], list[ExpectedClique]] = {}
    for clique in gang.cliques:
        if _constraint_of_group(clique) is not None:
            members.setdefault((clique.group, clique.group_replica), []).append(clique)
    for (group, replica), cliques in members.items():
        yield PackedGroupReplica(
            f"{group}-{replica}", tuple(one.name for one in cliques), _pack(_constraint_of_group(cliques[0]), keys)
        )


def _constraint_of_group(clique: ExpectedClique) -> TopologyConstraint | None:
    return clique.group_template.topology_constraint if clique.group_template is not None else None


def _pack(constraint: TopologyConstraint | None, keys: Mapping[str, str]) -> GangPackConstraint:
    required, preferred = constraint.domains if constraint is not None else ("", "")
    return GangPackConstraint(keys.get(required, ""), keys.get(preferred, ""))
