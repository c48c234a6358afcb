"""Orders the execution of a plan: which steps may be sent together, and which are left out once others have failed.

A failed step is an attempt with that outcome, never an exception.
"""

from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from itertools import groupby
from typing import TypeAlias

from grove_core.kernel.refs import Ref
from grove_core.kernel.steps import (
    Attempt,
    AttemptOutcome,
    Delete,
    Ensure,
    Step,
    StepStage,
    creates_after_status_write,
    termination_causes,
    writes_status_before_creations,
)
from grove_core.plan.reduced_statuses import without_end_of_update, without_termination_report
from grove_core.resources.api_names import GROVE
from grove_core.resources.domain_sharing_labels import needs_missing_compute_domain
from grove_core.resources.naming_rules import clique_name_of_pod

StepBatches: TypeAlias = Generator[Sequence[Step], Sequence[Attempt], None]


def step_batches(steps: Iterable[Step]) -> StepBatches:
    """Yield the steps that may run at the same time, stage by stage; the caller sends in their attempts.

    A cause is not deleted while the deletion of a companion has failed (PL-014), so causes are yielded one by one. A
    termination is not recorded in a status while the deletion of a part has failed (PL-028), nor the end of an update
    while the deletion of a pod has (PL-036). Nothing is created after a failed status that must come first
    (PL-021), or on top of a failed Ensure (PL-016).
    """
    failed_causes, missing, behind = set[Ref](), set[Ref](), set[Ref]()
    status_missing = False
    for stage, of_stage in groupby(steps, key=lambda step: step.stage):
        for batch in ([step] for step in of_stage) if stage is StepStage.CAUSE else (list(of_stage),):
            if stage is StepStage.CAUSE and not failed_causes.isdisjoint(termination_causes(batch[0].action)):
                failed_causes |= termination_causes(batch[0].action)
                continue
            if failed_causes and stage is StepStage.STATUS:
                batch = list(_without_terminations(batch, failed_causes))  # noqa: PLW2901 - fewer of them
            if behind and stage is StepStage.STATUS:
                batch = [without_end_of_update(step) if step.target in behind else step for step in batch]  # noqa: PLW2901 - as above
            if status_missing:
                batch = [step for step in batch if not creates_after_status_write(step)]  # noqa: PLW2901 - as above
            if missing:
                batch = [step for step in batch if not needs_missing_compute_domain(step, missing)]  # noqa: PLW2901 - as above
            attempts = (yield batch) if batch else ()
            missing |= {step.target for step in batch if isinstance(step.action, Ensure)}
            missing -= {attempt.step.target for attempt in attempts if attempt.outcome is AttemptOutcome.DONE}
            for failed in (attempt.step for attempt in attempts if attempt.outcome is not AttemptOutcome.DONE):
                failed_causes |= termination_causes(failed.action)
                behind |= _clique_that_keeps_a_pod(failed)
                status_missing = status_missing or writes_status_before_creations(failed)


def _without_terminations(statuses: Iterable[Step], failed_causes: AbstractSet[Ref]) -> Iterator[Step]:
    """Yield the statuses without terminations of which a part has failed (PL-028)."""
    for step in statuses:
        found = step if failed_causes.isdisjoint(termination_causes(step.action)) else without_termination_report(step)
        if found is not None:
            yield found


def _clique_that_keeps_a_pod(failed: Step) -> AbstractSet[Ref]:
    """Return the PodClique of a pod that was not deleted; empty for any other failed step."""
    target = failed.target
    if target.kind != "Pod" or not isinstance(failed.action, Delete):
        return frozenset()
    return {Ref(GROVE, "PodClique", target.namespace, clique_name_of_pod(target.name))}


def execute_steps_sequentially(attempt: Callable[[Step], Attempt], steps: Iterable[Step]) -> tuple[Attempt, ...]:
    """Execute steps one after the other, and return their attempts."""
    attempts: list[Attempt] = []
    batches = step_batches(steps)
    batch = next(batches, None)
    while batch is not None:
        done = [attempt(step) for step in batch]
        attempts += done
        batch = next_batch(batches, done)
    return tuple(attempts)


def next_batch(batches: StepBatches, attempts: Sequence[Attempt]) -> Sequence[Step] | None:
    """Send in the attempts of a batch; return the next batch, None at the end."""
    try:
        return batches.send(attempts)
    except StopIteration:
        return None
