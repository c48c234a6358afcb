"""Every object that a set has by the Go operator, in the order in which it creates them."""

from collections.abc import Iterator, Sequence
from functools import partial

from grove_core.areas.workload.field.gangs import pod_references
from grove_core.areas.workload.field.judge import GoOperatorSetParts
from grove_core.areas.workload.field.objects.group_claims import (
    update_with_group_claim,
    with_group_claim,
    with_group_of_set,
)
from grove_core.areas.workload.field.pods import (
    creation_obstacle,
    excess_pod_deletions,
    hash_of_wanted_pods,
    missing_pod_indices,
)
from grove_core.areas.workload.field.rules import GoOperatorWorkloadReason
from grove_core.areas.workload.field.start_of_a_set import RETRY
from grove_core.areas.workload.objects.lazy_manifests import LazyManifest
from grove_core.areas.workload.objects.podcliques_and_groups import (
    autoscaler_manifest_for,
    changes_of_scaling_group,
    podclique_manifest_for,
    podclique_template_update_fields,
    scaling_group_manifest_for,
)
from grove_core.areas.workload.objects.podgangs import (
    changes_of_podgang,
    gang_topology_constraints,
    podgang_manifest_for,
)
from grove_core.areas.workload.objects.services_rbac_and_claims import (
    rbac_manifests,
    replica_service_spec,
    service_manifest_for,
    shared_claims_of_podclique,
    shared_claims_of_scaling_group,
    shared_claims_of_set,
)
from grove_core.areas.workload.pods.pod_manifest import NewPod, new_pod_names, pod_manifest_for
from grove_core.areas.workload.pods.pod_slots import FreePodSlot
from grove_core.areas.workload.rules import WorkloadReason
from grove_core.areas.workload.set_objects import SetObject, repeated_names
from grove_core.kernel.refs import Ref
from grove_core.kernel.wants import FieldsToApply, ObjectToCreate, Withheld
from grove_core.resources.api_names import SCHEDULER
from grove_core.resources.naming_rules import service_account_token_name, set_replica_name
from grove_core.resources.podclique import GROUP_KIND, PodClique
from grove_core.resources.podcliqueset import PodCliqueSet
from grove_core.resources.podgang import PodGang
from grove_core.resources.scaling_group import ScalingGroup
from grove_core.snapshot.expected_replicas import ExpectedClique, ExpectedGang, ExpectedGroup, ExpectedReplica


class GoOperatorSetObjects:
    """The objects that a set should consist of, and decided changes of those that exist."""

    def __init__(self, parts: GoOperatorSetParts) -> None:
        self._parts = parts
        self._context = parts.context
        self._inputs = parts.inputs
        self._waiting = parts.inputs.clique_domains.waiting
        self._root = parts.context.root

    def in_creation_order(self) -> Iterator[SetObject]:
        """Return the objects that the set has once, then those of each replica. Linear."""
        yield from repeated_names(self._root)
        yield from rbac_manifests(self._root)
        if self._parts.starts_at is not None:
            yield self._start()
        yield from shared_claims_of_set(self._context)
        yield from self._templates_in_place()
        for replica in self._parts.replicas:
            yield from self._replica(replica)

    def _start(self) -> Withheld:
        seconds, secret = int(RETRY.total_seconds()), service_account_token_name(self._root.ref.name)
        because = GoOperatorWorkloadReason.TOKEN_AWAITED.because(self._root.ref, seconds=seconds, secret=secret)
        return Withheld(self._root.ref, (because,))

    def _templates_in_place(self) -> Iterator[FieldsToApply]:
        """The present template for each clique that takes it over as it is (WF-003, WF-007)."""
        for part, clique in self._parts.outdated_in_place():
            template_hash = self._parts.templates.hash_of(part)
            fields = podclique_template_update_fields(self._context, clique, part, template_hash)
            fields = update_with_group_claim(fields, self._root, clique, part)
            why = GoOperatorWorkloadReason.CLIQUE_TAKES_TEMPLATE
            if self._parts.is_on_delete:
                why = GoOperatorWorkloadReason.MEMBER_TAKES_TEMPLATE
            yield FieldsToApply(clique.ref, clique.guard, fields, (why.because(clique.ref),))

    def _replica(self, replica: ExpectedReplica) -> Iterator[SetObject]:
        name, of_replica = set_replica_name(self._root.ref.name, replica.index), (self._root, replica.index)
        yield LazyManifest(
            "Service", name, partial(service_manifest_for, *of_replica), partial(replica_service_spec, *of_replica)
        )
        yield from self._autoscalers(replica)
        if self._parts.starts_at is not None:
            return
        for expected in replica.cliques:
            yield self._clique(self._root, expected)
        for group in replica.groups:
            yield from self._group(group)
        for gang in replica.gangs:
            yield from self._gang(gang)
        if self._context.has_all_objects_of_kinds("Pod"):
            for expected in replica.all_cliques:
                yield from self._pods(expected)

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

    def _clique(self, owner: PodCliqueSet | ScalingGroup, expected: ExpectedClique) -> LazyManifest:
        template_hash = self._parts.templates.hash_of(expected)

        def make() -> ObjectToCreate:
            new = podclique_manifest_for(self._context, owner, expected, self._inputs, template_hash)
            return with_group_claim(new, self._root, expected)

        return LazyManifest("PodClique", expected.name, make, waiting=self._waiting.get(expected.replica, ()))

    def _group(self, expected: ExpectedGroup) -> Iterator[LazyManifest | FieldsToApply | Withheld]:
        def make() -> ObjectToCreate:
            return with_group_of_set(scaling_group_manifest_for(self._root, expected, self._inputs), self._root)

        yield LazyManifest(GROUP_KIND, expected.name, make, waiting=self._waiting.get(expected.replica, ()))
        group = self._context.groups.get(expected.name)
        if group is None:
            return
        fields = changes_of_scaling_group(group, expected)
        if fields:
            yield FieldsToApply(group.ref, group.guard, fields, (WorkloadReason.FOLLOWS_TEMPLATE.because(group.ref),))
        yield from shared_claims_of_scaling_group(self._context, group, expected)
        for member in expected.cliques:
            yield self._clique(group, member)

    def _gang(self, expected: ExpectedGang) -> Iterator[LazyManifest | FieldsToApply | Withheld]:
        """The gang is created as soon as the set's cliques are, also without pods; it then follows them."""
        context, gang = self._context, self._context.gangs.get(expected.name)
        if not context.has_all_objects_of_kinds("PodGang") or self._waiting:
            return  # a stage that fails prevents the later ones (WF-009)
        if gang is not None:
            yield LazyManifest("PodGang", expected.name, partial(podgang_manifest_for, self._root, expected, {}))
            if context.has_all_objects_of_kinds("Pod"):
                yield from self._changes_of_gang(gang, expected)
            return
        foreign = next(filter(None, map(context.foreign_gang_of_clique, expected.cliques)), "")
        if foreign:
            ref = Ref(SCHEDULER, "PodGang", self._root.ref.namespace, expected.name)
            yield Withheld(ref, (WorkloadReason.GANG_OF_ANOTHER_SCHEME.because(ref, gang=foreign),))
            return
        topology = gang_topology_constraints(self._root, expected, self._inputs.gang_topology)
        references = pod_references(context, expected)
        make = partial(podgang_manifest_for, self._root, expected, references, topology)
        yield LazyManifest("PodGang", expected.name, make)

    def _changes_of_gang(self, gang: PodGang, expected: ExpectedGang) -> Iterator[FieldsToApply | Withheld]:
        constraints = self._parts.gang_constraints.get(expected.name)
        if isinstance(constraints, Withheld):
            yield constraints
            constraints = None
        references = pod_references(self._context, expected)
        change = changes_of_podgang(self._root, gang, expected, references, constraints)
        if change is not None:
            yield change

    def _pods(self, expected: ExpectedClique) -> Iterator[SetObject]:
        clique = self._context.existing_clique(expected)
        if clique is None or self._context.foreign_gang_of_clique(expected):
            return
        pods = self._context.pods_of_clique(clique)
        missing = missing_pod_indices(pods, clique.replicas)
        if expected.template.resource_sharing:
            indices = {pod.index for pod in pods if pod.index >= 0} | {*missing}
            yield from shared_claims_of_podclique(self._context, clique, expected, sorted(indices))
        if missing and expected.name not in self._parts.cliques_without_new_pods:
            obstacle = creation_obstacle(clique, pods)
            if obstacle is None:
                yield from self._new_pods(clique, expected, missing)
            else:
                yield obstacle
        yield from excess_pod_deletions(clique, pods, hash_of_wanted_pods(clique, self._parts.generation_in_status))

    def _new_pods(self, clique: PodClique, expected: ExpectedClique, indices: Sequence[int]) -> Iterator[LazyManifest]:
        pods = self._context.pods_of_clique(clique)
        before = {index: sorted(pod.uid for pod in pods if pod.index == index) for index in indices}
        slots = [FreePodSlot(index, tuple(before[index]), is_surge=False) for index in indices]
        names = new_pod_names(clique, expected, clique.template_hash, slots, pods)
        for name, slot in zip(names, slots, strict=True):
            pod = NewPod(name, slot, clique.template_hash, gated=True)
            yield LazyManifest("Pod", name, partial(pod_manifest_for, self._context, clique, expected, pod))
