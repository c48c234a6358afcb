"""Objects that an input lacks although others of its objects show that they are there (IN-040, IN-083)."""

from collections.abc import Iterable, Iterator
from collections.abc import Set as AbstractSet

from grove_core.resources.pod import FINISHED_PHASES, Pod
from grove_core.resources.podclique import GROUP_KIND, PodClique
from grove_core.snapshot.cluster import EVERYWHERE, Gap, IndexedCluster


def cliques_with_missing_pods(cluster: IndexedCluster, listed: AbstractSet[Gap]) -> Iterator[str]:
    """Yield ``namespace/name`` of PodCliques whose status counts pods, of which the input has none; sorted.

    Args:
        listed: kinds that are complete, with their namespace: there are no others.
    """
    cliques = (clique for owned in cluster.cliques_of.values() for clique in owned)
    without_pods = (clique.ref for clique in cliques if reports_pods(clique) and not cluster.pods_of.get(clique.uid))
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


def reports_pods(clique: PodClique) -> bool:
    """Return whether the status of a PodClique counts pods."""
    status = clique.status
    return bool(status.replicas or status.ready or status.scheduled)


def _may_be_lost(kind: str, namespace: str, cluster: IndexedCluster, listed: AbstractSet[Gap]) -> bool:
    """Return whether objects of a kind may be missing unnoticed: not all were listed, and the kind is no known gap."""
    known = {(kind, namespace), (kind, EVERYWHERE)}
    return not known & listed and not known & cluster.gaps
