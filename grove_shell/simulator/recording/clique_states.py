"""How the cliques of a cluster stand at a moment."""

from dataclasses import dataclass

from grove_shell.simulator.cluster.simulated_cluster import SimulatedCluster, is_live


@dataclass(frozen=True, slots=True)
class CliqueState:
    """One PodClique, in numbers of its live pods.

    Attributes:
        replicas, needed: what it should have, and what its gang needs.
    """

    namespace: str
    name: str
    replicas: int
    needed: int
    pods: int
    placed: int
    ready: int


def clique_states_of(cluster: SimulatedCluster) -> tuple[CliqueState, ...]:
    """Every PodClique, by name."""
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
