"""Trying the steps of a plan where answers take their time: those of one stage side by side."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence

from grove_core.kernel.steps import Attempt, Make, Outcome, Stage, Step
from grove_core.resources.compute_domain import DOMAIN_KIND
from grove_shell.controller.execute_plan import next_batch, step_batches


async def execute_concurrently(
    attempt: Callable[[Step], Awaitable[Attempt]], steps: Iterable[Step]
) -> tuple[Attempt, ...]:
    """Try the steps of each stage side by side.

    Creations of one kind start slowly, with one, two, four and so on, and stop where one was not accepted: what is
    refused once is mostly refused a thousand times (RS13). Those that were not tried come again in the next round.
    ComputeDomains that somebody waits for are all tried: each has to be made or refused before its replica is (OP-029).
    """
    attempts: list[Attempt] = []
    trying = step_batches(steps)
    ready = next(trying, None)
    while ready is not None:
        by_kind: dict[str, list[Step]] = {}
        for step in ready:
            by_kind.setdefault(step.target.kind if isinstance(step.action, Make) else "", []).append(step)
        groups = [
            _slowly(attempt, group, to_the_end=kind == DOMAIN_KIND and group[0].stage is Stage.FOUNDATION)
            if kind
            else _at_once(attempt, group)
            for kind, group in by_kind.items()
        ]
        answers = [answer for answered in await asyncio.gather(*groups) for answer in answered]
        attempts += answers
        ready = next_batch(trying, answers)
    return tuple(attempts)


async def _at_once(attempt: Callable[[Step], Awaitable[Attempt]], steps: Sequence[Step]) -> list[Attempt]:
    return list(await asyncio.gather(*map(attempt, steps)))


async def _slowly(
    attempt: Callable[[Step], Awaitable[Attempt]], steps: Sequence[Step], *, to_the_end: bool
) -> list[Attempt]:
    answers: list[Attempt] = []
    size = 1
    while len(answers) < len(steps):
        answered = await _at_once(attempt, steps[len(answers) : len(answers) + size])
        answers += answered
        if not to_the_end and any(answer.outcome is not Outcome.DONE for answer in answered):
            break
        size *= 2
    return answers
