"""Creates the parts that a set wants and that are missing, in the place of the workload part of an operator."""

from collections.abc import Iterator

from grove_core.in_memory.in_memory_cluster import InMemoryCluster
from grove_core.kernel.refs import Ref
from grove_core.resources.api_names import CLIQUE_FINALIZER, GROUP_FINALIZER, GROUP_KIND, GROVE
from grove_core.resources.metadata_readers import MetadataArguments, Resource
from grove_core.resources.naming_rules import member_clique_name, scaling_group_name, standalone_clique_name
from grove_core.resources.pod import Pod
from grove_core.resources.podclique import CliqueStatus, PodClique
from grove_core.resources.podcliqueset import PodCliqueSet
from grove_core.resources.podcliqueset_spec import CliqueTemplate
from grove_core.resources.scaling_group import GroupStatus, ScalingGroup
from grove_core.testing.random_cluster import RandomCluster


class MissingPartCreator:
    """An API server in memory with one set, whose missing parts are created. Mutable.

    Attributes:
        root_ref: the address of the set.
        server: the API server.
    """

    def __init__(self, start: RandomCluster) -> None:
        """Take over the objects of a cluster."""
        self.root_ref = start.root.ref
        self.server = InMemoryCluster((start.snapshot,), numbered=True)
        self._serial = 0

    @property
    def root(self) -> PodCliqueSet | None:
        """The set; None once it is gone."""
        found = self.server.items.get(self.root_ref)
        return found if isinstance(found, PodCliqueSet) else None

    @property
    def cliques(self) -> list[PodClique]:
        """The PodCliques that are not being deleted, by name."""
        found = (item for item in self.server.items.values() if isinstance(item, PodClique) and not item.deleting)
        return sorted(found, key=lambda item: item.ref.sort_key)

    def create_missing(self, kept_out: frozenset[int] = frozenset()) -> None:
        """Create the missing parts of the set with pods that are not ready, and delete surplus pods.

        Args:
            kept_out: the replicas of the set that are being terminated; nothing of them is created.
        """
        root = self.root
        if root is None or root.deleting:
            return
        for replica in range(root.spec.replicas):
            if replica not in kept_out:
                self._create_replica(root, replica)
        for clique in self.cliques:
            pods = self.server.pods.get(clique.uid, [])
            for pod in pods[clique.replicas :]:
                self.server.end_pod_containers(pod.ref)
            for _ in range(clique.replicas - len(pods)):
                self.server.add_pod(self._new_pod(clique))

    def _create_replica(self, root: PodCliqueSet, replica: int) -> None:
        templates = {clique.name: clique for clique in root.spec.template.cliques}
        for template in root.spec.standalone_cliques:
            name = standalone_clique_name(root.ref.name, replica, template.name)
            self._create_clique(root, name, template, (replica, -1))
        for config in root.spec.template.pod_clique_scaling_groups:
            ref = Ref(GROVE, GROUP_KIND, root.ref.namespace, scaling_group_name(root.ref.name, replica, config.name))
            if ref not in self.server.items:
                group = ScalingGroup(
                    **self._identity(ref, GROUP_FINALIZER, root),
                    replica_index=replica,
                    replicas=config.replicas,
                    min_available=config.min_available,
                    clique_names=config.clique_names,
                    status=GroupStatus(),
                )
                self.server.add_object(group)
            found = self.server.items[ref]
            for index, short in _members(found):
                name = member_clique_name(ref.name, index, short)
                self._create_clique(found, name, templates[short], (replica, index))

    def _create_clique(self, owner: Resource, name: str, template: CliqueTemplate, indices: tuple[int, int]) -> None:
        ref = Ref(GROVE, "PodClique", self.root_ref.namespace, name)
        if ref not in self.server.items:
            clique = PodClique(
                **self._identity(ref, CLIQUE_FINALIZER, owner),
                replica_index=indices[0],
                group_replica_index=indices[1],
                replicas=template.spec.replicas,
                min_available=template.min_available,
                template_hash="h1",
                status=CliqueStatus(),
            )
            self.server.add_object(clique)

    def _identity(self, ref: Ref, finalizer: str, owner: Resource) -> MetadataArguments:
        return MetadataArguments(
            ref=ref,
            uid=f"new-{ref.name}-{self._next()}",
            resource_version=self.server.version_of_new_object(),
            owner_uid=owner.uid,
            owner_kind=owner.ref.kind,
            owner_name=owner.ref.name,
            finalizers=(finalizer,),
            deleting=False,
        )

    def _new_pod(self, clique: PodClique) -> Pod:
        number = self._next()
        return Pod(
            namespace=clique.ref.namespace,
            name=f"{clique.ref.name}-new-{number}",
            uid=f"new-pod-{number}",
            resource_version=self.server.version_of_new_object(),
            owner_uid=clique.uid,
            template_hash=clique.template_hash,
            gang="",
            node="",
            phase="Pending",
            trouble="",
            deleting=False,
            scheduled=False,
            gated=False,
            ready=False,
        )

    def _next(self) -> int:
        self._serial += 1
        return self._serial


def _members(group: object) -> Iterator[tuple[int, str]]:
    """Yield index and clique name of each PodClique that a scaling group wants; none of one that is being deleted."""
    if isinstance(group, ScalingGroup) and not group.deleting:
        for index in range(group.replicas):
            yield from ((index, short) for short in group.clique_names)
