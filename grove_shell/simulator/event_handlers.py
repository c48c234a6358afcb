"""Who does what an event says."""

from collections.abc import Callable, Mapping
from typing import Any, Final

from grove_shell.simulator.actors.node_controller import NodeController
from grove_shell.simulator.actors.topology_actions import TopologyActions
from grove_shell.simulator.actors.user_actions import UserActions
from grove_shell.simulator.faults.domain_faults import DomainFaults
from grove_shell.simulator.faults.fault_injection import FaultInjector
from grove_shell.simulator.recording.history import Actor
from grove_shell.simulator.scenario.user_events import NodeTarget

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
"""Events that a :class:`Mischief` or :class:`FabricFaults` is for, by name."""


_ACTORS: Final = {
    "autoscale": Actor.AUTOSCALER,
    "fail_pod": Actor.KUBELET,
    "crash_pod": Actor.KUBELET,
    **dict.fromkeys(("lose_node", "restore_node", "add_nodes", "remove_node", "cordon", "uncordon"), Actor.NODES),
    **dict.fromkeys(FAULTS, Actor.FAULT),
}


def actor_of(what: str) -> Actor:
    """Who does what an event of that name says."""
    return _ACTORS.get(what, Actor.USER)


def handlers_by_event(
    users: UserActions,
    administrators: TopologyActions,
    mischief: FaultInjector,
    fabric: DomainFaults,
    controller: NodeController,
) -> Mapping[str, Callable[[Any], None]]:
    """What to call for each kind of event, with what the event holds."""

    def node(act: Callable[[str], None]) -> Callable[[NodeTarget], None]:
        return lambda where: act(users.node_of(where))

    return {
        "apply_set": users.apply,
        "scale": users.scale,
        "autoscale": users.autoscale,
        "delete_set": users.delete_set,
        "delete_pod": users.delete_pod,
        "fail_pod": users.fail_pod,
        "crash_pod": users.crash_pod,
        "lose_node": node(controller.lose),
        "restore_node": node(controller.restore),
        "add_nodes": controller.add,
        "remove_node": node(controller.remove),
        "cordon": node(lambda name: controller.cordon(name, closed=True)),
        "uncordon": node(lambda name: controller.cordon(name, closed=False)),
        "delete_domain": users.delete_domain,
        "delete_claim": users.delete_claim,
        "apply_topology": administrators.apply_topology,
        "delete_topology": administrators.delete_topology,
        **{name: getattr(fabric if hasattr(fabric, name) else mischief, name) for name in FAULTS},
    }
