"""When rounds begin and end, how long a set rests, and what is kept of a deleted one."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from itertools import pairwise
from typing import Any

import pytest

from grove_core.kernel.steps import Attempt, Delete, Step
from grove_core.plan.plan import Plan
from grove_shell.apply.planned_round import PlannedReconcileRound, ReconcileRoundListener, plan_for_root
from grove_shell.cache.cache_view import Observation
from grove_shell.cache.cluster_cache import ClusterCache
from grove_shell.cache.root_keys import RootKey, topology_cache_key
from grove_shell.client.api_session import NoServerResponse
from grove_shell.operator.metrics import OperatorMetrics
from grove_shell.operator.reconcile_loop import ReconcileLoop
from tests.operator.cached_objects import NAMESPACE, a_set
from tests.operator.test_step_recheck import Cluster
from tests.skipped_time import now, run_skipping_time

Json = dict[str, Any]


def stored(name: str, version: str = "1") -> Json:
    raw = a_set(name, f"uid of {name}")
    raw["metadata"] |= {"namespace": NAMESPACE, "resourceVersion": version}
    return raw


class RoundRecorder(ReconcileRoundListener):
    """Records the reconciled roots with their times, and the roots reported as gone."""

    def __init__(self) -> None:
        self.at: list[tuple[float, RootKey]] = []
        self.gone_are: list[RootKey] = []

    def on_round_planned(self, planned_round: PlannedReconcileRound) -> None:
        self.at.append((now(), planned_round.root_key))

    def on_root_deleted(self, root_key: RootKey) -> None:
        self.gone_are.append(root_key)


def test_op030_a_thousand_sets_come_and_go_before_it_leads() -> None:
    async def scenario() -> tuple[int, int, RoundRecorder]:
        recorder, cache = RoundRecorder(), ClusterCache()
        rounds = ReconcileLoop(cache=cache, writer=None, decide=plan_for_root, listeners=(recorder,))
        cache.changed = rounds.enqueue
        for number in range(1000):
            cache.put("PodCliqueSet", stored(f"s{number}"))
            if number >= 3:
                cache.drop("PodCliqueSet", stored(f"s{number}", "2"))
        await asyncio.sleep(1)
        waiting, depth = len(asyncio.all_tasks()), rounds.queue_depth
        assert not recorder.at
        rounds.start()
        await asyncio.sleep(1)
        await rounds.close()
        return waiting, depth, recorder

    waiting, depth, recorder = run_skipping_time(scenario())
    assert (waiting, depth) == (1, 0), "only the scenario itself"
    assert {root_key for _, root_key in recorder.at} == {(NAMESPACE, f"s{number}") for number in range(3)}


def test_op030_topologies_are_looked_at_too_where_they_are_looked_after() -> None:
    cache = ClusterCache()
    level = {"domain": "rack", "key": "example.com/rack"}
    raw = {"metadata": {"name": "t", "uid": "t", "resourceVersion": "1"}, "spec": {"levels": [level]}}
    cache.put("ClusterTopology", raw)
    cache.put("PodCliqueSet", stored("s"))
    assert set(cache.root_keys()) == {(NAMESPACE, "s"), topology_cache_key("t")}
    cache.topologies.kept = False
    assert cache.root_keys() == [(NAMESPACE, "s")]


def test_op030_a_former_leader_begins_no_write() -> None:
    async def scenario() -> int:
        recorder, cache = RoundRecorder(), ClusterCache()
        rounds = ReconcileLoop(cache=cache, writer=None, decide=plan_for_root, listeners=(recorder,))
        cache.changed = rounds.enqueue
        rounds.start()
        cache.put("PodCliqueSet", stored("s"))
        rounds.pause()
        await asyncio.sleep(1)
        await rounds.close()
        return len(recorder.at)

    assert run_skipping_time(scenario()) == 0


class SlowServer(Cluster):
    """Takes ten seconds to tell all of a set, and has every step done."""

    async def relist_set(self, _home: RootKey) -> None:
        await asyncio.sleep(10)


@pytest.mark.req("OP-013")
def test_op020_what_the_server_takes_is_no_thought() -> None:
    async def scenario() -> list[float]:
        cluster, recorder = SlowServer("never"), RoundRecorder()
        rounds = ReconcileLoop(cache=cluster.cache, writer=cluster, decide=plan_for_root, listeners=(recorder,))
        rounds.start()
        await asyncio.sleep(10.5)
        rounds.enqueue(cluster.root_key)
        await asyncio.sleep(15)
        await rounds.close()
        return [at for at, _ in recorder.at]

    first, second = run_skipping_time(scenario())
    assert first == pytest.approx(10)
    assert second == pytest.approx(20.5), "it ends the gang again, and asks for that; it rests no 40 seconds"


@pytest.mark.req("OP-020")
def test_op033_no_rest_is_waited_for_at_the_end() -> None:
    """It rests four times as long as it was thought about."""
    thought = 0.3

    def decide(seen: Observation) -> Plan:
        time.sleep(thought)
        return plan_for_root(seen)

    async def scenario() -> tuple[float, int]:
        recorder, cache = RoundRecorder(), ClusterCache()
        rounds = ReconcileLoop(cache=cache, writer=None, decide=decide, listeners=(recorder,))
        cache.changed = rounds.enqueue
        rounds.start()
        cache.put("PodCliqueSet", stored("s"))
        await asyncio.sleep(thought / 3)  # in which it is thought about: there is one thread
        cache.put("PodCliqueSet", stored("s", "2"))
        began = now()
        await rounds.close()
        return now() - began, len(recorder.at)

    took, recorder = asyncio.run(scenario())
    assert recorder == 1
    assert took < 2 * thought


class Deaf(ReconcileRoundListener):
    """A listener that fails."""

    def on_round_planned(self, planned_round: PlannedReconcileRound) -> None:
        raise OSError("no space left on device")

    def on_round_failed(self, root_key: RootKey, words: str) -> None:
        raise OSError("no space left on device")


def test_op023_a_failed_metrics_update_keeps_no_set_from_being_requeued() -> None:
    async def scenario() -> int:
        recorder, cache = RoundRecorder(), ClusterCache()
        asyncio.get_running_loop().set_exception_handler(lambda _loop, _about: None)
        rounds = ReconcileLoop(cache=cache, writer=None, decide=plan_for_root, listeners=(recorder, Deaf()))
        rounds.start()
        cache.put("PodCliqueSet", stored("s"))
        rounds.enqueue((NAMESPACE, "s"))
        await asyncio.sleep(10)
        await rounds.close()
        return len(recorder.at)

    assert run_skipping_time(scenario()) > 2


class Done(Cluster):
    """Writes nothing and waits for nothing."""

    def step_executor(
        self, unless: Callable[[Step], str | None] = lambda _step: None
    ) -> Callable[[Step], Awaitable[Attempt]]:
        raise AssertionError("of a set that is gone nothing is written")


def test_op041_a_deleted_set_is_not_reported_though_its_parts_stay() -> None:
    """The set was deleted and its PodCliques orphaned, whose breach is never ended."""
    telemetry = OperatorMetrics()

    def reported() -> set[str]:
        lines = telemetry.as_prometheus_text().decode().splitlines()
        return {line.partition("{")[0] for line in lines if 'namespace="' in line and 'set="' in line}

    async def scenario() -> tuple[set[str], set[str], list[RootKey]]:
        cluster, recorder = Done("never"), RoundRecorder()
        planned = ReconcileLoop(cache=cluster.cache, writer=None, decide=plan_for_root, listeners=(telemetry, recorder))
        cluster.cache.changed = planned.enqueue
        planned.start()
        await asyncio.sleep(1)
        before = reported()
        (raw,) = (one for one in cluster.items if one["kind"] == "PodCliqueSet")
        cluster.cache.drop("PodCliqueSet", raw)
        await asyncio.sleep(1)
        assert cluster.cache.has_anything_of_root(cluster.root_key)
        await planned.close()
        return before, reported(), recorder.gone_are

    before, after, gone = run_skipping_time(scenario())
    assert {"grove_breached", "grove_termination_deadline_timestamp_seconds"} <= before
    assert after == set()
    assert gone


def test_op041_deletions_of_a_lost_kind_are_unknown() -> None:
    cluster = Cluster("never")
    assert not cluster.cache.is_set_known_absent(cluster.root_key)
    cluster.cache.mark_kind_unlisted("PodCliqueSet", "forbidden")
    assert not cluster.cache.is_set_known_absent(cluster.root_key)
    cluster.cache.replace_all_of_kind("PodCliqueSet", [], "9")
    assert cluster.cache.is_set_known_absent(cluster.root_key)


class Away(Cluster):
    """A server that does not say what there is of a set."""

    def __init__(self) -> None:
        super().__init__("never")
        self.asked: list[float] = []

    async def relist_set(self, _home: RootKey) -> None:
        self.asked.append(now())
        await asyncio.sleep(0)
        raise NoServerResponse("away")


@pytest.mark.req("OP-023")
def test_op020_a_failed_request_also_backs_off() -> None:
    """The set changes all the time meanwhile."""
    cluster = Away()

    async def scenario() -> None:
        rounds = ReconcileLoop(cache=cluster.cache, writer=cluster, decide=plan_for_root)
        rounds.start()
        for _ in range(200):
            await asyncio.sleep(0.01)
            rounds.enqueue(cluster.root_key)
        await rounds.close()

    run_skipping_time(scenario())
    pauses = [later - sooner for sooner, later in pairwise(cluster.asked)]
    assert all(pause >= 0.25 for pause in pauses)
    assert len(pauses) > 1
    assert not [step for step in cluster.tried if isinstance(step.action, Delete)]
