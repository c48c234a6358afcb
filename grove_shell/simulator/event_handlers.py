"""Maps each kind of event to the actor and the function that execute it."""

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from grove_core.resources.cluster_topology import TOPOLOGY_KINDS
from grove_core.resources.compute_domain import DOMAIN_KIND
from grove_core.resources.owned_object import CLAIM_KIND
from grove_shell.simulator.actors.node_controller import NodeController
from grove_shell.simulator.actors.topology_actions import TopologyActions
from grove_shell.simulator.actors.user_actions import UserActions
from grove_shell.simulator.faults.configuration_faults import ConfigurationFaults
from grove_shell.simulator.faults.fault_injection import FaultInjector
from grove_shell.simulator.recording.run_history import HistoryActor
from grove_shell.simulator.scenario.scenario_events import NodeByNameOrPod

EventHandler: TypeAlias = Callable[[Any], None]
"""Executes an event; it is called with the arguments of the event."""


def handlers_by_event(
    users: UserActions,
    topologies: TopologyActions,
    nodes: NodeController,
    faults: FaultInjector,
    configuration_faults: ConfigurationFaults,
) -> Mapping[str, tuple[HistoryActor, EventHandler]]:
    """Return actor and handler of each kind of event; the actor of a fault is ``FAULT``."""

    def node(act: Callable[[str], None]) -> Callable[[NodeByNameOrPod], None]:
        return lambda where: act(users.node_of(where))

    def delete(*kinds: str) -> EventHandler:
        return lambda arguments: users.delete(arguments.name, *kinds)

    by_actor: Mapping[HistoryActor, Mapping[str, EventHandler]] = {
        HistoryActor.USER: {
            "apply_set": users.apply,
            "scale": users.scale,
            "delete_set": delete("PodCliqueSet"),
            "delete_pod": users.delete_pod,
            "delete_domain": delete(DOMAIN_KIND),
            "delete_claim": delete(CLAIM_KIND),
            "apply_topology": topologies.apply_topology,
            "delete_topology": delete(*TOPOLOGY_KINDS),
        },
        HistoryActor.AUTOSCALER: {"autoscale": users.autoscale},
        HistoryActor.KUBELET: {"fail_pod": users.fail_pod, "crash_pod": users.crash_pod},
        HistoryActor.NODES: {
            "lose_node": node(nodes.lose),
            "restore_node": node(nodes.restore),
            "add_nodes": nodes.add,
            "remove_node": node(nodes.remove),
            "cordon": node(nodes.cordon),
            "uncordon": node(nodes.uncordon),
        },
        HistoryActor.FAULT: {
            "crash_operator": faults.crash_operator,
            "lag_cache": faults.lag_cache,
            "relist": faults.relist,
            "touch": faults.touch,
            "lose_answers": faults.lose_answers,
            "refuse_writes": faults.refuse_writes,
            "slow_answers": faults.slow_answers,
            "change_hashes": configuration_faults.change_hashes,
            "second_leader": faults.second_leader,
            "jump_clock": faults.jump_clock,
            "hold_foreign": faults.hold_foreign,
            "gate_foreign": faults.gate_foreign,
            "edit_status": faults.edit_status,
            "remove_labels": faults.remove_labels,
            "edit_labels": faults.edit_labels,
            "permute_lists": faults.permute_lists,
            "foreign_domain": configuration_faults.foreign_domain,
            "limit_domains": configuration_faults.limit_domains,
            "reconfigure": configuration_faults.reconfigure,
        },
    }
    return {kind: (actor, act) for actor, handlers in by_actor.items() for kind, act in handlers.items()}
