"""Who does what an event says."""

from collections.abc import Callable, Mapping
from typing import Any, Final

from grove_shell.simulator.deeds import Users
from grove_shell.simulator.events import NodeAt, NodePool
from grove_shell.simulator.history import Actor, What
from grove_shell.simulator.mischief import Mischief
from grove_shell.simulator.node_controller import NodeController

FAULTS: Final = (
    "crash_operator",
    "lag_cache",
    "relist",
    "touch",
    "lose_answers",
    "refuse_writes",
    "second_leader",
    "jump_clock",
    "hold_foreign",
    "gate_foreign",
    "edit_status",
    "permute_lists",
)
"""Events that a :class:`Mischief` is for, by name."""


def acts_by_name(users: Users, mischief: Mischief, controller: NodeController) -> Mapping[str, Callable[[Any], None]]:
    """What to call for each kind of event, with what the event holds."""

    def tell(words: str) -> None:
        controller.history.note(controller.cluster.agenda.now, Actor.NODES, What.NODE, detail=words)

    def node(act: Callable[[str], None], word: str) -> Callable[[NodeAt], None]:
        def do(where: NodeAt) -> None:
            name = users.node_of(where)
            if name in controller.nodes:
                tell(f"node {name} {word}")
            act(name)

        return do

    def add(pool: NodePool) -> None:
        count = pool.count or 1
        tell(f"{count} nodes {pool.name} are added" if count > 1 else f"node {pool.name} is added")
        controller.add(pool)

    return {
        "apply_set": users.apply,
        "scale": users.scale,
        "autoscale": users.autoscale,
        "delete_set": users.delete_set,
        "delete_pod": users.delete_pod,
        "fail_pod": users.fail_pod,
        "crash_pod": users.crash_pod,
        "lose_node": node(controller.lose, "is lost"),
        "restore_node": node(controller.restore, "is back"),
        "add_nodes": add,
        "remove_node": node(controller.remove, "is removed"),
        "cordon": node(lambda name: controller.cordon(name, closed=True), "is cordoned"),
        "uncordon": node(lambda name: controller.cordon(name, closed=False), "is open again"),
        **{name: getattr(mischief, name) for name in FAULTS},
    }
