"""The objects of an input by kind and name, its faults, and the kinds that count as not collected.

An object that cannot be read must not look absent. It makes its kind count as not collected in its namespace, and
decisions that need the kind are then "unknown" (IN-034).
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, NamedTuple, TypeVar

from grove_core.kernel.errors import ObjectProblem, ProblemKind
from grove_core.kernel.frozen import FrozenMap, mapping_or_empty
from grove_core.kernel.refs import Ref
from grove_core.resources.api_names import CLAIM_KIND, CLAIM_TEMPLATE_KIND, COMPOSITE_KIND, DOMAIN_KIND, GROUP_KIND
from grove_core.resources.compute_domain import ComputeDomain
from grove_core.resources.configuration import ComputeDomainFormatName, ServedApis, WorkloadApiLevel
from grove_core.resources.crd_name_clashes import NamesInCrd
from grove_core.resources.metadata_readers import Resource
from grove_core.resources.owned_object import OwnedObject
from grove_core.resources.pod import Pod, pod_from_json
from grove_core.resources.podclique import PodClique, podclique_from_json
from grove_core.resources.podcliqueset import PodCliqueSet, podcliqueset_from_json
from grove_core.resources.podgang import PodGang, podgang_from_json
from grove_core.resources.scaling_group import ScalingGroup, scaling_group_from_json
from grove_core.snapshot.cluster import EVERYWHERE, Gap
from grove_core.snapshot.snapshot import Snapshot
from grove_shell.reading.input_faults import InputFault
from grove_shell.reading.input_items import item_display_name, item_problem_as_fault
from grove_shell.reading.input_sources import InputItem

K = TypeVar("K", bound=tuple[str, ...])
V = TypeVar("V")
Key = tuple[str, str]
"""Namespace and name."""
Address = tuple[str, str, str]
"""Kind, namespace and name."""

API_GROUPS: Final[Mapping[str, str]] = {
    "PodCliqueSet": "grove.io",
    GROUP_KIND: "grove.io",
    "PodClique": "grove.io",
    "PodGang": "scheduler.grove.io",
    "Pod": "",
}
"""Kinds that decisions read, with their API groups."""

DEFINITION_KIND: Final = "CustomResourceDefinition"
IDENTIFIED: Final = ("PodClique", GROUP_KIND)  # these are never written by hand


class ObjectsOfKind(NamedTuple):
    """The objects of a kind, and the function that parses one."""

    parse: Callable[[Mapping[str, Any], dict[str, str]], Any]
    objects: dict[Key, Any]


class ItemPlace(NamedTuple):
    """An object of the input and its position, for later faults; without its fields, as there may be very many."""

    file: str
    document: int
    index: int  # type: ignore[assignment]  # a tuple's method of that name is not used here
    ref: Ref
    namespace: Any  # as written

    def item_with_uid(self, uid: str) -> InputItem:
        """Return the object as an item, with as much of it as a fault needs."""
        metadata = {"namespace": self.namespace, "name": self.ref.name, "uid": uid}
        value = {"apiVersion": self.ref.api_version, "kind": self.ref.kind, "metadata": metadata}
        return InputItem(self.file, self.document, self.index, value)


class InputObjects:
    """The objects that were read so far.

    Attributes:
        faults: problems, unordered.
        gaps: kinds that count as not collected, with their namespace.
        conflicting: addresses of two objects that differ.
        owners: uid -> reference of the object, also if the object cannot be parsed.
        places: uid -> the object and its position in the input.
        templates: ``spec`` of each ResourceClaimTemplate: templates of shared claims (WL-019).
        shapes: form of ComputeDomains, from their definition.
        claim_version: newest API version of a claim in the input; empty for none.
        others: objects of other kinds that Grove creates, by kind, namespace and name.
        claims: all ResourceClaims, since a foreign one occupies its name too.
        foreign_groups: address of each group of the Workload API that is not Grove's -> its owner, as a text (SC-026).
        running: stored PodCliqueSets, as in the input.
        definitions: names of the custom resource definitions of the input.
    """

    def __init__(self) -> None:
        self.faults: list[InputFault] = []
        self.gaps: set[Gap] = set()
        self.conflicting: set[Address] = set()
        self.owners: dict[str, Ref] = {}
        self.places: dict[str, ItemPlace] = {}
        self.domains: dict[Key, ComputeDomain] = {}
        self.templates: dict[Key, FrozenMap] = {}
        self.shapes: dict[Key, ComputeDomainFormatName] = {}
        self.claim_version = ""
        self.sets: dict[Key, PodCliqueSet] = {}
        self.groups: dict[Key, ScalingGroup] = {}
        self.cliques: dict[Key, PodClique] = {}
        self.gangs: dict[Key, PodGang] = {}
        self.pods: dict[Key, Pod] = {}
        self.others: dict[Address, OwnedObject] = {}
        self.claims: dict[Key, OwnedObject] = {}
        self.foreign_groups: dict[Address, str] = {}
        self.running: dict[Key, Mapping[str, Any]] = {}
        self.definitions: list[NamesInCrd] = []
        self.kinds: Final[Mapping[str, ObjectsOfKind]] = {
            "PodCliqueSet": ObjectsOfKind(podcliqueset_from_json, self.sets),
            GROUP_KIND: ObjectsOfKind(scaling_group_from_json, self.groups),
            "PodClique": ObjectsOfKind(podclique_from_json, self.cliques),
            "PodGang": ObjectsOfKind(podgang_from_json, self.gangs),
            "Pod": ObjectsOfKind(pod_from_json, self.pods),
        }
        self._seen: set[Gap] = set()  # present kinds without a store
        self._objects_in_file: Counter[str] = Counter()
        self._set_places: dict[Ref, InputItem] = {}
        self._edited_copies: list[tuple[InputItem, InputItem]] = []
        self._clashes: dict[str, dict[Ref, ItemPlace]] = {}  # uid -> objects with that uid, if there are several

    @property
    def served_apis(self) -> ServedApis:
        """What the cluster serves, as far as the objects show it (IN-047)."""
        has_groups = any(kind == COMPOSITE_KIND for kind, _, _ in self.others)
        return ServedApis(
            domains=next(iter(self.shapes.values()), None),
            claims=self.claim_version,
            workload_api=WorkloadApiLevel.HIERARCHICAL if has_groups else None,
        )

    def add_fault(
        self, item: InputItem, path: str, expected: str, got: str, kind: ProblemKind = ProblemKind.WRONG_VALUE
    ) -> None:
        """Add a fault of an item.

        Args:
            path: of the field.
            expected, got: what a value has to be there, and the value, in words.
            kind: of the problem.
        """
        self.faults.append(
            item_problem_as_fault(item, item_display_name(item), (path, expected, got), None, kind=kind, lost=False)
        )

    def add_faults(self, item: InputItem, problems: Iterable[ObjectProblem]) -> None:
        """Add a fault for each problem of a parser."""
        for problem in problems:
            self.add_fault(item, problem.path, problem.expected, problem.got, problem.kind)

    def mark_kind_incomplete(self, kind: str, raw: Mapping[str, Any]) -> None:
        """Count the kind as not collected in the namespace of an object that cannot be used."""
        fields = mapping_or_empty(raw, "metadata")
        namespace, uid = fields.get("namespace", "default"), fields.get("uid")
        self.gaps.add((kind, namespace if isinstance(namespace, str) else EVERYWHERE))
        if kind in self.kinds and kind != "Pod" and isinstance(uid, str) and isinstance(namespace, str):
            self.owners.setdefault(uid, Ref(str(raw.get("apiVersion")), kind, namespace, str(fields.get("name"))))

    def mark_kind_present(self, kind: str, namespace: str) -> None:
        """Record that objects of a kind without a store are present."""
        self._seen.add((kind, namespace))

    @property
    def present_kinds(self) -> set[Gap]:
        """The kinds that are present, with their namespaces."""
        return self._seen | {(kind, namespace) for kind, store in self.kinds.items() for namespace, _ in store.objects}

    def put_object(self, item: InputItem, kind: str, store: dict[K, V], key: K, found: V) -> None:
        """Store an object; two objects of one name that differ are a fault, and neither counts (IN-032).

        Args:
            kind: that a fault names, and that is incomplete after one.
            store: the objects of that kind so far.
            key: in the store; its last two parts are namespace and name.
        """
        before = store.setdefault(key, found)
        if before is found:
            if isinstance(found, PodCliqueSet):
                self._set_places[found.ref] = item
            return
        if is_same_object_state(before, found):
            return
        address = (kind, key[-2], key[-1])
        if address not in self.conflicting:
            if isinstance(before, PodCliqueSet) and _is_edited(before, found):
                self._edited_copies.append((self._set_places.get(before.ref, item), item))
            else:
                self.add_fault(item, "metadata.name", "one object of this kind and name", "a second one that differs")
        self.conflicting.add(address)
        if kind != DEFINITION_KIND:
            self.mark_kind_incomplete(kind, item.value)

    def add_running_set(self, manifest: Mapping[str, Any], snapshot: Snapshot) -> None:
        """Add a set with everything that it consists of, which count as stored (ED-008)."""
        root = snapshot.root
        key = (root.ref.namespace, root.ref.name)
        self.running[key], self.sets[key] = manifest, root
        self.groups.update({(one.ref.namespace, one.ref.name): one for one in snapshot.groups})
        self.cliques.update({(one.ref.namespace, one.ref.name): one for one in snapshot.cliques})
        self.gangs.update({(one.ref.namespace, one.ref.name): one for one in snapshot.gangs})
        self.domains.update({(one.ref.namespace, one.ref.name): one for one in snapshot.domains})
        self.others.update({(one.ref.kind, one.ref.namespace, one.ref.name): one for one in snapshot.others})
        self.pods.update({(pod.namespace, pod.name): pod for _, pod in snapshot.pods()})
        self.owners.update({one.uid: one.ref for one in (root, *snapshot.groups, *snapshot.cliques)})

    def check_unique_identity(self, item: InputItem, kind: str, resource: Resource) -> bool:
        """Return whether an object has a unique identity (IN-032), and record its position for later faults."""
        uid, namespace = resource.uid, mapping_or_empty(item.value, "metadata").get("namespace", resource.ref.namespace)
        place = ItemPlace(item.file, item.document, item.index, resource.ref, namespace)
        self._objects_in_file[item.file] += 1
        known = kind not in IDENTIFIED or bool(uid and resource.resource_version)
        if not known:
            self.add_fault(item, "metadata", "a uid and a resourceVersion, as every object of a cluster has", "none")
        first = self.owners.setdefault(uid, resource.ref) if uid else resource.ref
        if first != resource.ref:
            self._clashes.setdefault(uid, {first: self.places[uid]})[resource.ref] = place
        elif uid:
            self.places[uid] = place
        return known and first == resource.ref

    def item_of(self, uid: str) -> InputItem | None:
        """Return kind, name and position of the object of a uid; None for an unknown one."""
        place = self.places.get(uid)
        return None if place is None else place.item_with_uid(uid)

    def drop_conflicting_objects(self) -> None:
        """Drop objects that differ from another one of their name, and objects that share a uid."""
        self._report_edited_copies()
        for uid, members in self._clashes.items():
            for ref, place in members.items():
                item = place.item_with_uid(uid)
                others = " and ".join(sorted(other.short for other in members if other != ref))
                self.add_fault(item, "metadata.uid", "a uid of its own", f"that of {others}")
                self.mark_kind_incomplete(ref.kind, item.value)
                self.conflicting.add((ref.kind, ref.namespace, ref.name))
        for kind, namespace, name in self.conflicting:
            self.others.pop((kind, namespace, name), None)
            for store in self._stores_of(kind):
                store.pop((namespace, name), None)

    def _report_edited_copies(self) -> None:
        """Add a fault for two specs of a set; the one in the file with fewer objects is taken to be the edit."""
        for pair in self._edited_copies:
            edit, other = sorted(pair, key=lambda item: self._objects_in_file[item.file])
            which, has = "an edit", "" if edit.file == other.file else f", which {other.file} has"
            if has and self._objects_in_file[edit.file] == self._objects_in_file[other.file]:
                which, has = f"the edit, which is in this file or in {other.file}", ""
            expected = f"no uid in {which}: with one it is the set of a cluster{has}"
            self.add_fault(edit, "metadata.uid", expected, "two specs of this set")

    def conflicting_keys_of_kind(self, kind: str) -> set[Key]:
        """Return namespace and name of the conflicting objects of a kind."""
        return {(namespace, name) for conflicting, namespace, name in self.conflicting if conflicting == kind}

    def _stores_of(self, kind: str) -> tuple[dict[Key, Any], ...]:
        if kind in self.kinds:
            return self.kinds[kind].objects, self.running if kind == "PodCliqueSet" else {}
        more: dict[str, dict[Key, Any]] = {
            CLAIM_KIND: self.claims,
            DOMAIN_KIND: self.domains,
            DEFINITION_KIND: self.shapes,
            CLAIM_TEMPLATE_KIND: self.templates,
        }
        return (more[kind],) if kind in more else ()


def is_same_object_state(before: object, other: object) -> bool:
    """Return whether two objects of one name are the same object in the same state, as in overlapping files.

    Equal resource versions mean equal states (PL-004). Without versions, everything that is read is compared.
    """
    if isinstance(before, Resource | Pod) and isinstance(other, Resource | Pod) and before.uid:
        versions = before.resource_version, other.resource_version
        is_one = before.uid == other.uid and (versions[0] == versions[1] if any(versions) else before == other)
        return is_one and not _is_edited(before, other)
    return before == other


def _is_edited(before: object, other: object) -> bool:
    """Return whether two PodCliqueSets of one version have different specs: one is an edited copy."""
    return isinstance(before, PodCliqueSet) and isinstance(other, PodCliqueSet) and before.spec != other.spec
