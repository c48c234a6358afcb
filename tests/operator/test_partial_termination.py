"""A termination that has begun continues although it removes its own cause, and stops where its gang recovers."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, tzinfo
from functools import partial
from typing import Any, Final, Self

import pytest

from grove_core.kernel.steps import Attempt, AttemptOutcome, Delete, Step
from grove_core.plan.plan import Plan
from grove_core.rule_sets.rule_set_by_name import rule_set
from grove_shell.apply.planned_round import plan_for_root
from grove_shell.cache.cache_view import Observation
from grove_shell.operator import reconcile_loop
from grove_shell.operator.reconcile_loop import ReconcileLoop
from tests.operator.test_step_recheck import GIVEN, Cluster, Hearer, ends
from tests.skipped_time import run_skipping_time

NAME: Final = "gt052_waiting_replica_counts_against_the_threshold"


class Dying(Cluster):
    """Three replicas of a scaling group, of which two are needed, breached at different times: all of them go last."""

    SINCE: Final = {"0": "2026-11-20T04:59:00Z", "1": "2026-11-20T08:58:00Z", "2": "2026-11-20T12:50:00Z"}
    NOW: Final = datetime(2026, 11, 20, 13, 0, 5, tzinfo=UTC)

    def __init__(self) -> None:
        super().__init__(
            "never", GIVEN.parents[1] / "gt052_waiting_replica_counts_against_the_threshold" / "given.yaml"
        )
        for replica, since in self.SINCE.items():
            self._breach("PodClique", f"ml-0-pool-{replica}-pf", since)
        self._breach("PodCliqueScalingGroup", "ml-0-pool", self.SINCE["1"])

    def _breach(self, kind: str, name: str, since: str) -> None:
        (item,) = (one for one in self.items if (one["kind"], one["metadata"]["name"]) == (kind, name))
        item["metadata"]["resourceVersion"] = "88888888"
        item["status"]["readyReplicas"] = 0
        condition = {
            "type": "MinAvailableBreached",
            "status": "True",
            "reason": "InsufficientReadyPods",
            "message": "x",
        }
        others = [one for one in item["status"].get("conditions", ()) if one["type"] != condition["type"]]
        item["status"]["conditions"] = [*others, {**condition, "lastTransitionTime": since}]
        self.cache.put(kind, item)
        for pod in (one for one in self.items if one["kind"] == "Pod"):
            if any(owner["name"] == name for owner in pod["metadata"].get("ownerReferences", ())):
                pod["metadata"]["resourceVersion"] = "88888888"
                pod["status"]["conditions"] = [
                    {"type": "PodScheduled", "status": "True"},
                    {"type": "Ready", "status": "False"},
                ]
                self.cache.put("Pod", pod)

    def step_executor(
        self, unless: Callable[[Step], str | None] = lambda _step: None
    ) -> Callable[[Step], Awaitable[Attempt]]:
        async def attempt(step: Step) -> Attempt:
            if not isinstance(step.action, Delete):
                return Attempt(step, AttemptOutcome.DONE)
            await asyncio.sleep(1)  # longer than any judgement is good for
            words = unless(step)
            if words is not None:
                return Attempt(step, AttemptOutcome.CONFLICT, words)
            ref = step.target
            gone = {"namespace": ref.namespace, "name": ref.name, "uid": step.action.guard.uid}
            self.cache.drop(ref.kind, {"metadata": gone})
            if self.recovers == ref.name:
                self.recover()
            if self.recovers == f"most after {ref.name}":
                self.recover("ml-0-pool-0-pf", "ml-0-pool-1-pf")
            if self.recovers == f"ml-0-pool-1-pf after {ref.name}":
                self.recover("ml-0-pool-1-pf")
            return Attempt(step, AttemptOutcome.DONE)

        return attempt


@pytest.mark.req("GT-063")
def test_op074_an_end_that_has_begun_takes_away_its_own_reason_and_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    """With the first two the group is breached no more, and the delay of the third would not be over."""
    found = played_at(Dying(), monkeypatch)
    assert [name for name, (outcome, _) in found.items() if outcome is AttemptOutcome.DONE] == [
        "ml-0-router",
        "ml-0-pool-0-pf",
        "ml-0-pool-1-pf",
        "ml-0-pool-2-pf",
    ]


def test_op074_a_clique_that_recovers_after_an_end_has_begun_is_spared_all_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    cluster = Dying()
    cluster.recovers = "ml-0-router"
    found = played_at(cluster, monkeypatch)
    assert [name for name, (outcome, _) in found.items() if outcome is AttemptOutcome.DONE] == ["ml-0-router"]


def test_op074_a_group_that_recovers_to_its_minimum_is_spared_despite_other_breaches(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Two of three come up, and two are needed, when only a companion was deleted."""
    cluster = Dying()
    cluster.recovers = "most after ml-0-router"
    found = played_at(cluster, monkeypatch)
    assert [name for name, (outcome, _) in found.items() if outcome is AttemptOutcome.DONE] == ["ml-0-router"]


def test_op074_a_gang_of_which_too_few_recover_ends_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    """The second one comes up when the first is gone: with that one counted as it was, two of three are breached."""
    cluster = Dying()
    cluster.recovers = "ml-0-pool-1-pf after ml-0-pool-0-pf"
    found = played_at(cluster, monkeypatch)
    assert len(found) == 4
    assert {outcome for outcome, _ in found.values()} == {AttemptOutcome.DONE}


@pytest.mark.parametrize("finalizers", [True, False])
@pytest.mark.parametrize("rules", ["design", "field", "field@v0.1.0-alpha.11"])
@pytest.mark.parametrize(
    "name", ["gt033_disaggregated_5_whole_replica_goes", "gt033_delay_expired_terminates_whole_replica"]
)
def test_op074_by_whatever_rules_nothing_is_left_of_what_ends(
    name: str, rules: str, *, finalizers: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By the field's a replica without one of its cliques is passed over, so each deletion is a reason less."""
    cluster = Cluster("never", GIVEN.parents[1] / name / "given.yaml")
    decide = partial(plan_for_root, rules=rule_set(rules))
    tried = list[str]()

    def executor(
        unless: Callable[[Step], str | None] = lambda _step: None,
    ) -> Callable[[Step], Awaitable[Attempt]]:
        async def attempt(step: Step) -> Attempt:
            if isinstance(step.action, Delete):
                await asyncio.sleep(1)
                tried.append(step.target.name)
                if words := unless(step):
                    return Attempt(step, AttemptOutcome.CONFLICT, words)
                (raw,) = (
                    one
                    for one in cluster.items
                    if (one["kind"], one["metadata"]["name"]) == (step.target.kind, tried[-1])
                )
                leaving = {"deletionTimestamp": "2026-11-20T13:00:00Z", "resourceVersion": "99999999"}
                gone = {**raw, "metadata": {**raw["metadata"], **leaving}}
                (cluster.cache.put if finalizers else cluster.cache.drop)(step.target.kind, gone)
            return Attempt(step, AttemptOutcome.DONE)

        return attempt

    monkeypatch.setattr(cluster, "step_executor", executor)
    found = played_at(cluster, monkeypatch, decide)
    assert len(tried) > 2
    assert {outcome for outcome, _ in found.values()} == {AttemptOutcome.DONE}


@pytest.mark.req("GT-066")
@pytest.mark.parametrize("outcome", [AttemptOutcome.REFUSED, AttemptOutcome.UNREACHABLE, AttemptOutcome.CONFLICT])
@pytest.mark.parametrize("fails", ["ml-0-router", "ml-0-pool-0-pf", "ml-0-pool-1-pf", "ml-0-pool-2-pf"])
def test_gt063_an_end_of_which_a_deletion_failed_goes_on_at_the_next_round(
    fails: str, outcome: AttemptOutcome, monkeypatch: pytest.MonkeyPatch
) -> None:
    cluster = Dying()
    executor, gone, failed = cluster.step_executor, list[str](), list[str]()

    def failing(unless: Callable[[Step], str | None] = lambda _step: None) -> Callable[[Step], Awaitable[Attempt]]:
        attempt = executor(unless)

        async def once(step: Step) -> Attempt:
            if isinstance(step.action, Delete) and step.target.name == fails and not failed:
                failed.append(fails)
                return Attempt(step, outcome, "just now")
            answer = await attempt(step)
            if isinstance(step.action, Delete) and answer.outcome is AttemptOutcome.DONE:
                gone.append(step.target.name)
            return answer

        return once

    monkeypatch.setattr(cluster, "step_executor", failing)
    played_at(cluster, monkeypatch, seconds=20)
    assert failed
    assert sorted(gone) == ["ml-0-pool-0-pf", "ml-0-pool-1-pf", "ml-0-pool-2-pf", "ml-0-router"]


def played_at(
    cluster: Cluster,
    monkeypatch: pytest.MonkeyPatch,
    decide: Callable[[Observation], Plan] = plan_for_root,
    seconds: float = 0,
) -> dict[str, Any]:
    """What the first round ended at that moment, on a clock that skips what is waited for; and so long after it."""

    class Clock(datetime):
        @classmethod
        def now(cls, tz: tzinfo | None = None) -> Self:
            return cls.fromtimestamp(Dying.NOW.timestamp(), tz)

    monkeypatch.setattr(reconcile_loop, "datetime", Clock)
    hearer = Hearer()

    async def scenario() -> None:
        rounds = ReconcileLoop(cache=cluster.cache, writer=cluster, decide=decide, listeners=(hearer,))
        rounds.start()
        await asyncio.wait_for(hearer.heard.wait(), 600)
        await asyncio.sleep(seconds)
        await rounds.close()

    run_skipping_time(scenario())
    return ends(hearer.attempts)
