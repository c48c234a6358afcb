"""Checks of simulations in tests, beside those of ``grove simulate --check``: domains, sharing and topologies.

They are written from the documents, not from the core, and passed to each run of the tests.
"""

from typing import Any, Final

from grove_core.resources.podcliqueset import PodCliqueSet
from grove_shell.simulator.checks.all_checks import PROMISES
from grove_shell.simulator.checks.final_state_checks import RequiredObjectsExistCheck
from grove_shell.simulator.checks.simulation_check import SimulationCheck
from grove_shell.simulator.simulation_run import SimulationOptions
from tests.oracles.compute_domains import ComputeDomainCheck
from tests.oracles.domain_claims import DomainClaimCheck
from tests.oracles.gang_topology import GangTopologyCheck
from tests.oracles.mnnvl_admission import MnnvlAdmissionCheck
from tests.oracles.shared_domains import SharedDomainCheck
from tests.oracles.topology_facts import topology_keys
from tests.oracles.topology_lifecycle import TopologyLifecycleCheck
from tests.oracles.topology_references import TopologyReferenceCheck


class SpecFulfilledByFactsCheck(RequiredObjectsExistCheck):
    """O1 as in the product, but whether a topology holds follows from the topologies, not from the set's condition."""

    def topology_condition_holds(self, root: PodCliqueSet) -> bool:
        """Return whether the set's topology exists and has the domains that it asks for."""
        server = self.state.cluster.server
        return not topology_keys(root, server.topologies_by_name(), server.configuration)[1]


ORACLES: Final[tuple[type[SimulationCheck], ...]] = (
    ComputeDomainCheck,
    DomainClaimCheck,
    SharedDomainCheck,
    MnnvlAdmissionCheck,
    TopologyReferenceCheck,
    TopologyLifecycleCheck,
    GangTopologyCheck,
    SpecFulfilledByFactsCheck,
)


def checked(**options: Any) -> SimulationOptions:
    """Return options of a run with the checks of the product and of the tests."""
    return SimulationOptions(checks=(*PROMISES, *ORACLES), **options)
