"""Possible users of the objects that a set shares, and whether a snapshot contains all of them."""

from collections import Counter
from collections.abc import Set as AbstractSet

from grove_core.resources.api_names import GROUP_KIND
from grove_core.resources.naming_rules import replica_index_in_name, scaling_group_name, set_replica_name
from grove_core.snapshot.own_writes import possibly_created_pods
from grove_core.snapshot.snapshot import Snapshot


def incompletely_listed_part_kinds(snapshot: Snapshot) -> tuple[str, ...]:
    """Return the kinds, of PodClique and scaling group, of which the source may have left out objects."""
    grouped = bool(snapshot.root.spec.template.pod_clique_scaling_groups)
    return tuple(kind for kind in ("PodClique", *([GROUP_KIND] * grouped)) if kind not in snapshot.complete)


def incompletely_listed_user_kinds(snapshot: Snapshot) -> tuple[str, ...]:
    """Return the same with pods, which use shared objects until they have finished."""
    pods = () if "Pod" in snapshot.complete else ("Pod",)
    return (*incompletely_listed_part_kinds(snapshot), *pods)


def count_pods_without_clique(snapshot: Snapshot, replicas: AbstractSet[int]) -> Counter[int]:
    """Return for each replica the number of its pods without a known PodClique, and of its pods in flight.

    The replica follows from the name of the pod's gang, else from the set label and the pod's own name. Where neither
    determines it, a pod of the set counts for every replica.

    Args:
        replicas: to count for. Linear in them, in the PodCliques whose pods are known, and in the attempts.
    """
    found: Counter[int] = Counter()
    if not replicas:
        return found
    root, own = snapshot.root, {clique.uid for clique in snapshot.cliques if clique.replica_index >= 0}
    gangs = {set_replica_name(root.ref.name, index): index for index in replicas}
    scaled = {
        scaling_group_name(root.ref.name, index, group.name): index
        for index in replicas
        for group in root.spec.template.pod_clique_scaling_groups
    }
    outliving = (pod for uid, pods in snapshot.pods_of.items() if uid not in own for pod in pods)
    for pod in (*outliving, *possibly_created_pods(snapshot)):
        if pod.namespace != root.ref.namespace:
            continue
        replica = gangs.get(pod.gang, scaled.get(pod.gang.rpartition("-")[0]))
        if replica is None and pod.set_name == root.ref.name and not pod.gang:
            replica = replica_index_in_name(root.ref.name, pod.name)
            found.update(replicas if replica is None else ())
        if replica is not None and replica in replicas:
            found[replica] += 1
    return found
