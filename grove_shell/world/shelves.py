"""Everything of a cluster that concerns Grove, by the set it belongs to; kept up to date one object at a time.

An answer to a write of our own is taken in like an event of the watch, so what was written is seen at once, and an
older event that comes after it changes nothing (PL-018).
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from types import MappingProxyType
from typing import Any, Final, NamedTuple, TypeAlias

from grove_core.kernel.errors import MalformedObject
from grove_core.kernel.frozen import FrozenMap
from grove_core.kernel.refs import Ref
from grove_core.kernel.steps import Attempt
from grove_core.resources.compute_domain import DOMAIN_KIND, ComputeDomain, compute_domain_of
from grove_core.resources.configuration import Configuration, Served
from grove_core.resources.keys import SET
from grove_core.resources.meta import Resource
from grove_core.resources.names import set_of_domain
from grove_core.resources.owned import CLAIM_KIND, OWNED_KINDS, Owned, owned_of
from grove_core.resources.ownership import controller_in
from grove_core.resources.pod import Pod, pod_of
from grove_core.resources.podclique import GROUP_KIND, PodClique, podclique_of
from grove_core.resources.podcliqueset import PodCliqueSet, podcliqueset_of
from grove_core.resources.podgang import PodGang, podgang_of
from grove_core.resources.scaling_group import ScalingGroup, scaling_group_of
from grove_core.snapshot.cluster import cluster_of, with_domains
from grove_core.snapshot.snapshot import EVERY_KIND, Snapshot

Home: TypeAlias = tuple[str, str]  # namespace and name of a set
Address: TypeAlias = tuple[str, str, str]  # kind, namespace, name
Stored: TypeAlias = Resource | Pod

TEMPLATE_KIND: Final = "ResourceClaimTemplate"
_SET_KIND: Final = "PodCliqueSet"
_REMEMBERED: Final = 20_000
_FEWEST_SHARED: Final = 8_192
_SHARED_EACH: Final = 4  # strings of one object that others may have as well
_PROJECTIONS: Final[Mapping[str, Callable[[Mapping[str, Any], dict[str, str]], Stored]]] = MappingProxyType(
    {
        _SET_KIND: podcliqueset_of,
        GROUP_KIND: scaling_group_of,
        "PodClique": podclique_of,
        "PodGang": podgang_of,
        "Pod": pod_of,
        DOMAIN_KIND: compute_domain_of,
        **dict.fromkeys(OWNED_KINDS, owned_of),
    }
)


class _Where(NamedTuple):
    """Where an object is kept, and in which version; ``shelf`` is the uid of a pod's clique."""

    home: Home
    uid: str
    version: int
    shelf: str = ""


@dataclass(slots=True)
class _House:
    """What belongs to one set, by address; pods by the uid of their clique and their name.

    Attributes:
        broken: what could not be read; its kind is not completely known.
    """

    root: PodCliqueSet | None = None
    items: dict[Address, Resource] = field(default_factory=dict)
    pods: dict[str, dict[str, Pod]] = field(default_factory=dict)
    broken: dict[Address, str] = field(default_factory=dict)

    @property
    def is_empty(self) -> bool:
        return self.root is None and not self.items and not self.pods and not self.broken


class Shelves:
    """A copy of the cluster; mutable, and of one event loop.

    Attributes:
        changed: called with the set that a change concerns.
        configuration, served: what every look is taken with.
    """

    def __init__(self, changed: Callable[[Home], None] = lambda _home: None) -> None:
        """Begin empty."""
        self.changed = changed
        self.configuration = Configuration()
        self.served = Served()
        self._houses: dict[Home, _House] = {}
        self._places: defaultdict[str, dict[Address, _Where]] = defaultdict(dict)
        self._home_of_owner: dict[str, Home] = {}
        self._gone: dict[str, int] = {}  # uid -> version, oldest first
        self._lost: dict[str, str] = {}
        self._templates: dict[tuple[str, str], FrozenMap] = {}
        self._domains: dict[tuple[str, str], ComputeDomain] = {}  # of everybody: a name may be taken
        self._claims: dict[tuple[str, str], Owned] = {}
        self._shared: dict[str, str] = {}
        self._most_shared = _FEWEST_SHARED

    # what happens to objects

    def replace(self, kind: str, items: Iterable[Mapping[str, Any]], version: str) -> None:
        """Everything there is of a kind as of a version; what is not among it is gone, unless it is newer (RS9)."""
        self._lost.pop(kind, None)
        there: set[Address] = set()
        for raw in items:
            self.put(kind, raw)
            there.add(_address_of(kind, raw))
        if kind == TEMPLATE_KIND:
            kept = {(namespace, name) for _, namespace, name in there}
            self._templates = {key: spec for key, spec in self._templates.items() if key in kept}
        as_of = _number(version)
        for address, where in list(self._places[kind].items()):
            if address not in there and where.version <= as_of:
                self._remove(address)
        for home in list(self._houses):
            self._tell(home)

    def put(self, kind: str, raw: Mapping[str, Any]) -> None:
        """An object is new or has changed; older news than what is known is passed over."""
        if kind == TEMPLATE_KIND:
            self._put_template(raw)
            return
        address = _address_of(kind, raw)
        meta = raw["metadata"]
        uid, version = str(meta.get("uid") or ""), _number(meta.get("resourceVersion"))
        before = self._places[kind].get(address)
        if version <= self._gone.get(uid, -1) or (
            before is not None and before.uid == uid and version <= before.version
        ):
            return
        home = self.home_in(kind, raw)
        if home is None:
            if before is not None:
                self._remove(address)
            return
        self._gone.pop(uid, None)  # newer than its end: it only was out of sight
        shelf = controller_in(raw).uid if kind == "Pod" else ""
        if before is not None and (before.home, before.uid, before.shelf) != (home, uid, shelf):
            self._take_out(address, before)
        self._places[kind][address] = _Where(home, uid, version, shelf)
        house = self._houses.setdefault(home, _House())
        try:
            self._file(house, home, address, _PROJECTIONS[kind](raw, self._shared))
            house.broken.pop(address, None)
        except MalformedObject as fault:
            self._take_out(address, self._places[kind][address])
            house.broken[address] = "; ".join(map(str, fault.problems))
        if len(self._shared) > self._most_shared:
            self._share_anew()
        self._tell(home)

    def drop(self, kind: str, raw: Mapping[str, Any]) -> None:
        """An object is gone for good."""
        address, meta = _address_of(kind, raw), raw["metadata"]
        if kind == TEMPLATE_KIND:
            self._templates.pop(address[1:], None)
            return
        uid, version = str(meta.get("uid") or ""), _number(meta.get("resourceVersion"))
        before = self._places[kind].get(address)
        if before is not None and before.uid == uid:
            version = max(version, before.version)
            self._remove(address)
        self._bury(uid, version)

    def lose(self, kind: str, why: str) -> None:
        """Nothing is known of a kind any more: it counts as not collected (GT-024)."""
        for address in list(self._places[kind]):
            self._remove(address)
        self._lost[kind] = why
        for home in list(self._houses):
            self._tell(home)

    # what is asked

    def is_buried(self, uid: object) -> bool:
        """Whether an object of this uid went, as far as was heard, and did not come back to sight."""
        return uid in self._gone

    def homes(self) -> list[Home]:
        """Every set there is, sorted."""
        return sorted(home for home, house in self._houses.items() if house.root is not None)

    def leftovers(self) -> list[ScalingGroup | PodClique]:
        """Parts that are being deleted and of whose set there is none any more; sorted (WL-233).

        A set that cannot be read, or that is not shown to us, may be there all the same.
        """
        if _SET_KIND in self._lost:
            return []
        parts = (
            item
            for house in self._houses.values()
            if house.root is None and not any(kind == _SET_KIND for kind, _, _ in house.broken)
            for item in house.items.values()
            if isinstance(item, ScalingGroup | PodClique) and item.deleting
        )
        return sorted(parts, key=lambda part: part.ref.sort_key)

    def find(self, ref: Ref) -> Stored | None:
        """One object by its address."""
        address = (ref.kind, ref.namespace, ref.name)
        where = self._places[ref.kind].get(address)
        if where is None:
            return None
        house = self._houses[where.home]
        if ref.kind == "Pod":
            return house.pods.get(where.shelf, {}).get(ref.name)
        return house.root if ref.kind == _SET_KIND else house.items.get(address)

    def holds(self, home: Home) -> bool:
        """Whether there is anything of a set, be it only what it left behind."""
        return home in self._houses

    def of(self, home: Home, kind: str) -> list[Ref]:
        """The objects of a kind that belong to a set."""
        house = self._houses.get(home)
        if house is None:
            return []
        if kind == "Pod":
            return [pod.ref for pods in house.pods.values() for pod in pods.values()]
        return [item.ref for item in house.items.values() if item.ref.kind == kind]

    def home_of(self, ref: Ref) -> Home | None:
        """The set that an object belongs to; None if it is not known."""
        where = self._places[ref.kind].get((ref.kind, ref.namespace, ref.name))
        return None if where is None else where.home

    def home_in(self, kind: str, raw: Mapping[str, Any]) -> Home | None:
        """The set that an object belongs to: its owner, or where its owner lives, or whom its labels name."""
        meta = raw["metadata"]
        namespace = str(meta.get("namespace") or "default")
        if kind == _SET_KIND:
            return (namespace, str(meta["name"]))
        owner_uid = ""
        for owner in meta.get("ownerReferences") or ():
            if owner.get("controller"):
                if owner.get("kind") == _SET_KIND:
                    return (namespace, str(owner["name"]))
                owner_uid = str(owner.get("uid") or "")
        if owner_uid in self._home_of_owner:
            return self._home_of_owner[owner_uid]
        labels = meta.get("labels") or {}
        named = next((labels[key] for key in SET if key in labels), None)
        if named:
            return (namespace, str(named))
        return (namespace, set_of_domain(str(meta["name"]))) if kind == DOMAIN_KIND else None

    def uid_of(self, home: Home) -> str:
        """Of the set that lives there; empty if none does."""
        house = self._houses.get(home)
        return house.root.uid if house is not None and house.root is not None else ""

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

    def observe(self, home: Home, now: datetime, attempts: tuple[Attempt, ...] = ()) -> Snapshot | None:
        """What a set can see; None if it is gone. Linear in what belongs to it."""
        house = self._houses.get(home)
        if house is None or house.root is None:
            return None
        items = house.items.values()
        own = cluster_of(
            sets=(house.root,),
            groups=(item for item in items if isinstance(item, ScalingGroup)),
            cliques=(item for item in items if isinstance(item, PodClique)),
            gangs=(item for item in items if isinstance(item, PodGang)),
            others=(item for item in items if isinstance(item, Owned)),
        )
        domains = (item for item in items if isinstance(item, ComputeDomain))
        claims = (item for item in items if isinstance(item, Owned) and item.ref.kind == CLAIM_KIND)
        unknown = frozenset(self._lost) | {kind for kind, _, _ in house.broken}
        return replace(
            with_domains(own, domains, claims).snapshot_of(house.root, now, attempts),
            named_domains=self._domains,
            named_claims=self._claims,
            configuration=self.configuration,
            served=self.served,
            pods_of={uid: list(pods.values()) for uid, pods in house.pods.items()},
            not_collected=unknown,
            complete=EVERY_KIND - unknown,
            claim_templates=self._templates,
        )

    # within

    def _tell(self, home: Home) -> None:
        """Of a set; what belongs to nobody concerns nobody."""
        if home[1]:
            self.changed(home)

    def _share_anew(self) -> None:
        """Let go of strings whose objects may be gone; what is left over shares its strings again as it changes."""
        self._shared.clear()
        self._most_shared = max(_FEWEST_SHARED, _SHARED_EACH * sum(map(len, self._places.values())))

    def _put_template(self, raw: Mapping[str, Any]) -> None:
        spec = raw.get("spec")
        if isinstance(spec, Mapping):
            _, namespace, name = _address_of(TEMPLATE_KIND, raw)
            self._templates[namespace, name] = FrozenMap.over(spec)

    def _file(self, house: _House, home: Home, address: Address, item: Stored) -> None:
        if isinstance(item, Pod):
            house.pods.setdefault(item.owner_uid, {})[item.name] = item
        elif isinstance(item, PodCliqueSet):
            house.root = item
        else:
            house.items[address] = item
            if isinstance(item, ComputeDomain):
                self._domains[address[1:]] = item
            if isinstance(item, Owned) and address[0] == CLAIM_KIND:
                self._claims[address[1:]] = item
            if isinstance(item, ScalingGroup | PodClique):
                self._home_of_owner[item.uid] = home

    def _take_out(self, address: Address, where: _Where) -> None:
        house = self._houses[where.home]
        kind, _, name = address
        house.broken.pop(address, None)
        if kind == DOMAIN_KIND:
            self._domains.pop(address[1:], None)
        if kind == CLAIM_KIND:
            self._claims.pop(address[1:], None)
        if kind == _SET_KIND:
            house.root = None
        elif kind == "Pod":
            pods = house.pods.get(where.shelf, {})
            pods.pop(name, None)
            if not pods:
                house.pods.pop(where.shelf, None)
        elif house.items.pop(address, None) is not None:
            self._home_of_owner.pop(where.uid, None)

    def _remove(self, address: Address) -> None:
        where = self._places[address[0]].pop(address)
        self._take_out(address, where)
        if self._houses[where.home].is_empty:
            del self._houses[where.home]
        self._tell(where.home)

    def _bury(self, uid: str, version: int) -> None:
        """Older news of it may still be under way."""
        self._gone.pop(uid, None)
        self._gone[uid] = version
        if len(self._gone) > _REMEMBERED:
            del self._gone[next(iter(self._gone))]


def _address_of(kind: str, raw: Mapping[str, Any]) -> Address:
    meta = raw["metadata"]
    return (kind, str(meta.get("namespace") or "default"), str(meta["name"]))


def _number(version: object) -> int:
    """Resource versions of one kind can be compared; what is none comes before everything."""
    return int(version) if isinstance(version, str) and version.isdecimal() else 0
