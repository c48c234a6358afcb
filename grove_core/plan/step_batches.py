"""Orders the execution of a plan: which steps may be sent together, and which are left out once others have failed.

A failed step is an attempt with that outcome, never an exception.
"""

from collections.abc import Callable, Generator, Iterable, Sequence
from itertools import groupby
from typing import NamedTuple, TypeAlias

from grove_core.kernel.refs import Ref
from grove_core.kernel.steps import (
    Attempt,
    AttemptOutcome,
    Delete,
    Ensure,
    Step,
    StepStage,
    must_follow_status_write,
    must_precede_creations,
    termination_causes,
)
from grove_core.plan.statuses_after_failed_deletions import status_step_without_termination, status_without_update_end
from grove_core.resources.api_names import CLIQUE_KIND, GROVE
from grove_core.resources.domain_sharing_labels import step_needs_missing_domain
from grove_core.resources.naming_rules import clique_name_of_pod

StepBatches: TypeAlias = Generator[Sequence[Step], Sequence[Attempt], None]


class FailedSteps(NamedTuple):
    """What was not done of the earlier steps, as far as later steps depend on it.

    Attributes:
        causes: of terminations of which a deletion has failed (PL-014, PL-028).
        ensured: objects that an Ensure should have left in place (PL-016).
        keeping_pods: PodCliques of which a pod was not deleted (PL-036).
        status_is_missing: whether a status that must precede creations was not written (PL-021).
    """

    causes: frozenset[Ref] = frozenset()
    ensured: frozenset[Ref] = frozenset()
    keeping_pods: frozenset[Ref] = frozenset()
    status_is_missing: bool = False

    def with_steps(self, failed: Sequence[Step]) -> "FailedSteps":
        """Return it with more steps that failed, or that were not sent because others had failed."""
        return FailedSteps(
            self.causes.union(*(termination_causes(step.action) for step in failed)),
            self.ensured.union(step.target for step in failed if isinstance(step.action, Ensure)),
            self.keeping_pods.union(_clique_of_pod(step.target) for step in failed if _deletes_pod(step)),
            self.status_is_missing or any(map(must_precede_creations, failed)),
        )

    def step_to_send(self, step: Step) -> Step | None:
        """Return the step, or what is left of it; None where it has to wait."""
        is_of_failed_termination = bool(self.causes) and not self.causes.isdisjoint(termination_causes(step.action))
        if (
            (self.status_is_missing and must_follow_status_write(step))
            or (is_of_failed_termination and step.stage is StepStage.CAUSE)
            or step_needs_missing_domain(step, self.ensured)
        ):
            return None
        if step.stage is not StepStage.STATUS:
            return step
        left = status_step_without_termination(step) if is_of_failed_termination else step
        return status_without_update_end(left) if left is not None and step.target in self.keeping_pods else left


def step_batches(steps: Iterable[Step]) -> StepBatches:
    """Yield the steps that may run at the same time, stage by stage; the caller sends in their attempts.

    A cause is not deleted while the deletion of a companion has failed (PL-014), so causes are yielded one by one. A
    termination is not recorded in a status while the deletion of a part has failed (PL-028), nor the end of an update
    while the deletion of a pod has (PL-036). Nothing is created after a failed status that must come first
    (PL-021), or on top of a failed Ensure (PL-016).
    """
    failed = FailedSteps()
    for stage, of_stage in groupby(steps, key=lambda step: step.stage):
        for batch in ([step] for step in of_stage) if stage is StepStage.CAUSE else (list(of_stage),):
            sent = [found for found in map(failed.step_to_send, batch) if found is not None]
            attempts = (yield sent) if sent else ()
            done = {attempt.step.target for attempt in attempts if attempt.outcome is AttemptOutcome.DONE}
            not_done = [step for step in batch if step.target not in done]
            failed = failed.with_steps(not_done) if not_done else failed


def _deletes_pod(step: Step) -> bool:
    return isinstance(step.action, Delete) and step.target.kind == "Pod"


def _clique_of_pod(pod: Ref) -> Ref:
    return Ref(GROVE, CLIQUE_KIND, pod.namespace, clique_name_of_pod(pod.name))


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
