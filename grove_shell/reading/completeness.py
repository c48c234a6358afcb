"""Infers which kinds, PodCliques and pods are missing from an input, from the objects that refer to them."""

from collections import Counter
from collections.abc import Collection, Iterator
from collections.abc import Set as AbstractSet

from grove_core.resources.pod import Pod
from grove_core.resources.podclique import GROUP_KIND, PodClique
from grove_core.resources.podcliqueset import PodCliqueSet
from grove_core.resources.podgang import PodGang
from grove_core.resources.scaling_group import ScalingGroup
from grove_core.snapshot.cluster import EVERYWHERE, Cluster, Gap


def inferred_gaps(
    *,
    sets: Collection[PodCliqueSet],
    groups: Collection[ScalingGroup],
    cliques: Collection[PodClique],
    gangs: Collection[PodGang],
    pods: Collection[Pod],
) -> set[Gap]:
    """Return kinds without objects although other objects refer to some, by namespace (GT-024, IN-040). Linear."""
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
    uids = {clique.uid for clique in cliques}
    with_pods = {pod.namespace for pod in pods if pod.owner_uid in uids}
    without_pods = Counter(c.ref.namespace for c in cliques if c.ref.namespace not in with_pods and _reports_pods(c))
    for namespace, count in without_pods.items():
        if count > 1 or not with_pods:
            gaps.add(("Pod", namespace))
    return gaps


def complete_kinds(seen: AbstractSet[Gap], gaps: frozenset[Gap]) -> frozenset[Gap]:
    """Return the present kinds by namespace: a kind is listed completely or not at all (IN-040)."""
    lost = {kind for kind, namespace in gaps if namespace == EVERYWHERE}
    return frozenset(pair for pair in seen - gaps if pair[0] not in lost)


def cliques_without_pods(cluster: Cluster) -> Iterator[str]:
    """Yield ``namespace/name`` of PodCliques whose status counts pods that the input lacks; sorted (IN-040).

    Namespaces whose pods were not collected at all are left out, since they are reported as such.
    """
    missed = {namespace for kind, namespace in cluster.gaps if kind == "Pod"}
    if EVERYWHERE in missed:
        return
    cliques = (clique for owned in cluster.cliques_of.values() for clique in owned)
    without_pods = (clique.ref for clique in cliques if _reports_pods(clique) and not cluster.pods_of.get(clique.uid))
    yield from sorted(f"{ref.namespace}/{ref.name}" for ref in without_pods if ref.namespace not in missed)


def sets_without_cliques(cluster: Cluster) -> Iterator[str]:
    """Yield ``namespace/name`` of sets whose status counts available replicas without PodCliques in the input (IN-040).

    Namespaces whose PodCliques were not collected at all are left out.
    """
    missed = {namespace for kind, namespace in cluster.gaps if kind in {"PodClique", GROUP_KIND}}
    for root in cluster.sets if EVERYWHERE not in missed else ():
        uids = (root.uid, *(group.uid for group in cluster.groups_of.get(root.uid, ())))
        is_without = root.ref.namespace not in missed and not any(cluster.cliques_of.get(uid) for uid in uids)
        if root.status.available and is_without:
            yield f"{root.ref.namespace}/{root.ref.name}"


def _wants_cliques(root: PodCliqueSet) -> bool:
    """Return whether a stored set has or needs PodCliques; those of a deleted set may be gone."""
    wants = root.spec.replicas > 0 and root.spec.template.cliques and not root.deleting
    return bool(root.uid and (wants or root.status.available))


def _reports_pods(clique: PodClique) -> bool:
    status = clique.status
    return bool(status.replicas or status.ready or status.scheduled)
