"""What is known of a cluster, by the set it belongs to, and what a set or a topology sees of it at a moment."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import datetime
from types import MappingProxyType
from typing import Any, Final, NamedTuple, TypeAlias

from grove_core.areas.topology.moment import USE_IS_SEEN_BY, TopologyMoment
from grove_core.kernel.frozen import FrozenMap
from grove_core.kernel.refs import Ref
from grove_core.kernel.steps import Attempt
from grove_core.resources.cluster_topology import DEFAULT_TOPOLOGY, TOPOLOGY_KIND, TOPOLOGY_KINDS
from grove_core.resources.compute_domain import ComputeDomain
from grove_core.resources.configuration import Configuration, Served
from grove_core.resources.owned import Owned
from grove_core.resources.ownership import Controller
from grove_core.resources.podclique import PodClique
from grove_core.resources.scaling_group import ScalingGroup
from grove_core.resources.topology_use import SET_KIND, User
from grove_core.snapshot.snapshot import EVERY_KIND, Snapshot
from grove_shell.world.homes import Home, home_in, home_of_topology, is_topology_home
from grove_shell.world.house import Address, House, Object, address_of
from grove_shell.world.news import News, life_of
from grove_shell.world.topology_shelf import TopologyShelf

Sight: TypeAlias = Snapshot | TopologyMoment
"""What one root can see."""

TEMPLATE_KIND: Final = "ResourceClaimTemplate"


class Where(NamedTuple):
    """Where an object is kept, in which version, and the uid of its controller."""

    home: Home
    uid: str
    version: int
    controller: str = ""


class Sights:
    """Who is where; filled by whoever hears of changes.

    Attributes:
        configuration, served: what every look is taken with.
        topologies: which are in no set.
    """

    def __init__(self, topologies: TopologyShelf) -> None:
        """Begin empty."""
        self.configuration = Configuration()
        self.served = Served()
        self.topologies = topologies
        self._houses: dict[Home, House] = {}
        self._places: defaultdict[str, dict[Address, Where]] = defaultdict(dict)
        self._home_of_owner: dict[str, Home] = {}
        self._news = News()
        self._lost: dict[str, str] = {}
        self._out_of_sight: defaultdict[str, int] = defaultdict(int)
        self._templates: dict[tuple[str, str], FrozenMap] = {}  # of everybody, for any set may name them
        self._domains: dict[tuple[str, str], ComputeDomain] = {}  # of everybody: a name may be taken
        self._claims: dict[tuple[str, str], Owned] = {}

    def is_buried(self, uid: object) -> bool:
        """Whether an object of this uid went, as far as was heard, and did not come back to sight."""
        return uid in self._news

    def pods_of(self, home: Home, clique: str) -> Mapping[str, str]:
        """The uids by name of the pods of a set that a PodClique of this uid controls, be they read or not."""
        house = self._houses.get(home)
        if house is None:
            return {}
        pods = {name: pod.uid for name, pod in house.pods.get(clique, {}).items()}
        for address in house.broken:
            if address[0] == "Pod" and (where := self._places["Pod"][address]).controller == clique:
                pods[address[2]] = where.uid
        return pods

    def knows(self, kind: str, raw: Mapping[str, Any]) -> bool:
        """Whether an object is among those that are there, in whatever version."""
        known = self._places[kind].get(address_of(kind, raw))
        return known is not None and known.uid == life_of(raw).uid

    def namespaces(self) -> list[str]:
        """Those in which there is anything of a set."""
        return sorted({namespace for namespace, name in self._houses if name})

    def out_of_sight(self, namespace: str) -> int:
        """How many pods went that were not being deleted, as far as was heard without asking (OP-106)."""
        return self._out_of_sight.get(namespace, 0)

    def leftovers(self, home: Home) -> list[ScalingGroup | PodClique]:
        """What a set that is gone left behind and is being deleted; a set that cannot be read is not gone (WL-233)."""
        house = self._houses.get(home)
        if house is None or not self.is_gone(home):
            return []
        return sorted(house.leaving, key=lambda part: part.ref.sort_key)

    def newest(self, kind: str) -> int:
        """The newest version that was heard of any object of a kind; linear in these."""
        if kind in TOPOLOGY_KINDS:
            return self.topologies.newest(kind)
        return max((where.version for where in self._places[kind].values()), default=0)

    def goes_back(self, ref: Ref, raw: Mapping[str, Any], as_of: int) -> bool:
        """Whether a list as of a version shows an object older than it was by then."""
        known = self._places[ref.kind].get((ref.kind, ref.namespace, ref.name))
        return self._news.goes_back(life_of(raw), known, as_of)

    def is_gone(self, home: Home) -> bool:
        """Whether there is no such set; one that cannot be read is there, and of a kind that is lost nobody knows."""
        house = self._houses.get(home)
        if SET_KIND in self._lost or is_topology_home(home):
            return False
        return house is None or (house.root is None and all(kind != SET_KIND for kind, _, _ in house.broken))

    def find(self, ref: Ref) -> Object | None:
        """One object by its address."""
        if ref.kind in TOPOLOGY_KINDS:
            return self.topologies.find(ref)
        address = (ref.kind, ref.namespace, ref.name)
        where = self._places[ref.kind].get(address)
        if where is None:
            return None
        house = self._houses[where.home]
        if ref.kind == "Pod":
            return house.pods.get(where.controller, {}).get(ref.name)
        return house.root if ref.kind == SET_KIND else house.items.get(address)

    def holds(self, home: Home) -> bool:
        """Whether there is anything of a set, be it only what it left behind; or of a topology."""
        return home in self._houses or (is_topology_home(home) and self._has_topology(home[1]))

    def homes(self) -> list[Home]:
        """Of whom there is anything: sets, be it only what they left behind, and topologies that are looked after."""
        names = {DEFAULT_TOPOLOGY, *self.topologies.by_name} if self.topologies.kept else ()
        topologies = (home_of_topology(name) for name in names if self._has_topology(name))
        return [*(home for home in self._houses if home[1]), *topologies]

    def of(self, home: Home, kind: str) -> list[Ref]:
        """The objects of a kind that belong to a set."""
        house = self._houses.get(home)
        return [] if house is None else house.refs(kind)

    def home_in(self, kind: str, raw: Mapping[str, Any], owner: Controller) -> Home | None:
        """The set that an object belongs to, known or not."""
        if kind == TEMPLATE_KIND:  # of no set, and of interest to whoever names it
            return (str(raw["metadata"].get("namespace") or "default"), "")
        return home_in(kind, raw, owner, self._home_of_owner)

    @property
    def lost(self) -> Mapping[str, str]:
        """Kinds of which nothing is known, and why."""
        return MappingProxyType(self._lost)

    def broken(self) -> dict[str, str]:
        """What could not be read: its kind and name, and what is wrong with it."""
        return {
            f"{kind} {namespace}/{name}": words
            for house in self._houses.values()
            for (kind, namespace, name), words in house.broken.items()
        }

    def unread(self) -> Iterator[str]:
        """One sentence for each that cannot be read, topologies included (OP-101)."""
        yield from self.topologies.unread
        yield from (f"{who}: cannot be read: {words}" for who, words in sorted(self.broken().items()))

    def sight(self, home: Home, now: datetime, attempts: tuple[Attempt, ...] = ()) -> Sight | None:
        """What a set or a topology can see; None if it is gone."""
        if is_topology_home(home):
            return self._observe_topology(home[1], now, attempts)
        return self.observe(home, now, attempts)

    def observe(self, home: Home, now: datetime, attempts: tuple[Attempt, ...] = ()) -> Snapshot | None:
        """What a set can see; None if it is gone. Linear in what belongs to it."""
        house = self._houses.get(home)
        if house is None or house.root is None:
            return None
        unknown = frozenset(self._lost) | {kind for kind, _, _ in house.broken}
        whole = EVERY_KIND | {TOPOLOGY_KIND} if self.topologies.knows_that_of(home) else EVERY_KIND
        return replace(
            house.seen(house.root, now, attempts),
            named_domains=self._domains,
            named_claims=self._claims,
            configuration=self.configuration,
            served=self.served,
            not_collected=unknown,
            complete=whole - unknown,
            claim_templates=self._templates,
            topologies=self.topologies.by_name,
        )

    def _has_topology(self, name: str) -> bool:
        """Whether there is such a topology, or the operator is to make it."""
        is_default = name == DEFAULT_TOPOLOGY and self.configuration.topology.enabled
        is_to_be = is_default and self.topologies.knows(name)
        return is_to_be or name in self.topologies.by_name

    def _observe_topology(self, name: str, now: datetime, attempts: tuple[Attempt, ...]) -> TopologyMoment | None:
        """Linear in the sets there are and in what belongs to those that use it."""
        if not self._has_topology(name):
            return None
        broken = {kind for house in self._houses.values() for kind, _, _ in house.broken}
        return TopologyMoment(
            name=name,
            topology=self.topologies.by_name.get(name),
            users=tuple(User(*home, self._houses[home].bound) for home in sorted(self.topologies.users(name))),
            told=self.configuration.topology,
            now=now,
            unknown=tuple(sorted(USE_IS_SEEN_BY & (self._lost.keys() | broken))),
            attempts=attempts,
            shadowed=self.topologies.shadowed(name),
        )
