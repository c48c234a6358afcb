"""Executes the steps of a plan many at a time, against an API server."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import TypeAlias

from grove_core.kernel.steps import Attempt, AttemptOutcome, Make, Step, StepStage
from grove_core.plan.step_batches import next_batch, step_batches
from grove_core.resources.api_names import DOMAIN_KIND

Execute: TypeAlias = Callable[[Step], Awaitable[Attempt]]
"""Executes one step."""


async def execute_steps_concurrently(attempt: Execute, steps: Iterable[Step]) -> tuple[Attempt, ...]:
    """Execute the steps of each stage at the same time, and return the attempts.

    Creations of one kind start slowly, with one, two, four and so on, and stop at the first failure (OP-015): what is
    refused once is mostly refused a thousand times (RS13). The next round tries the others. ComputeDomains that a part
    of the set waits for are all tried: each has to be created or refused before its replica is created (OP-015).
    """
    attempts: list[Attempt] = []
    batches = step_batches(steps)
    batch = next(batches, None)
    while batch is not None:
        by_kind: dict[str, list[Step]] = {}
        for step in batch:
            by_kind.setdefault(step.target.kind if isinstance(step.action, Make) else "", []).append(step)
        groups = [
            _in_growing_groups(
                attempt, steps, to_the_end=kind == DOMAIN_KIND and steps[0].stage is StepStage.FOUNDATION
            )
            if kind
            else asyncio.gather(*map(attempt, steps))
            for kind, steps in by_kind.items()
        ]
        done = [one for of_kind in await asyncio.gather(*groups) for one in of_kind]
        attempts += done
        batch = next_batch(batches, done)
    return tuple(attempts)


async def _in_growing_groups(attempt: Execute, steps: Sequence[Step], *, to_the_end: bool) -> list[Attempt]:
    """Execute 1, 2, 4 and so on steps at a time; stop after the first failure unless ``to_the_end``."""
    done: list[Attempt] = []
    size = 1
    while len(done) < len(steps):
        group = await asyncio.gather(*map(attempt, steps[len(done) : len(done) + size]))
        done += group
        if not to_the_end and any(one.outcome is not AttemptOutcome.DONE for one in group):
            break
        size *= 2
    return done
