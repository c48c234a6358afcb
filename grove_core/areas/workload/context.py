"""A snapshot as the workload area looks at it: by name, with what is asked for again and again found once."""

from grove_core.areas.workload.template.expected_replicas import ExpectedClique
from grove_core.areas.workload.template.revision import TemplateRevision
from grove_core.resources.api_names import POD_GANG
from grove_core.resources.podclique import PodClique
from grove_core.snapshot.foreign_gangs import foreign_gangs_in
from grove_core.snapshot.snapshot import Snapshot


class WorkloadContext:
    """What the judgement of an update looks up again and again, found once. Linear in the snapshot.

    Attributes:
        cliques, groups: by name; those that are not being deleted.
        ready: uid of a clique -> its ready pods that stay.
        foreign_gangs: names of the PodGangs that pods or PodCliques name, and that no release known here names so.
    """

    def __init__(self, snapshot: Snapshot) -> None:
        self.snapshot = snapshot
        self.root = snapshot.root
        self.revision = TemplateRevision(snapshot.root)
        self.cliques = {clique.ref.name: clique for clique in snapshot.cliques if not clique.deleting}
        self.groups = {group.ref.name: group for group in snapshot.groups if not group.deleting}
        self.ready = {
            clique.uid: sum(pod.ready and not pod.deleting for pod in snapshot.pods_of.get(clique.uid, ()))
            for clique in self.cliques.values()
        }

        self.foreign_gangs = foreign_gangs_in(snapshot)

    def foreign_gang_of(self, part: ExpectedClique) -> str:
        """The one of them that the clique of a part of the blueprint is in; empty for none (WL-207)."""
        clique = self.clique_of(part) if self.foreign_gangs else None
        named = str(clique.labels.get(POD_GANG, "")) if clique is not None else ""
        return named if named in self.foreign_gangs else ""

    def knows(self, *kinds: str) -> bool:
        """Whether the snapshot has all there is of some kinds: what is not in it is nowhere (WL-010, WL-028)."""
        return self.snapshot.complete.issuperset(kinds)

    def clique_of(self, part: ExpectedClique) -> PodClique | None:
        """The clique that a part of the blueprint is; None where there is none, or one of another owner (WL-022)."""
        clique = self.cliques.get(part.name)
        return clique if clique is not None and (clique.group_replica_index >= 0) is bool(part.group) else None

    def made_of(self, clique: PodClique, part: ExpectedClique) -> str:
        """Of which template the clique's new pods are (WL-078)."""
        return clique.template_hash or self.revision.lost_hash(clique, part, self.snapshot.pods_of.get(clique.uid, ()))
