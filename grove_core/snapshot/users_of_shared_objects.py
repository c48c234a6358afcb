"""Who may use what a set shares: pods that outlived their PodClique, and whether everybody who may is in a snapshot."""

from collections import Counter
from collections.abc import Set as AbstractSet

from grove_core.resources.names import index_after, replica_name, scaling_group_name
from grove_core.resources.podclique import GROUP_KIND
from grove_core.snapshot.in_flight import pods_in_flight
from grove_core.snapshot.snapshot import Snapshot


def parts_not_collected(snapshot: Snapshot) -> tuple[str, ...]:
    """Of PodCliques and scaling groups the kinds that may be there and not in the snapshot: not seen is not absent."""
    grouped = bool(snapshot.root.spec.template.pod_clique_scaling_groups)
    return tuple(kind for kind in ("PodClique", *([GROUP_KIND] * grouped)) if kind not in snapshot.complete)


def users_not_collected(snapshot: Snapshot) -> tuple[str, ...]:
    """The same with pods, which hold what they use until they have ended."""
    pods = () if "Pod" in snapshot.complete else ("Pod",)
    return (*parts_not_collected(snapshot), *pods)


def pods_without_clique(snapshot: Snapshot, replicas: AbstractSet[int]) -> Counter[int]:
    """Replica -> how many of its pods outlive their PodClique, or who that is of, or may have been made just now.

    The name of their gang tells the replica, else the label of their set and their own name; where neither does, a pod
    of the set counts for every replica.

    Args:
        snapshot: of the set.
        replicas: that are asked about. Linear in them, in the cliques whose pods are known, and in the attempts.
    """
    found: Counter[int] = Counter()
    if not replicas:
        return found
    root, own = snapshot.root, {clique.uid for clique in snapshot.cliques if clique.replica_index >= 0}
    gangs = {replica_name(root.ref.name, index): index for index in replicas}
    scaled = {
        scaling_group_name(root.ref.name, index, group.name): index
        for index in replicas
        for group in root.spec.template.pod_clique_scaling_groups
    }
    outliving = (pod for uid, pods in snapshot.pods_of.items() if uid not in own for pod in pods)
    for pod in (*outliving, *pods_in_flight(snapshot)):
        if pod.namespace != root.ref.namespace:
            continue
        replica = gangs.get(pod.gang, scaled.get(pod.gang.rpartition("-")[0]))
        if replica is None and pod.set_name == root.ref.name and not pod.gang:
            replica = index_after(root.ref.name, pod.name)
            found.update(replicas if replica is None else ())
        if replica is not None and replica in replicas:
            found[replica] += 1
    return found
