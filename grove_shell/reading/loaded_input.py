"""What an input holds, when everything in it was read."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from grove_core.resources.crd_names import CrdNames
from grove_core.snapshot.cluster import Cluster, Gap
from grove_shell.reading.faults import Fault


@dataclass(frozen=True, slots=True)
class LoadedInput:
    """What an input holds.

    Attributes:
        faults: everything wrong with it, in order of place.
        ignored: kind -> how many objects of a kind that no decision reads, sorted by kind.
        strays: how many pods belong to no PodClique of the input.
        edited: ``namespace/name`` of the sets that a manifest in the input changes, sorted.
        kept: ``namespace/name path`` of the fields that such a manifest leaves out and that stay as stored (WL-198).
        warnings: what admission would warn of in the manifests.
        podless: ``namespace/name`` of the PodCliques whose status counts pods and of which the input has none (IN-045).
        cliqueless: the same of the sets whose status counts available replicas and of which it has no PodClique.
        left_out: whether it lacks a whole kind that other objects speak of (IN-035).
        unseen: kinds that a cluster does not show to us, and its words why.
        passed_by: what is said of the objects of our kinds in a cluster that are of no set (IN-048).
        taken_at: when the newest capture in the input was taken.
        nodes: name of each Node in the input -> its labels.
        newer: marks of a release of the Go operator newer than the newest known one (GF-134).
        refusals: errors of an API server that stand in the input in place of objects (IN-051).
        definitions: names of the custom resource definitions in it.
    """

    cluster: Cluster
    faults: tuple[Fault, ...]
    ignored: Mapping[str, int]
    strays: int
    edited: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    podless: tuple[str, ...] = ()
    cliqueless: tuple[str, ...] = ()
    left_out: bool = False
    unseen: Mapping[Gap, str] = field(default_factory=dict)
    passed_by: tuple[str, ...] = ()
    taken_at: datetime | None = None
    newer: tuple[str, ...] = ()
    refusals: tuple[str, ...] = ()
    nodes: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    definitions: tuple[CrdNames, ...] = ()
