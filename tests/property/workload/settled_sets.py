"""Sets at rest, and the reasons of the next steps."""

from typing import Final

from grove_core.areas.workload.rules import WorkloadReason
from grove_core.plan.plan import Plan
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
