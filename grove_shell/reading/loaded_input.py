"""The result of reading an input."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from grove_core.resources.crd_names import CrdNames
from grove_core.snapshot.cluster import Cluster, Gap
from grove_shell.reading.input_faults import InputFault


@dataclass(frozen=True, slots=True)
class LoadedInput:
    """The cluster that an input describes, and everything to report about the input.

    Attributes:
        cluster: the snapshot of all objects.
        faults: all problems, in order of place.
        ignored: kind -> number of objects of a kind that no decision reads, sorted by kind.
        pods_without_clique: number of pods whose PodClique is not in the input.
        edited: ``namespace/name`` of the sets that a manifest in the input changes, sorted.
        kept: ``namespace/name path`` of the fields that such a manifest omits and that stay as stored (WL-198).
        warnings: of admission, about the manifests.
        cliques_without_pods: ``namespace/name`` of PodCliques whose status counts pods that the input lacks (IN-040).
        sets_without_cliques: the same of the sets whose status counts available replicas without PodCliques.
        lacks_kinds: whether a whole kind is missing that other objects refer to (IN-040).
        not_listed: kinds that a cluster did not list, with its message.
        foreign_objects: a sentence for each object of our kinds in a cluster that belongs to no set (IN-033).
        taken_at: when the newest snapshot file of the input was taken.
        newer: fields and kinds of a Go operator newer than the newest known release (GF-134).
        server_errors: errors of an API server in place of objects (IN-053).
        nodes: name of each Node in the input -> its labels.
        definitions: names of the custom resource definitions in it.
    """

    cluster: Cluster
    faults: tuple[InputFault, ...]
    ignored: Mapping[str, int]
    pods_without_clique: int
    edited: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    cliques_without_pods: tuple[str, ...] = ()
    sets_without_cliques: tuple[str, ...] = ()
    lacks_kinds: bool = False
    not_listed: Mapping[Gap, str] = field(default_factory=dict)
    foreign_objects: tuple[str, ...] = ()
    taken_at: datetime | None = None
    newer: tuple[str, ...] = ()
    server_errors: tuple[str, ...] = ()
    nodes: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    definitions: tuple[CrdNames, ...] = ()
