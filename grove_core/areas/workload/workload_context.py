"""A snapshot indexed by name, for all modules of the workload area."""

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import cached_property

from grove_core.areas.workload.startup_order import StartupOrder
from grove_core.areas.workload.template_revision import TemplateRevision
from grove_core.areas.workload.verdicts import WorkloadInputs
from grove_core.kernel.steps import Create
from grove_core.resources.api_names import GROUP_KIND
from grove_core.resources.owned_object import GROUP_KINDS, OwnedObject
from grove_core.resources.pod import Pod, ready_pod_count
from grove_core.resources.podclique import PodClique
from grove_core.snapshot.expected_replicas import (
    ExpectedClique,
    ExpectedReplica,
)
from grove_core.snapshot.own_writes import refused_creations
from grove_core.snapshot.snapshot import Snapshot, foreign_gang_names_in


class WorkloadContext:
    """A snapshot with indexes that several modules use. Built in time linear in the snapshot.

    Attributes:
        snapshot, root: the snapshot and its set.
        revision: the present template of the set.
        cliques, groups, gangs: by name; objects that are being deleted are left out.
        ready: uid of a clique -> the number of its ready pods that are not being deleted.
        startup_order: of the set.
        foreign_gangs: names of PodGangs that pods or PodCliques name and that no known release would name so.
    """

    def __init__(self, snapshot: Snapshot) -> None:
        self.snapshot = snapshot
        self.root = snapshot.root
        self.revision = TemplateRevision(snapshot.root)
        self.cliques = {clique.ref.name: clique for clique in snapshot.cliques if not clique.deleting}
        self.groups = {group.ref.name: group for group in snapshot.groups if not group.deleting}
        self.gangs = {gang.ref.name: gang for gang in snapshot.gangs if not gang.deleting}
        self.ready = {clique.uid: ready_pod_count(self.pods_of_clique(clique)) for clique in self.cliques.values()}
        self.startup_order = StartupOrder(snapshot.root)
        self.foreign_gangs = foreign_gang_names_in(snapshot)

    @cached_property
    def uncreatable_objects(self) -> AbstractSet[tuple[str, str]]:
        """Kind and name of objects that cannot be created: it was refused, or a foreign object has the name."""
        namespace = self.root.ref.namespace
        taken = {(kind, name) for kind, where, name in self.snapshot.foreign_owners if where == namespace}
        return refused_creations(self.snapshot, Create).keys() | taken

    @cached_property
    def pod_groups(self) -> Mapping[tuple[str, str], OwnedObject]:
        """Groups of the Workload API that the set owns, by kind and name; those being deleted included."""
        return {
            (other.ref.kind, other.ref.name): other for other in self.snapshot.others if other.ref.kind in GROUP_KINDS
        }

    def pods_of_clique(self, clique: PodClique) -> Sequence[Pod]:
        """Return the pods of a clique, those being deleted included."""
        return self.snapshot.pods_of.get(clique.uid, ())

    def foreign_gang_of_clique(self, expected: ExpectedClique) -> str:
        """Return the name of the foreign PodGang that a clique's label names; empty where it names none (WL-207)."""
        clique = self.existing_clique(expected) if self.foreign_gangs else None
        named = clique.gang if clique is not None else ""
        return named if named in self.foreign_gangs else ""

    def has_all_objects_of_kinds(self, *kinds: str) -> bool:
        """Return whether the snapshot has all objects of these kinds (WL-010, WL-028)."""
        return self.snapshot.complete.issuperset(kinds)

    def existing_clique(self, expected: ExpectedClique) -> PodClique | None:
        """Return the existing clique; None where there is none, or where it has an owner of another kind (WL-022)."""
        clique = self.cliques.get(expected.name)
        is_same = clique is not None and clique.is_in_scaling_group is (expected.group is not None)
        return clique if is_same else None

    def hash_of_new_pods(self, clique: PodClique, expected: ExpectedClique) -> str:
        """Return the template hash of pods that are created for a clique now (WL-211)."""
        return clique.template_hash or self.revision.hash_of_removed_template(
            clique, expected, self.pods_of_clique(clique)
        )


def knows_replicas(snapshot: Snapshot) -> bool:
    """Return whether the replica counts are known, which are those of the groups and cliques (WL-015, WL-020).

    A source that was asked for scaling groups and has none has all of them (IN-040).
    """
    is_grouped = bool(snapshot.root.spec.template.pod_clique_scaling_groups)
    return "PodClique" in snapshot.complete and not (is_grouped and GROUP_KIND in snapshot.not_collected)


def terminating_clique_names(replicas: Sequence[ExpectedReplica], inputs: WorkloadInputs) -> frozenset[str]:
    """Return the names of the cliques that are being terminated."""
    ending = inputs.terminating
    if not ending.replicas and not ending.parts:
        return frozenset()
    parts = (part for replica in replicas for part in replica.all_cliques)
    return frozenset(part.name for part in parts if ending.includes_clique(part.replica, part.group_replica_key))
