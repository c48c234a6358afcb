"""Topologies, and which sets use which: beside the shelves of the sets, and kept up to date with them."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from grove_core.kernel.errors import MalformedObject
from grove_core.kernel.refs import Ref
from grove_core.resources.cluster_topology import (
    DEFAULT_TOPOLOGY,
    TOPOLOGY_KINDS,
    ClusterTopology,
    cluster_topology_of,
    preferred_of,
    shadowed_among,
    topology_ref,
)
from grove_core.resources.podcliqueset import PodCliqueSet
from grove_core.resources.topology_use import use_of
from grove_shell.world.homes import Home, home_of_topology
from grove_shell.world.news import Life, News, life_of
from grove_shell.world.topology_users import TopologyUsers


class TopologyShelf:
    """A copy of all topologies; mutable, and of one event loop.

    Attributes:
        kept: whether topologies are looked after here, and not only followed (TP-045).
        by_name: the ones that count.
    """

    def __init__(self, changed: Callable[[Home], None]) -> None:
        """Begin empty; ``changed`` hears of whom a change concerns."""
        self.kept = True
        self.by_name: Mapping[str, ClusterTopology] = {}
        self._changed = changed
        self._known: dict[Ref, Life] = {}  # of each that was found, whether it reads or not
        self._found: dict[Ref, ClusterTopology] = {}
        self._unread: dict[Ref, str] = {}
        self._listed: set[str] = set()
        self._news = News()
        self._users = TopologyUsers()

    @property
    def unread(self) -> Iterator[str]:
        """One sentence for each that cannot be read."""
        return (f"{ref.short}: cannot be read: {words}" for ref, words in sorted(self._unread.items(), key=str))

    def knows(self, name: str) -> bool:
        """Whether it is known if there is one of that name; what cannot be read keeps only its own name in doubt."""
        return self._listed.issuperset(TOPOLOGY_KINDS) and all(ref.name != name for ref in self._unread)

    def knows_that_of(self, home: Home) -> bool:
        """The same for the topology that a set uses."""
        return self.knows(self._users.used_by(home))

    def shadowed(self, name: str) -> ClusterTopology | None:
        """A binding of a name that a ClusterTopology has too."""
        return shadowed_among(self._found.values()).get(name)

    def find(self, ref: Ref) -> ClusterTopology | None:
        """One of them by its address."""
        return self._found.get(ref)

    def newest(self, kind: str) -> int:
        """The newest version that was heard of any of a kind."""
        return max((life.version for ref, life in self._known.items() if ref.kind == kind), default=0)

    def users(self, name: str) -> frozenset[Home]:
        """The sets that use a topology, the default one by saying nothing."""
        return self._users.of(name)

    def replace(self, kind: str, items: Iterable[Mapping[str, Any]], version: str) -> None:
        """All there are of a kind as of a version; what is newer stays (RS9)."""
        found = {topology_ref(str(raw["metadata"]["name"]), kind): raw for raw in items}
        there = {ref: life_of(raw) for ref, raw in found.items()}
        known = {ref: life for ref, life in self._known.items() if ref.kind == kind}
        for ref in self._news.replaced(known, there, version):
            self._forget(ref)
        for raw in found.values():
            self.put(kind, raw)
        if kind not in self._listed:
            self._listed.add(kind)
            for name in {DEFAULT_TOPOLOGY, *self._users.topologies, *(ref.name for ref in there)}:
                self._announce(name)

    def doubt(self) -> None:
        """What can be said of users has become more or less: all topologies are to be looked at."""
        for name in {DEFAULT_TOPOLOGY, *self.by_name}:
            self._tell_keeper(name)

    def put(self, kind: str, raw: Mapping[str, Any]) -> None:
        """One is new or has changed."""
        ref, life = topology_ref(str(raw["metadata"]["name"]), kind), life_of(raw)
        before = self._known.get(ref)
        if life == before or not self._news.comes(life, before):
            return
        self._news.succeed(life, before)
        self._news.raise_again(life.uid)
        self._known[ref] = life
        try:
            self._found[ref] = cluster_topology_of({**raw, "kind": kind})
            self._unread.pop(ref, None)
        except MalformedObject as fault:
            self._found.pop(ref, None)
            self._unread[ref] = "; ".join(map(str, fault.problems))
        self._tell(ref.name)

    def drop(self, kind: str, raw: Mapping[str, Any]) -> None:
        """One is gone for good."""
        ref = topology_ref(str(raw["metadata"]["name"]), kind)
        if self._news.ends(life_of(raw), self._known.get(ref)):
            self._forget(ref)

    def lose(self, kind: str) -> None:
        """Nothing is known of a kind any more."""
        self._listed.discard(kind)
        for ref in [ref for ref in self._known if ref.kind == kind]:
            self._forget(ref)
        self._tell_keeper(DEFAULT_TOPOLOGY)
        for name in self._users.topologies:
            self._announce(name)

    def note(self, home: Home, root: PodCliqueSet | None) -> None:
        """A set is new, has changed, or is gone: which one it uses may have changed as well."""
        now, before = use_of(root.spec.template).topology if root is not None else "", self._users.used_by(home)
        if now == before:
            return
        self._users.note(home, now)
        for name in filter(None, (before, now)):
            self._tell_keeper(name)

    def note_bound(self, home: Home) -> None:
        """Pods of a set were bound to nodes, or are not any more."""
        if name := self._users.used_by(home):
            self._tell_keeper(name)

    def _forget(self, ref: Ref) -> None:
        del self._known[ref]
        self._found.pop(ref, None)
        self._unread.pop(ref, None)
        self._tell(ref.name)

    def _tell(self, name: str) -> None:
        """A topology changed."""
        self.by_name = preferred_of(self._found.values())
        self._announce(name)

    def _announce(self, name: str) -> None:
        """What is known of a topology concerns who keeps it and who uses it."""
        self._tell_keeper(name)
        for home in sorted(self._users.of(name)):
            self._changed(home)

    def _tell_keeper(self, name: str) -> None:
        if self.kept:
            self._changed(home_of_topology(name))
