"""Sets at rest, and the reasons of the next steps."""

from typing import Any, Final

from grove_core.areas.workload.rules import WorkloadReason
from grove_core.kernel.frozen import thaw_json
from grove_core.kernel.steps import Apply, SetStatus
from grove_core.kernel.structs import replace
from grove_core.plan.plan import Plan
from grove_core.reconcile import reconcile
from grove_core.snapshot.snapshot import Snapshot
from tests.property.workload.life import Life

GROUP: Final = {"name": "pool", "cliqueNames": ["a"], "replicas": 2, "minAvailable": 1}


def rested(raw: dict[str, object]) -> Life:
    life = Life(raw)
    life.settle()
    return life


def whys(plan: Plan | None) -> set[WorkloadReason]:
    assert plan is not None
    return {why.rule for step in plan.steps for why in step.because if isinstance(why.rule, WorkloadReason)}


def held(plan: Plan | None) -> set[WorkloadReason]:
    assert plan is not None
    return {why.rule for one in plan.withheld for why in one.because if isinstance(why.rule, WorkloadReason)}


def seen_in(life: Life) -> Snapshot:
    seen = life.look()
    assert seen is not None
    return replace(seen, attempts=())


def written(seen: Snapshot, name: str) -> list[Any]:
    """The fields of what is applied to an object, and the statuses that are written to it."""
    steps = [step for step in reconcile(seen).steps if step.target.name == name]
    return [thaw_json(step.action.fields) for step in steps if isinstance(step.action, Apply | SetStatus)]
