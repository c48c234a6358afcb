"""What is known of an input: objects listed from a cluster or named by a snapshot header (IN-047), and the result."""

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from datetime import datetime
from typing import Any, Final, NamedTuple

from msgspec import field

from grove_core.kernel.errors import ObjectProblem
from grove_core.kernel.structs import Struct, replace
from grove_core.kernel.time_formats import format_time
from grove_core.plan.forecast import SetsOfSameName
from grove_core.resources.configuration import ComputeDomainFormatName, ServedApis, WorkloadApiLevel
from grove_core.resources.crd_name_clashes import NamesInCrd
from grove_core.resources.edited_manifest_fields import ManifestChange
from grove_core.resources.failed_write import FailedWrite
from grove_core.resources.json_field_reader import JsonFieldReader
from grove_core.resources.podcliqueset import PodCliqueSet
from grove_core.snapshot.cluster import EVERYWHERE, Gap, IndexedCluster
from grove_shell.reading.input_faults import InputFault
from grove_shell.reading.input_nodes import InputNodes
from grove_shell.reading.input_topologies import TopologyEdit

SNAPSHOT_VERSION: Final = "snapshot.grove.io/v1"
SNAPSHOT_KIND: Final = "Snapshot"
_NO_DOMAINS: Final = "none"


class CollectedObjects(Struct, frozen=True, kw_only=True):
    """Objects of a cluster, and which kinds are complete.

    Attributes:
        origin: the server, as reports name it.
        items: as the server returned them.
        complete: kinds that were listed completely, with their namespace (IN-040).
        served: what the server serves; None if that was not requested.
        not_listed: kinds that the server did not list, with its message.
    """

    origin: str
    items: tuple[dict[str, Any], ...] = ()
    complete: frozenset[Gap] = frozenset()
    served: ServedApis | None = None
    not_listed: Mapping[Gap, str] = field(default_factory=dict)

    @property
    def is_part_of_cluster(self) -> bool:
        """Whether only some namespaces of the cluster were listed."""
        return any(where != EVERYWHERE for kind, where in self.complete if kind == "PodCliqueSet")


def snapshot_header_item(collected: CollectedObjects, taken_at: datetime) -> dict[str, Any]:
    """Return the first object of a snapshot file."""
    return {
        "apiVersion": SNAPSHOT_VERSION,
        "kind": SNAPSHOT_KIND,
        "metadata": {"name": "snapshot"},
        "takenAt": format_time(taken_at),
        "server": collected.origin,
        **({"offers": _served_as_json(collected.served)} if collected.served is not None else {}),
        "collected": [{"kind": kind, "namespace": namespace} for kind, namespace in sorted(collected.complete)],
        "notCollected": [
            {"kind": kind, "namespace": namespace, "why": why}
            for (kind, namespace), why in sorted(collected.not_listed.items())
        ],
    }


def read_snapshot_header(raw: Mapping[str, Any]) -> tuple[CollectedObjects, datetime | None, tuple[ObjectProblem, ...]]:
    """Parse a header; return the collected kinds, the time and every problem."""
    problems: list[ObjectProblem] = []
    top = JsonFieldReader(raw, "", problems)
    complete: set[Gap] = {(part.text("kind"), part.text("namespace")) for part in top.inner_objects("collected")}
    not_listed = {
        (part.text("kind"), part.text("namespace")): part.text("why") for part in top.inner_objects("notCollected")
    }
    taken_at = top.time("takenAt", required=True)
    served = _served_in(top.inner_object("offers")) if "offers" in raw else None
    found = CollectedObjects(
        origin=top.text("server"), complete=frozenset(complete), served=served, not_listed=not_listed
    )
    return found, taken_at, tuple(problems)


class CombinedSnapshotHeaders:
    """The headers of all snapshot files of an input, combined.

    Attributes:
        taken_at: when the newest snapshot was taken.
    """

    def __init__(self) -> None:
        self.taken_at: datetime | None = None
        self._served: set[ServedApis] = set()

    @property
    def served_apis(self) -> ServedApis | None:
        """What their servers serve; None without a header that says so, or if two disagree."""
        return next(iter(self._served)) if len(self._served) == 1 else None

    def add_header(
        self, raw: Mapping[str, Any], live: CollectedObjects
    ) -> tuple[CollectedObjects, tuple[ObjectProblem, ...]]:
        """Add a header; return the combined collected kinds and every problem of the header."""
        found, taken_at, problems = read_snapshot_header(raw)
        not_listed, known = dict(live.not_listed), len(self._served)
        for gap, words in found.not_listed.items():
            not_listed[gap] = min(words, not_listed.get(gap, words))
        if found.served is not None:
            self._served.add(found.served)
        if len(self._served) > 1 >= known:
            expected = "what the other captures say that their server offers"
            problems = (*problems, ObjectProblem(path="offers", expected=expected, got="something else"))
        self.taken_at = max(filter(None, (self.taken_at, taken_at)), default=None)
        return replace(live, complete=live.complete | found.complete, not_listed=not_listed), problems


def _served_as_json(served: ServedApis) -> dict[str, Any]:
    """Return what the server serves (IN-047); a field that was not requested is left out."""
    domains = _NO_DOMAINS if served.without_domains else served.domains and served.domains.value
    level = served.workload_api and served.workload_api.value
    found = {"computeDomains": domains, "resourceClaims": served.claims, "workloadApi": level}
    return {key: value for key, value in found.items() if value}


def _served_in(part: JsonFieldReader) -> ServedApis:
    text = part.text("computeDomains")
    shapes = {shape.value: shape for shape in ComputeDomainFormatName}
    if text and text != _NO_DOMAINS and text not in shapes:
        part.add_problem("computeDomains", f"one of {', '.join((*shapes, _NO_DOMAINS))}", text)
    levels, level = {one.value: one for one in WorkloadApiLevel}, part.text("workloadApi")
    if level and level not in levels:
        part.add_problem("workloadApi", f"one of {', '.join(levels)}", level)
    return ServedApis(
        domains=shapes.get(text),
        without_domains=text == _NO_DOMAINS,
        claims=part.text("resourceClaims"),
        workload_api=levels.get(level),
    )


class NewSetManifest(NamedTuple):
    """The manifest of a set that is not in the cluster: as a user wrote it, and as it is stored."""

    written: Mapping[str, Any]
    stored: Mapping[str, Any]


class LoadedInput(Struct, frozen=True):
    """The cluster that an input describes, and everything to report about the input.

    Attributes:
        cluster: the snapshot of all objects.
        faults: all problems, in order of place.
        ignored: kind -> number of objects of a kind that no decision reads, sorted by kind.
        pods_without_clique: number of pods whose PodClique is not in the input.
        changes: ``namespace/name`` of each set that a manifest in the input changes -> the fields that change (ED-001).
        before: ``namespace/name`` of each of these sets -> the set as it is stored.
        hidden: ``namespace/name`` of some of them -> fields that a capture redacted and that are not compared (ED-015).
        kept: ``namespace/name path`` of the fields that such a manifest omits and that stay as stored (WL-198).
        warnings: of admission, about the manifests.
        cliques_without_pods: ``namespace/name`` of PodCliques whose status counts pods that the input lacks (IN-040).
        sets_without_cliques: the same of the sets whose status counts available replicas without PodCliques.
        pods_without_their_clique: ``namespace/name`` of living pods of a set whose PodClique the input lacks (IN-083).
        lacks_kinds: whether a whole kind is missing that other objects refer to (IN-040).
        not_listed: kinds that a cluster did not list, with its message.
        foreign_objects: a sentence for each object of our kinds in a cluster that belongs to no set (IN-033).
        taken_at: when the newest snapshot file of the input was taken.
        newer: fields and kinds of a Go operator newer than the newest known release (GF-134).
        server_errors: errors of an API server in place of objects (IN-053).
        nodes: what the Nodes in it show.
        definitions: names of the custom resource definitions in it.
        new_sets: ``namespace/name`` of each set that a manifest in the input creates -> the manifest.
        same_names: ``namespace/name`` of such a set -> the stored sets that may have been meant (IN-086).
        topology_edits: manifests that change stored topologies (IN-082); the cluster has them applied.
        failed_writes: of operators, by the Events and statuses in it (WL-255).
    """

    cluster: IndexedCluster
    faults: tuple[InputFault, ...]
    ignored: Mapping[str, int]
    pods_without_clique: int
    changes: Mapping[str, tuple[ManifestChange, ...]] = field(default_factory=dict)
    before: Mapping[str, PodCliqueSet] = field(default_factory=dict)
    hidden: Mapping[str, tuple[ManifestChange, ...]] = field(default_factory=dict)
    kept: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    cliques_without_pods: tuple[str, ...] = ()
    sets_without_cliques: tuple[str, ...] = ()
    pods_without_their_clique: tuple[str, ...] = ()
    lacks_kinds: bool = False
    not_listed: Mapping[Gap, str] = field(default_factory=dict)
    foreign_objects: tuple[str, ...] = ()
    taken_at: datetime | None = None
    newer: tuple[str, ...] = ()
    server_errors: tuple[str, ...] = ()
    nodes: InputNodes = InputNodes()
    definitions: tuple[NamesInCrd, ...] = ()
    new_sets: Mapping[str, NewSetManifest] = field(default_factory=dict)
    same_names: Mapping[str, SetsOfSameName] = field(default_factory=dict)
    failed_writes: tuple[FailedWrite, ...] = ()
    topology_edits: tuple[TopologyEdit, ...] = ()

    @property
    def lacks_objects(self) -> bool:
        """Whether other objects show that some are missing (IN-083)."""
        return bool(self.cliques_without_pods or self.sets_without_cliques or self.pods_without_their_clique)

    def edited_objects(self, planned: AbstractSet[str]) -> tuple[str, ...]:
        """Return the topologies, and the planned sets, that a manifest in the input changes, by name.

        Args:
            planned: ``namespace/name`` of sets.
        """
        topologies = (edit.before.ref.short for edit in self.topology_edits)
        return (*topologies, *sorted(planned & frozenset(self.edited)))

    @property
    def edited(self) -> tuple[str, ...]:
        """``namespace/name`` of the sets that a manifest in the input changes, sorted."""
        return tuple(sorted(self.changes))
