"""Maps each kind of event to the actor and the function that execute it."""

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from grove_core.resources.api_names import CLAIM_KIND, DOMAIN_KIND
from grove_core.resources.cluster_topology import TOPOLOGY_KINDS
from grove_shell.simulator.actors.simulated_node_controller import SimulatedNodeController
from grove_shell.simulator.actors.topology_actions import SimulatedTopologyActions
from grove_shell.simulator.actors.user_actions import SimulatedUserActions
from grove_shell.simulator.faults.configuration_faults import ConfigurationFaultInjector
from grove_shell.simulator.faults.fault_injection import FaultInjector
from grove_shell.simulator.recording.simulation_history import SimulationActor
from grove_shell.simulator.scenario.scenario_events import NodeByNameOrPod

EventHandler: TypeAlias = Callable[[Any], None]
"""Executes an event; it is called with the arguments of the event."""


def handlers_by_scenario_event(
    users: SimulatedUserActions,
    topologies: SimulatedTopologyActions,
    nodes: SimulatedNodeController,
    faults: FaultInjector,
    configuration_faults: ConfigurationFaultInjector,
) -> Mapping[str, tuple[SimulationActor, EventHandler]]:
    """Return actor and handler of each kind of event; the actor of a fault is ``FAULT``.

    Args:
        users, topologies, nodes, faults, configuration_faults: the handlers are methods of these.
    """

    def node(act: Callable[[str], None]) -> Callable[[NodeByNameOrPod], None]:
        return lambda where: act(users.node_of_event(where))

    def delete(*kinds: str) -> EventHandler:
        return lambda arguments: users.delete_object(arguments.name, *kinds)

    by_actor: Mapping[SimulationActor, Mapping[str, EventHandler]] = {
        SimulationActor.USER: {
            "apply_set": users.apply_set,
            "scale": users.scale_object,
            "delete_set": delete("PodCliqueSet"),
            "delete_pod": users.delete_pod,
            "delete_domain": delete(DOMAIN_KIND),
            "delete_claim": delete(CLAIM_KIND),
            "apply_topology": topologies.apply_topology,
            "delete_topology": delete(*TOPOLOGY_KINDS),
        },
        SimulationActor.AUTOSCALER: {"autoscale": users.autoscale_object},
        SimulationActor.KUBELET: {"fail_pod": users.fail_pod, "crash_pod": users.crash_pod},
        SimulationActor.NODES: {
            "lose_node": node(nodes.lose_node),
            "restore_node": node(nodes.restore_node),
            "add_nodes": nodes.add_nodes,
            "remove_node": node(nodes.remove_node),
            "cordon": node(nodes.cordon_node),
            "uncordon": node(nodes.uncordon_node),
        },
        SimulationActor.FAULT: {
            "crash_operator": faults.crash_operator,
            "lag_cache": faults.freeze_cache,
            "relist": faults.relist_all_kinds,
            "touch": faults.write_before_operator,
            "lose_answers": faults.lose_responses,
            "refuse_writes": faults.refuse_writes,
            "slow_answers": faults.delay_writes,
            "change_hashes": configuration_faults.change_stored_hashes,
            "second_leader": faults.run_second_leader,
            "jump_clock": faults.jump_clock,
            "hold_foreign": faults.add_foreign_finalizer,
            "gate_foreign": faults.add_foreign_scheduling_gate,
            "edit_status": faults.write_wrong_clique_status,
            "remove_labels": faults.remove_labels_of_clique,
            "edit_labels": faults.edit_labels_of_object,
            "permute_lists": faults.randomize_list_order,
            "foreign_domain": configuration_faults.create_foreign_domain,
            "limit_domains": configuration_faults.limit_number_of_domains,
            "reconfigure": configuration_faults.change_configuration,
        },
    }
    return {kind: (actor, act) for actor, handlers in by_actor.items() for kind, act in handlers.items()}
