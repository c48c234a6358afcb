"""Trying the steps of a plan, stage by stage; answers are recorded, never raised."""

from collections.abc import Generator, Iterable

from grove_core.kernel.steps import Attempt, Outcome, Stage, Step, rest_on_one_cause
from grove_shell.world.protocol import Attempting


def act(world: Attempting, steps: Iterable[Step]) -> tuple[Attempt, ...]:
    """Try steps in their order; a cause is left alone while a companion of it could not be deleted (PL-014)."""
    writes = acting(steps)
    try:
        step = next(writes)
        while True:
            step = writes.send(world.attempt(step))
    except StopIteration as done:
        answers: tuple[Attempt, ...] = done.value
        return answers


def acting(steps: Iterable[Step]) -> Generator[Step, Attempt, tuple[Attempt, ...]]:
    """The same for whoever has to wait for answers: yields each step that is to be tried, and is sent its answer."""
    attempts: list[Attempt] = []
    failed: list[Step] = []
    for step in steps:
        if step.stage is Stage.CAUSE and any(rest_on_one_cause(other.action, step.action) for other in failed):
            failed.append(step)
            continue
        attempt = yield step
        attempts.append(attempt)
        if attempt.outcome is not Outcome.DONE:
            failed.append(step)
    return tuple(attempts)
