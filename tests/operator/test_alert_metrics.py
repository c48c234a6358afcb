"""Metrics that alerts need: refused writes, the last termination of a set, times of requests."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final

import pytest
from aiohttp import web

from grove_core.kernel.steps import Attempt, AttemptOutcome, Step
from grove_core.rule_sets.rule_set import DESIGN
from grove_core.snapshot.snapshot import Snapshot
from grove_shell.apply.planned_round import plan_for_root
from grove_shell.cache.cluster_cache import ClusterCache
from grove_shell.cache.root_keys import RootKey
from grove_shell.client.api_session import NoServerResponse, WatchRefused
from grove_shell.operator.metrics import OperatorMetrics
from grove_shell.operator.prediction_check import DeletionPredictionChecker
from grove_shell.operator.reconcile_loop import ReconcileLoop
from tests.operator.set_planner import ROOT_KEY
from tests.operator.stub_server import api_with
from tests.operator.test_observer import at_rest, later, look, unready
from tests.operator.test_operator_metrics import HOME, ends, plan_round
from tests.property.workload.sets import clique_raw, set_raw
from tests.skipped_time import run_skipping_time

GANG_LEVELS: Final = ("PodCliqueSet", "PodCliqueScalingGroup")
OUTCOMES: Final = ("predicted", "takenBack", "asPredicted", "otherwise", "notPredicted")
HOUR: Final = 3600


def value(metrics: OperatorMetrics, name: str, **labels: str) -> float | None:
    return metrics.registry.get_sample_value(name, labels)


def test_al004_the_first_termination_is_an_increase() -> None:
    """A counter that appears with 1 has no increase: Prometheus takes its first value as the beginning."""
    fresh = OperatorMetrics()
    for level in GANG_LEVELS:
        assert value(fresh, "grove_gang_terminations_total", level=level, rule="DelayExpired") == 0
    planned_round = plan_round("gt033_delay_expired_terminates_whole_replica")
    fresh.on_steps_executed(planned_round, ends(planned_round))
    names = {
        sample.labels["level"]
        for metric in fresh.registry.collect()
        for sample in metric.samples
        if "rule" in sample.labels
    }
    assert names == set(GANG_LEVELS), "and no level is counted that did not begin with 0"


@pytest.mark.parametrize("rules", ["design", "field"])
def test_al004_the_last_termination_of_a_set_has_its_time(rules: str) -> None:
    name = "grove_gang_termination_timestamp_seconds"
    metrics, planned_round = OperatorMetrics(), plan_round("gt033_delay_expired_terminates_whole_replica", rules)
    metrics.on_round_planned(planned_round)
    assert value(metrics, name, namespace="ml", set="ml") == 0
    metrics.on_steps_executed(planned_round, ends(planned_round, AttemptOutcome.REFUSED))
    assert value(metrics, name, namespace="ml", set="ml") == 0
    metrics.on_steps_executed(planned_round, ends(planned_round))
    assert value(metrics, name, namespace="ml", set="ml") == planned_round.observation.now.timestamp()
    metrics.on_root_deleted(HOME)
    assert value(metrics, name, namespace="ml", set="ml") is None


@pytest.mark.req("OP-035")
def test_al004_an_observer_has_the_time_of_a_termination_that_it_predicted() -> None:
    """Not of one that no plan predicted, such as the deletion by a user, which fires another alert."""
    name = "grove_gang_termination_timestamp_seconds"

    def seen_by_an_observer(*snapshots: Snapshot) -> float | None:
        metrics = OperatorMetrics()
        checker = DeletionPredictionChecker(
            lambda _level, _message, **_fields: None, DESIGN, on_termination=metrics.set_last_termination
        )
        for snapshot in snapshots:
            planned_round = look(snapshot)
            for listener in (metrics, checker):
                listener.on_round_planned(planned_round)
        return value(metrics, name, namespace="ml", set="llm")

    seen = at_rest()
    broken = unready(seen, "llm-0-b")
    over = later(broken, 60.4, "llm-0-a", "llm-0-b")
    assert seen_by_an_observer(broken, later(broken, 30)) == 0
    assert seen_by_an_observer(broken, later(broken, 30), over) == over.now.timestamp()
    assert seen_by_an_observer(seen, later(seen, 5, "llm-0-a", "llm-0-b")) == 0


def test_al006_the_first_wrong_prediction_is_an_increase() -> None:
    fresh = OperatorMetrics()
    assert [value(fresh, "grove_predictions_total", outcome=outcome) for outcome in OUTCOMES] == [0.0] * len(OUTCOMES)


class Refusing:
    """An API server that refuses to create some objects; the rest is done, and seen by no cache."""

    def __init__(self) -> None:
        self.refused: set[str] = set()
        self.tries = 0

    def step_executor(
        self, unless: Callable[[Step], str | None] = lambda _step: None
    ) -> Callable[[Step], Awaitable[Attempt]]:
        return self._attempt

    async def _attempt(self, step: Step) -> Attempt:
        await asyncio.sleep(0.01)
        if step.target.name not in self.refused:
            return Attempt(step, AttemptOutcome.DONE)
        self.tries += 1
        return Attempt(step, AttemptOutcome.REFUSED, "exceeded quota")

    async def relist_set(self, root_key: RootKey) -> None:
        raise AssertionError("nothing is terminated")


def a_set(*names: str, version: str = "1") -> dict[str, object]:
    raw = set_raw(*map(clique_raw, names))
    raw["metadata"] |= {"name": "llama", "namespace": "ml", "uid": "u", "resourceVersion": version}
    return raw


@pytest.mark.req("PL-012")
def test_al005_a_write_counts_from_its_refusal_until_it_succeeds_or_is_no_longer_planned() -> None:
    """For ten minutes the server refuses; at no moment is the gauge lower, not while it is tried again either."""

    async def scenario() -> tuple[set[float | None], list[float | None], int]:
        cache, server, metrics = ClusterCache(), Refusing(), OperatorMetrics()
        loop = ReconcileLoop(cache=cache, writer=server, decide=plan_for_root, listeners=(metrics,))
        server.refused = {"llama-0-first", "llama-0-second"}

        def shown() -> float | None:
            return value(metrics, "grove_refused_writes", namespace="ml", set="llama")

        async def settled() -> float | None:
            await asyncio.sleep(300)
            return shown()

        cache.put("PodCliqueSet", a_set("first", "second"))
        loop.start()
        loop.enqueue(ROOT_KEY)
        await asyncio.sleep(60)
        throughout = set[float | None]()
        for _ in range(3_000):
            throughout.add(shown())
            await asyncio.sleep(0.2)
        tries, later = server.tries, []
        server.refused = {"llama-0-second"}
        later.append(await settled())
        cache.put("PodCliqueSet", a_set("first", version="2"))
        loop.enqueue(ROOT_KEY)
        later.append(await settled())
        await loop.close()
        return throughout, later, tries

    throughout, (one_left, none_left), tries = run_skipping_time(scenario())
    assert tries > 20, "it was tried again and again"
    assert throughout == {2.0}
    assert (one_left, none_left) == (1.0, 0.0)


def test_al005_an_observer_has_no_refused_write() -> None:
    async def scenario() -> float | None:
        cache, metrics = ClusterCache(), OperatorMetrics()
        loop = ReconcileLoop(cache=cache, writer=None, decide=plan_for_root, listeners=(metrics,))
        cache.put("PodCliqueSet", a_set("first"))
        loop.start()
        loop.enqueue(ROOT_KEY)
        await asyncio.sleep(HOUR)
        await loop.close()
        return value(metrics, "grove_refused_writes", namespace="ml", set="llama")

    assert run_skipping_time(scenario()) == 0


def test_al009_a_request_has_its_time_and_a_watch_has_none() -> None:
    """Answered, refused, or without a response."""

    async def answer(request: web.Request) -> web.Response:
        await asyncio.sleep(0.05)
        if request.path == "/cut":
            assert request.transport is not None
            request.transport.close()
        return web.json_response({}, status=403 if request.path == "/no" else 200)

    async def scenario(metrics: OperatorMetrics) -> None:
        async with api_with(answer, observer=metrics.count_request) as api:
            await api.request("GET", "/yes")
            await api.request("PATCH", "/no", body={})
            with pytest.raises(NoServerResponse):
                await api.request("DELETE", "/cut")
            for path in ("/yes", "/no"):
                try:
                    async for _ in api.stream_lines(path, {"watch": "1"}):
                        pass
                except WatchRefused:
                    assert path == "/no"

    metrics = OperatorMetrics()
    asyncio.run(scenario(metrics))
    for verb, code in (("GET", "200"), ("PATCH", "403"), ("DELETE", "<error>")):
        assert value(metrics, "rest_client_request_duration_seconds_count", verb=verb) == 1
        seconds = value(metrics, "rest_client_request_duration_seconds_sum", verb=verb)
        assert seconds is not None
        assert 0.05 <= seconds < 5
        watches = {"GET": 1}.get(verb, 0)
        assert value(metrics, "rest_client_requests_total", code=code, method=verb) == 1 + watches
