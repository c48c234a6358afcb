"""The model: its decisions, its server, and what depends on the seed."""

from dataclasses import asdict
from functools import partial
from itertools import pairwise
from typing import Any

import pytest

from grove_core.areas.domain_cliques.daemon.registration_protocols import RegistrationProtocol
from grove_core.areas.domain_cliques.daemon.verdicts import RequestResultKind
from grove_core.kernel.structs import replace
from grove_shell.converge.model.convergence_model_run import ConvergenceModelRun
from grove_shell.converge.model.daemon_model import DomainDaemonModel
from grove_shell.converge.model.model_object_store import (
    CommittedObjectChange,
    DaemonEntryIndexAndReadiness,
    ModelNvlinkCliqueState,
    ModelObjectStore,
    ModelServerWatches,
)
from grove_shell.converge.model.model_run_context import (
    DOMAIN_NUMBER,
    DaemonActionWithoutRequest,
    ModelDaemonsAndRegistries,
    ModelRunContext,
    ModelWrite,
    ModelWriteResult,
    SimulatedProcessorCores,
    VirtualRateLimiter,
    daemons_and_registries_of,
    new_model_run_context,
)
from grove_shell.converge.model.server_costs import expected_watch_bytes
from grove_shell.converge.model.simulated_clients import SimulatedDomainDaemon
from grove_shell.converge.model.simulated_server import SimulatedApiServer
from grove_shell.converge.run_parameters_and_results import ConvergenceRunOutcome, ConvergenceRunParameters
from grove_shell.simulator.virtual_time import VirtualTimeQueue
from tests.property.convergence.full_model import FullParts, LoggedFastParts
from tests.property.convergence.points import PROTOCOLS, costs_with, drawn, expected_watch_events, point, run_of, slow

WORLDS = 48


@pytest.mark.parametrize("part", range(4))
def test_cv003_fast_and_full_models_lead_to_the_same_run(part: int) -> None:
    for seed in range(part * WORLDS // 4, (part + 1) * WORLDS // 4):
        one, costs = drawn(seed)
        quick, whole = LoggedFastParts(), FullParts()
        assert run_of(one, costs, quick) == run_of(one, costs, whole), seed
        assert quick.log == whole.log, seed


@pytest.mark.req("DC-026")
@pytest.mark.parametrize("seed", [44, 61, 63, 93, 177, 205, 208])
def test_cv003_same_run_when_started_daemons_move(seed: int) -> None:
    one, costs = slow(seed)
    quick, whole = LoggedFastParts(), FullParts()
    run = ConvergenceModelRun(one, costs, quick)
    assert run.run() == run_of(one, costs, whole)
    assert quick.log == whole.log
    assert max(worker.starts for worker in run.daemons) > 1


def test_cv003_compared_runs_cover_every_event() -> None:
    """What is compared is worth comparing: conflicts, lost comparisons, refusals, moves, and runs that do not end."""
    runs = [run_of(*drawn(seed)) for seed in range(WORLDS)]
    for name in ("conflicts", "cas_failures", "throttled", "timeouts", "repicks"):
        assert any(getattr(run, name) for run in runs), name
    assert {run.outcome for run in runs} == {ConvergenceRunOutcome.CONVERGED, ConvergenceRunOutcome.CENSORED}


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_cv002_runs_are_reproducible(protocol: RegistrationProtocol) -> None:
    first, again, other = (run_of(point(protocol, 36, seed=seed)) for seed in (3, 3, 4))
    assert asdict(first) == asdict(again)
    assert first.t_all_s != other.t_all_s


def test_cv002_same_arrivals_for_all_protocols() -> None:
    def workers(protocol: RegistrationProtocol) -> list[tuple[int, int]]:
        return [
            (worker.arrives_at, worker.ready_after)
            for worker in ConvergenceModelRun(point(protocol, 36, seed=5), costs_with()).daemons
        ]

    assert workers(RegistrationProtocol.RMW) == workers(RegistrationProtocol.SHARDED)
    assert len(set(workers(RegistrationProtocol.RMW))) == 36


class ServerFixture:
    """A simulated server without daemons, and the results of writes sent to it."""

    def __init__(self, one: ConvergenceRunParameters, **costs: Any) -> None:
        self.participants: ModelDaemonsAndRegistries = daemons_and_registries_of(one)
        self.context: ModelRunContext = new_model_run_context(self.participants, costs_with(**costs))
        self.received: list[tuple[int, int]] = []
        self.changes: list[CommittedObjectChange] = []
        self.results: dict[int, tuple[int, ModelWriteResult]] = {}
        self.store = ModelObjectStore(self.participants)
        self.watches = ModelServerWatches(self.context, self.on_event, self.changes.append)
        self.server = SimulatedApiServer(self.context, self.store, self.watches)

    def on_event(self, daemons: list[int], version: int, _view: object) -> None:
        self.received += [(daemon, version) for daemon in daemons]

    def write(self, writer: int, index: int, base: int | None = None) -> None:
        write = ModelWrite(
            writer,
            self.participants.registry_object_number_of(self.participants.point.clique_number_of_daemon(writer)),
            index,
            base=base,
        )
        self.server.accept_write(write, partial(self.on_result, writer))

    def on_result(self, writer: int, result: ModelWriteResult) -> None:
        self.results[writer] = (self.context.queue.now, result)

    def run(self) -> None:
        while self.context.queue.next_callback_time is not None:
            self.context.queue.run_next()


def test_cv005_apply_is_retried_until_it_succeeds() -> None:
    fixture = ServerFixture(point(RegistrationProtocol.SSA, 4, server_cores=None))
    for writer in range(4):
        fixture.write(writer, writer)
    fixture.run()
    assert {result.kind for _, result in fixture.results.values()} == {RequestResultKind.SUCCEEDED}
    assert fixture.context.counters.conflicts == 0
    assert fixture.context.counters.cas_failures == 3 + 2 + 1
    assert fixture.store.version_of_object(DOMAIN_NUMBER) == 5


def test_cv005_every_try_takes_processor_time() -> None:
    costs = {"request_us": 0.0, "merge_ns_per_byte": 1_000.0, "store_us": 0.0, "watcher_us": 0.0}
    rest = {"serialise_ns_per_byte": 0.0, "watcher_ns_per_byte": 0.0}
    fixture = ServerFixture(point(RegistrationProtocol.SSA, 2, server_cores=None), **costs, **rest)
    fixture.write(0, 0)
    fixture.write(1, 1)
    fixture.run()
    assert fixture.context.processor.busy_us == 700 + 700 + (700 + 138 + 344)


def test_cv005_a_stale_write_costs_for_its_whole_object() -> None:
    costs = {"request_us": 0.0, "put_ns_per_byte": 5_000.0, "stale_ns_per_byte": 1_000.0}
    fixture = ServerFixture(point(RegistrationProtocol.RMW, 2, server_cores=None), **costs)
    fixture.write(0, 0, base=1)
    fixture.run()
    before, size = fixture.context.processor.busy_us, fixture.server.object_bytes(DOMAIN_NUMBER)
    fixture.write(1, 0, base=1)
    fixture.run()
    assert fixture.results[1][1].kind is RequestResultKind.CONFLICT
    assert fixture.context.processor.busy_us - before == size
    assert fixture.context.counters.conflicts == 1


def test_cv005_one_of_two_writes_at_one_version_conflicts() -> None:
    fixture = ServerFixture(point(RegistrationProtocol.RMW, 2, server_cores=None))
    fixture.write(0, 0, base=1)
    fixture.write(1, 0, base=1)
    fixture.run()
    assert sorted(result.kind.value for _, result in fixture.results.values()) == ["conflict", "succeeded"]
    assert (fixture.context.counters.conflicts, fixture.context.counters.cas_failures) == (1, 1)


def test_cv005_write_without_a_seat_gets_429() -> None:
    fixture = ServerFixture(
        point(RegistrationProtocol.SSA, 3, server_cores=1), seats=1, seat_wait_ms=1, commit_us=10_000.0
    )
    for writer in range(3):
        fixture.write(writer, writer)
    fixture.run()
    assert [fixture.results[writer][1].kind for writer in range(3)] == [
        RequestResultKind.SUCCEEDED,
        RequestResultKind.TOO_MANY_REQUESTS,
        RequestResultKind.TOO_MANY_REQUESTS,
    ]
    assert fixture.context.counters.throttled == 2


def test_cv005_free_seat_goes_to_the_next_write() -> None:
    fixture = ServerFixture(point(RegistrationProtocol.SSA, 3, server_cores=1), seats=1)
    for writer in range(3):
        fixture.write(writer, writer)
    fixture.run()
    assert fixture.context.counters.cas_failures == 0
    assert fixture.context.counters.writes == 3


def test_cv005_slow_write_gets_504() -> None:
    fixture = ServerFixture(point(RegistrationProtocol.SSA, 2, server_cores=1), request_limit_ms=1, request_us=5_000.0)
    fixture.write(0, 0)
    fixture.run()
    assert fixture.results[0][1].kind is RequestResultKind.NO_RESPONSE
    assert fixture.context.counters.timeouts == 1


def test_cv005_events_come_once_and_in_order() -> None:
    fixture = ServerFixture(point(RegistrationProtocol.SSA, 36, server_cores=2, clique_size=9))
    for daemon in range(36):
        fixture.watches.start_watch(daemon)
    for writer in range(6):
        fixture.write(writer, writer)
    fixture.run()
    assert sorted(fixture.received) == [(daemon, version) for daemon in range(36) for version in range(2, 8)]
    for daemon in range(36):
        versions = [version for receiver, version in fixture.received if receiver == daemon]
        assert all(before < after for before, after in pairwise(versions))
    assert [change.version for change in fixture.changes] == list(range(2, 8))
    assert fixture.context.counters.watch_events == 36 * 6


def test_cv005_requests_are_built_before_they_wait() -> None:
    """Two that start within a second and may send once a second: the later one sends what it built before it waited."""
    one = point(RegistrationProtocol.RMW, 2, arrival_s=1.0, rate=1.0, burst=1, server_cores=None)
    assert run_of(one).conflicts > 0
    assert run_of(replace(one, burst=10)).conflicts == 0


def test_cv005_limiter_starts_full_and_refills() -> None:
    bucket = VirtualRateLimiter(point(rate=5.0, burst=3))
    assert [bucket.take_token(0) for _ in range(5)] == [0, 0, 0, 200_000, 400_000]
    assert [bucket.take_token(10_000_000) for _ in range(4)] == [10_000_000] * 3 + [10_200_000]
    free = VirtualRateLimiter(point(rate=0.0, burst=1))
    assert [free.take_token(at) for at in (5, 5, 6)] == [5, 5, 6]


def test_processor_runs_one_job_per_core() -> None:
    def ends(cores: int | None) -> list[int]:
        queue, found = VirtualTimeQueue(), list[int]()
        processor = SimulatedProcessorCores(queue, cores)
        for _ in range(4):
            processor.submit_job(lambda: 10, lambda: found.append(queue.now))
        while queue.next_callback_time is not None:
            queue.run_next()
        assert processor.busy_us == 40
        return found

    assert ends(1) == [10, 20, 30, 40]
    assert ends(2) == [10, 10, 20, 20]
    assert ends(None) == [10, 10, 10, 10]


@pytest.mark.parametrize("protocol", [RegistrationProtocol.RMW, RegistrationProtocol.SSA])
def test_cv010_events_match_the_closed_form(protocol: RegistrationProtocol) -> None:
    one = point(protocol, 60, arrival_s=0.0, readiness_s=60.0, server_cores=None)
    run = run_of(one)
    wanted = expected_watch_events(protocol, 60, 18) + 60 * run.repicks
    assert run.watch_events == pytest.approx(wanted, rel=0.02)
    assert run.watch_bytes == pytest.approx(
        expected_watch_bytes(protocol, 60, 18) + 60 * run.repicks * run.object_bytes, rel=0.1
    )


@pytest.mark.parametrize("protocol", [RegistrationProtocol.SHARDED, RegistrationProtocol.SHARDED_RMW])
def test_cv010_events_of_a_shard_do_not_depend_on_the_nodes(protocol: RegistrationProtocol) -> None:
    for nodes in (18, 180, 360):
        run = run_of(point(protocol, nodes, arrival_s=2.0, server_cores=None))
        assert run.watch_events <= nodes * (3 * 18 + 8)
        assert run.object_bytes == run_of(point(protocol, 18, server_cores=None)).object_bytes


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_cv012_convergence_is_observed_from_outside(protocol: RegistrationProtocol) -> None:
    run = run_of(point(protocol, 36, seed=1))
    assert run.outcome is ConvergenceRunOutcome.CONVERGED
    assert run.t_all_s is not None
    assert run.t_push_s is not None
    assert run.t_global_s is not None
    assert len(run.t_views_s) == 36
    assert run.t_views_s[0] <= run.t_push_s <= run.t_all_s - 1.0 <= run.t_global_s
    assert run.writes == 2 * 36 + run.repicks


def test_cv012_duplicate_index_is_no_convergence() -> None:
    def after_event(entries: dict[int, DaemonEntryIndexAndReadiness]) -> ConvergenceModelRun:
        run = ConvergenceModelRun(point(RegistrationProtocol.SSA, 2), costs_with())
        run.on_object_change(
            CommittedObjectChange(DOMAIN_NUMBER, 2, 0, ModelNvlinkCliqueState(entries), is_domain_ready=False, size=700)
        )
        return run

    ready = {0: DaemonEntryIndexAndReadiness(0, ready=True), 1: DaemonEntryIndexAndReadiness(1, ready=True)}
    assert after_event(ready).all_at == 0
    assert after_event({**ready, 1: DaemonEntryIndexAndReadiness(0, ready=True)}).all_at is None
    assert after_event({**ready, 1: DaemonEntryIndexAndReadiness(1, ready=False)}).all_at is None
    assert after_event({0: DaemonEntryIndexAndReadiness(0, ready=True)}).all_at is None


def test_cv010_one_object_costs_more_than_shards() -> None:
    for nodes in (36, 72):
        for whole, shard in (
            (RegistrationProtocol.RMW, RegistrationProtocol.SHARDED_RMW),
            (RegistrationProtocol.SSA, RegistrationProtocol.SHARDED),
        ):
            one, many = run_of(point(whole, nodes)), run_of(point(shard, nodes))
            assert one.watch_events > many.watch_events
            assert one.watch_bytes > many.watch_bytes
            assert one.cpu_server_s > many.cpu_server_s


def test_cv010_single_objects_get_slower_with_every_node() -> None:
    for protocol in (RegistrationProtocol.RMW, RegistrationProtocol.SSA):
        small, large = run_of(point(protocol, 36)), run_of(point(protocol, 144))
        assert large.seconds_to_convergence > 4 * small.seconds_to_convergence
        assert large.cpu_server_s > 16 * small.cpu_server_s


def test_cv010_shards_on_a_server_without_limits_are_flat() -> None:
    few = run_of(point(RegistrationProtocol.SHARDED, 18, server_cores=None))
    many = run_of(point(RegistrationProtocol.SHARDED, 1152, server_cores=None))
    assert many.seconds_to_convergence <= 1.5 * few.seconds_to_convergence


def test_cv010_a_server_with_two_cores_has_a_knee() -> None:
    """Two cores for two seconds of arrivals are too few for 576 daemons, at the costs that come with Grove."""
    short, long = run_of(point(RegistrationProtocol.SHARDED, 72)), run_of(point(RegistrationProtocol.SHARDED, 576))
    assert long.seconds_to_convergence > 1.5 * short.seconds_to_convergence
    assert run_of(point(RegistrationProtocol.SHARDED, 576, arrival_s=60.0)).seconds_to_convergence < 65.0


def test_cv021_slow_run_is_censored() -> None:
    run = run_of(point(RegistrationProtocol.SSA, 36, run_limit_s=2.0))
    assert run.outcome is ConvergenceRunOutcome.CENSORED
    assert run.t_all_s is None
    assert run.seconds_to_convergence == float("inf")


def test_restarted_fabric_daemon_is_ready_once() -> None:
    """Only the last start counts; the timers of earlier ones come to nothing."""
    fixture = ServerFixture(point(RegistrationProtocol.SSA, 1))

    class Restless(DomainDaemonModel):
        def __init__(self) -> None:
            self.starts = 0
            self.ready = 0

        def decide_next_action(self, _at: int) -> Any:
            return DaemonActionWithoutRequest.START if self.starts < 2 else DaemonActionWithoutRequest.IDLE

        def on_fabric_start(self) -> None:
            self.starts += 1

        def on_fabric_ready(self) -> None:
            self.ready += 1

        def on_watch_event(self, *_all: object) -> bool:
            return True

        def on_write_result(self, *_all: object) -> None:
            raise AssertionError

    model = Restless()
    worker = SimulatedDomainDaemon(0, model, fixture.context, fixture.server)
    worker.on_watch_event(1, None)
    fixture.run()
    assert (model.starts, model.ready) == (2, 1)
