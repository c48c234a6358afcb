"""Events as changes of a cluster in memory: users, nodes, pods, and the part of the operator that creates pods."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Final, TypeVar

from grove_core.kernel.frozen import FrozenDict
from grove_core.kernel.refs import Ref
from grove_core.resources.api_names import CLIQUE_FINALIZER, GROUP_FINALIZER, GROVE
from grove_core.resources.metadata_readers import ObjectMetadataFields, Resource
from grove_core.resources.naming_rules import member_clique_name, scaling_group_name, standalone_clique_name
from grove_core.resources.pod import Pod
from grove_core.resources.podclique import GROUP_KIND, CliqueStatus, PodClique
from grove_core.resources.podcliqueset import PodCliqueSet
from grove_core.resources.podcliqueset_spec import CliqueTemplate
from grove_core.resources.scaling_group import GroupStatus, ScalingGroup
from grove_core.snapshot.snapshot import Snapshot
from grove_core.testing.events import Event, EventKind
from grove_core.testing.random_cluster import RandomCluster
from grove_shell.in_memory.in_memory_cluster import InMemoryCluster

T = TypeVar("T")
_NODES: Final = 3
_MOST_SCALED: Final = 5
_AFTER_DELAY: Final = 128
_NO_DELAY: Final = timedelta(minutes=5)


class ChangingCluster:
    """A cluster in an API server in memory. Mutable.

    PodCliques, scaling groups and pods that the set wants and that are missing are created by :meth:`create_missing`,
    as the workload part of an operator does it, so that a controller under test needs to terminate gangs only.

    Attributes:
        server: the API server.
        now: its time; aware UTC.
    """

    def __init__(self, start: RandomCluster) -> None:
        """Take over the objects of a cluster; its pods are spread over three nodes."""
        self.root_ref = start.root.ref
        self.now = start.now
        self.server = InMemoryCluster((start.snapshot,), numbered=True)
        for pods in self.server.pods.values():
            pods[:] = [
                replace(pod, node=f"node-{place % _NODES}" if pod.node else "") for place, pod in enumerate(pods)
            ]
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

    @property
    def groups(self) -> list[ScalingGroup]:
        """The scaling groups that are not being deleted, by name."""
        found = (item for item in self.server.items.values() if isinstance(item, ScalingGroup) and not item.deleting)
        return sorted(found, key=lambda item: item.ref.sort_key)

    def snapshot(self) -> Snapshot | None:
        """Return what a controller sees now; None once the set is gone."""
        seen = self.server.snapshot_of_set(self.root_ref, self.now)
        own = {clique.uid for clique in seen.cliques} if seen else set()
        return seen and replace(seen, pods_of=FrozenDict((uid, of) for uid, of in seen.pods_of.items() if uid in own))

    def happen(self, event: Event) -> str:
        """Let an event happen; return what it was about, empty where it is no change of the cluster.

        Events of writes happen while a plan is executed. From 128 on, ``which`` lets the longest delay pass before.
        """
        match event.kind:
            case EventKind.TIME_PASSES:
                self.now += timedelta(seconds=event.amount)
                return f"{event.amount}s"
            case EventKind.DELAY_PASSES:
                self.now += self.longest_delay
                return str(self.longest_delay)
            case EventKind.POD_FAILS | EventKind.PODS_FAIL | EventKind.PODS_BECOME_READY:
                return self._change_pods(event)
            case EventKind.ALL_PODS_BECOME_READY:
                self._change_readiness(self.cliques, ready=True)
            case EventKind.NODE_GOES:
                return self._lose_node(f"node-{event.which % _NODES}")
            case EventKind.UPDATE_BEGINS:
                return self._begin_update(event)
            case EventKind.UPDATE_ENDS:
                for one in (*self.cliques, *self.groups):
                    self._put_updating(one, updating=False)
            case EventKind.CLIQUE_SCALED | EventKind.GROUP_SCALED | EventKind.SET_SCALED:
                return self._scale(event)
            case _ if event.which >= _AFTER_DELAY:
                self.now += self.longest_delay
                return "after the longest termination delay"
            case _:
                pass
        return ""

    @property
    def longest_delay(self) -> timedelta:
        """The longest termination delay of the set and its groups."""
        template = self.root.spec.template if self.root else None
        delays = [one.termination_delay for one in template.pod_clique_scaling_groups] if template else []
        return max((one for one in (*delays, template and template.termination_delay) if one), default=_NO_DELAY)

    def _change_pods(self, event: Event) -> str:
        cliques = _picked(self.cliques, event.which)
        if event.kind is EventKind.POD_FAILS:
            pods = [pod for clique in cliques for pod in _picked(self.server.pods.get(clique.uid, []), event.amount)]
            for pod in pods:
                self.server.put_pod(replace(pod, ready=False))
            return ", ".join(pod.name for pod in pods)
        self._change_readiness(cliques, ready=event.kind is EventKind.PODS_BECOME_READY)
        return ", ".join(clique.ref.name for clique in cliques)

    def _change_readiness(self, cliques: Sequence[PodClique], *, ready: bool) -> None:
        for clique in cliques:
            for pod in tuple(self.server.pods.get(clique.uid, ())):
                up = replace(pod, ready=True, scheduled=True, gated=False, phase="Running", node=pod.node or "node-0")
                self.server.put_pod(up if ready else replace(pod, ready=False))

    def _lose_node(self, node: str) -> str:
        lost = [pod for pods in self.server.pods.values() for pod in pods if pod.node == node]
        for pod in lost:
            self.server.end_pod_containers(pod.ref)
        return f"{node} with {len(lost)} pods"

    def _begin_update(self, event: Event) -> str:
        picked = _picked([*self.cliques, *self.groups], event.which)
        for one in picked:
            self._put_updating(one, updating=True)
        return ", ".join(one.ref.short for one in picked)

    def _put_updating(self, one: PodClique | ScalingGroup, *, updating: bool) -> None:
        if isinstance(one, PodClique) and one.status.updating is not updating:
            self.server.put_object(replace(one, status=replace(one.status, updating=updating, recorded=True)))
        if isinstance(one, ScalingGroup) and one.status.updating is not updating:
            self.server.put_object(replace(one, status=replace(one.status, updating=updating)))

    def _scale(self, event: Event) -> str:
        if event.kind is EventKind.SET_SCALED and self.root is not None:
            replicas = event.amount % _MOST_SCALED
            spec = self.root.spec.model_copy(update={"replicas": replicas})
            self.server.put_object(replace(self.root, spec=spec))
            return f"to {replicas} replicas"
        picked = _picked(self.cliques if event.kind is EventKind.CLIQUE_SCALED else self.groups, event.which)
        for one in picked:
            self.server.put_object(replace(one, replicas=event.amount % _MOST_SCALED))
        return ", ".join(f"{one.ref.name} to {event.amount % _MOST_SCALED} replicas" for one in picked)

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

    def _identity(self, ref: Ref, finalizer: str, owner: Resource) -> ObjectMetadataFields:
        return ObjectMetadataFields(
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


def _picked(found: Sequence[T], which: int) -> Sequence[T]:
    """Return one of some objects by a number; nothing where there are none."""
    return (found[which % len(found)],) if found else ()


def _members(group: object) -> Iterator[tuple[int, str]]:
    """Yield index and clique name of each PodClique that a scaling group wants; none of one that is being deleted."""
    if isinstance(group, ScalingGroup) and not group.deleting:
        for index in range(group.replicas):
            yield from ((index, short) for short in group.clique_names)
