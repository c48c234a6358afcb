"""Topologies of an input: of both kinds, one of each name."""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from grove_core.kernel.errors import MalformedObject, Problem
from grove_core.resources.cluster_topology import TOPOLOGY_KINDS, ClusterTopology, cluster_topology_of, preferred_of
from grove_core.resources.keys import GROVE
from grove_core.resources.podclique import PodClique
from grove_core.resources.topology_use import bound_among

if TYPE_CHECKING:
    from grove_core.areas.topology.admit import Around

_GROUP = GROVE.partition("/")[0]


def is_topology(kind: str, group: str) -> bool:
    """Whether an object is a topology."""
    return kind in TOPOLOGY_KINDS and group == _GROUP


def around(topologies: Mapping[str, ClusterTopology] | None, cliques: Iterable[PodClique] | None) -> "Around":
    """What manifests are judged by; None for kinds that are not in the input."""
    from grove_core.areas.topology.admit import Around  # noqa: PLC0415 - dumps of clusters have no manifests (P11)

    return Around(topologies, None if cliques is None else bound_among(cliques))


class Topologies:
    """What was found so far."""

    def __init__(self) -> None:
        """Nothing yet."""
        self._found: dict[str, ClusterTopology] = {}

    def take(self, raw: Mapping[str, Any], shared: dict[str, str]) -> tuple[Problem, ...]:
        """Take in a topology; what is wrong with it otherwise."""
        try:
            topology = cluster_topology_of(raw, shared)
        except MalformedObject as fault:
            return fault.problems
        before = self._found.setdefault(topology.ref.name, topology)
        if before == topology:
            return ()
        got = "a second one that differs" if before.ref.kind == topology.ref.kind else f"a {before.ref.kind} of it too"
        return (Problem(path="metadata.name", expected="one topology of this name", got=got),)

    @property
    def by_name(self) -> Mapping[str, ClusterTopology]:
        """The topologies that count."""
        return preferred_of(self._found.values())
