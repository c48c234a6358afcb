"""Trying the steps of a plan, stage by stage; answers are recorded, never raised."""

import asyncio
from collections.abc import Awaitable, Callable, Generator, Iterable, Sequence
from itertools import groupby
from typing import TypeAlias

from grove_core.kernel.steps import (
    Attempt,
    Create,
    Ensure,
    Outcome,
    Stage,
    Step,
    is_told_first,
    rest_on_one_cause,
    rests_on_the_told,
)
from grove_core.resources.compute_domain import DOMAIN_KIND
from grove_shell.world.protocol import Attempting

Tries: TypeAlias = Generator[Sequence[Step], Sequence[Attempt], None]


def tries(steps: Iterable[Step]) -> Tries:
    """What may be tried side by side, stage after stage; answers are sent in.

    A cause is left alone while a companion of it could not be deleted (PL-014); so causes go one by one. Nothing is
    made after a status that had to be written first, and was not (PL-021).
    """
    failed: list[Step] = []
    for stage, of_stage in groupby(steps, key=lambda step: step.stage):
        for ready in ([step] for step in of_stage) if stage is Stage.CAUSE else (list(of_stage),):
            if stage is Stage.CAUSE and any(rest_on_one_cause(other.action, ready[0].action) for other in failed):
                failed += ready
                continue
            if any(is_told_first(step) for step in failed):
                ready = [step for step in ready if not rests_on_the_told(step)]  # noqa: PLW2901 - fewer of them
            answers = (yield ready) if ready else ()
            failed += [answer.step for answer in answers if answer.outcome is not Outcome.DONE]


def act(world: Attempting, steps: Iterable[Step]) -> tuple[Attempt, ...]:
    """Try steps one after the other, in their order."""
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
    trying = tries(steps)
    ready = next(trying, None)
    while ready is not None:
        answers: list[Attempt] = []
        for step in ready:
            answers.append((yield step))  # noqa: PERF401 - a comprehension cannot yield
        attempts += answers
        ready = _following(trying, answers)
    return tuple(attempts)


async def act_at_once(attempt: Callable[[Step], Awaitable[Attempt]], steps: Iterable[Step]) -> tuple[Attempt, ...]:
    """Try the steps of each stage side by side.

    Creations of one kind start slowly, with one, two, four and so on, and stop where one was not accepted: what is
    refused once is mostly refused a thousand times (RS13). Those that were not tried come again in the next round.
    ComputeDomains that somebody waits for are all tried: each has to be made or refused before its replica is (OP-029).
    """
    attempts: list[Attempt] = []
    trying = tries(steps)
    ready = next(trying, None)
    while ready is not None:
        by_kind: dict[str, list[Step]] = {}
        for step in ready:
            by_kind.setdefault(step.target.kind if isinstance(step.action, Create | Ensure) else "", []).append(step)
        groups = [
            _slowly(attempt, group, to_the_end=kind == DOMAIN_KIND and group[0].stage is Stage.FOUNDATION)
            if kind
            else _at_once(attempt, group)
            for kind, group in by_kind.items()
        ]
        answers = [answer for answered in await asyncio.gather(*groups) for answer in answered]
        attempts += answers
        ready = _following(trying, answers)
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


def _following(trying: Tries, answers: Sequence[Attempt]) -> Sequence[Step] | None:
    try:
        return trying.send(answers)
    except StopIteration:
        return None
