"""Trying the steps of a plan, stage by stage; answers are recorded, never raised."""

from collections.abc import Generator, Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from itertools import groupby
from typing import TypeAlias

from grove_core.kernel.refs import Ref
from grove_core.kernel.steps import (
    Attempt,
    Ensure,
    Outcome,
    Stage,
    Step,
    causes_of,
    is_told_first,
    rests_on_the_told,
)
from grove_core.plan.telling import without_the_end
from grove_core.resources.missing_domains import uses_missing_domain
from grove_shell.in_memory.protocol import Executor

StepBatches: TypeAlias = Generator[Sequence[Step], Sequence[Attempt], None]


def step_batches(steps: Iterable[Step]) -> StepBatches:
    """What may be tried side by side, stage after stage; answers are sent in.

    A cause is left alone while a companion of it could not be deleted (PL-014); so causes go one by one. An end is
    not told where a part of it could not be deleted (PL-028). Nothing is made after a status that had to
    be written first, and was not (PL-021), nor on something that was to be ensured, and was not (PL-023).
    """
    spoiled, missing = set[Ref](), set[Ref]()
    untold = False
    for stage, of_stage in groupby(steps, key=lambda step: step.stage):
        for ready in ([step] for step in of_stage) if stage is Stage.CAUSE else (list(of_stage),):
            if stage is Stage.CAUSE and not spoiled.isdisjoint(causes_of(ready[0].action)):
                spoiled |= causes_of(ready[0].action)
                continue
            if spoiled and stage is Stage.STATUS:
                ready = list(_without_ends(ready, spoiled))  # noqa: PLW2901 - fewer of them
            if untold:
                ready = [step for step in ready if not rests_on_the_told(step)]  # noqa: PLW2901 - as above
            if missing:
                ready = [step for step in ready if not uses_missing_domain(step, missing)]  # noqa: PLW2901 - as above
            answers = (yield ready) if ready else ()
            missing |= {step.target for step in ready if isinstance(step.action, Ensure)}
            missing -= {answer.step.target for answer in answers if answer.outcome is Outcome.DONE}
            for failed in (answer.step for answer in answers if answer.outcome is not Outcome.DONE):
                spoiled |= causes_of(failed.action)
                untold = untold or is_told_first(failed)


def _without_ends(statuses: Iterable[Step], spoiled: AbstractSet[Ref]) -> Iterator[Step]:
    """The statuses, without what they tell of ends that are not through (PL-028)."""
    for step in statuses:
        found = step if spoiled.isdisjoint(causes_of(step.action)) else without_the_end(step)
        if found is not None:
            yield found


def execute_plan(world: Executor, steps: Iterable[Step]) -> tuple[Attempt, ...]:
    """Try steps one after the other, in their order."""
    writes = executing_plan(steps)
    try:
        step = next(writes)
        while True:
            step = writes.send(world.attempt(step))
    except StopIteration as done:
        answers: tuple[Attempt, ...] = done.value
        return answers


def executing_plan(steps: Iterable[Step]) -> Generator[Step, Attempt, tuple[Attempt, ...]]:
    """The same for whoever has to wait for answers: yields each step that is to be tried, and is sent its answer."""
    attempts: list[Attempt] = []
    trying = step_batches(steps)
    ready = next(trying, None)
    while ready is not None:
        answers: list[Attempt] = []
        for step in ready:
            answers.append((yield step))  # noqa: PERF401 - a comprehension cannot yield
        attempts += answers
        ready = next_batch(trying, answers)
    return tuple(attempts)


def next_batch(trying: StepBatches, answers: Sequence[Attempt]) -> Sequence[Step] | None:
    """What may be tried next; None at the end."""
    try:
        return trying.send(answers)
    except StopIteration:
        return None
