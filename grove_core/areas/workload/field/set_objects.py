"""Every object that a set has by the Go operator, in the order in which it creates them."""

from collections.abc import Iterator, Sequence
from functools import partial

from grove_core.areas.topology.verdicts import topology_constraints_of_gang
from grove_core.areas.workload.field.gangs import pod_references_of_gang
from grove_core.areas.workload.field.objects.podcliques_and_groups import (
    podclique_changes_by_go_operator,
    podclique_manifest_by_go_operator,
    scaling_group_changes_by_go_operator,
    scaling_group_manifest_by_go_operator,
)
from grove_core.areas.workload.field.objects.podgangs import (
    podgang_changes_by_go_operator,
    podgang_manifest_by_go_operator,
)
from grove_core.areas.workload.field.objects.pods import pod_manifest_by_go_operator
from grove_core.areas.workload.field.objects.services_rbac_and_claims import (
    autoscaler_manifest_by_go_operator,
    claims_of_podclique_by_go_operator,
    claims_of_scaling_group_by_go_operator,
    claims_of_set_by_go_operator,
    go_operator_rbac_manifests_of_set,
    service_manifest_by_go_operator,
)
from grove_core.areas.workload.field.pods import (
    excess_pod_deletions,
    hash_of_wanted_pods,
    missing_pod_indices,
    pod_creation_obstacle,
)
from grove_core.areas.workload.field.rules import GoOperatorWorkloadReason
from grove_core.areas.workload.field.service_account_token_wait import RETRY
from grove_core.areas.workload.field.verdicts import GoOperatorSetParts
from grove_core.areas.workload.object_wants import SetObject, repeated_names
from grove_core.areas.workload.objects.lazy_manifests import LazyManifest
from grove_core.areas.workload.objects.services_rbac_and_claims import replica_service_spec
from grove_core.areas.workload.pods.pod_manifest import new_pod_names
from grove_core.areas.workload.pods.pod_slots import FreePodSlot
from grove_core.areas.workload.rules import WorkloadReason
from grove_core.kernel.reasons import Rule
from grove_core.kernel.refs import Ref
from grove_core.kernel.wants import FieldsToApply, Withheld
from grove_core.resources.api_names import GROUP_KIND, SCHEDULER
from grove_core.resources.naming_rules import set_replica_name
from grove_core.resources.podclique import PodClique
from grove_core.resources.podcliqueset import PodCliqueSet
from grove_core.resources.scaling_group import ScalingGroup
from grove_core.snapshot.expected_replicas import ExpectedClique, ExpectedGang, ExpectedReplica, ExpectedScalingGroup


class GoOperatorSetObjects:
    """The objects that a set should consist of, and decided changes of those that exist."""

    def __init__(self, parts: GoOperatorSetParts) -> None:
        self._parts = parts
        self._context = parts.context
        self._inputs = parts.inputs
        self._waiting = parts.inputs.clique_domains.waiting
        self._root = parts.context.root

    def in_creation_order(self) -> Iterator[SetObject]:
        """Yield the objects that the set has once, then those of each replica. Linear."""
        yield from repeated_names(self._root)
        yield from go_operator_rbac_manifests_of_set(self._root, self._parts.release)
        if self._parts.starts_at is not None:
            yield self._start()
        yield from claims_of_set_by_go_operator(self._context)
        yield from self._changes_in_place()
        for replica in self._parts.replicas:
            yield from self._replica(replica)

    def _start(self) -> Withheld:
        seconds, secret = int(RETRY.total_seconds()), self._parts.release.token_name(self._root.ref.name)
        because = GoOperatorWorkloadReason.TOKEN_AWAITED.because(self._root.ref, seconds=seconds, secret=secret)
        return Withheld(self._root.ref, (because,))

    def _changes_in_place(self) -> Iterator[FieldsToApply]:
        """What the operator writes into existing cliques, the present template included (WF-003, WF-007, WF-102)."""
        parts, context = self._parts, self._context
        outdated = {clique.uid for _, clique in parts.outdated_in_place()}
        for part, clique in parts.existing_cliques():
            owner = context.groups.get(part.group.name) if part.group is not None else self._root
            if owner is None or (part.group and not parts.is_on_delete):
                continue
            why: Rule = WorkloadReason.FOLLOWS_TEMPLATE
            if clique.uid in outdated:
                why = GoOperatorWorkloadReason.CLIQUE_TAKES_TEMPLATE
                if parts.is_on_delete:
                    why = GoOperatorWorkloadReason.MEMBER_TAKES_TEMPLATE
            fields = podclique_changes_by_go_operator(
                context, clique, owner, part, parts.templates.hash_of(part), parts.release
            )
            if fields:
                yield FieldsToApply(clique.ref, clique.guard, fields, (why.because(clique.ref),))

    def _replica(self, replica: ExpectedReplica) -> Iterator[SetObject]:
        name, of_replica = set_replica_name(self._root.ref.name, replica.index), (self._root, replica.index)
        yield LazyManifest(
            "Service",
            name,
            partial(service_manifest_by_go_operator, *of_replica),
            partial(replica_service_spec, *of_replica),
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
                make = partial(autoscaler_manifest_by_go_operator, self._root, kind, name, scaling, replicas)
                yield LazyManifest("HorizontalPodAutoscaler", name, make)

    def _clique(self, owner: PodCliqueSet | ScalingGroup, expected: ExpectedClique) -> LazyManifest:
        template_hash = self._parts.templates.hash_of(expected)
        of_clique = (owner, expected, template_hash, self._parts.release)
        make = partial(podclique_manifest_by_go_operator, self._context, *of_clique)
        return LazyManifest("PodClique", expected.name, make, waiting=self._waiting.get(expected.replica, ()))

    def _group(self, expected: ExpectedScalingGroup) -> Iterator[LazyManifest | FieldsToApply | Withheld]:
        make = partial(scaling_group_manifest_by_go_operator, self._root, expected)
        yield LazyManifest(GROUP_KIND, expected.name, make, waiting=self._waiting.get(expected.replica, ()))
        group = self._context.groups.get(expected.name)
        if group is None:
            return
        fields = scaling_group_changes_by_go_operator(self._root, group, expected)
        if fields:
            yield FieldsToApply(group.ref, group.guard, fields, (WorkloadReason.FOLLOWS_TEMPLATE.because(group.ref),))
        yield from claims_of_scaling_group_by_go_operator(self._context, group, expected)
        for member in expected.cliques:
            yield self._clique(group, member)

    def _gang(self, expected: ExpectedGang) -> Iterator[LazyManifest | FieldsToApply | Withheld]:
        """The gang is created as soon as the set's cliques are, also without pods; it then follows them."""
        context, gang = self._context, self._context.gangs.get(expected.name)
        if not context.has_all_objects_of_kinds("PodGang") or self._waiting:
            return  # a stage that fails prevents the later ones (WF-009)
        references = pod_references_of_gang(context, expected)
        placement = topology_constraints_of_gang(self._inputs.gang_topology, self._root, expected)
        if gang is None:
            foreign = next(filter(None, map(context.foreign_gang_of_clique, expected.cliques)), "")
            if foreign:
                ref = Ref(SCHEDULER, "PodGang", self._root.ref.namespace, expected.name)
                yield Withheld(ref, (WorkloadReason.GANG_OF_ANOTHER_SCHEME.because(ref, gang=foreign),))
                return
        make = partial(podgang_manifest_by_go_operator, context, expected, references, placement)
        yield LazyManifest("PodGang", expected.name, make)
        if gang is not None and context.has_all_objects_of_kinds("Pod"):
            change = podgang_changes_by_go_operator(context, gang, expected, references, placement)
            if change is not None:
                yield change

    def _pods(self, expected: ExpectedClique) -> Iterator[SetObject]:
        clique = self._context.existing_clique(expected)
        if clique is None or self._context.foreign_gang_of_clique(expected):
            return
        pods = self._context.pods_of_clique(clique)
        missing = missing_pod_indices(pods, clique.replicas)
        yield from claims_of_podclique_by_go_operator(self._context, clique, expected)
        if missing and expected.name not in self._parts.cliques_without_new_pods:
            obstacle = pod_creation_obstacle(clique, pods)
            if obstacle is None:
                yield from self._new_pods(clique, expected, missing)
            else:
                yield obstacle
        wanted_hash = hash_of_wanted_pods(clique, self._parts.generation_in_status)
        yield from excess_pod_deletions(clique, pods, wanted_hash, self._parts.release)

    def _new_pods(self, clique: PodClique, expected: ExpectedClique, indices: Sequence[int]) -> Iterator[LazyManifest]:
        pods = self._context.pods_of_clique(clique)
        before = {index: sorted(pod.uid for pod in pods if pod.index == index) for index in indices}
        slots = [FreePodSlot(index, tuple(before[index]), is_surge=False) for index in indices]
        names = new_pod_names(clique, expected, clique.template_hash, slots, pods)
        for name, slot in zip(names, slots, strict=True):
            make = partial(
                pod_manifest_by_go_operator, self._context, clique, expected, slot.index, name, self._parts.release
            )
            yield LazyManifest("Pod", name, make)
