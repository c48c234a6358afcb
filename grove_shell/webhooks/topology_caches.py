"""Caches for admission by topology: the topologies, the sets that use them, and the bound pods of each set."""

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
_NO_PODS: Final[tuple[RootKey, int]] = (("", ""), 0)


class TopologyCache:
    """ClusterTopologies and ClusterTopologyBindings.

    Attributes:
        by_name: the effective topology of each name.
        unreadable: names whose effective topology cannot be parsed.
    """

    def __init__(self) -> None:
        """Begin without a list."""
        self.by_name: Mapping[str, ClusterTopology] = {}
        self.unreadable: frozenset[str] = frozenset()
        self._parsed: dict[Ref, ClusterTopology] = {}
        self._unreadable: set[Ref] = set()
        self._listed: set[str] = set()

    @property
    def is_known(self) -> bool:
        """Whether both kinds were listed."""
        return self._listed.issuperset(TOPOLOGY_KINDS)

    def replace(self, kind: str, items: Iterable[Mapping[str, Any]], _version: str) -> None:
        """Apply a complete list of a kind."""
        self._parsed = {ref: one for ref, one in self._parsed.items() if ref.kind != kind}
        self._unreadable = {ref for ref in self._unreadable if ref.kind != kind}
        for raw in items:
            self._parse(kind, raw)
        self._listed.add(kind)
        self._refresh()

    def put(self, kind: str, raw: Mapping[str, Any]) -> None:
        """Apply a new or changed topology."""
        self._parse(kind, raw)
        self._refresh()

    def drop(self, kind: str, raw: Mapping[str, Any]) -> None:
        """Apply a deletion."""
        ref = topology_ref(raw["metadata"]["name"], kind)
        self._parsed.pop(ref, None)
        self._unreadable.discard(ref)
        self._refresh()

    def mark_unlisted(self, kind: str, _why: str) -> None:
        """Forget a kind."""
        self.replace(kind, (), "")
        self._listed.discard(kind)

    def _parse(self, kind: str, raw: Mapping[str, Any]) -> None:
        ref = topology_ref(raw["metadata"]["name"], kind)
        try:
            self._parsed[ref] = cluster_topology_of({**raw, "kind": kind})
            self._unreadable.discard(ref)
        except MalformedObject:
            self._parsed.pop(ref, None)
            self._unreadable.add(ref)

    def _refresh(self) -> None:
        self.by_name = effective_topologies(self._parsed.values())
        self.unreadable = unreadable_names(self._unreadable, self._parsed.values())


class TopologyUserCache:
    """Which set uses which topology; a set that names none uses the default one (TP-002).

    Attributes:
        is_known: whether all sets were listed.
        users: topology -> sets, of the sets that can be parsed.
        unreadable: sets that cannot be parsed, whose topology is unknown.
    """

    def __init__(self) -> None:
        """Begin without a list."""
        self.is_known = False
        self.users = TopologyUsers()
        self.unreadable: set[RootKey] = set()

    def replace(self, kind: str, items: Iterable[Mapping[str, Any]], _version: str) -> None:
        """Apply a complete list."""
        self._forget()
        for raw in items:
            self.put(kind, raw)
        self.is_known = True

    def put(self, kind: str, raw: Mapping[str, Any]) -> None:
        """Apply a new or changed set."""
        self.drop(kind, raw)
        topology = topology_used_in(raw)
        if topology is None:
            self.unreadable.add(root_key_of(raw))
        else:
            self.users.note(root_key_of(raw), topology)

    def drop(self, _kind: str, raw: Mapping[str, Any]) -> None:
        """Apply a deletion."""
        self.users.note(root_key_of(raw), "")
        self.unreadable.discard(root_key_of(raw))

    def mark_unlisted(self, _kind: str, _why: str) -> None:
        """Forget everything."""
        self._forget()

    def _forget(self) -> None:
        self.is_known = False
        self.users.clear()
        self.unreadable.clear()


class BoundPodCounts:
    """Number of pods of each set that are bound to nodes, from the statuses of its PodCliques.

    Attributes:
        is_known: whether all PodCliques were listed.
        of_sets: set -> number of bound pods; sets without any are left out.
        unreadable: PodCliques that cannot be parsed, or have bound pods and do not name their set.
    """

    def __init__(self) -> None:
        """Begin without a list."""
        self.is_known = False
        self.of_sets: dict[RootKey, int] = {}
        self.unreadable: set[RootKey] = set()
        self._of_cliques: dict[RootKey, tuple[RootKey, int]] = {}

    def replace(self, kind: str, items: Iterable[Mapping[str, Any]], _version: str) -> None:
        """Apply a complete list."""
        self._forget()
        for raw in items:
            self.put(kind, raw)
        self.is_known = True

    def put(self, kind: str, raw: Mapping[str, Any]) -> None:
        """Apply a new or changed PodClique.

        The set of a scaling group's PodClique without a label is unknown: scaling groups are not cached here.
        """
        self.drop(kind, raw)
        key = root_key_of(raw)
        try:
            clique = podclique_of(raw)
        except MalformedObject:
            self.unreadable.add(key)
            return
        if clique.owner_kind == GROUP_KIND and bound_pods_of(clique) and not set_of_clique(clique):
            self.unreadable.add(key)
        for owner, count in bound_pods_by_set([clique]).items():
            self._of_cliques[key] = owner, count
            self.of_sets[owner] = self.of_sets.get(owner, 0) + count

    def drop(self, _kind: str, raw: Mapping[str, Any]) -> None:
        """Apply a deletion."""
        self.unreadable.discard(root_key_of(raw))
        owner, count = self._of_cliques.pop(root_key_of(raw), _NO_PODS)
        left = self.of_sets.pop(owner, 0) - count
        if left:
            self.of_sets[owner] = left

    def mark_unlisted(self, _kind: str, _why: str) -> None:
        """Forget everything."""
        self._forget()

    def _forget(self) -> None:
        self.is_known = False
        self.of_sets.clear()
        self.unreadable.clear()
        self._of_cliques.clear()


class TopologyCaches:
    """The three caches together. They belong to one event loop."""

    def __init__(self) -> None:
        """Begin without a list."""
        self.topologies = TopologyCache()
        self.users = TopologyUserCache()
        self.bound_pods = BoundPodCounts()

    @property
    def view_for_sets(self) -> TopologyView:
        """Return what the admission of a set compares with; nothing is copied."""
        return TopologyView(
            self.topologies.by_name if self.topologies.is_known else None,
            self.bound_pods.of_sets if self.bound_pods.is_known else None,
            unreadable=self.topologies.unreadable,
            incomplete_kinds=_CLIQUES if self.bound_pods.unreadable else _NONE,
        )

    def view_for_topology(self, name: str) -> TopologyView:
        """Return what the admission of a topology compares with: its users, with their bound pods."""
        if not (self.users.is_known and self.bound_pods.is_known):
            return TopologyView()
        keys = sorted(self.users.users.of(name))
        cliques = _CLIQUES if self.bound_pods.unreadable else _NONE
        return TopologyView(
            users={name: tuple(TopologyUser(*key, self.bound_pods.of_sets.get(key, 0)) for key in keys)},
            incomplete_kinds=cliques | (_SETS if self.users.unreadable else _NONE),
        )
