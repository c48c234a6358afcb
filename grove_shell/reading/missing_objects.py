"""Objects and kinds that an input lacks although others of its objects show that they are there (IN-040, IN-083).

Every other kind that it has counts as complete.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from collections.abc import Set as AbstractSet

from grove_core.resources.api_names import GROUP_KIND, POD_GROUP_KIND
from grove_core.resources.pod import FINISHED_PHASES, Pod
from grove_core.resources.podclique import PodClique
from grove_core.resources.podcliqueset import PodCliqueSet
from grove_core.resources.podgang import PodGang
from grove_core.resources.scaling_group import ScalingGroup
from grove_core.snapshot.cluster import EVERYWHERE, Gap, IndexedCluster


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

    Args:
        sets, groups, cliques, gangs, pods: all objects of the input.
        grouped: the namespaces with PodGroups.
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
        if clique.is_in_scaling_group and clique.ref.namespace not in with_groups:
            gaps.add((GROUP_KIND, clique.ref.namespace))
    with_gangs = {gang.ref.namespace for gang in gangs}
    gaps |= {("PodGang", pod.namespace) for pod in pods if pod.has_grove_gate and pod.namespace not in with_gangs}
    gaps |= {(POD_GROUP_KIND, pod.namespace) for pod in pods if pod.pod_group and pod.namespace not in grouped}
    uids = {clique.uid for clique in cliques}
    with_pods = {pod.namespace for pod in pods if pod.owner_uid in uids}
    without_pods = Counter(c.ref.namespace for c in cliques if c.ref.namespace not in with_pods and _reports_pods(c))
    for namespace, count in without_pods.items():
        if count > 1 or not with_pods:
            gaps.add(("Pod", namespace))
    return gaps


def completely_listed_kinds(seen: AbstractSet[Gap], gaps: frozenset[Gap]) -> frozenset[Gap]:
    """Return the present kinds by namespace: a kind is listed completely or not at all (IN-040)."""
    lost = {kind for kind, namespace in gaps if namespace == EVERYWHERE}
    return frozenset(pair for pair in seen - gaps if pair[0] not in lost)


def cliques_with_uncollected_pods(cluster: IndexedCluster, listed: AbstractSet[Gap]) -> Iterator[str]:
    """Yield ``namespace/name`` of PodCliques whose status counts pods, of which the input has none; sorted.

    Args:
        listed: kinds that are complete, with their namespace: there are no others.
    """
    cliques = (clique for owned in cluster.cliques_of.values() for clique in owned)
    without_pods = (clique.ref for clique in cliques if _reports_pods(clique) and not cluster.pods_of.get(clique.uid))
    yield from sorted(
        f"{ref.namespace}/{ref.name}" for ref in without_pods if _may_be_lost("Pod", ref.namespace, cluster, listed)
    )


def sets_with_missing_cliques(cluster: IndexedCluster, listed: AbstractSet[Gap]) -> Iterator[str]:
    """Yield ``namespace/name`` of sets whose status counts available replicas, without any PodClique in the input.

    Args:
        listed: as above.
    """
    for root in cluster.sets:
        uids = (root.uid, *(group.uid for group in cluster.groups_of.get(root.uid, ())))
        if not root.status.available or any(cluster.cliques_of.get(uid) for uid in uids):
            continue
        namespace = root.ref.namespace
        if all(_may_be_lost(kind, namespace, cluster, listed) for kind in ("PodClique", GROUP_KIND)):
            yield f"{namespace}/{root.ref.name}"


def pods_with_missing_clique(pods: Iterable[Pod], cluster: IndexedCluster, listed: AbstractSet[Gap]) -> Iterator[str]:
    """Yield ``namespace/name`` of living pods of a set in the input whose PodClique is not in it; sorted.

    A PodClique that is gone takes its pods with it within seconds, so such a pod shows that the PodClique was left out.

    Args:
        pods: of the input, of all owners.
        listed: as above.
    """
    sets = {(root.ref.namespace, root.ref.name) for root in cluster.sets}
    cliques = {clique.uid for owned in cluster.cliques_of.values() for clique in owned}
    yield from sorted(
        f"{pod.namespace}/{pod.name}"
        for pod in pods
        if pod.owner_uid not in cliques
        and pod.owner_uid
        and (pod.namespace, pod.set_name) in sets
        and not pod.deleting
        and pod.phase not in FINISHED_PHASES
        and _may_be_lost("PodClique", pod.namespace, cluster, listed)
    )


def _reports_pods(clique: PodClique) -> bool:
    """Return whether the status of a PodClique counts pods."""
    status = clique.status
    return bool(status.replicas or status.ready or status.scheduled)


def _may_be_lost(kind: str, namespace: str, cluster: IndexedCluster, listed: AbstractSet[Gap]) -> bool:
    """Return whether objects of a kind may be missing unnoticed: not all were listed, and the kind is no known gap."""
    known = {(kind, namespace), (kind, EVERYWHERE)}
    return not known & listed and not known & cluster.gaps


def _wants_cliques(root: PodCliqueSet) -> bool:
    """Return whether a stored set has or needs PodCliques; those of a deleted set may be gone."""
    wants = root.spec.replicas > 0 and root.spec.template.cliques and not root.deleting
    return bool(root.uid and (wants or root.status.available))
