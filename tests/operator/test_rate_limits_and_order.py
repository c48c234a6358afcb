"""The rate limiter, the order of writes, and the configuration."""

import asyncio
from collections.abc import Sequence
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grove_core.kernel.conditions import Condition, ConditionStatus
from grove_core.kernel.steps import Attempt, AttemptOutcome, Create, Step, StepStage, termination_causes
from grove_core.kernel.structs import replace
from grove_core.reconcile import reconcile
from grove_core.resources.api_names import DOMAIN_KIND, DOMAINS_READY
from grove_core.resources.configuration import Configuration, MnnvlConfiguration
from grove_core.resources.domains_ready_condition import REASON, DomainCreationFailure
from grove_core.testing import RandomCluster, clusters
from grove_shell.apply.execute_concurrently import execute_steps_concurrently
from grove_shell.client.rate_limiter import RateLimiter
from grove_shell.settings.operator_settings import OperatorSettings, parse_operator_settings
from tests.property.workload.sets import applied, at_rest, clique_raw, set_raw

SOUND: Final = {"apiVersion": "operator.config.grove.io/v1alpha1", "kind": "OperatorConfiguration"}


class Clock:
    """A clock that sleeping moves."""

    def __init__(self) -> None:
        self.now = 0.0
        self.slept: list[float] = []

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds


@given(st.floats(0.5, 500), st.integers(1, 50), st.integers(1, 200))
def test_op065_a_bucket_lets_through_a_burst_and_then_its_rate(rate: float, burst: int, requests: int) -> None:
    clock = Clock()
    bucket = RateLimiter(rate, burst, clock=lambda: clock.now, sleep=clock.sleep)

    async def take_all() -> None:
        for _ in range(requests):
            await bucket.take_token()

    asyncio.run(take_all())
    assert clock.now == pytest.approx(max(0, requests - burst) / rate)


def tried(steps: Sequence[Step], failing: set[int]) -> tuple[list[Step], tuple[Attempt, ...]]:
    """Try steps side by side, in an order of the event loop's own; those of some numbers fail."""
    order: list[Step] = []

    async def attempt(step: Step) -> Attempt:
        number = len(order)
        order.append(step)
        await asyncio.sleep(0)
        return Attempt(step, AttemptOutcome.CONFLICT if number in failing else AttemptOutcome.DONE)

    return order, asyncio.run(execute_steps_concurrently(attempt, steps))


@given(clusters(), st.sets(st.integers(0, 6)))
def test_pl014_a_cause_outlives_its_companions_side_by_side_too(generated: RandomCluster, failing: set[int]) -> None:
    steps = reconcile(generated.snapshot).steps
    order, attempts = tried(steps, failing)
    assert [attempt.step for attempt in attempts] == order
    assert [step.stage for step in order] == sorted(step.stage for step in order)
    failed = {attempt.step.target for attempt in attempts if attempt.outcome is not AttemptOutcome.DONE}
    for place, step in enumerate(order):
        before = [other for other in order[:place] if other.target in failed]
        assert step.stage is not StepStage.CAUSE or not any(
            termination_causes(o.action) & termination_causes(step.action) for o in before
        )


@pytest.mark.parametrize(("refused", "expected"), [(None, 100), (0, 1), (2, 3), (3, 7), (40, 63)])
def test_op015_creations_start_slowly(refused: int | None, expected: int) -> None:
    """One, two, four ...: the group in which one is refused is the last of its kind; other kinds go on."""
    start = applied(set_raw(clique_raw("a", 1), replicas=100))
    steps = [step for step in reconcile(start).steps if isinstance(step.action, Create)]
    of_kind = [step for step in steps if step.target.kind == "PodClique"]
    assert len(of_kind) == 100
    seen: list[Step] = []

    async def attempt(step: Step) -> Attempt:
        if step.target.kind == "PodClique":
            seen.append(step)
            if len(seen) - 1 == refused:
                return Attempt(step, AttemptOutcome.REFUSED, "exceeded quota")
        return Attempt(step, AttemptOutcome.DONE)

    attempts = asyncio.run(execute_steps_concurrently(attempt, steps))
    assert len(seen) == expected
    assert len({attempt.step.target for attempt in attempts if attempt.step.target.kind == "Service"}) == 100


@pytest.mark.parametrize("refused", [0, 2, 40])
def test_op015_domains_that_replicas_wait_for_are_all_tried(refused: int) -> None:
    """One refusal is no response for the others; abandoned retries start slowly as everything else."""
    configured = Configuration(mnnvl=MnnvlConfiguration(enabled=True))
    resources = {"limits": {"nvidia.com/gpu": 1}}
    pod_spec = {"containers": [{"name": "main", "resources": resources}]}
    start = replace(applied(set_raw(clique_raw("a", 1, pod_spec=pod_spec), replicas=100)), configuration=configured)
    answers: list[Attempt] = []

    async def attempt(step: Step) -> Attempt:
        if step.target.kind != DOMAIN_KIND:
            return Attempt(step, AttemptOutcome.DONE)
        answers.append(
            Attempt(step, AttemptOutcome.REFUSED if len(answers) >= refused else AttemptOutcome.DONE, "quota")
        )
        return answers[-1]

    asyncio.run(execute_steps_concurrently(attempt, reconcile(start).steps))
    assert len(answers) == 100

    answers.clear()
    refused = 0
    failure = DomainCreationFailure(tuple(range(100)), "quota")
    failed = Condition(DOMAINS_READY, ConditionStatus.FALSE, REASON, failure.condition_message, start.now)
    there = at_rest(replace(start, configuration=Configuration()))
    root = replace(there.root, status=replace(there.root.status, conditions=(failed,)))
    asyncio.run(
        execute_steps_concurrently(attempt, reconcile(replace(there, root=root, configuration=configured)).steps)
    )
    assert len(answers) == 1


def test_in030_everything_has_a_default() -> None:
    assert parse_operator_settings(SOUND) == (OperatorSettings(), ())
    assert parse_operator_settings({}) == (OperatorSettings(), ())
    written = {**SOUND, "leaderElection": {"leaseDuration": "30s"}, "client": {"qps": 50.0}, "workers": 4}
    settings, problems = parse_operator_settings(written)
    assert problems == ()
    assert (settings.leader_election.lease_duration, settings.client.qps, settings.workers) == (30, 50, 4)


def test_in030_five_mistakes_are_five_problems() -> None:
    wrong: dict[str, Any] = {
        **SOUND,
        "workers": 0,
        "rules": "mine",
        "leaderElection": {"leaseDuration": 15, "retryPeriod": "fortnight"},
        "client": {"speed": 3},
    }
    settings, problems = parse_operator_settings(wrong)
    assert settings == OperatorSettings()
    assert {problem.path for problem in problems} == {
        "workers",
        "rules",
        "leaderElection.leaseDuration",
        "leaderElection.retryPeriod",
        "client.speed",
    }
    assert all(problem.expected and problem.got for problem in problems)


@pytest.mark.parametrize(("name", "namespace"), [("a/b", "Grove"), ("", "a.b"), ("x" * 254, "a b")])
def test_in030_names_that_no_server_takes_are_mistakes(name: str, namespace: str) -> None:
    _, problems = parse_operator_settings({"leaderElection": {"name": name, "namespace": namespace}})
    assert [problem.path for problem in problems] == ["leaderElection.name", "leaderElection.namespace"]
    assert parse_operator_settings({"leaderElection": {"name": "a.b", "namespace": "grove-1"}})[1] == ()


def test_in030_a_lease_that_runs_out_before_it_is_renewed_is_a_mistake() -> None:
    _, problems = parse_operator_settings({**SOUND, "leaderElection": {"leaseDuration": "5s"}})
    assert [problem.path for problem in problems] == ["leaderElection"]
