"""What sets and topologies are judged by: copies of topologies, of who uses them, and of whose pods are bound."""

from collections.abc import Iterable, Mapping
from typing import Any, Final

from grove_core.admit_topology import topology_used_in
from grove_core.areas.topology.admit import Around
from grove_core.kernel.errors import MalformedObject
from grove_core.kernel.refs import Ref
from grove_core.resources.cluster_topology import (
    TOPOLOGY_KINDS,
    ClusterTopology,
    cluster_topology_of,
    preferred_of,
    topology_ref,
)
from grove_core.resources.podclique import podclique_of
from grove_core.resources.topology_use import User, bound_among
from grove_shell.webhooks.shared import Home, home_of
from grove_shell.world.topology_users import TopologyUsers

_NOBODY: Final[tuple[Home, int]] = (("", ""), 0)


class Existing:
    """The topologies of both kinds; one that does not read is known by nobody, as offline.

    Attributes:
        by_name: the ones that count.
    """

    def __init__(self) -> None:
        """Nothing is known yet."""
        self.by_name: Mapping[str, ClusterTopology] = {}
        self._found: dict[Ref, ClusterTopology] = {}
        self._listed: set[str] = set()

    @property
    def is_known(self) -> bool:
        """Whether both kinds were listed, and are shown to us."""
        return self._listed.issuperset(TOPOLOGY_KINDS)

    def replace(self, kind: str, items: Iterable[Mapping[str, Any]], _version: str) -> None:
        """Everything there is of a kind."""
        self._found = {ref: one for ref, one in self._found.items() if ref.kind != kind}
        for raw in items:
            self._take(kind, raw)
        self._listed.add(kind)
        self._count()

    def put(self, kind: str, raw: Mapping[str, Any]) -> None:
        """One is new or has changed."""
        self._take(kind, raw)
        self._count()

    def drop(self, kind: str, raw: Mapping[str, Any]) -> None:
        """One is gone."""
        self._found.pop(topology_ref(raw["metadata"]["name"], kind), None)
        self._count()

    def lose(self, kind: str, _why: str) -> None:
        """Nothing is known any more of a kind."""
        self.replace(kind, (), "")
        self._listed.discard(kind)

    def _take(self, kind: str, raw: Mapping[str, Any]) -> None:
        ref = topology_ref(raw["metadata"]["name"], kind)
        try:
            self._found[ref] = cluster_topology_of({**raw, "kind": kind})
        except MalformedObject:
            self._found.pop(ref, None)

    def _count(self) -> None:
        self.by_name = preferred_of(self._found.values())


class Uses:
    """Which set uses which topology, the default one by saying nothing (TP-044).

    Attributes:
        is_known: whether all sets were listed.
        users: as far as is known.
    """

    def __init__(self) -> None:
        """Nothing is known yet."""
        self.is_known = False
        self.users = TopologyUsers()

    def replace(self, kind: str, items: Iterable[Mapping[str, Any]], _version: str) -> None:
        """Everything there is."""
        self.users.clear()
        for raw in items:
            self.put(kind, raw)
        self.is_known = True

    def put(self, _kind: str, raw: Mapping[str, Any]) -> None:
        """One set is new or has changed."""
        self.users.note(home_of(raw), topology_used_in(raw))

    def drop(self, _kind: str, raw: Mapping[str, Any]) -> None:
        """One set is gone."""
        self.users.note(home_of(raw), "")

    def lose(self, _kind: str, _why: str) -> None:
        """Nothing is known any more."""
        self.is_known = False
        self.users.clear()


class BoundPods:
    """How many pods of each set are bound to nodes, by the statuses of its PodCliques.

    Attributes:
        is_known: whether all PodCliques were listed.
        of_sets: set -> how many; a set without any is not there.
    """

    def __init__(self) -> None:
        """Nothing is known yet."""
        self.is_known = False
        self.of_sets: dict[Home, int] = {}
        self._of_cliques: dict[Home, tuple[Home, int]] = {}

    def replace(self, kind: str, items: Iterable[Mapping[str, Any]], _version: str) -> None:
        """Everything there is."""
        self._forget()
        for raw in items:
            self.put(kind, raw)
        self.is_known = True

    def put(self, kind: str, raw: Mapping[str, Any]) -> None:
        """One PodClique is new or has changed; one that does not read has no pods that we know of."""
        self.drop(kind, raw)
        try:
            bound = bound_among([podclique_of(raw)])
        except MalformedObject:
            return
        for owner, count in bound.items():
            self._of_cliques[home_of(raw)] = owner, count
            self.of_sets[owner] = self.of_sets.get(owner, 0) + count

    def drop(self, _kind: str, raw: Mapping[str, Any]) -> None:
        """One PodClique is gone."""
        owner, count = self._of_cliques.pop(home_of(raw), _NOBODY)
        left = self.of_sets.pop(owner, 0) - count
        if left:
            self.of_sets[owner] = left

    def lose(self, _kind: str, _why: str) -> None:
        """Nothing is known any more."""
        self._forget()

    def _forget(self) -> None:
        self.is_known = False
        self.of_sets.clear()
        self._of_cliques.clear()


class Topologies:
    """The three copies together; mutable, and of one event loop."""

    def __init__(self) -> None:
        """Nothing is known yet."""
        self.existing = Existing()
        self.uses = Uses()
        self.bound = BoundPods()

    @property
    def around_sets(self) -> Around:
        """What a set is judged by. No copy is made."""
        topologies = self.existing.by_name if self.existing.is_known else None
        return Around(topologies, self.bound.of_sets if self.bound.is_known else None)

    def around_topology(self, name: str) -> Around:
        """What a topology is judged by: its users, and whose pods are bound."""
        if not (self.uses.is_known and self.bound.is_known):
            return Around()
        homes = sorted(self.uses.users.of(name))
        return Around(users={name: tuple(User(*home, self.bound.of_sets.get(home, 0)) for home in homes)})
