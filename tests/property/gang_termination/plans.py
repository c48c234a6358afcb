"""What tests ask of a plan and of a judged world."""

from grove_core.plan.plan import Plan
from tests.property.strategies.worlds import (
    is_termination,
)


def deleted(plan: Plan) -> set[str]:
    return {step.target.name for step in plan.steps if is_termination(step)}
