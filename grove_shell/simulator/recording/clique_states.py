"""The PodCliques of a cluster in numbers."""

from dataclasses import dataclass

from grove_shell.simulator.cluster.simulated_cluster import SimulatedCluster, is_live


@dataclass(frozen=True, slots=True)
class CliqueState:
    """One PodClique, and the numbers of its live pods.

    Attributes:
        replicas: ``spec.replicas``.
        needed: ``spec.minAvailable``.
    """

    namespace: str
    name: str
    replicas: int
    needed: int
    pods: int
    placed: int
    ready: int


def clique_states_of(cluster: SimulatedCluster) -> tuple[CliqueState, ...]:
    """Return the state of every PodClique, sorted by name."""
    found = []
    for clique in cluster.cliques():
        live = [pod for pod in cluster.server.pods.get(clique.uid, ()) if is_live(pod)]
        found.append(
            CliqueState(
                namespace=clique.ref.namespace,
                name=clique.ref.name,
                replicas=clique.replicas,
                needed=clique.min_available,
                pods=len(live),
                placed=sum(pod.scheduled for pod in live),
                ready=sum(pod.ready for pod in live),
            )
        )
    return tuple(found)
