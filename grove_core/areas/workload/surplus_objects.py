"""Objects of a set that are too many: replicas, pods, and objects that the set no longer has (WL-200 to WL-206).

A replica is deleted by its index alone, never because its name is unexpected: an error there must not delete a gang.
"""

from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from typing import Final

from grove_core.areas.workload.pods.pod_slots import active_pods, duplicate_pods, excess_pods, is_finished_pod
from grove_core.areas.workload.rules import WorkloadReason
from grove_core.areas.workload.workload_context import WorkloadContext
from grove_core.kernel.wants import ObjectToDelete, Withheld
from grove_core.resources.api_names import MANAGED_BY
from grove_core.resources.domain_sharing_labels import is_shared_domain_claim
from grove_core.resources.owned_object import CLAIM_KIND
from grove_core.resources.pod import Pod
from grove_core.resources.podclique import PodClique

_COUNTED: Final = frozenset({"Service", "HorizontalPodAutoscaler", CLAIM_KIND})  # as many as there are replicas


def surplus_replica_deletions(context: WorkloadContext, surge: AbstractSet[str]) -> Iterator[ObjectToDelete]:
    """Return the deletions of cliques and scaling groups beyond the wanted replicas. Linear.

    ``surge`` names the scaling groups that have, or may have, one additional replica during an update.
    """
    root, wanted = context.root, context.root.spec.replicas
    for group in context.groups.values():
        if group.replica_index >= wanted:
            because = WorkloadReason.SURPLUS_REPLICA.because(root.ref, replica=group.replica_index, replicas=wanted)
            yield ObjectToDelete(group.ref, group.guard, (because,))
    groups = {group.uid: group for group in context.groups.values()}
    for clique in context.cliques.values():
        owner = groups.get(clique.owner_uid)
        if clique.replica_index >= wanted:
            because = WorkloadReason.SURPLUS_REPLICA.because(root.ref, replica=clique.replica_index, replicas=wanted)
            yield ObjectToDelete(clique.ref, clique.guard, (because,))
        elif owner is not None and clique.group_replica_index >= owner.replicas + (owner.ref.name in surge):
            index = clique.group_replica_index
            because = WorkloadReason.SURPLUS_GROUP_REPLICA.because(owner.ref, replica=index, replicas=owner.replicas)
            yield ObjectToDelete(clique.ref, clique.guard, (because,))


def unexpected_objects(
    context: WorkloadContext, expected: AbstractSet[tuple[str, str]]
) -> Iterator[ObjectToDelete | Withheld]:
    """Return the deletions of PodGangs, Services, autoscalers and claims that the set no longer has (WL-202). Linear.

    The set should have objects of the ``expected`` kinds and names, as far as that is known.
    """
    for gang in context.snapshot.gangs:
        named = gang.labels.get(MANAGED_BY) is not None or not gang.labels
        counts = (
            named and not gang.deleting and context.knows("Pod")
        )  # without pods it is not known whether an update needs it
        if counts and gang.ref.name in context.foreign_gangs:
            yield Withheld(gang.ref, (WorkloadReason.GANG_OF_ANOTHER_SCHEME.because(gang.ref, gang=gang.ref.name),))
        elif counts and ("PodGang", gang.ref.name) not in expected:
            yield ObjectToDelete(gang.ref, gang.guard, (WorkloadReason.NO_LONGER_PART.because(gang.ref),))
    for other in context.snapshot.others:
        counts = (
            other.ref.kind in _COUNTED and other.managed and not is_shared_domain_claim(other) and not other.deleting
        )
        # The set's own objects depend on its template alone. Claims of cliques and of scaling groups also depend on
        # pods and on the update, so they are only judged where pods are known (WL-028).
        known = other.owner_uid == context.root.uid or context.knows("Pod")
        if counts and known and (other.ref.kind, other.ref.name) not in expected:
            yield ObjectToDelete(other.ref, other.guard, (WorkloadReason.NO_LONGER_PART.because(other.ref),))


def pods_to_delete(clique: PodClique, pods: Sequence[Pod], wanted: int) -> Iterator[ObjectToDelete | Withheld]:
    """Return the deletions of finished, excess and duplicate pods of a clique (WL-203 to WL-206)."""
    for pod in pods:
        if is_finished_pod(pod) and not pod.deleting and pod.uid:
            yield ObjectToDelete(pod.ref, pod.guard, (WorkloadReason.ENDED_POD.because(clique.ref, phase=pod.phase),))
    for pod in excess_pods(pods, wanted, clique.template_hash):
        yield ObjectToDelete(pod.ref, pod.guard, (WorkloadReason.EXCESS_POD.because(clique.ref, wanted=wanted),))
    duplicates = duplicate_pods(pods, clique.template_hash)
    if duplicates and len(active_pods(pods)) <= wanted:
        yield from _duplicate_deletion(clique, pods, duplicates)


def _duplicate_deletion(
    clique: PodClique, pods: Sequence[Pod], duplicates: Sequence[Pod]
) -> Iterator[ObjectToDelete | Withheld]:
    """Return the deletion of one duplicate pod; withheld if it is ready and the clique needs it (WL-205, WL-206)."""
    duplicate, ready = duplicates[0], sum(pod.ready for pod in active_pods(pods))
    if duplicate.ready and ready <= clique.needed:
        because = WorkloadReason.DOUBLE_IS_NEEDED.because(
            clique.ref, index=duplicate.index, ready=ready, needed=clique.needed
        )
        yield Withheld(duplicate.ref, (because,))
    else:
        yield ObjectToDelete(
            duplicate.ref, duplicate.guard, (WorkloadReason.DOUBLED_POD.because(clique.ref, index=duplicate.index),)
        )
