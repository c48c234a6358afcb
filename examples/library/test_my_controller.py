"""Does my controller ever delete a ready pod of a replica without a breach? ``pytest test_my_controller.py``."""

from hypothesis import given

from grove_core.testing import RandomCluster, Snapshot, any_clusters, breached_cliques, removed_pods


def my_controller(snapshot: Snapshot) -> list[str]:
    return sorted(breached_cliques(snapshot))


@given(any_clusters())
def test_no_ready_pod_of_a_replica_without_a_breach_is_deleted(cluster: RandomCluster) -> None:
    snapshot = cluster.snapshot
    breached = breached_cliques(snapshot)
    replicas = {clique.replica_index for clique in snapshot.cliques if clique.ref.name in breached}
    for clique, pod in removed_pods(snapshot, my_controller(snapshot), only_terminations=True):
        assert not pod.ready or clique.replica_index in replicas
