"""Maps each kind of event to the function that executes it."""

from collections.abc import Callable, Mapping
from typing import Any, Final

from grove_shell.simulator.actors.node_controller import NodeController
from grove_shell.simulator.actors.topology_actions import TopologyActions
from grove_shell.simulator.actors.user_actions import UserActions
from grove_shell.simulator.faults.domain_faults import DomainFaults
from grove_shell.simulator.faults.fault_injection import FaultInjector
from grove_shell.simulator.recording.run_history import HistoryActor
from grove_shell.simulator.scenario.scenario_events import NodeByNameOrPod

FAULTS: Final = (
    "crash_operator",
    "lag_cache",
    "relist",
    "touch",
    "lose_answers",
    "refuse_writes",
    "slow_answers",
    "change_hashes",
    "second_leader",
    "jump_clock",
    "hold_foreign",
    "gate_foreign",
    "edit_status",
    "remove_labels",
    "edit_labels",
    "permute_lists",
    "foreign_domain",
    "limit_domains",
    "reconfigure",
)
"""Kinds of events that are faults: :class:`FaultInjector` and :class:`DomainFaults` execute them."""

_ACTORS: Final = {
    "autoscale": HistoryActor.AUTOSCALER,
    "fail_pod": HistoryActor.KUBELET,
    "crash_pod": HistoryActor.KUBELET,
    **dict.fromkeys(
        ("lose_node", "restore_node", "add_nodes", "remove_node", "cordon", "uncordon"), HistoryActor.NODES
    ),
    **dict.fromkeys(FAULTS, HistoryActor.FAULT),
}


def actor_of_event_kind(kind: str) -> HistoryActor:
    """Return the actor of a kind of event."""
    return _ACTORS.get(kind, HistoryActor.USER)


def handlers_by_event(
    user_actions: UserActions,
    topology_actions: TopologyActions,
    faults: FaultInjector,
    domain_faults: DomainFaults,
    node_controller: NodeController,
) -> Mapping[str, Callable[[Any], None]]:
    """Return the function for each kind of event; it is called with the arguments of the event."""

    def node(act: Callable[[str], None]) -> Callable[[NodeByNameOrPod], None]:
        return lambda where: act(user_actions.node_of(where))

    return {
        "apply_set": user_actions.apply,
        "scale": user_actions.scale,
        "autoscale": user_actions.autoscale,
        "delete_set": user_actions.delete_set,
        "delete_pod": user_actions.delete_pod,
        "fail_pod": user_actions.fail_pod,
        "crash_pod": user_actions.crash_pod,
        "lose_node": node(node_controller.lose),
        "restore_node": node(node_controller.restore),
        "add_nodes": node_controller.add,
        "remove_node": node(node_controller.remove),
        "cordon": node(lambda name: node_controller.cordon(name, closed=True)),
        "uncordon": node(lambda name: node_controller.cordon(name, closed=False)),
        "delete_domain": user_actions.delete_domain,
        "delete_claim": user_actions.delete_claim,
        "apply_topology": topology_actions.apply_topology,
        "delete_topology": user_actions.delete_topology,
        **{name: getattr(domain_faults if hasattr(domain_faults, name) else faults, name) for name in FAULTS},
    }
