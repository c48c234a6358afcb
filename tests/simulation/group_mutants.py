"""Operators with one known mistake each about groups of the Workload API; the checks must find every one of them."""

from collections.abc import Callable, Mapping
from typing import Final

from grove_core.kernel.frozen import FrozenDict
from grove_core.kernel.steps import Create, Delete
from grove_core.kernel.structs import replace
from grove_core.plan.plan import Plan
from grove_core.reconcile import reconcile
from grove_core.resources.api_names import COMPOSITE_KIND, POD_GROUP_KIND
from grove_core.resources.owned_object import GROUP_KINDS
from grove_core.snapshot.snapshot import Snapshot


def forgets_the_root(snapshot: Snapshot) -> Plan:
    plan = reconcile(snapshot)
    kept = [step for step in plan.steps if step.target.kind != COMPOSITE_KIND or not isinstance(step.action, Create)]
    return replace(plan, steps=tuple(kept))


def forgets_a_pod_group(snapshot: Snapshot) -> Plan:
    plan = reconcile(snapshot)
    kept = [
        step
        for step in plan.steps
        if step.target.kind != POD_GROUP_KIND or not isinstance(step.action, Create) or step.target.name[-1] != "b"
    ]
    return replace(plan, steps=tuple(kept))


def leaves_surplus_groups(snapshot: Snapshot) -> Plan:
    plan = reconcile(snapshot)
    kept = [step for step in plan.steps if step.target.kind not in GROUP_KINDS or not isinstance(step.action, Delete)]
    return replace(plan, steps=tuple(kept))


def starts_scaled_gangs_at_once(snapshot: Snapshot) -> Plan:
    """Take all pods for placed, so that pods of scaled gangs are created before the base gang is placed."""
    placed = {owner: tuple(replace(pod, scheduled=True) for pod in pods) for owner, pods in snapshot.pods_of.items()}
    return reconcile(replace(snapshot, pods_of=FrozenDict(placed)))


GROUP_MUTANTS: Final[Mapping[str, tuple[Callable[[Snapshot], Plan], frozenset[str]]]] = {
    "forgets the root": (forgets_the_root, frozenset({"O1", "O9", "PL"})),
    "forgets a PodGroup": (forgets_a_pod_group, frozenset({"O1", "O9", "PL"})),
    "leaves surplus groups": (leaves_surplus_groups, frozenset({"O1"})),
    "starts scaled gangs at once": (starts_scaled_gangs_at_once, frozenset({"RS6"})),
}
"""Name -> what decides, and the codes of the promises that it may break first."""
