"""Executes the steps of a plan stage by stage; a failed step is an attempt with that outcome, never an exception."""

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
    is_written_first,
    waits_for_first_status,
)
from grove_core.plan.partial_status import without_termination
from grove_core.resources.missing_domains import uses_missing_domain
from grove_shell.in_memory.protocol import Executor

StepBatches: TypeAlias = Generator[Sequence[Step], Sequence[Attempt], None]


def step_batches(steps: Iterable[Step]) -> StepBatches:
    """Yield the steps that may run at the same time, stage by stage; the caller sends in their attempts.

    A cause is not deleted while the deletion of a companion has failed (PL-014), so causes are yielded one by one. A
    termination is not recorded in a status while the deletion of a part has failed (PL-028). Nothing is created after a
    failed status that must come first (PL-021), or on top of a failed Ensure (PL-023).
    """
    failed_causes, missing = set[Ref](), set[Ref]()
    status_missing = False
    for stage, of_stage in groupby(steps, key=lambda step: step.stage):
        for batch in ([step] for step in of_stage) if stage is Stage.CAUSE else (list(of_stage),):
            if stage is Stage.CAUSE and not failed_causes.isdisjoint(causes_of(batch[0].action)):
                failed_causes |= causes_of(batch[0].action)
                continue
            if failed_causes and stage is Stage.STATUS:
                batch = list(_without_terminations(batch, failed_causes))  # noqa: PLW2901 - fewer of them
            if status_missing:
                batch = [step for step in batch if not waits_for_first_status(step)]  # noqa: PLW2901 - as above
            if missing:
                batch = [step for step in batch if not uses_missing_domain(step, missing)]  # noqa: PLW2901 - as above
            attempts = (yield batch) if batch else ()
            missing |= {step.target for step in batch if isinstance(step.action, Ensure)}
            missing -= {attempt.step.target for attempt in attempts if attempt.outcome is Outcome.DONE}
            for failed in (attempt.step for attempt in attempts if attempt.outcome is not Outcome.DONE):
                failed_causes |= causes_of(failed.action)
                status_missing = status_missing or is_written_first(failed)


def _without_terminations(statuses: Iterable[Step], failed_causes: AbstractSet[Ref]) -> Iterator[Step]:
    """Yield the statuses without terminations of which a part has failed (PL-028)."""
    for step in statuses:
        found = step if failed_causes.isdisjoint(causes_of(step.action)) else without_termination(step)
        if found is not None:
            yield found


def execute_plan(executor: Executor, steps: Iterable[Step]) -> tuple[Attempt, ...]:
    """Execute steps one after the other, and return their attempts."""
    writes = executing_plan(steps)
    try:
        step = next(writes)
        while True:
            step = writes.send(executor.attempt(step))
    except StopIteration as done:
        attempts: tuple[Attempt, ...] = done.value
        return attempts


def executing_plan(steps: Iterable[Step]) -> Generator[Step, Attempt, tuple[Attempt, ...]]:
    """Yield each step to execute, one after the other; the caller sends in its attempt. Return all attempts."""
    attempts: list[Attempt] = []
    batches = step_batches(steps)
    batch = next(batches, None)
    while batch is not None:
        done: list[Attempt] = []
        for step in batch:
            done.append((yield step))  # noqa: PERF401 - a comprehension cannot yield
        attempts += done
        batch = next_batch(batches, done)
    return tuple(attempts)


def next_batch(batches: StepBatches, attempts: Sequence[Attempt]) -> Sequence[Step] | None:
    """Send in the attempts of a batch; return the next batch, None at the end."""
    try:
        return batches.send(attempts)
    except StopIteration:
        return None
