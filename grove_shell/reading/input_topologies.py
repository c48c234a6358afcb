"""The topologies of an input: ClusterTopologies and ClusterTopologyBindings, one for each name."""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from grove_core.kernel.errors import MalformedObject, ObjectProblem
from grove_core.resources.api_names import GROVE
from grove_core.resources.cluster_topology import (
    TOPOLOGY_KINDS,
    ClusterTopology,
    cluster_topology_from_json,
    effective_topologies,
    shadowed_topology_bindings,
)
from grove_core.resources.podclique import PodClique
from grove_core.resources.topology_usage import bound_pods_by_set
from grove_shell.reading.input_items import InputItem, metadata_string

if TYPE_CHECKING:
    from grove_core.areas.topology.admit import TopologyAdmissionView

_GROUP = GROVE.partition("/")[0]


def is_topology(raw: Mapping[str, Any]) -> bool:
    """Return whether an object is a topology; one without a uid must have the served version (IN-031)."""
    kind, version = raw.get("kind"), raw.get("apiVersion")
    if kind not in TOPOLOGY_KINDS or not isinstance(version, str) or version.partition("/")[0] != _GROUP:
        return False
    return version == GROVE or metadata_string(raw, "uid") != ""


def admission_topology_view(
    topologies: Mapping[str, ClusterTopology] | None, cliques: Iterable[PodClique] | None
) -> "TopologyAdmissionView":
    """Return what manifests are admitted by; None for kinds that are not in the input."""
    from grove_core.areas.topology.admit import TopologyAdmissionView  # noqa: PLC0415 - dumps of clusters have no manifests (P11)

    return TopologyAdmissionView(topologies, None if cliques is None else bound_pods_by_set(cliques))


class _Place(NamedTuple):
    """Position of an item in the input."""

    file: str
    document: int
    item: int

    def seen_from(self, other: "_Place") -> str:
        """Return the position in words, for a fault about another object of the same name."""
        file = f"{self.file}, " if self.file != other.file else ""
        here = f"; this is items[{other.item}]" if other.item >= 0 else ""
        return f"{file}document {self.document}{f', items[{self.item}]' if self.item >= 0 else ''}{here}"


class InputTopologies:
    """The topologies that were read so far."""

    def __init__(self, *, judging: bool = True) -> None:
        """Begin empty; ``judging``: whether manifests are admitted by these topologies."""
        self._judging = judging
        self._found: dict[tuple[str, str], tuple[ClusterTopology, _Place]] = {}

    def take(self, item: InputItem, shared: dict[str, str]) -> tuple[ObjectProblem, ...]:
        """Add a topology; return its problems (IN-032)."""
        try:
            topology = cluster_topology_from_json(item.value, shared)
        except MalformedObject as fault:
            return fault.problems
        key = (topology.ref.kind, topology.ref.name)
        here = _Place(item.file, item.document, item.index)
        before, place = self._found.setdefault(key, (topology, here))
        if before == topology:
            return ()
        got = f"another one in {place.seen_from(here)}"
        return (ObjectProblem(path="metadata.name", expected="one topology of this name", got=got),)

    @property
    def judging(self) -> Mapping[str, ClusterTopology] | None:
        """The topologies that manifests are admitted by; None if the input has none."""
        return self.by_name if self._judging and self._found else None

    @property
    def by_name(self) -> Mapping[str, ClusterTopology]:
        """The effective topology of each name."""
        return effective_topologies(topology for topology, _ in self._found.values())

    @property
    def shadowed(self) -> Mapping[str, ClusterTopology]:
        """The bindings that another topology of their name shadows."""
        return shadowed_topology_bindings(topology for topology, _ in self._found.values())
