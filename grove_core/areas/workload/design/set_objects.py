"""Every object that a set should consist of, in the order in which the objects are created."""

from collections.abc import Iterator
from functools import partial

from grove_core.areas.topology.verdicts import WithheldGangs, topology_constraints_of_gang
from grove_core.areas.workload.design.pod_creation import CliquePods, GangPods, ReplicaPods
from grove_core.areas.workload.design.verdicts import JudgedSetParts
from grove_core.areas.workload.object_wants import SetObject, repeated_names
from grove_core.areas.workload.objects.lazy_manifests import LazyManifest
from grove_core.areas.workload.objects.podcliques_and_groups import (
    autoscaler_manifest_for,
    podclique_changes_without_rollout,
    podclique_manifest_for,
    scaling_group_annotation_changes,
    scaling_group_manifest_for,
)
from grove_core.areas.workload.objects.podgangs import (
    changes_of_podgang,
    podgang_manifest_for,
)
from grove_core.areas.workload.objects.services_rbac_and_claims import (
    claims_owned_by_podclique,
    claims_owned_by_set,
    rbac_manifests_of_set,
    replica_service_spec,
    service_manifest_for,
    shared_claims_of_scaling_group,
)
from grove_core.areas.workload.pods.pod_manifest import pod_manifest_for
from grove_core.areas.workload.pods.pod_slots import pods_to_delete
from grove_core.areas.workload.rules import WorkloadReason
from grove_core.kernel.refs import Ref
from grove_core.kernel.wants import FieldsToApply, ObjectToDelete, Withheld
from grove_core.resources.api_names import GROUP_KIND, SCHEDULER
from grove_core.resources.naming_rules import set_replica_name
from grove_core.resources.podclique import PodClique
from grove_core.resources.podcliqueset import PodCliqueSet
from grove_core.resources.podgang import PodGang
from grove_core.resources.scaling_group import ScalingGroup
from grove_core.snapshot.expected_replicas import (
    ExpectedClique,
    ExpectedReplica,
    ExpectedScalingGroup,
)


class ExpectedSetObjects:
    """The objects that a set should consist of, and decided changes of those that exist."""

    def __init__(self, parts: JudgedSetParts) -> None:
        self._parts = parts
        self._context = parts.context
        self._inputs = parts.inputs
        self._waiting = parts.inputs.clique_domains.waiting
        self._root = parts.context.root
        self._closed = parts.cliques_without_new_pods

    def in_creation_order(self) -> Iterator[SetObject]:
        """Yield the objects that the set has once, then those of each replica. Linear."""
        yield from repeated_names(self._root)
        yield from rbac_manifests_of_set(self._root)
        yield from claims_owned_by_set(self._context)
        for replica in self._parts.replicas:
            yield from self._replica(replica)

    def _replica(self, replica: ExpectedReplica) -> Iterator[SetObject]:
        name, of_replica = set_replica_name(self._root.ref.name, replica.index), (self._root, replica.index)
        yield LazyManifest(
            "Service", name, partial(service_manifest_for, *of_replica), partial(replica_service_spec, *of_replica)
        )
        yield from self._autoscalers(replica)
        for expected in replica.cliques:
            yield from self._clique(self._root, expected)
        for group in replica.groups:
            yield from self._group(group)
        pods = ReplicaPods(self._context, replica, self._closed, self._inputs.gang_backends)
        for gang in pods.gangs:
            if not gang.has_groups:
                yield from self._gang(gang)
        if self._context.has_all_objects_of_kinds("Pod"):
            for clique in pods.cliques:
                yield from self._pods(clique, pods)

    def _autoscalers(self, replica: ExpectedReplica) -> Iterator[LazyManifest]:
        specs = ((expected.name, expected.template.spec) for expected in replica.cliques)
        templates = ((group.name, group.template) for group in replica.groups)
        scaled = (
            *(("PodClique", name, spec.auto_scaling_config, spec.replicas) for name, spec in specs),
            *((GROUP_KIND, name, template.scale_config, template.replicas) for name, template in templates),
        )
        for kind, name, scaling, replicas in scaled:
            if scaling is not None:
                make = partial(autoscaler_manifest_for, self._root, kind, name, scaling, replicas)
                yield LazyManifest("HorizontalPodAutoscaler", name, make)

    def _clique(
        self, owner: PodCliqueSet | ScalingGroup, expected: ExpectedClique
    ) -> Iterator[LazyManifest | FieldsToApply]:
        context = self._context
        template_hash = context.revision.hash_of_clique_template(expected)
        make = partial(podclique_manifest_for, context, owner, expected, self._inputs, template_hash)
        yield LazyManifest("PodClique", expected.name, make, waiting=self._waiting.get(expected.replica, ()))
        clique = context.existing_clique(expected)
        if clique is not None and context.revision.is_clique_current(clique, expected):
            fields = podclique_changes_without_rollout(context, clique, expected)
            if fields:
                why = WorkloadReason.FOLLOWS_TEMPLATE if clique.template_hash else WorkloadReason.HASH_MISSING
                yield FieldsToApply(clique.ref, clique.guard, fields, (why.because(clique.ref),))

    def _group(self, expected: ExpectedScalingGroup) -> Iterator[LazyManifest | FieldsToApply | Withheld]:
        make = partial(scaling_group_manifest_for, self._root, expected, self._inputs)
        yield LazyManifest(GROUP_KIND, expected.name, make, waiting=self._waiting.get(expected.replica, ()))
        group = self._context.groups.get(expected.name)
        if group is not None:
            fields = scaling_group_annotation_changes(group, expected)
            if fields:
                yield FieldsToApply(
                    group.ref, group.guard, fields, (WorkloadReason.FOLLOWS_TEMPLATE.because(group.ref),)
                )
            yield from shared_claims_of_scaling_group(self._context, group, expected)
            for member in expected.cliques:
                yield from self._clique(group, member)

    def _gang(self, pods: GangPods) -> Iterator[LazyManifest | FieldsToApply | Withheld]:
        name, gang = pods.expected.name, pods.gang
        if gang is not None:
            yield LazyManifest("PodGang", name, partial(podgang_manifest_for, self._root, pods.expected, {}))
            if self._context.has_all_objects_of_kinds(
                "Pod", "PodGang"
            ):  # otherwise its references cannot be compared (WL-023)
                yield from self._changes_of_gang(gang, pods)
        elif self._context.has_all_objects_of_kinds("PodGang"):
            yield from self._new_gang(pods)

    def _new_gang(self, pods: GangPods) -> Iterator[LazyManifest | Withheld]:
        name, topology = pods.expected.name, self._inputs.gang_topology
        ref = Ref(SCHEDULER, "PodGang", self._root.ref.namespace, name)
        if pods.foreign_gang:
            yield Withheld(ref, (WorkloadReason.GANG_OF_ANOTHER_SCHEME.because(ref, gang=pods.foreign_gang),))
        elif pods.uncreatable_member:
            yield Withheld(
                ref, (WorkloadReason.GANG_LACKS_CLIQUE.because(ref, gang=name, missing=pods.uncreatable_member),)
            )
        elif isinstance(topology, WithheldGangs):
            yield Withheld(ref, topology.because)
        elif pods.has_all_cliques:
            placement = topology_constraints_of_gang(topology, self._root, pods.expected)
            make = partial(podgang_manifest_for, self._root, pods.expected, pods.wanted_pod_references, placement)
            yield LazyManifest("PodGang", name, make)

    def _changes_of_gang(self, gang: PodGang, pods: GangPods) -> Iterator[FieldsToApply | Withheld]:
        constraints = self._parts.gang_constraints.get(pods.expected.name)
        if isinstance(constraints, Withheld):
            yield constraints
            constraints = None
        change = changes_of_podgang(self._root, gang, pods.expected, pods.wanted_pod_references, constraints)
        if change is not None:
            yield change

    def _pods(self, pods: CliquePods, replica: ReplicaPods) -> Iterator[LazyManifest | ObjectToDelete | Withheld]:
        clique, expected = pods.clique, pods.expected
        if clique is None:
            return
        if expected.template.resource_sharing:
            indices = {pod.index for pod in pods.pods if pod.index >= 0} | {slot.index for slot in pods.free_slots}
            yield from claims_owned_by_podclique(self._context, clique, expected, sorted(indices))
        if pods.free_slots:
            yield from self._new_pods(clique, pods, replica)
        yield from pods_to_delete(clique, pods.pods, expected.replicas + expected.surge)

    def _new_pods(self, clique: PodClique, pods: CliquePods, replica: ReplicaPods) -> Iterator[LazyManifest | Withheld]:
        expected, uncreatable = pods.expected, replica.gang_of_clique(pods).uncreatable_member
        if uncreatable and replica.first_pods_await_gang(pods):
            because = WorkloadReason.GANG_LACKS_CLIQUE.because(clique.ref, gang=expected.gang, missing=uncreatable)
            yield Withheld(clique.ref, (because,))
        if (obstacle := replica.obstacle_to_grouped_pods(pods)) is not None:
            yield Withheld(clique.ref, obstacle[:1], obstacle=obstacle[1])
        for pod in replica.pods_to_create(pods):
            yield LazyManifest("Pod", pod.name, partial(pod_manifest_for, self._context, clique, expected, pod))
