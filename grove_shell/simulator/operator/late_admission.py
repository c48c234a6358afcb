"""Who admits what is written may see late (SM-091)."""

from grove_core.areas.topology.admit import TopologyView
from grove_shell.simulator.cluster.simulated_cluster import SimulatedCluster
from grove_shell.simulator.cluster.topologies import topology_context_in
from grove_shell.simulator.operator.informers import Informers


class LateAround:
    """The same as it was a while ago (TP5)."""

    def __init__(self, cluster: SimulatedCluster, watch: int) -> None:
        self.informers = Informers(cluster, watch)

    def __call__(self) -> TopologyView:
        """As far as it has arrived by now."""
        self.informers.catch_up()
        return topology_context_in(self.informers.view)
