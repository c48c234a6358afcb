"""From items to a cluster: every object projected, every problem noted, nothing guessed (IN-030 to IN-036).

What could not be read must not look like something that is not there: a broken object makes its kind count as not
collected in its namespace, a broken file makes every kind count so everywhere, and decisions that need it then say
"unknown" (IN-034).
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from os import PathLike, fspath
from typing import Any, BinaryIO, Final

from grove_core.kernel.errors import MalformedObject
from grove_core.resources.api_names import CORE
from grove_core.resources.cluster_topology import TOPOLOGY_KIND, TOPOLOGY_KINDS
from grove_core.resources.compute_domain import DOMAIN_KIND, compute_domain_of
from grove_core.resources.configuration import DEFAULT_CONFIGURATION, Configuration
from grove_core.resources.crd_names import crd_names_in
from grove_core.resources.fields import shown
from grove_core.resources.newer_release import is_newer_kind, newer_fields_in
from grove_core.resources.owned_object import CLAIM_KIND, OWNED_KINDS, owned_object_of
from grove_core.resources.pod import pod_of
from grove_core.snapshot.cluster import EVERYWHERE, Cluster
from grove_core.snapshot.indexing import cluster_of, with_domains
from grove_shell.python_gc import python_gc_paused
from grove_shell.reading import snapshot_header
from grove_shell.reading.collected_objects import CollectedObjects
from grove_shell.reading.completeness import cliques_without_pods, complete_kinds, inferred_gaps, sets_without_cliques
from grove_shell.reading.dra_objects import (
    DEFINITION,
    DEFINITION_KIND,
    TEMPLATE_KIND,
    is_compute_domain,
    shape_in_definition,
    template_in,
)
from grove_shell.reading.faults import BadInput, Fault
from grove_shell.reading.foreign_objects import ForeignObjects
from grove_shell.reading.input_objects import API_GROUPS, InputObjects, is_same
from grove_shell.reading.input_topologies import InputTopologies, around, is_topology
from grove_shell.reading.items import identity_problems, labels_in, meta_text, server_error_in
from grove_shell.reading.loaded_input import LoadedInput
from grove_shell.reading.manifest_admission import (
    AdmissionContext,
    admit_manifest,
    apply_edit,
    is_of_other_namespace,
    lacks_claim_templates,
    unique_manifests,
    used_names_among,
    with_namespace,
)
from grove_shell.reading.owner_check import OwnedObjects, OwnerCheck, UnreadableObject
from grove_shell.reading.sources import Item, heading_of, items_of, label_of, standard_input

_KINDS_OF_GROVE: Final = frozenset({*API_GROUPS, *TOPOLOGY_KINDS, snapshot_header.KIND, "Scenario"})
JUDGED: Final = ("Pod", "PodClique", "PodCliqueScalingGroup")


def load(
    paths: Iterable[str | PathLike[str]],
    stdin: BinaryIO | None = None,
    progress: Callable[[Item], None] | None = None,
    live: CollectedObjects | None = None,
    configuration: Configuration = DEFAULT_CONFIGURATION,
    *,
    by_topologies: bool = True,
    namespace: str | None = None,
    raising: bool = True,
) -> LoadedInput:
    """Read files, directories or standard input (``-``) into a cluster.

    Args:
        paths: in the order given; order does not change the result.
        stdin: where ``-`` reads from; standard input by default.
        progress: called for every item, for a progress bar.
        live: what a cluster itself was asked for (IN-046).
        configuration: of the operator that is planned for; manifests are admitted by it.
        by_topologies: whether they are judged by the topologies of the input too.
        namespace: of manifests that name none; None for what they are in without (IN-041).
        raising: whether faults of the input raise; else they are in ``faults`` of what is returned, and what they leave
            unknown counts as not collected (IN-034).

    Raises:
        BadInput: something in the input is wrong, and ``raising`` is set; with every fault (IN-052).
        TypeError: ``paths`` is one path and no list of them.

    Example:
        >>> load("cluster.yaml")
        Traceback (most recent call last):
        TypeError: paths is one path, not a list of paths; say ["cluster.yaml"]
    """
    if isinstance(paths, str | bytes | PathLike):
        raise TypeError(f"paths is one path, not a list of paths; say [{fspath(paths)!r}]".replace("'", '"'))
    names = [fspath(path) for path in paths]
    loading = _Loading(live, configuration, InputTopologies(judging=by_topologies))
    with python_gc_paused():
        for index, raw in enumerate(loading.live.items):
            loading.take(Item(loading.live.origin, 1, index, raw))
        for path in sorted(names):  # what is told of two that differ does not depend on which file was named first
            for item in items_of(path, loading.found.faults, stdin or standard_input()):
                if is_of_other_namespace(item, namespace):
                    loading.warnings.append(f"{label_of(item)}: not judged, for its namespace is not {namespace}")
                loading.take(with_namespace(item, namespace))
                if progress is not None:
                    progress(item)
        loaded = loading.finish()
    if raising and (faults := (*loaded.faults, *map(_refused, loaded.refusals))):
        raise BadInput(faults)
    return loaded


def _refused(refusal: str) -> Fault:
    """An error of an API server that stands in the input in place of objects (IN-051)."""
    return Fault(file="the input", expected="objects of a cluster", got=f"an error of an API server: {refusal}")


class _Loading:
    """One load in progress."""

    def __init__(
        self, live: CollectedObjects | None, configuration: Configuration, topologies: InputTopologies
    ) -> None:
        self.live = live or CollectedObjects(origin="")
        self.configuration = configuration
        self.topologies = topologies
        self.found = InputObjects()
        self.strangers = ForeignObjects(self.live.origin)
        self.unread: list[UnreadableObject] = []
        self.manifests: list[Item] = []  # sets without a uid
        self.edited: list[tuple[str, str]] = []
        self.kept: list[str] = []
        self.shared: dict[str, str] = {}  # texts that many objects have
        self.ignored: Counter[str] = Counter()
        self.newer: Counter[str] = Counter()  # marks of a newer release of the Go operator
        self.warnings: list[str] = []
        self.refusals: list[str] = []
        self.nodes: dict[str, dict[str, str]] = {}
        self.captures = snapshot_header.SnapshotHeaders()

    def take(self, item: Item) -> None:
        """Project one item and file it under its kind and name."""
        raw, kind, version = item.value, item.value.get("kind"), item.value.get("apiVersion")
        if kind == "Pod" and version == CORE and self._take_pod(raw):
            return
        if not isinstance(kind, str) or not isinstance(version, str):
            for problem in identity_problems(raw):
                self.found.note(item, *problem)
            self.found.gaps.update((judged, EVERYWHERE) for judged in JUDGED)
        elif (kind, version) == (snapshot_header.KIND, snapshot_header.VERSION):
            self._take_capture(item)
        elif self._take_beside(item, kind, version.rpartition("/")[0]):
            pass
        elif API_GROUPS.get(kind) != version.rpartition("/")[0]:
            self._pass_by(item, kind)
        elif kind == "PodCliqueSet" and not meta_text(raw, "uid"):
            self.manifests.append(item)
        else:
            self._take_ours(item, kind)

    def _take_beside(self, item: Item, kind: str, group: str) -> bool:
        """An object of a kind that sets have besides Grove's own."""
        if is_compute_domain(kind, group):
            self._take_domain(item)
        elif is_topology(item.value):
            self.found.note_all(item, problems := self.topologies.take(item, self.shared))
            if problems:
                self.found.gaps.add((TOPOLOGY_KIND, EVERYWHERE))
            else:
                self.found.see(TOPOLOGY_KIND, EVERYWHERE)
        elif kind == TEMPLATE_KIND and group == OWNED_KINDS["ResourceClaim"]:
            key, spec = template_in(item.value)
            if spec is not None:
                self.found.put(item, kind, self.found.fabric.templates, key, spec)
            elif item.value.get("spec") is not None:
                self.found.torn.add((kind, *key))  # there, and no fault: it may be anybody's (WL-021)
                self.warnings.append(f"{label_of(item)}: spec: expected an object, got {shown(item.value['spec'])}")
        elif OWNED_KINDS.get(kind) == group:
            self._take_other(item, kind)
        else:
            return False
        return True

    def _pass_by(self, item: Item, kind: str) -> None:
        """An object of a kind that no decision reads; one that was written by hand may be meant as another (IN-044)."""
        shape = shape_in_definition(kind, item.value)
        if shape is not None:
            self.found.put(item, kind, self.found.fabric.shapes, ("", DEFINITION), shape)
        if kind == DEFINITION_KIND and (names := crd_names_in(item.value)) is not None:
            self.found.definitions.append(names)
        if not meta_text(item.value, "uid"):
            from grove_shell.manifests.misspelled_kinds import misspelling_in  # noqa: PLC0415 - dumps of clusters have none of these

            slip = misspelling_in(item.value)
            if slip is not None:
                self.found.note(item, slip.path, slip.expected, slip.got)
                self.found.miss(slip.kind, item.value)
                return
        if refusal := server_error_in(item.value):
            self.refusals.append(refusal)
        group = str(item.value.get("apiVersion")).rpartition("/")[0]
        if is_newer_kind(kind, group, _KINDS_OF_GROVE):
            self.newer[f"kind {kind}"] += 1
        if (kind, item.value.get("apiVersion")) == ("Node", CORE):
            self.nodes[meta_text(item.value, "name")] = labels_in(item.value)
        self.ignored[kind] += 1

    def _take_capture(self, item: Item) -> None:
        """What a capture says of itself: as if the cluster had been asked just now, but for the time (IN-047)."""
        self.live, problems = self.captures.take(item.value, self.live)
        self.found.note_all(item, problems)
        self.strangers.captures.add(item.file)

    def _take_domain(self, item: Item) -> None:
        """A ComputeDomain, whoever's it is: it holds a name (IN-062)."""
        try:
            domain = compute_domain_of(item.value, self.shared)
        except MalformedObject as fault:
            self.found.note_all(item, fault.problems)
            self.found.miss(DOMAIN_KIND, item.value)
            return
        self.found.see(DOMAIN_KIND, domain.ref.namespace)
        self.found.put(item, DOMAIN_KIND, self.found.fabric.domains, (domain.ref.namespace, domain.ref.name), domain)

    def _take_other(self, item: Item, kind: str) -> None:
        """An object of a kind that Grove makes too; most of them belong to somebody else (IN-037)."""
        if kind == CLAIM_KIND:
            self.found.fabric.notice_claim(item.value)
        try:
            owned = owned_object_of(item.value, self.shared)
        except MalformedObject:
            self.ignored[kind] += 1
            return
        self.found.see(kind, owned.ref.namespace)
        if kind == CLAIM_KIND:
            self.found.put(item, kind, self.found.claims, (owned.ref.namespace, owned.ref.name), owned)
        if owned.managed and owned.owner_kind in API_GROUPS:
            self.found.put(item, kind, self.found.others, (kind, owned.ref.namespace, owned.ref.name), owned)
        else:
            self.ignored[kind] += 1

    def _take_ours(self, item: Item, kind: str) -> None:
        """Project an object of a kind that decisions read."""
        project, shelf = self.found.kinds[kind]
        try:
            resource = project(item.value, self.shared)
        except MalformedObject as fault:
            self.unread.append(UnreadableObject(item._replace(value=heading_of(item.value)), kind, fault))
            return
        key = (resource.ref.namespace, resource.ref.name)
        if kind != "Pod" and not self.found.identify(item, kind, resource):
            self.found.miss(kind, item.value)
            return
        if kind == "PodCliqueSet" and resource.uid:
            self.found.running.setdefault(key, item.value)
        if kind != "PodGang":
            self.newer.update(f"field {path} of {kind}" for path in newer_fields_in(item.value))
        self.found.put(item, kind, shelf, key, resource)

    def _take_manifests(self) -> None:
        """Sets that no cluster has seen: new ones, or edits of those in the input (IN-039, IN-041)."""
        if not self.manifests:
            return
        chosen = unique_manifests(self.manifests, self.found)
        used_names = used_names_among([item.value for item in chosen.values()], self.found.running)
        judging = around(self.topologies.judging, self.found.cliques.values() or None)
        beside = AdmissionContext(used_names, self.configuration, judging)
        templates = self.found.fabric.templates.keys() | self.found.torn_of(TEMPLATE_KIND)
        for key, item in sorted(chosen.items()):
            is_edit = key in self.found.running
            before = self.found.running[key] if is_edit else None
            applied = admit_manifest(item, before, beside, self.found.note, self.warnings.append)
            raw = applied.manifest if applied is not None else None
            if raw is not None and lacks_claim_templates(item, raw, templates, self.found.note):
                raw = None
            if raw is None:
                self.found.miss("PodCliqueSet", item.value)
            elif is_edit:
                self.found.sets[key] = apply_edit(self.found.sets[key], raw)
                self.edited.append(key)
                self.kept += [f"{key[0]}/{key[1]} {path}" for path in (applied.kept if applied is not None else ())]
            else:
                self._take_ours(item._replace(value=dict(raw)), "PodCliqueSet")

    def _take_pod(self, raw: Mapping[str, Any]) -> bool:
        """The short way for a sound pod; whatever is wrong with one is found on the long way."""
        try:
            pod = pod_of(raw, self.shared)
        except MalformedObject:
            return False
        before = self.found.pods.setdefault((pod.namespace, pod.name), pod)
        return before is pod or is_same(before, pod)

    def finish(self) -> LoadedInput:
        """Check owners, find out what was left out, and index the rest."""
        found = self.found
        found.leave_out_torn()
        stored = tuple(found.sets.values())
        self._take_manifests()
        owners = OwnerCheck(found, self.strangers, self.live.complete)
        owners.tell_unread(self.unread)
        inferred = inferred_gaps(
            sets=stored,
            groups=found.groups.values(),
            cliques=found.cliques.values(),
            gangs=found.gangs.values(),
            pods=found.pods.values(),
        )
        listed = self.live.complete
        inferred = {gap for gap in inferred if gap not in listed and (gap[0], EVERYWHERE) not in listed}
        left_out = bool(inferred - found.gaps)
        found.gaps |= inferred
        cluster = self._cluster(owners.keep())
        strays = len(found.pods) - sum(len(pods) for uid, pods in cluster.pods_of.items() if uid in found.owners)
        names = tuple(sorted(f"{namespace}/{name}" for namespace, name in self.edited))
        return LoadedInput(
            cluster=cluster,
            faults=tuple(sorted(found.faults, key=lambda fault: fault.sort_key)),
            ignored=dict(sorted(self.ignored.items())),
            strays=strays,
            edited=names,
            kept=tuple(sorted(self.kept)),
            warnings=tuple(self.warnings),
            podless=tuple(cliques_without_pods(cluster)),
            cliqueless=tuple(sets_without_cliques(cluster)),
            left_out=left_out,
            unseen=self.live.unseen,
            passed_by=self.strangers.sentences(),
            taken_at=self.captures.taken_at,
            refusals=tuple(sorted(set(self.refusals))),
            nodes=self.nodes,
            newer=tuple(sorted(self.newer)),
            definitions=tuple(found.definitions),
        )

    def _cluster(self, kept: OwnedObjects) -> Cluster:
        """What was found, indexed; where content was lost, nothing that is judged counts as complete (IN-034)."""
        found = self.found
        lost = JUDGED if any(fault.lost for fault in found.faults) else ()
        gaps = frozenset(found.gaps | self.live.unseen.keys() | {(kind, EVERYWHERE) for kind in lost})
        cluster = cluster_of(
            sets=found.sets.values(),
            groups=kept.groups.values(),
            cliques=kept.cliques.values(),
            gangs=kept.gangs.values(),
            others=found.others.values(),
            pods=found.pods.values(),
            gaps=gaps,
            complete=complete_kinds(found.seen | self.live.complete, gaps),
        )
        return replace(
            with_domains(cluster, found.fabric.domains.values(), found.claims.values()),
            claim_templates=found.fabric.templates,
            configuration=self.configuration,
            served=self.live.served or self.captures.offered or found.fabric.served,
            strangers=self.strangers.holders(),
            topologies=self.topologies.by_name,
            shadowed_topologies=self.topologies.shadowed,
            is_part=self.live.is_part,
        )
