"""Never terminate a replica while a node of it is being drained."""

from collections.abc import Iterator

from grove_core import Snapshot, SparedReplica, rule_set, rule_set_that_spares


def replicas_on_drained_nodes(snapshot: Snapshot) -> Iterator[SparedReplica]:
    """Yield the replicas of which a pod on a node is being deleted, while its PodClique stays."""
    for clique, pod in snapshot.pods():
        if pod.deleting and pod.node and not clique.deleting:
            for replica in clique.enclosing_replicas(snapshot.root.ref):
                yield SparedReplica(replica, f"pod {pod.name} on node {pod.node} is being evicted")


careful = rule_set_that_spares("careful", rule_set("field"), replicas_on_drained_nodes)
