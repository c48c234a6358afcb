"""Does my controller ever delete a ready pod of a PodClique that is not breached? ``pytest test_my_controller.py``."""

from hypothesis import given

from grove_core.testing import RandomCluster, Snapshot, any_clusters, breached_cliques, removed_pods


def my_controller(snapshot: Snapshot) -> list[str]:
    return sorted(breached_cliques(snapshot))


@given(any_clusters())
def test_no_ready_pod_of_an_unbreached_clique_is_deleted(cluster: RandomCluster) -> None:
    snapshot = cluster.snapshot
    breached = breached_cliques(snapshot)
    for clique, pod in removed_pods(snapshot, my_controller(snapshot)):
        assert not pod.ready or clique.ref.name in breached
