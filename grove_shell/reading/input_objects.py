"""What an input holds, by kind and name; what is wrong with it; and about which kinds nobody may decide for that.

What could not be read must not look like something that is not there: a broken object makes its kind count as not
collected in its namespace, and decisions that need it then say "unknown" (IN-034).
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, NamedTuple, TypeVar

from grove_core.kernel.errors import Problem
from grove_core.kernel.refs import Ref
from grove_core.resources.compute_domain import DOMAIN_KIND
from grove_core.resources.crd_names import CrdNames
from grove_core.resources.meta import Resource
from grove_core.resources.owned_object import CLAIM_KIND, OwnedObject
from grove_core.resources.pod import Pod, pod_of
from grove_core.resources.podclique import GROUP_KIND, PodClique, podclique_of
from grove_core.resources.podcliqueset import PodCliqueSet, podcliqueset_of
from grove_core.resources.podgang import PodGang, podgang_of
from grove_core.resources.scaling_group import ScalingGroup, scaling_group_of
from grove_core.snapshot.cluster import EVERYWHERE, Gap
from grove_shell.reading.dra_objects import DEFINITION_KIND, TEMPLATE_KIND, DraObjects
from grove_shell.reading.faults import Fault
from grove_shell.reading.foreign_objects import Address
from grove_shell.reading.items import fault_in
from grove_shell.reading.sources import Item, heading_of, label_of

K = TypeVar("K", bound=tuple[str, ...])
V = TypeVar("V")
Key = tuple[str, str]
"""Namespace and name."""

API_GROUPS: Final[Mapping[str, str]] = {
    "PodCliqueSet": "grove.io",
    "PodCliqueScalingGroup": "grove.io",
    "PodClique": "grove.io",
    "PodGang": "scheduler.grove.io",
    "Pod": "",
}
"""The kinds that decisions read, each with its API group."""

IDENTIFIED: Final = ("PodClique", GROUP_KIND)  # nobody writes these by hand


class KindStore(NamedTuple):
    """Where the objects of a kind are kept, and what projects one."""

    project: Callable[[Mapping[str, Any], dict[str, str]], Any]
    objects: dict[Key, Any]


class InputObjects:
    """Everything that was read so far.

    Attributes:
        faults: what is wrong, in no order.
        gaps: what counts as not collected, of which kind and where.
        torn: addresses of which there are two objects that differ.
        owners: uid -> whose it is, also where the object itself did not read.
        places: uid -> where the object stands.
        fabric: ComputeDomains, and what tells of them.
        others: objects of the kinds that Grove makes besides its own, by kind, namespace and name.
        claims: ResourceClaims of everybody, for a name may be taken.
        running: PodCliqueSets of a cluster, as they stand in the input.
        definitions: names of the custom resource definitions of the input.
    """

    def __init__(self) -> None:
        """Nothing yet."""
        self.faults: list[Fault] = []
        self.gaps: set[Gap] = set()
        self.torn: set[Address] = set()
        self.owners: dict[str, Ref] = {}
        self.places: dict[str, Item] = {}
        self.fabric = DraObjects()
        self.sets: dict[Key, PodCliqueSet] = {}
        self.groups: dict[Key, ScalingGroup] = {}
        self.cliques: dict[Key, PodClique] = {}
        self.gangs: dict[Key, PodGang] = {}
        self.pods: dict[Key, Pod] = {}
        self.others: dict[Address, OwnedObject] = {}
        self.claims: dict[Key, OwnedObject] = {}
        self.running: dict[Key, Mapping[str, Any]] = {}
        self.definitions: list[CrdNames] = []
        self.kinds: Final[Mapping[str, KindStore]] = {
            "PodCliqueSet": KindStore(podcliqueset_of, self.sets),
            GROUP_KIND: KindStore(scaling_group_of, self.groups),
            "PodClique": KindStore(podclique_of, self.cliques),
            "PodGang": KindStore(podgang_of, self.gangs),
            "Pod": KindStore(pod_of, self.pods),
        }
        self._seen: set[Gap] = set()  # of which kinds there are some, besides those that have a shelf
        self._clashes: dict[str, dict[Ref, Item]] = {}  # uid -> the objects that have it, where that is not one

    def note(self, item: Item, path: str, expected: str, got: str) -> None:
        """Something is wrong with an item: at which field, what was expected, what was got."""
        self.faults.append(fault_in(item, label_of(item), (path, expected, got), None, lost=False))

    def note_all(self, item: Item, problems: Iterable[Problem]) -> None:
        """The same for what a projection objects to."""
        for problem in problems:
            self.note(item, problem.path, problem.expected, problem.got)

    def miss(self, kind: str, raw: Mapping[str, Any]) -> None:
        """An object of that kind is missing from now on, and everybody in its namespace must know."""
        meta = raw.get("metadata")
        fields: Mapping[str, Any] = meta if isinstance(meta, Mapping) else {}
        namespace, uid = fields.get("namespace", "default"), fields.get("uid")
        self.gaps.add((kind, namespace if isinstance(namespace, str) else EVERYWHERE))
        if kind in self.kinds and kind != "Pod" and isinstance(uid, str) and isinstance(namespace, str):
            self.owners.setdefault(uid, Ref(str(raw.get("apiVersion")), kind, namespace, str(fields.get("name"))))

    def see(self, kind: str, namespace: str) -> None:
        """There are objects of a kind that has no shelf."""
        self._seen.add((kind, namespace))

    @property
    def seen(self) -> set[Gap]:
        """Of which kinds there is some, and in which namespace."""
        return self._seen | {(kind, namespace) for kind, shelf in self.kinds.items() for namespace, _ in shelf.objects}

    def put(self, item: Item, kind: str, shelf: dict[K, V], key: K, found: V) -> None:
        """Put an object into its place; of two that differ nobody knows which one is right (IN-032)."""
        before = shelf.setdefault(key, found)
        if before is found or is_same(before, found):
            return
        address = (kind, key[-2], key[-1])
        if address not in self.torn:
            if _is_edited(before, found):
                expected, got = "no uid in an edit: with one it is the set of a cluster", "two specs of this set"
                self.note(item, "metadata.uid", expected, got)
            else:
                self.note(item, "metadata.name", "one object of this kind and name", "a second one that differs")
        self.torn.add(address)
        if kind != DEFINITION_KIND:
            self.miss(kind, item.value)

    def identify(self, item: Item, kind: str, resource: Resource) -> bool:
        """Whether an object can be told from every other one (IN-038); its place is remembered for later faults."""
        uid, place = resource.uid, item._replace(value=heading_of(item.value))
        known = kind not in IDENTIFIED or bool(uid and resource.resource_version)
        if not known:
            self.note(item, "metadata", "a uid and a resourceVersion, as every object of a cluster has", "none")
        first = self.owners.setdefault(uid, resource.ref) if uid else resource.ref
        if first != resource.ref:
            self._clashes.setdefault(uid, {first: self.places[uid]})[resource.ref] = place
        elif uid:
            self.places[uid] = place
        return known and first == resource.ref

    def leave_out_torn(self) -> None:
        """Objects of which there are two that differ, and those that share a uid, are as if they had not been read."""
        for members in self._clashes.values():
            for ref, item in members.items():
                others = " and ".join(sorted(other.short for other in members if other != ref))
                self.note(item, "metadata.uid", "a uid of its own", f"that of {others}")
                self.miss(ref.kind, item.value)
                self.torn.add((ref.kind, ref.namespace, ref.name))
        for kind, namespace, name in self.torn:
            self.others.pop((kind, namespace, name), None)
            for shelf in self._shelves_of(kind):
                shelf.pop((namespace, name), None)

    def torn_of(self, kind: str) -> set[Key]:
        """Namespaces and names of the objects of a kind of which there are two that differ."""
        return {(namespace, name) for torn, namespace, name in self.torn if torn == kind}

    def _shelves_of(self, kind: str) -> tuple[dict[Key, Any], ...]:
        if kind in self.kinds:
            return self.kinds[kind].objects, self.running if kind == "PodCliqueSet" else {}
        more: dict[str, dict[Key, Any]] = {
            CLAIM_KIND: self.claims,
            DOMAIN_KIND: self.fabric.domains,
            DEFINITION_KIND: self.fabric.shapes,
            TEMPLATE_KIND: self.fabric.templates,
        }
        return (more[kind],) if kind in more else ()


def is_same(before: object, other: object) -> bool:
    """Whether two objects of one name are the same object in the same state, as in overlapping files.

    A version tells the state (PL-900); where neither has one, all that is read of them does.
    """
    if isinstance(before, Resource | Pod) and isinstance(other, Resource | Pod) and before.uid:
        versions = before.resource_version, other.resource_version
        is_one = before.uid == other.uid and (versions[0] == versions[1] if any(versions) else before == other)
        return is_one and not _is_edited(before, other)
    return before == other


def _is_edited(before: object, other: object) -> bool:
    """Whether two PodCliqueSets of one version have two specs: one of them is an edited copy."""
    return isinstance(before, PodCliqueSet) and isinstance(other, PodCliqueSet) and before.spec != other.spec
