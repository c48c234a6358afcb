"""The topologies and nodes of an input: one effective topology for each name; nodes, and the pods on them."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from grove_core.kernel.errors import MalformedObject, ObjectProblem, ProblemKind
from grove_core.kernel.frozen import FrozenDict
from grove_core.kernel.structs import replace
from grove_core.resources.api_names import CORE, GROVE, NODE_KIND
from grove_core.resources.cluster_topology import (
    TOPOLOGY_KINDS,
    ClusterTopology,
    cluster_topology_from_json,
    effective_topologies,
    shadowed_topology_bindings,
    topology_level_problems,
)
from grove_core.resources.node import Node, node_from_json
from grove_core.resources.object_metadata import metadata_in
from grove_core.resources.pod_demand import PodOnNode, read_pod_using_node_capacity
from grove_core.resources.podclique import PodClique
from grove_core.resources.topology_usage import bound_pod_counts_by_set
from grove_shell.reading.input_faults import InputFault
from grove_shell.reading.input_items import InputItem, Problem, item_display_name, item_problem_as_fault
from grove_shell.reading.pod_batch_decoding import ConsecutivePods

if TYPE_CHECKING:
    from grove_core.areas.topology.admit import KnownTopologiesForAdmission

_GROUP = GROVE.partition("/")[0]


def is_topology_object(raw: Mapping[str, Any]) -> bool:
    """Return whether an object is a topology; one without a uid must have the served version (IN-032)."""
    kind, version = raw.get("kind"), raw.get("apiVersion")
    if kind not in TOPOLOGY_KINDS or not isinstance(version, str) or version.partition("/")[0] != _GROUP:
        return False
    return version == GROVE or metadata_in(raw).uid != ""


def admission_topology_view(
    topologies: Mapping[str, ClusterTopology] | None, cliques: Iterable[PodClique] | None
) -> "KnownTopologiesForAdmission":
    """Return what manifests are admitted by; None for kinds that are not in the input."""
    from grove_core.areas.topology.admit import KnownTopologiesForAdmission  # noqa: PLC0415 - dumps of clusters have no manifests (P11)

    return KnownTopologiesForAdmission(topologies, None if cliques is None else bound_pod_counts_by_set(cliques))


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


class TopologyEdit(NamedTuple):
    """A manifest that changes the levels of a stored topology.

    Attributes:
        before: as stored.
        item: the manifest.
    """

    before: ClusterTopology
    item: InputItem


class InputTopologies:
    """The topologies that were read so far; a manifest beside the stored topology of its name is an edit (IN-082)."""

    def __init__(self, *, judging: bool = True) -> None:
        """Begin empty; ``judging``: whether manifests are admitted by these topologies."""
        self._judging = judging
        self._stored: dict[tuple[str, str], tuple[ClusterTopology, _Place]] = {}
        self._manifests: dict[tuple[str, str], tuple[ClusterTopology, _Place]] = {}
        self._items: dict[tuple[str, str], InputItem] = {}  # of the manifests

    def add_topology(self, item: InputItem, shared: dict[str, str]) -> tuple[ObjectProblem, ...]:
        """Add a topology; return its problems (IN-032)."""
        try:
            topology = cluster_topology_from_json(item.value, shared)
        except MalformedObject as fault:
            return fault.problems
        key = (topology.ref.kind, topology.ref.name)
        here = _Place(item.file, item.document, item.index)
        if not topology.uid:
            self._items.setdefault(key, item)
        alike = self._stored if topology.uid else self._manifests
        before, place = alike.setdefault(key, (topology, here))
        if before == topology:
            return ()
        got = f"another one in {place.seen_from(here)}"
        return (ObjectProblem(path="metadata.name", expected="one topology of this name", got=got),)

    @property
    def topologies_for_admission(self) -> FrozenDict[str, ClusterTopology] | None:
        """The topologies that manifests are admitted by; None if the input has none."""
        return self.effective_topologies_by_name if self._judging and self._every else None

    @property
    def effective_topologies_by_name(self) -> FrozenDict[str, ClusterTopology]:
        """The effective topology of each name."""
        return effective_topologies(self._every)

    @property
    def shadowed_bindings(self) -> FrozenDict[str, ClusterTopology]:
        """The bindings that another topology of their name shadows."""
        return shadowed_topology_bindings(self._every)

    @property
    def edits(self) -> tuple[TopologyEdit, ...]:
        """The manifests that change the levels of a stored topology, sorted by kind and name."""
        pairs = (
            (key, self._stored[key][0], self._manifests[key][0])
            for key in sorted(self._manifests.keys() & self._stored)
        )
        return tuple(TopologyEdit(old, self._items[key]) for key, old, new in pairs if old.levels != new.levels)

    @property
    def _every(self) -> list[ClusterTopology]:
        """Every topology: manifests without a stored one, and stored ones with the levels of their manifests."""
        manifests = {key: one for key, (one, _) in self._manifests.items()}
        stored = {key: one for key, (one, _) in self._stored.items()}
        edited = {key: replace(one, levels=manifests.get(key, one).levels) for key, one in stored.items()}
        return [*(manifests | edited).values()]


T = TypeVar("T")


class NodeCollector:
    """Nodes and pods of an input; ``collect`` is called with every item and run of pods.

    Attributes:
        nodes: by name.
        pods_on_nodes: the pods that are on some node.
        with_pods: whether there is any pod: pods are listed completely or not at all.
        faults: problems of nodes and of levels of topologies.
    """

    def __init__(self, count: Callable[[InputItem | ConsecutivePods], None] | None = None) -> None:
        """Begin empty; ``count`` is called too."""
        self.nodes: dict[str, Node] = {}
        self.pods_on_nodes: list[PodOnNode] = []
        self.with_pods = False
        self.faults: list[InputFault] = []
        self._count = count

    @property
    def pods_on_listed_nodes(self) -> int:
        """How many pods are on nodes of the input, whose free resources they lessen."""
        return sum(pod.node in self.nodes for pod in self.pods_on_nodes)

    def collect(self, part: InputItem | ConsecutivePods) -> None:
        """Take one item, or a run of pods."""
        if self._count is not None:
            self._count(part)
        items = [part] if isinstance(part, InputItem) else part.items
        for item in items:
            self._collect_item(item)

    def _collect_item(self, item: InputItem) -> None:
        kind, version = item.value.get("kind"), item.value.get("apiVersion")
        if (kind, version) == (NODE_KIND, CORE):
            node = self._parsed(item, node_from_json)
            if node is not None and self.nodes.setdefault(node.name, node) != node:
                self.faults.append(_fault(item, "metadata.name", "one node of this name", "another one that differs"))
        elif (kind, version) == ("Pod", CORE):
            self.with_pods = True
            pod = self._parsed(item, read_pod_using_node_capacity)
            self.pods_on_nodes += [] if pod is None else [pod]
        elif is_topology_object(item.value):
            self.faults += [_fault(item, *problem) for problem in _level_faults(item.value)]

    def _parsed(self, item: InputItem, parse: Callable[[Mapping[str, Any]], T]) -> T | None:
        try:
            return parse(item.value)
        except MalformedObject as fault:
            self.faults += [_fault(item, one.path, one.expected, one.got, one.kind) for one in fault.problems]
            return None


def _level_faults(raw: Mapping[str, Any]) -> Iterator[Problem]:
    """Yield the problems of the levels of a topology that can be parsed otherwise (IN-032)."""
    try:
        levels = cluster_topology_from_json(raw).levels
    except MalformedObject:
        return  # reported by the reader of all objects
    for problem in topology_level_problems(levels):
        yield f"spec.levels{problem.path}", problem.expected, problem.got


def _fault(
    item: InputItem, path: str, expected: str, got: str, kind: ProblemKind = ProblemKind.WRONG_VALUE
) -> InputFault:
    return item_problem_as_fault(item, item_display_name(item), (path, expected, got), None, kind=kind, lost=False)
