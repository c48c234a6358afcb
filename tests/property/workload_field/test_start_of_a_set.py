"""The first five seconds of a set of the Go operator (WF-070)."""

from datetime import timedelta

import pytest

from grove_core.in_memory.forecasts import forecast_until_settled, forecasts_of_snapshots
from grove_core.in_memory.in_memory_cluster import InMemoryCluster
from grove_core.kernel.steps import Create
from grove_core.kernel.structs import replace
from grove_core.reconcile import reconcile
from grove_core.resources.owned_object import OwnedObject
from grove_core.rule_sets.go_operator import BY_RELEASE, NEWEST
from tests.property.workload.sets import NOW, applied
from tests.property.workload_field.healthy_sets import healthy, raw_set

FIVE = timedelta(seconds=5)


def test_wf070_the_first_clique_is_created_five_seconds_after_the_secret() -> None:
    (forecast,) = forecasts_of_snapshots([applied(raw_set())], NEWEST, limit=None, until=None)
    at = {
        step.target.kind: round_.at
        for round_ in reversed(forecast.rounds)
        for step in round_.steps
        if isinstance(step.action, Create)
    }
    assert at["Secret"] == at["Service"] == at["Role"] == NOW
    assert at["PodClique"] == at["PodCliqueScalingGroup"] == at["PodGang"] == at["Pod"] == NOW + FIVE


def test_wf070_a_set_that_has_its_secret_for_five_seconds_goes_on() -> None:
    start = applied(raw_set())
    world = InMemoryCluster((start,))
    forecast_until_settled(world, start, NEWEST, limit=1, until=None)
    seen = world.snapshot_of_set(start.root.ref, NOW + timedelta(seconds=2))
    assert seen is not None
    waiting = reconcile(seen, NEWEST)
    assert waiting.requeue_at == waiting.wake_at == NOW + FIVE
    assert not [step for step in waiting.steps if step.target.kind == "PodClique"]
    for later in (replace(seen, now=NOW + FIVE), replace(seen, others=_without_times(seen.others))):
        plan = reconcile(later, NEWEST)
        assert plan.requeue_at is None
        assert [step for step in plan.steps if step.target.kind == "PodClique"]


def _without_times(others: tuple[OwnedObject, ...]) -> tuple[OwnedObject, ...]:
    return tuple(replace(one, created_at=None) for one in others)


def test_wf070_a_set_with_cliques_or_of_which_secrets_are_not_known_does_not_wait() -> None:
    seen = healthy()
    without = replace(seen, others=tuple(one for one in seen.others if one.ref.kind != "Secret"))
    assert reconcile(without, NEWEST).requeue_at is None
    start = applied(raw_set())
    unknown = replace(start, complete=start.complete - {"Secret"})
    assert [step for step in reconcile(unknown, NEWEST).steps if step.target.kind == "PodClique"]


@pytest.mark.parametrize("release", ["v0.1.0-alpha.9", "v0.1.0-alpha.10", "v0.1.0-alpha.11"])
def test_wf070_earlier_releases_do_not_wait(release: str) -> None:
    plan = reconcile(applied(raw_set()), BY_RELEASE[release])
    assert plan.requeue_at is None
    assert {"PodClique", "Secret"} <= {step.target.kind for step in plan.steps if isinstance(step.action, Create)}
