"""Trying the steps of a plan, stage by stage; answers are recorded, never raised."""

from collections.abc import Iterable

from grove_core.kernel.steps import Attempt, Outcome, Stage, Step, rest_on_one_cause
from grove_shell.world.protocol import Attempting


def act(world: Attempting, steps: Iterable[Step]) -> tuple[Attempt, ...]:
    """Try steps in their order; a cause is left alone while a companion of it could not be deleted (PL-014)."""
    attempts: list[Attempt] = []
    failed: list[Step] = []
    for step in steps:
        if step.stage is Stage.CAUSE and any(rest_on_one_cause(other.action, step.action) for other in failed):
            failed.append(step)
            continue
        attempt = world.attempt(step)
        attempts.append(attempt)
        if attempt.outcome is not Outcome.DONE:
            failed.append(step)
    return tuple(attempts)
