"""Everything of a cluster that concerns Grove, by the set it belongs to; kept up to date one object at a time.

An answer to a write of our own is taken in like an event of the watch, so what was written is seen at once, and an
older event that comes after it changes nothing (PL-018).
"""

from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import Any, Final

from grove_core.areas.topology.moment import USE_IS_SEEN_BY
from grove_core.kernel.errors import MalformedObject
from grove_core.kernel.refs import Ref
from grove_core.resources.cluster_topology import TOPOLOGY_KINDS
from grove_core.resources.compute_domain import DOMAIN_KIND, ComputeDomain, compute_domain_of
from grove_core.resources.meta import Resource
from grove_core.resources.owned import CLAIM_KIND, OWNED_KINDS, Owned, owned_of
from grove_core.resources.ownership import controller_in
from grove_core.resources.pod import Pod, pod_of
from grove_core.resources.podclique import GROUP_KIND, PodClique, podclique_of
from grove_core.resources.podcliqueset import PodCliqueSet, podcliqueset_of
from grove_core.resources.podgang import podgang_of
from grove_core.resources.scaling_group import ScalingGroup, scaling_group_of
from grove_core.resources.topology_use import SET_KIND
from grove_shell.world.homes import Home
from grove_shell.world.house import Address, House, Object, address_of
from grove_shell.world.news import Life, life_of
from grove_shell.world.sights import TEMPLATE_KIND, Sights, Where
from grove_shell.world.template_users import TemplateUsers
from grove_shell.world.topology_shelf import TopologyShelf
from grove_shell.world.wards import Wards

_FEWEST_SHARED: Final = 8_192
_SHARED_EACH: Final = 4  # strings of one object that others may have as well
_PROJECTIONS: Final[Mapping[str, Callable[[Mapping[str, Any], dict[str, str]], Object]]] = MappingProxyType(
    {
        SET_KIND: podcliqueset_of,
        GROUP_KIND: scaling_group_of,
        "PodClique": podclique_of,
        "PodGang": podgang_of,
        "Pod": pod_of,
        DOMAIN_KIND: compute_domain_of,
        **dict.fromkeys((*OWNED_KINDS, TEMPLATE_KIND), owned_of),
    }
)


class Shelves(Sights):
    """A copy of the cluster; mutable, and of one event loop.

    Attributes:
        changed: called with the set that a change concerns.
    """

    def __init__(self, changed: Callable[[Home], None] = lambda _home: None) -> None:
        """Begin empty."""
        super().__init__(TopologyShelf(self._tell))
        self.changed = changed
        self._template_users = TemplateUsers()
        self._wards = Wards()
        self._shared: dict[str, str] = {}
        self._most_shared = _FEWEST_SHARED

    def replace(self, kind: str, items: Iterable[Mapping[str, Any]], version: str) -> None:
        """Everything there is of a kind as of a version; what is not among it is gone, unless it is newer (RS9)."""
        was_lost = self._lost.pop(kind, None) is not None
        if kind in TOPOLOGY_KINDS:
            self.topologies.replace(kind, items, version)
            return
        found = {address_of(kind, raw): raw for raw in items}
        there = {address: life_of(raw) for address, raw in found.items()}
        for address in self._news.replaced(self._places[kind], there, version):
            self._miss(address)
            self._remove(address)
        for raw in found.values():
            self.put(kind, raw)
        if was_lost:
            self._doubt(kind)
            for home in list(self._houses):
                self._tell(home)

    def put(self, kind: str, raw: Mapping[str, Any]) -> None:
        """An object is new or has changed; older news than what is known is passed over."""
        if kind in TOPOLOGY_KINDS:
            self.topologies.put(kind, raw)
            return
        address, life = address_of(kind, raw), life_of(raw)
        owner = controller_in(raw)
        before, home = self._places[kind].get(address), self.home_in(kind, raw, owner)
        if not self._news.comes(life, before):
            return
        is_misplaced = before is not None and owner.uid in self._home_of_owner and home != before.home  # OP-003
        if before is not None and (before.uid, before.version) == life and not is_misplaced:
            return
        self._news.succeed(life, before)
        if home is None:
            self._let_go(address, life)
            return
        self._news.raise_again(life.uid)
        now = Where(home, *life, owner.uid)
        if before is not None and before._replace(version=life.version) != now:
            self._leave(address, before)
            if before.home != home:
                self._tell_of(address, before.home)
        self._place(address, now)
        self._read_in(home, address, raw)
        if len(self._shared) > self._most_shared:
            self._share_anew()
        self._tell_of(address, home)

    def _place(self, address: Address, where: Where) -> None:
        self._places[address[0]][address] = where
        self._wards.note(where.controller, address)

    def _read_in(self, home: Home, address: Address, raw: Mapping[str, Any]) -> None:
        kind = address[0]
        house = self._houses.setdefault(home, House())
        try:
            self._file(house, home, address, _PROJECTIONS[kind](raw, self._shared))
            if house.broken.pop(address, None) is not None:
                self._doubt(kind)
        except MalformedObject as fault:
            self._take_out(address, self._places[kind][address])
            house.broken[address] = "; ".join(map(str, fault.problems))
            self._doubt(kind)

    def believe(self, kind: str, raw: Mapping[str, Any]) -> None:
        """One object as a store shows it that went back, in whatever version it was known (OP-084)."""
        address = address_of(kind, raw)
        if address in self._places[kind]:
            self._remove(address)
        self._news.raise_again(life_of(raw).uid)
        self.put(kind, raw)

    def drop(self, kind: str, raw: Mapping[str, Any], *, asked: bool = False) -> None:
        """An object is gone for good, as the server says where it was asked; else it may be out of sight (OP-106)."""
        if kind in TOPOLOGY_KINDS:
            self.topologies.drop(kind, raw)
            return
        address = address_of(kind, raw)
        if self._news.ends(life_of(raw), self._places[kind].get(address)):
            if not asked:
                self._miss(address)
            self._remove(address)

    def lose(self, kind: str, why: str) -> None:
        """Nothing is known of a kind any more: it counts as not collected (GT-024)."""
        self._lost[kind] = why
        if kind in TOPOLOGY_KINDS:
            self.topologies.lose(kind)
            return
        for address in list(self._places[kind]):
            self._miss(address)
            self._remove(address)
        self._doubt(kind)
        for home in list(self._houses):
            self._tell(home)

    def _doubt(self, kind: str) -> None:
        """What is known of a kind has become more or less; of which kinds that matters is TP-042."""
        if kind in USE_IS_SEEN_BY:
            self.topologies.doubt()

    def _tell(self, home: Home) -> None:
        """Of a set; what belongs to nobody concerns nobody."""
        if home[1]:
            self.changed(home)

    def _tell_of(self, address: Address, home: Home) -> None:
        """Something happened to an object: of whom it is hears of it, and who names it where it is of nobody."""
        self._tell(home)
        if address[0] == TEMPLATE_KIND:
            for user in self._template_users.of(address[1:]):
                self._tell(user)

    def _share_anew(self) -> None:
        """Let go of strings whose objects may be gone; what is left over shares its strings again as it changes."""
        self._shared.clear()
        self._most_shared = max(_FEWEST_SHARED, _SHARED_EACH * sum(map(len, self._places.values())))

    def _file(self, house: House, home: Home, address: Address, item: Object) -> None:
        if isinstance(item, Pod):
            pods = house.pods.setdefault(item.owner_uid, {})
            if _is_bound(pods.get(item.name)) != _is_bound(item):
                self.topologies.note_bound(home)
            pods[item.name] = item
        elif isinstance(item, PodCliqueSet):
            house.root = item
            self.topologies.note(home, item)
            self._template_users.note(home, item)
        else:
            if isinstance(item, PodClique) and _scheduled(house.items.get(address)) != _scheduled(item):
                self.topologies.note_bound(home)
            house.items[address] = item
            if isinstance(item, ComputeDomain):
                self._domains[address[1:]] = item
            if isinstance(item, Owned) and address[0] == CLAIM_KIND:
                self._claims[address[1:]] = item
            if isinstance(item, Owned) and address[0] == TEMPLATE_KIND:
                self._templates[address[1:]] = item.spec
            if isinstance(item, ScalingGroup | PodClique) and self._home_of_owner.get(item.uid) != home:
                self._home_of_owner[item.uid] = home
                self._bring(self._wards.of(item.uid), home)

    def _bring(self, addresses: Iterable[Address], home: Home) -> None:
        """To where their controller lives, whatever their labels say (OP-075)."""
        for address in addresses:
            kind, where = address[0], self._places[address[0]][address]
            if where.home == home:
                continue
            item, words = self.find(Ref("", *address)), self._houses[where.home].broken.get(address)
            self._leave(address, where)
            self._place(address, where._replace(home=home))
            house = self._houses.setdefault(home, House())
            if words is not None:
                house.broken[address] = words
                self._doubt(kind)
            elif item is not None:
                self._file(house, home, address, item)
            self._tell_of(address, where.home)
            self._tell_of(address, home)

    def _take_out(self, address: Address, where: Where) -> None:
        house = self._houses[where.home]
        kind, _, name = address
        if house.broken.pop(address, None) is not None:
            self._doubt(kind)
        if kind == DOMAIN_KIND:
            self._domains.pop(address[1:], None)
        if kind == CLAIM_KIND:
            self._claims.pop(address[1:], None)
        if kind == TEMPLATE_KIND:
            self._templates.pop(address[1:], None)
        if kind == SET_KIND:
            house.root = None
            self.topologies.note(where.home, None)
            self._template_users.note(where.home, None)
        elif kind == "Pod":
            if _is_bound(house.drop_pod(where.controller, name)):
                self.topologies.note_bound(where.home)
        elif (gone := house.items.pop(address, None)) is not None:
            self._home_of_owner.pop(where.uid, None)
            if _scheduled(gone):
                self.topologies.note_bound(where.home)

    def _miss(self, address: Address) -> None:
        """Nobody asked for it, and it is not seen any more; who was on its way out is not missed."""
        if address[0] != "Pod":
            return
        found = self.find(Ref("", *address))
        if not (isinstance(found, Pod) and found.deleting):
            self._out_of_sight[address[1]] += 1

    def _remove(self, address: Address) -> None:
        where = self._places[address[0]].pop(address)
        self._leave(address, where)
        self._tell_of(address, where.home)

    def _let_go(self, address: Address, life: Life) -> None:
        """It is nobody's any more; of what never was anybody's nothing is remembered, for there may be many."""
        is_here = address in self._places[address[0]]
        if is_here:
            self._remove(address)
        if is_here or life.uid in self._news:
            self._news.bury(*life)

    def _leave(self, address: Address, where: Where) -> None:
        """Out of its house, and the house goes where nobody is left in it."""
        self._wards.forget(where.controller, address)
        self._take_out(address, where)
        if self._houses[where.home].is_empty:
            del self._houses[where.home]


def _scheduled(item: Resource | None) -> int:
    """How many pods of a clique are bound to nodes, by its status."""
    return (item.status.scheduled or 0) if isinstance(item, PodClique) else 0


def _is_bound(pod: Pod | None) -> bool:
    return pod is not None and bool(pod.node)
