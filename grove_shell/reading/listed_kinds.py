"""Kinds of which an input has every object, and kinds that it lacks although other objects refer to some (IN-040)."""

from collections import Counter
from collections.abc import Collection
from collections.abc import Set as AbstractSet

from grove_core.resources.owned_object import POD_GROUP_KIND
from grove_core.resources.pod import Pod
from grove_core.resources.podclique import GROUP_KIND, PodClique
from grove_core.resources.podcliqueset import PodCliqueSet
from grove_core.resources.podgang import PodGang
from grove_core.resources.scaling_group import ScalingGroup
from grove_core.snapshot.cluster import EVERYWHERE, Gap
from grove_shell.reading.lost_objects import reports_pods


def missing_referenced_kinds(
    *,
    sets: Collection[PodCliqueSet],
    groups: Collection[ScalingGroup],
    cliques: Collection[PodClique],
    gangs: Collection[PodGang],
    pods: Collection[Pod],
    grouped: AbstractSet[str] = frozenset(),
) -> set[Gap]:
    """Return kinds without objects although other objects refer to some, by namespace (GT-024, IN-040). Linear.

    ``grouped`` are the namespaces with PodGroups.
    """
    gaps: set[Gap] = set()
    with_groups = {group.ref.namespace for group in groups}
    with_cliques = {clique.ref.namespace for clique in cliques}
    owners_of_cliques = [
        *(root for root in sets if _wants_cliques(root)),
        *(group for group in groups if group.status.available),
    ]
    gaps |= {
        ("PodClique", owner.ref.namespace) for owner in owners_of_cliques if owner.ref.namespace not in with_cliques
    }
    for clique in cliques:
        if clique.owner_kind == GROUP_KIND and clique.ref.namespace not in with_groups:
            gaps.add((GROUP_KIND, clique.ref.namespace))
    with_gangs = {gang.ref.namespace for gang in gangs}
    gaps |= {("PodGang", pod.namespace) for pod in pods if pod.has_grove_gate and pod.namespace not in with_gangs}
    gaps |= {(POD_GROUP_KIND, pod.namespace) for pod in pods if pod.pod_group and pod.namespace not in grouped}
    uids = {clique.uid for clique in cliques}
    with_pods = {pod.namespace for pod in pods if pod.owner_uid in uids}
    without_pods = Counter(c.ref.namespace for c in cliques if c.ref.namespace not in with_pods and reports_pods(c))
    for namespace, count in without_pods.items():
        if count > 1 or not with_pods:
            gaps.add(("Pod", namespace))
    return gaps


def completely_listed_kinds(seen: AbstractSet[Gap], gaps: frozenset[Gap]) -> frozenset[Gap]:
    """Return the present kinds by namespace: a kind is listed completely or not at all (IN-040)."""
    lost = {kind for kind, namespace in gaps if namespace == EVERYWHERE}
    return frozenset(pair for pair in seen - gaps if pair[0] not in lost)


def _wants_cliques(root: PodCliqueSet) -> bool:
    """Return whether a stored set has or needs PodCliques; those of a deleted set may be gone."""
    wants = root.spec.replicas > 0 and root.spec.template.cliques and not root.deleting
    return bool(root.uid and (wants or root.status.available))
