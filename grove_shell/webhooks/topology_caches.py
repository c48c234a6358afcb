"""What sets and topologies are judged by: copies of topologies, of who uses them, and of whose pods are bound."""

from collections.abc import Iterable, Mapping
from typing import Any, Final

from grove_core.admit_topology import topology_used_in
from grove_core.areas.topology.admit import TopologyView
from grove_core.kernel.errors import MalformedObject
from grove_core.kernel.refs import Ref
from grove_core.resources.cluster_topology import (
    TOPOLOGY_KINDS,
    ClusterTopology,
    cluster_topology_of,
    effective_topologies,
    topology_ref,
    unreadable_names,
)
from grove_core.resources.podclique import GROUP_KIND, podclique_of
from grove_core.resources.topology_usage import (
    CLIQUE_KIND,
    SET_KIND,
    TopologyUser,
    bound_pods_by_set,
    bound_pods_of,
    set_of_clique,
)
from grove_shell.cache.root_keys import RootKey
from grove_shell.cache.topology_users import TopologyUsers
from grove_shell.webhooks.sharing_cache import root_key_of

_NONE: Final[frozenset[str]] = frozenset()
_CLIQUES: Final = frozenset({CLIQUE_KIND})
_SETS: Final = frozenset({SET_KIND})
_NOBODY: Final[tuple[RootKey, int]] = (("", ""), 0)


class TopologyCache:
    """The topologies of both kinds.

    Attributes:
        by_name: the ones that count.
        obscured: names whose topology that counts cannot be read.
    """

    def __init__(self) -> None:
        """Nothing is known yet."""
        self.by_name: Mapping[str, ClusterTopology] = {}
        self.unreadable: frozenset[str] = frozenset()
        self._found: dict[Ref, ClusterTopology] = {}
        self._unread: set[Ref] = set()
        self._listed: set[str] = set()

    @property
    def is_known(self) -> bool:
        """Whether both kinds were listed, and are shown to us."""
        return self._listed.issuperset(TOPOLOGY_KINDS)

    def replace(self, kind: str, items: Iterable[Mapping[str, Any]], _version: str) -> None:
        """Everything there is of a kind."""
        self._found = {ref: one for ref, one in self._found.items() if ref.kind != kind}
        self._unread = {ref for ref in self._unread if ref.kind != kind}
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
        ref = topology_ref(raw["metadata"]["name"], kind)
        self._found.pop(ref, None)
        self._unread.discard(ref)
        self._count()

    def mark_unlisted(self, kind: str, _why: str) -> None:
        """Nothing is known any more of a kind."""
        self.replace(kind, (), "")
        self._listed.discard(kind)

    def _take(self, kind: str, raw: Mapping[str, Any]) -> None:
        ref = topology_ref(raw["metadata"]["name"], kind)
        try:
            self._found[ref] = cluster_topology_of({**raw, "kind": kind})
            self._unread.discard(ref)
        except MalformedObject:
            self._found.pop(ref, None)
            self._unread.add(ref)

    def _count(self) -> None:
        self.by_name = effective_topologies(self._found.values())
        self.unreadable = unreadable_names(self._unread, self._found.values())


class TopologyUserCache:
    """Which set uses which topology, the default one by saying nothing (TP-044).

    Attributes:
        is_known: whether all sets were listed.
        users: as far as is known.
        unread: sets that do not read, so that nobody knows what they use.
    """

    def __init__(self) -> None:
        """Nothing is known yet."""
        self.is_known = False
        self.users = TopologyUsers()
        self.unread: set[RootKey] = set()

    def replace(self, kind: str, items: Iterable[Mapping[str, Any]], _version: str) -> None:
        """Everything there is."""
        self._forget()
        for raw in items:
            self.put(kind, raw)
        self.is_known = True

    def put(self, kind: str, raw: Mapping[str, Any]) -> None:
        """One set is new or has changed."""
        self.drop(kind, raw)
        topology = topology_used_in(raw)
        if topology is None:
            self.unread.add(root_key_of(raw))
        else:
            self.users.note(root_key_of(raw), topology)

    def drop(self, _kind: str, raw: Mapping[str, Any]) -> None:
        """One set is gone."""
        self.users.note(root_key_of(raw), "")
        self.unread.discard(root_key_of(raw))

    def mark_unlisted(self, _kind: str, _why: str) -> None:
        """Nothing is known any more."""
        self._forget()

    def _forget(self) -> None:
        self.is_known = False
        self.users.clear()
        self.unread.clear()


class BoundPodCounts:
    """How many pods of each set are bound to nodes, by the statuses of its PodCliques.

    Attributes:
        is_known: whether all PodCliques were listed.
        of_sets: set -> how many; a set without any is not there.
        unread: PodCliques that do not read, or have bound pods and do not say whose.
    """

    def __init__(self) -> None:
        """Nothing is known yet."""
        self.is_known = False
        self.of_sets: dict[RootKey, int] = {}
        self.unread: set[RootKey] = set()
        self._of_cliques: dict[RootKey, tuple[RootKey, int]] = {}

    def replace(self, kind: str, items: Iterable[Mapping[str, Any]], _version: str) -> None:
        """Everything there is."""
        self._forget()
        for raw in items:
            self.put(kind, raw)
        self.is_known = True

    def put(self, kind: str, raw: Mapping[str, Any]) -> None:
        """One PodClique is new or has changed.

        One of a scaling group that has no label says nothing of its set: groups are not followed here.
        """
        self.drop(kind, raw)
        home = root_key_of(raw)
        try:
            clique = podclique_of(raw)
        except MalformedObject:
            self.unread.add(home)
            return
        if clique.owner_kind == GROUP_KIND and bound_pods_of(clique) and not set_of_clique(clique):
            self.unread.add(home)
        for owner, count in bound_pods_by_set([clique]).items():
            self._of_cliques[home] = owner, count
            self.of_sets[owner] = self.of_sets.get(owner, 0) + count

    def drop(self, _kind: str, raw: Mapping[str, Any]) -> None:
        """One PodClique is gone."""
        self.unread.discard(root_key_of(raw))
        owner, count = self._of_cliques.pop(root_key_of(raw), _NOBODY)
        left = self.of_sets.pop(owner, 0) - count
        if left:
            self.of_sets[owner] = left

    def mark_unlisted(self, _kind: str, _why: str) -> None:
        """Nothing is known any more."""
        self._forget()

    def _forget(self) -> None:
        self.is_known = False
        self.of_sets.clear()
        self.unread.clear()
        self._of_cliques.clear()


class TopologyCaches:
    """The three copies together; mutable, and of one event loop."""

    def __init__(self) -> None:
        """Nothing is known yet."""
        self.existing = TopologyCache()
        self.uses = TopologyUserCache()
        self.bound = BoundPodCounts()

    @property
    def around_sets(self) -> TopologyView:
        """What a set is judged by. No copy is made."""
        return TopologyView(
            self.existing.by_name if self.existing.is_known else None,
            self.bound.of_sets if self.bound.is_known else None,
            unreadable=self.existing.unreadable,
            incomplete_kinds=_CLIQUES if self.bound.unread else _NONE,
        )

    def around_topology(self, name: str) -> TopologyView:
        """What a topology is judged by: its users, and whose pods are bound."""
        if not (self.uses.is_known and self.bound.is_known):
            return TopologyView()
        homes = sorted(self.uses.users.of(name))
        return TopologyView(
            users={name: tuple(TopologyUser(*home, self.bound.of_sets.get(home, 0)) for home in homes)},
            incomplete_kinds=(_CLIQUES if self.bound.unread else _NONE) | (_SETS if self.uses.unread else _NONE),
        )
