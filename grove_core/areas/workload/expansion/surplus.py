"""What of a set is too much: replicas, pods, and what stood for a part that is gone (WL-200 to WL-206).

Replicas go by index alone, never because a name is not among those expected: what is wrong there must not cost anybody
a gang.
"""

from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from typing import Final

from grove_core.areas.workload.context import WorkloadContext
from grove_core.areas.workload.pods.slots import active_pods, duplicate_pods, excess_pods, is_finished
from grove_core.areas.workload.rules import Why
from grove_core.kernel.wants import Absent, Withheld
from grove_core.resources.api_names import MANAGED_BY
from grove_core.resources.domain_sharing import is_shared
from grove_core.resources.owned_object import CLAIM_KIND
from grove_core.resources.pod import Pod
from grove_core.resources.podclique import PodClique

_COUNTED: Final = frozenset({"Service", "HorizontalPodAutoscaler", CLAIM_KIND})  # as many as there are replicas


def wants_of_surplus(context: WorkloadContext, surge: AbstractSet[str]) -> Iterator[Absent]:
    """The cliques and scaling groups that are too many. Linear.

    Args:
        context: of a set that is not being deleted.
        surge: names of the scaling groups that have one replica more while an update runs, or may have.
    """
    root, wanted = context.root, context.root.spec.replicas
    for group in context.groups.values():
        if group.replica_index >= wanted:
            because = Why.SURPLUS_REPLICA.because(root.ref, replica=group.replica_index, replicas=wanted)
            yield Absent(group.ref, group.guard, (because,))
    groups = {group.uid: group for group in context.groups.values()}
    for clique in context.cliques.values():
        owner = groups.get(clique.owner_uid)
        if clique.replica_index >= wanted:
            because = Why.SURPLUS_REPLICA.because(root.ref, replica=clique.replica_index, replicas=wanted)
            yield Absent(clique.ref, clique.guard, (because,))
        elif owner is not None and clique.group_replica_index >= owner.replicas + (owner.ref.name in surge):
            index = clique.group_replica_index
            because = Why.SURPLUS_GROUP_REPLICA.because(owner.ref, replica=index, replicas=owner.replicas)
            yield Absent(clique.ref, clique.guard, (because,))


def unexpected_objects(context: WorkloadContext, expected: AbstractSet[tuple[str, str]]) -> Iterator[Absent | Withheld]:
    """Gangs, services, autoscalers and claims that the set does not consist of any more (WL-202). Linear.

    Args:
        context: of a set that is not being deleted.
        expected: kind and name of what it consists of, as far as that is known.
    """
    for gang in context.snapshot.gangs:
        named = gang.labels.get(MANAGED_BY) is not None or not gang.labels
        counts = named and not gang.deleting and context.knows("Pod")  # an update, judged by pods, may need one more
        if counts and gang.ref.name in context.foreign_gangs:
            yield Withheld(gang.ref, (Why.GANG_OF_ANOTHER_SCHEME.because(gang.ref, gang=gang.ref.name),))
        elif counts and ("PodGang", gang.ref.name) not in expected:
            yield Absent(gang.ref, gang.guard, (Why.NO_LONGER_PART.because(gang.ref),))
    for other in context.snapshot.others:
        counts = other.ref.kind in _COUNTED and other.managed and not is_shared(other) and not other.deleting
        # The set's own depend on its template alone; claims of a clique are told by its pods, and those of a scaling
        # group by an update, which is judged by pods (WL-028).
        known = other.owner_uid == context.root.uid or context.knows("Pod")
        if counts and known and (other.ref.kind, other.ref.name) not in expected:
            yield Absent(other.ref, other.guard, (Why.NO_LONGER_PART.because(other.ref),))


def pods_to_delete(clique: PodClique, pods: Sequence[Pod], wanted: int) -> Iterator[Absent | Withheld]:
    """Pods that have ended, living ones beyond those wanted, and all but one of an index (WL-203 to WL-206)."""
    for pod in pods:
        if is_finished(pod) and not pod.deleting and pod.uid:
            yield Absent(pod.ref, pod.guard, (Why.ENDED_POD.because(clique.ref, phase=pod.phase),))
    for pod in excess_pods(pods, wanted, clique.template_hash):
        yield Absent(pod.ref, pod.guard, (Why.EXCESS_POD.because(clique.ref, wanted=wanted),))
    alike = duplicate_pods(pods, clique.template_hash)
    if alike and len(active_pods(pods)) <= wanted:
        yield from _doubled(clique, pods, alike)


def _doubled(clique: PodClique, pods: Sequence[Pod], alike: Sequence[Pod]) -> Iterator[Absent | Withheld]:
    """One pod of an index that has several, unless it is ready and the clique cannot spare it (WL-205, WL-206)."""
    double, ready = alike[0], sum(pod.ready for pod in active_pods(pods))
    if double.ready and ready <= clique.needed:
        because = Why.DOUBLE_IS_NEEDED.because(clique.ref, index=double.index, ready=ready, needed=clique.needed)
        yield Withheld(double.ref, (because,))
    else:
        yield Absent(double.ref, double.guard, (Why.DOUBLED_POD.because(clique.ref, index=double.index),))
