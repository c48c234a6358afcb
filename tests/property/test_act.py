"""Trying the steps of a plan (PL-014, PL-021, PL-016, PL-036)."""

import asyncio
from dataclasses import dataclass, field
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grove_core.kernel.frozen import FrozenMap, frozen
from grove_core.kernel.refs import Guard, Ref
from grove_core.kernel.steps import (
    Apply,
    Attempt,
    AttemptOutcome,
    Create,
    Delete,
    DropFinalizer,
    Ensure,
    SetStatus,
    Step,
    StepStage,
    termination_causes,
)
from grove_core.kernel.structs import replace
from grove_core.plan.step_batches import execute_steps_sequentially
from grove_core.reconcile import reconcile
from grove_core.resources.configuration import Configuration, MnnvlConfiguration, MnnvlMode
from grove_core.resources.domain_sharing import shared_claim_entry
from grove_core.testing import RandomCluster, clusters
from grove_shell.apply.execute_concurrently import execute_steps_concurrently
from tests.property.workload.sets import applied, clique_raw, set_raw

SCOPED: Final = Configuration(MnnvlConfiguration(enabled=True, mode=MnnvlMode.ANNOTATIONS))
REPLICAS: Final = 4


@dataclass
class Recorder:
    """A server that fails the steps it is configured to fail."""

    failing: set[int]
    tried: list[Step] = field(default_factory=list)

    def attempt_step(self, step: Step) -> Attempt:
        self.tried.append(step)
        return Attempt(step, AttemptOutcome.CONFLICT if len(self.tried) - 1 in self.failing else AttemptOutcome.DONE)


@given(clusters(), st.sets(st.integers(min_value=0, max_value=6)))
def test_pl014_a_cause_outlives_its_companions(generated: RandomCluster, failing: set[int]) -> None:
    steps = reconcile(generated.snapshot).steps
    recorder = Recorder(failing)
    attempts = execute_steps_sequentially(recorder.attempt_step, steps)
    assert [attempt.step for attempt in attempts] == recorder.tried
    missed = [step for step in steps if step not in recorder.tried]
    failed = [attempt.step for attempt in attempts if attempt.outcome is not AttemptOutcome.DONE] + missed
    for step in steps:
        before = (other for other in failed if other.stage < step.stage)
        left = [other for other in before if termination_causes(other.action) & termination_causes(step.action)]
        if step.stage is StepStage.CAUSE and left:
            assert step in missed
    assert all(step.stage is StepStage.CAUSE for step in missed)


@pytest.mark.parametrize("failing", [set(), {0}, {1}])
def test_pl021_nothing_is_made_after_a_status_that_was_not_written(failing: set[int]) -> None:
    """A refused object of the foundation stops nothing; a status that had to come first stops what is made."""
    ref = Ref("grove.io/v1alpha1", "PodCliqueSet", "ml", "llm")
    nothing, guard = FrozenMap({}), Guard("uid", "1")
    steps = (
        Step(StepStage.FOUNDATION, replace(ref, kind="ComputeDomain"), Create(nothing), ()),
        Step(StepStage.FOUNDATION, ref, SetStatus(nothing, guard), ()),
        Step(StepStage.WORKLOAD, replace(ref, kind="PodClique"), Create(nothing), ()),
        Step(StepStage.WORKLOAD, replace(ref, kind="PodGang"), Apply(nothing, guard), ()),
    )
    recorder = Recorder(failing)
    execute_steps_sequentially(recorder.attempt_step, steps)
    assert recorder.tried == [step for step in steps if failing != {1} or step.target.kind != "PodClique"]


@pytest.mark.parametrize("failing", [set(), {0}])
def test_pl036_an_update_does_not_end_while_a_pod_of_it_was_not_deleted(failing: set[int]) -> None:
    pod, guard = Ref("v1", "Pod", "ml", "llm-0-a-x7k2p"), Guard("uid", "1")
    clique, other = (Ref("grove.io/v1alpha1", "PodClique", "ml", name) for name in ("llm-0-a", "llm-0-b"))
    began = {"updateStartedAt": "2026-11-20T08:59:00Z"}
    whole = frozen({"updateProgress": {**began, "updateEndedAt": "2026-11-20T09:00:00Z"}, "readyReplicas": 2})
    steps = (
        Step(StepStage.WORKLOAD, pod, Delete(guard), ()),
        Step(StepStage.STATUS, clique, SetStatus(whole, guard), ()),
        Step(StepStage.STATUS, other, SetStatus(whole, guard), ()),
        Step(StepStage.STATUS, clique, SetStatus(FrozenMap({"readyReplicas": 3}), guard), ()),
        Step(StepStage.STATUS, clique, DropFinalizer("x", guard), ()),
    )
    recorder = Recorder(failing)
    execute_steps_sequentially(recorder.attempt_step, steps)
    reduced = replace(steps[1], action=SetStatus(frozen({"updateProgress": began, "readyReplicas": 2}), guard))
    assert recorder.tried == ([steps[0], reduced, *steps[2:]] if failing else list(steps))


def shared_claim(step: Step) -> str:
    """The claim that a PodClique is made with; empty for any other step."""
    if step.target.kind != "PodClique" or not isinstance(step.action, Create):
        return ""
    spec = step.action.manifest["spec"]
    assert isinstance(spec, FrozenMap)
    pod_spec = spec["podSpec"]
    assert isinstance(pod_spec, FrozenMap)
    claim = shared_claim_entry(pod_spec)
    return str(claim["resourceClaimName"]) if claim is not None else ""


@given(
    st.sets(st.integers(min_value=0, max_value=2 * REPLICAS - 1)),
    st.sampled_from([AttemptOutcome.REFUSED, AttemptOutcome.CONFLICT, AttemptOutcome.UNREACHABLE]),
    st.booleans(),
)
def test_pl016_nothing_is_made_on_what_could_not_be_ensured(
    failing: set[int], outcome: AttemptOutcome, at_once: bool
) -> None:
    """An object that shares an existing domain is made all the same, and so is one that shares nothing."""
    apart = {**clique_raw("router"), "annotations": {"grove.io/mnnvl-enabled": "false"}}
    raw = set_raw(clique_raw("worker"), apart, replicas=REPLICAS)
    raw["metadata"]["annotations"] = {"grove.io/mnnvl-enabled": "true"}
    steps = reconcile(replace(applied(raw), configuration=SCOPED)).steps
    ensured = [step for step in steps if isinstance(step.action, Ensure)]
    assert len(ensured) == 2 * REPLICAS
    lost = {ensured[place].target for place in failing}
    tried: list[Step] = []

    def answer(step: Step) -> Attempt:
        tried.append(step)
        return Attempt(step, outcome if step.target in lost else AttemptOutcome.DONE)

    class Recording:
        def attempt_step(self, step: Step) -> Attempt:
            return answer(step)

    async def answer_at_once(step: Step) -> Attempt:
        return answer(step)

    attempts = (
        asyncio.run(execute_steps_concurrently(answer_at_once, steps))
        if at_once
        else execute_steps_sequentially(Recording().attempt_step, steps)
    )
    there = {attempt.step.target.name for attempt in attempts if attempt.outcome is AttemptOutcome.DONE}
    made = {step.target.name for step in tried if step.target.kind == "PodClique"}
    assert {f"llm-{replica}-router" for replica in range(REPLICAS)} <= made
    for replica in range(REPLICAS):
        stem = f"llm-{replica}"
        assert (f"{stem}-worker" in made) == ({f"{stem}-cd", f"{stem}-mnnvl-claim"} <= there)
    assert {claim for step in tried if (claim := shared_claim(step))} <= there
