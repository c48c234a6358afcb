"""From items to a cluster: every object projected, every problem noted, nothing guessed (IN-030 to IN-036).

What could not be read must not look like something that is not there: a broken object makes its kind count as not
collected in its namespace, a broken file makes every kind count so everywhere, and decisions that need it then say
"unknown" (IN-034).
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any, BinaryIO, Final, TypeVar

from grove_core.kernel.errors import MalformedObject, Problem
from grove_core.kernel.refs import Ref
from grove_core.resources.cluster_topology import TOPOLOGY_KIND
from grove_core.resources.compute_domain import DOMAIN_KIND, compute_domain_of
from grove_core.resources.configuration import UNTOLD, Configuration, Served
from grove_core.resources.keys import CORE
from grove_core.resources.meta import Resource
from grove_core.resources.owned import CLAIM_KIND, OWNED_KINDS, Owned, owned_of
from grove_core.resources.ownership import Controller, controller_in
from grove_core.resources.pod import Pod, pod_of
from grove_core.resources.podclique import GROUP_KIND, PodClique, podclique_of
from grove_core.resources.podcliqueset import PodCliqueSet, podcliqueset_of
from grove_core.resources.podgang import PodGang, podgang_of
from grove_core.resources.scaling_group import ScalingGroup, scaling_group_of
from grove_core.snapshot.cluster import EVERYWHERE, Gap, cluster_of, with_domains
from grove_shell.collector import collector_off
from grove_shell.reading import capture
from grove_shell.reading.collected import Collected
from grove_shell.reading.completeness import complete_kinds, inferred_gaps, podless_cliques
from grove_shell.reading.fabric import (
    DEFINITION,
    DEFINITION_KIND,
    Fabric,
    is_domain,
    shape_in_definition,
    template_in,
)
from grove_shell.reading.faults import Fault
from grove_shell.reading.items import fault_in
from grove_shell.reading.loaded import Loaded
from grove_shell.reading.manifests import Beside, admitted, edited, lacks_templates, neighbours_among, text_of
from grove_shell.reading.sources import Item, heading_of, items_of, label_of
from grove_shell.reading.strangers import Address, Strangers, controller_of
from grove_shell.reading.topologies import Topologies, around, is_topology

K = TypeVar("K", bound=tuple[str, ...])
V = TypeVar("V")

API_GROUPS: Final[Mapping[str, str]] = {
    "PodCliqueSet": "grove.io",
    "PodCliqueScalingGroup": "grove.io",
    "PodClique": "grove.io",
    "PodGang": "scheduler.grove.io",
    "Pod": "",
}
TEMPLATE_KIND: Final = "ResourceClaimTemplate"
IDENTIFIED: Final = ("PodClique", "PodCliqueScalingGroup")  # nobody writes these by hand
_RANKS: Final = {GROUP_KIND: 1, "PodClique": 2, "PodGang": 3}
JUDGED: Final = ("Pod", "PodClique", "PodCliqueScalingGroup")


def load(
    paths: Iterable[str],
    stdin: BinaryIO,
    progress: Callable[[Item], None] | None = None,
    live: Collected | None = None,
    configuration: Configuration = UNTOLD,
    *,
    by_topologies: bool = True,
) -> Loaded:
    """Read files, directories or standard input (``-``) into a cluster. Raises nothing for bad content.

    Args:
        paths: in the order given; order does not change the result.
        stdin: where ``-`` reads from.
        progress: called for every item, for a progress bar.
        live: what a cluster itself was asked for (IN-046).
        configuration: of the operator that is planned for; manifests are admitted by it.
        by_topologies: whether they are judged by the topologies of the input too.
    """
    loading = _Loading(live, configuration, Topologies(judging=by_topologies))
    with collector_off():
        for index, raw in enumerate(loading.live.items):
            loading.take(Item(loading.live.origin, 1, index, raw))
        for path in sorted(paths):  # what is told of two that differ does not depend on which file was named first
            for item in items_of(path, loading.faults, stdin):
                loading.take(item)
                if progress is not None:
                    progress(item)
        return loading.finish()


class _Loading:
    """One load in progress."""

    def __init__(self, live: Collected | None, configuration: Configuration, topologies: Topologies) -> None:
        self.live = live or Collected(origin="")
        self.configuration = configuration
        self.fabric = Fabric()
        self.topologies = topologies
        self.taken_at: datetime | None = None
        self.strangers = Strangers(self.live.origin)
        self.unread: list[tuple[Item, str, MalformedObject]] = []  # that may be strangers
        self.shared: dict[str, str] = {}
        self.faults: list[Fault] = []
        self.ignored: Counter[str] = Counter()
        self.gaps: set[Gap] = set()
        self.places: dict[str, Item] = {}
        self.clashes: dict[str, dict[Ref, Item]] = {}  # uid -> the objects that have it, where that is not one
        self.torn: set[Address] = set()  # of which there are two that differ
        self.offers: set[Served] = set()  # what captures say that their servers offer
        self.owners: dict[str, Ref] = {}  # uid -> whose it is
        self.sets: dict[tuple[str, str], PodCliqueSet] = {}
        self.groups: dict[tuple[str, str], ScalingGroup] = {}
        self.cliques: dict[tuple[str, str], PodClique] = {}
        self.gangs: dict[tuple[str, str], PodGang] = {}
        self.pods: dict[tuple[str, str], Pod] = {}
        self.others: dict[tuple[str, str, str], Owned] = {}
        self.claims: dict[tuple[str, str], Owned] = {}  # of everybody: a name may be taken
        self.manifests: list[Item] = []  # sets without a uid
        self.running: dict[tuple[str, str], Mapping[str, Any]] = {}  # sets with one, as they stand in the input
        self.edited: list[tuple[str, str]] = []
        self.warnings: list[str] = []
        self.seen: set[Gap] = set()  # of which kinds there are some, besides those that have a shelf
        self.kinds: dict[str, tuple[Callable[[Mapping[str, Any], dict[str, str]], Any], dict[tuple[str, str], Any]]] = {
            "PodCliqueSet": (podcliqueset_of, self.sets),
            "PodCliqueScalingGroup": (scaling_group_of, self.groups),
            "PodClique": (podclique_of, self.cliques),
            "PodGang": (podgang_of, self.gangs),
            "Pod": (pod_of, self.pods),
        }

    def take(self, item: Item) -> None:
        """Project one item and file it under its kind and name."""
        raw, kind, version = item.value, item.value.get("kind"), item.value.get("apiVersion")
        if kind == "Pod" and version == CORE and self._take_pod(raw):
            return
        if not isinstance(kind, str) or not isinstance(version, str):
            for field, value in (("kind", kind), ("apiVersion", version)):
                if not isinstance(value, str):
                    self._note(item, field, "a string", "nothing" if value is None else str(value))
            self.gaps.update((judged, EVERYWHERE) for judged in JUDGED)
        elif (kind, version) == (capture.KIND, capture.VERSION):
            self._take_capture(item)
        elif self._take_beside(item, kind, version.rpartition("/")[0]):
            pass
        elif API_GROUPS.get(kind) != version.rpartition("/")[0]:
            self._pass_by(item, kind)
        elif kind == "PodCliqueSet" and not text_of(raw, "uid"):
            self.manifests.append(item)
        else:
            self._take_ours(item, kind)

    def _take_beside(self, item: Item, kind: str, group: str) -> bool:
        """An object of a kind that sets have besides Grove's own."""
        if is_domain(kind, group):
            self._take_domain(item)
        elif is_topology(item.value):
            self._note_all(item, problems := self.topologies.take(item, self.shared))
            (self.gaps if problems else self.seen).add((TOPOLOGY_KIND, EVERYWHERE))
        elif kind == TEMPLATE_KIND and group == OWNED_KINDS["ResourceClaim"]:
            key, spec = template_in(item.value)
            if spec is not None:
                self._file(item, kind, self.fabric.templates, key, spec)
        elif OWNED_KINDS.get(kind) == group:
            self._take_other(item, kind)
        else:
            return False
        return True

    def _pass_by(self, item: Item, kind: str) -> None:
        """An object of a kind that no decision reads; one that was written by hand may be meant as another (IN-044)."""
        shape = shape_in_definition(kind, item.value)
        if shape is not None:
            self._file(item, kind, self.fabric.shapes, ("", DEFINITION), shape)
        if not text_of(item.value, "uid"):
            from grove_shell.manifests.likeness import slip_in  # noqa: PLC0415 - dumps of clusters have none of these

            slip = slip_in(item.value)
            if slip is not None:
                self._note(item, slip.path, slip.expected, slip.got)
                self._miss(slip.kind, item.value)
                return
        self.ignored[kind] += 1

    def _take_capture(self, item: Item) -> None:
        """What a capture says of itself: as if the cluster had been asked just now, but for the time (IN-047)."""
        found, taken_at, problems = capture.read(item.value)
        self._note_all(item, problems)
        unseen, known = dict(self.live.unseen), len(self.offers)
        for gap, words in found.unseen.items():
            unseen[gap] = min(words, unseen.get(gap, words))
        self.live = replace(self.live, complete=self.live.complete | found.complete, unseen=unseen)
        if found.served is not None:
            self.offers.add(found.served)
        if len(self.offers) > 1 >= known:
            self._note(item, "offers", "what the other captures say that their server offers", "something else")
        self.strangers.captures.add(item.file)
        self.taken_at = max(filter(None, (self.taken_at, taken_at)), default=None)

    def _take_domain(self, item: Item) -> None:
        """A ComputeDomain, whoever's it is: it holds a name (IN-062)."""
        try:
            domain = compute_domain_of(item.value, self.shared)
        except MalformedObject as fault:
            self._note_all(item, fault.problems)
            self._miss(DOMAIN_KIND, item.value)
            return
        self.seen.add((DOMAIN_KIND, domain.ref.namespace))
        self._file(item, DOMAIN_KIND, self.fabric.domains, (domain.ref.namespace, domain.ref.name), domain)

    def _take_other(self, item: Item, kind: str) -> None:
        """An object of a kind that Grove makes too; most of them belong to somebody else (IN-037)."""
        if kind == CLAIM_KIND:
            self.fabric.notice_claim(item.value)
        try:
            owned = owned_of(item.value, self.shared)
        except MalformedObject:
            self.ignored[kind] += 1
            return
        self.seen.add((kind, owned.ref.namespace))
        if kind == CLAIM_KIND:
            self._file(item, kind, self.claims, (owned.ref.namespace, owned.ref.name), owned)
        if owned.managed and owned.owner_kind in API_GROUPS:
            self._file(item, kind, self.others, (kind, owned.ref.namespace, owned.ref.name), owned)
        else:
            self.ignored[kind] += 1

    def _take_ours(self, item: Item, kind: str) -> None:
        """Project an object of a kind that decisions read."""
        project, shelf = self.kinds[kind]
        try:
            resource = project(item.value, self.shared)
        except MalformedObject as fault:
            self.unread.append((item._replace(value=heading_of(item.value)), kind, fault))
            return
        key = (resource.ref.namespace, resource.ref.name)
        if kind != "Pod" and not self._identify(item, kind, resource):
            self._miss(kind, item.value)
            return
        if kind == "PodCliqueSet" and resource.uid:
            self.running.setdefault(key, item.value)
        self._file(item, kind, shelf, key, resource)

    def _file(self, item: Item, kind: str, shelf: dict[K, V], key: K, found: V) -> None:
        """Put an object into its place; of two that differ nobody knows which one is right (IN-032)."""
        before = shelf.setdefault(key, found)
        if before is found or _same(before, found):
            return
        address = (kind, key[-2], key[-1])
        if address not in self.torn:
            self._note(item, "metadata.name", "one object of this kind and name", "a second one that differs")
        self.torn.add(address)
        if kind != DEFINITION_KIND:
            self._miss(kind, item.value)

    def _leave_out_torn(self) -> None:
        """Objects of which there are two that differ, and those that share a uid, are as if they had not been read."""
        for members in self.clashes.values():
            for ref, item in members.items():
                others = " and ".join(sorted(other.short for other in members if other != ref))
                self._note(item, "metadata.uid", "a uid of its own", f"that of {others}")
                self._miss(ref.kind, item.value)
                self.torn.add((ref.kind, ref.namespace, ref.name))
        for kind, namespace, name in self.torn:
            self.others.pop((kind, namespace, name), None)
            for shelf in self._shelves_of(kind):
                shelf.pop((namespace, name), None)

    def _shelves_of(self, kind: str) -> tuple[dict[tuple[str, str], Any], ...]:
        if kind in self.kinds:
            return self.kinds[kind][1], self.running if kind == "PodCliqueSet" else {}
        more: dict[str, dict[tuple[str, str], Any]] = {
            CLAIM_KIND: self.claims,
            DOMAIN_KIND: self.fabric.domains,
            DEFINITION_KIND: self.fabric.shapes,
            TEMPLATE_KIND: self.fabric.templates,
        }
        return (more[kind],) if kind in more else ()

    def _take_manifests(self) -> None:
        """Sets that no cluster has seen: new ones, or edits of those in the input (IN-039, IN-041)."""
        if not self.manifests:
            return
        chosen = self._one_manifest_of_each()
        neighbours = neighbours_among([item.value for item in chosen.values()], self.running)
        judging = around(self.topologies.judging, self.cliques.values() or None)
        beside = Beside(neighbours, self.configuration, judging)
        templates = {
            *self.fabric.templates,
            *((where, name) for kind, where, name in self.torn if kind == TEMPLATE_KIND),
        }
        for key, item in sorted(chosen.items()):
            is_edit = key in self.running
            raw = admitted(item, self.running[key] if is_edit else None, beside, self._note, self.warnings.append)
            if raw is not None and lacks_templates(item, raw, templates, self._note):
                raw = None
            if raw is None:
                self._miss("PodCliqueSet", item.value)
            elif is_edit:
                self.sets[key] = edited(self.sets[key], raw)
                self.edited.append(key)
            else:
                self._take_ours(item._replace(value=dict(raw)), "PodCliqueSet")

    def _one_manifest_of_each(self) -> dict[tuple[str, str], Item]:
        """By namespace and name of the set; several that differ are a fault each, and none of them counts."""
        torn = {(namespace, name) for kind, namespace, name in self.torn if kind == "PodCliqueSet"}
        every: dict[tuple[str, str], list[Item]] = {}
        for item in self.manifests:
            name, namespace = text_of(item.value, "name"), text_of(item.value, "namespace")
            found = [key for key in self.running.keys() | torn if key[1] == name and namespace in {"", key[0]}]
            key = found[0] if len(found) == 1 else (namespace or "default", name)
            alike = every.setdefault(key, [])
            if all(item.value != other.value for other in alike):
                alike.append(item)
        for items in every.values():
            for item in items if len(items) > 1 else ():
                self._note(item, "metadata.name", "one manifest of this name", f"{len(items)} that differ")
                self._miss("PodCliqueSet", item.value)
        return {key: items[0] for key, items in every.items() if len(items) == 1 and key not in torn}

    def _identify(self, item: Item, kind: str, resource: Resource) -> bool:
        """Whether an object can be told from every other one (IN-038); its place is remembered for later faults."""
        uid, place = resource.uid, item._replace(value=heading_of(item.value))
        known = kind not in IDENTIFIED or bool(uid and resource.resource_version)
        if not known:
            self._note(item, "metadata", "a uid and a resourceVersion, as every object of a cluster has", "none")
        first = self.owners.setdefault(uid, resource.ref) if uid else resource.ref
        if first != resource.ref:
            self.clashes.setdefault(uid, {first: self.places[uid]})[resource.ref] = place
        elif uid:
            self.places[uid] = place
        return known and first == resource.ref

    def _take_pod(self, raw: Mapping[str, Any]) -> bool:
        """The short way for a sound pod; whatever is wrong with one is found on the long way."""
        try:
            pod = pod_of(raw, self.shared)
        except MalformedObject:
            return False
        before = self.pods.setdefault((pod.namespace, pod.name), pod)
        return before is pod or _same(before, pod)

    def finish(self) -> Loaded:
        """Check owners, find out what was left out, and index the rest."""
        self._leave_out_torn()
        self._take_manifests()
        self._tell_unread()
        inferred = inferred_gaps(
            sets=self.sets.values(), groups=self.groups.values(), cliques=self.cliques.values(), pods=self.pods.values()
        )
        listed = self.live.complete
        self.gaps |= {gap for gap in inferred if gap not in listed and (gap[0], EVERYWHERE) not in listed}
        missed = frozenset(self.gaps)  # before the pass over each kind, which adds to them
        self.groups = {key: group for key, group in self.groups.items() if self._has_owner(group, missed)}
        missed = frozenset(self.gaps)
        self.cliques = {key: clique for key, clique in self.cliques.items() if self._has_owner(clique, missed)}
        self.gangs = {key: gang for key, gang in self.gangs.items() if self._belongs(gang)}
        self.gaps |= self.live.unseen.keys()
        gaps = frozenset(self.gaps | {(kind, EVERYWHERE) for kind in JUDGED if self._content_was_lost()})
        cluster = cluster_of(
            sets=self.sets.values(),
            groups=self.groups.values(),
            cliques=self.cliques.values(),
            gangs=self.gangs.values(),
            others=self.others.values(),
            pods=self.pods.values(),
            gaps=gaps,
            complete=complete_kinds(self._seen_kinds() | self.live.complete, gaps),
        )
        cluster = replace(
            with_domains(cluster, self.fabric.domains.values(), self.claims.values()),
            claim_templates=self.fabric.templates,
            configuration=self.configuration,
            served=self.live.served
            or (next(iter(self.offers)) if len(self.offers) == 1 else None)
            or self.fabric.served,
            strangers=self.strangers.holders(),
            topologies=self.topologies.by_name,
            shadowed_topologies=self.topologies.shadowed,
            is_part=self.live.is_part,
        )
        strays = len(self.pods) - sum(len(pods) for uid, pods in cluster.pods_of.items() if uid in self.owners)
        names = tuple(sorted(f"{namespace}/{name}" for namespace, name in self.edited))
        return Loaded(
            cluster=cluster,
            faults=tuple(sorted(self.faults, key=lambda fault: fault.sort_key)),
            ignored=dict(sorted(self.ignored.items())),
            strays=strays,
            edited=names,
            warnings=tuple(self.warnings),
            podless=tuple(podless_cliques(cluster)),
            unseen=self.live.unseen,
            passed_by=self.strangers.sentences(),
            taken_at=self.taken_at,
        )

    def _served(self) -> Served:
        """What the server offers: as it said itself, else as captures say that agree, else as objects give it away."""
        told = self.live.served or (next(iter(self.offers)) if len(self.offers) == 1 else None)
        return told or self.fabric.served

    def _seen_kinds(self) -> set[Gap]:
        """Of which kinds there is some, and in which namespace."""
        shelved = {(kind, namespace) for kind, (_, shelf) in self.kinds.items() for namespace, _ in shelf}
        return self.seen | shelved

    def _has_owner(self, resource: Resource, missed: frozenset[Gap]) -> bool:
        """Whether the owner is there to judge the object; one that should be and is not is a fault (IN-033).

        Args:
            resource: a group or a clique.
            missed: what was not collected, whatever is found out about others like it.
        """
        namespace = resource.ref.namespace
        owner = self.owners.get(resource.owner_uid)
        if (owner is not None and owner.namespace == namespace) or (resource.owner_kind, namespace) in missed:
            return True
        if resource.deleting:
            return isinstance(resource, PodClique)
        item = self.places[resource.uid]
        address = (resource.ref.kind, namespace, resource.ref.name)
        if self._is_strange(item, address, controller_of(resource)):
            return False
        if not resource.owner_uid:
            self._note(item, "metadata.ownerReferences", "a controller owner", "none")
        else:
            expected = f"{resource.owner_kind} {namespace}/{resource.owner_name} in the input"
            self._note(item, "metadata.ownerReferences", expected, "no object with that uid there")
        self.gaps.add((resource.ref.kind, namespace))
        if resource.owner_kind == GROUP_KIND:
            self.gaps.add((GROUP_KIND, namespace))
        return False

    def _tell_unread(self) -> None:
        """What does not read is a fault, unless it is a stranger's; owners first, for those are known from then on."""
        for item, kind, fault in sorted(self.unread, key=lambda one: (_RANKS.get(one[1], 0), label_of(one[0]))):
            namespace, name = text_of(item.value, "namespace") or "default", text_of(item.value, "name")
            ranked = kind in _RANKS and name
            if ranked and self._is_strange(item, (kind, namespace, name), controller_in(item.value)):
                continue
            self._note_all(item, fault.problems)
            self._miss(kind, item.value)

    def _is_strange(self, item: Item, address: Address, controller: Controller) -> bool:
        owner = self.owners.get(controller.uid)
        if owner is not None and owner.namespace == address[1]:
            return False
        return self.strangers.takes(item, address, controller, self.live.complete)

    def _belongs(self, gang: PodGang) -> bool:
        item = self.places.get(gang.uid)
        address = (gang.ref.kind, gang.ref.namespace, gang.ref.name)
        return gang.deleting or item is None or not self._is_strange(item, address, controller_of(gang))

    def _content_was_lost(self) -> bool:
        return any(fault.lost for fault in self.faults)

    def _note_all(self, item: Item, problems: Iterable[Problem]) -> None:
        for problem in problems:
            self._note(item, problem.path, problem.expected, problem.got)

    def _note(self, item: Item, path: str, expected: str, got: str) -> None:
        self.faults.append(fault_in(item, label_of(item), (path, expected, got), None, lost=False))

    def _miss(self, kind: str, raw: Mapping[str, Any]) -> None:
        """An object of that kind is missing from now on, and everybody in its namespace must know."""
        meta = raw.get("metadata")
        fields: Mapping[str, Any] = meta if isinstance(meta, Mapping) else {}
        namespace, uid = fields.get("namespace", "default"), fields.get("uid")
        self.gaps.add((kind, namespace if isinstance(namespace, str) else EVERYWHERE))
        if kind in self.kinds and kind != "Pod" and isinstance(uid, str) and isinstance(namespace, str):
            self.owners.setdefault(uid, Ref(str(raw.get("apiVersion")), kind, namespace, str(fields.get("name"))))


def _same(before: object, other: object) -> bool:
    """Whether two objects of one name are the same object in the same state (PL-900), as in overlapping files."""
    if isinstance(before, Resource | Pod) and isinstance(other, Resource | Pod) and before.uid:
        return (before.uid, before.resource_version) == (other.uid, other.resource_version)
    return before == other
