"""What runs on a cluster rest on, without one: lines of watches, pages of metrics, a fabric daemon on a timer."""

import asyncio
import json
from contextlib import nullcontext
from multiprocessing import Pipe
from typing import Any, Final

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.converge.calibrate import text_of
from benchmarks.converge.fitting import Sample, Samples, fitted
from grove_core.areas.domain_cliques.daemon.daemon_input import DaemonIdentity
from grove_core.areas.domain_cliques.daemon.verdicts import (
    PeerMap,
    PostRequest,
    RequestFailed,
    RequestResultKind,
    RequestSucceeded,
)
from grove_core.kernel.frozen import EMPTY
from grove_core.resources.api_names import NVIDIA
from grove_core.resources.compute_domain import ComputeDomain, DaemonEntry
from grove_shell.client.proxy_response_check import parse_watch_event
from grove_shell.converge.cluster import daemon_pool
from grove_shell.converge.cluster.daemon_pool import (
    ConvergenceExperimentDaemon,
    DaemonPoolCounters,
    DaemonPoolTask,
    SimulatedFabricProcess,
    daemon_rate_limiter_of_run,
)
from grove_shell.converge.cluster.run_measurements import (
    ApiServerCounters,
    parse_api_server_counters,
    require_no_crashed_daemons,
)
from grove_shell.converge.cluster.run_watches import CachingWatchDecoder
from grove_shell.converge.model.server_costs import parse_model_server_costs
from grove_shell.domain_daemon.daemon_requests import parse_daemon_registry
from tests.property.convergence.points import point

Json = dict[str, Any]
IDENTITY: Final = DaemonIdentity(
    node="n1",
    ip="10.0.0.1",
    clique="a",
    namespace="ml",
    domain="d",
    domain_uid="u",
    pod_namespace="driver",
    pod="p",
    pod_uid="v",
)


def line(version: int, nodes: int, what: str = "MODIFIED") -> bytes:
    """As the API server writes it: keys in order, what the managers own before the version."""
    owned = [{"manager": "m", "fieldsV1": {"f:resourceVersion": {}}, "operation": "Apply"}]
    metadata = {
        "managedFields": owned,
        "name": "domain",
        "namespace": "ml",
        "resourceVersion": str(version),
        "uid": "u",
    }
    entries = [{"cliqueID": "a", "index": n, "ipAddress": f"10.0.0.{n}", "name": f"n{n}"} for n in range(nodes)]
    body = {"apiVersion": NVIDIA, "kind": "ComputeDomain", "metadata": metadata, "status": {"nodes": entries}}
    return json.dumps({"type": what, "object": body}, separators=(",", ":")).encode()


@given(
    st.lists(st.tuples(st.integers(1, 9), st.sampled_from(["ADDED", "MODIFIED", "DELETED", "BOOKMARK"])), max_size=30)
)
def test_cv060_shared_decoder_equals_own_decoder(drawn: list[tuple[int, str]]) -> None:
    """Each version has one state, whichever stream is read first."""
    streams = CachingWatchDecoder()
    for version, what in drawn:
        text = line(version, version % 4, what)
        found = streams.decode_watch_line(text)
        wanted = parse_watch_event(text)
        assert (found[0] == "DELETED", found[1]) == (wanted[0] == "DELETED", wanted[1])
        if what in {"ADDED", "MODIFIED"}:
            assert streams.parse_registry(found[1]) == parse_daemon_registry(found[1])
    counted = [(version, what) for version, what in drawn if what in {"ADDED", "MODIFIED"}]
    assert streams.events == len(counted)
    assert streams.decoded == len({version for version, _ in counted})
    assert streams.length == sum(len(line(version, version % 4, what)) + 1 for version, what in counted)


@pytest.mark.parametrize(("indices", "shown"), [([0, 1], (2, False)), ([0, 0], (2, True)), ([], (0, False))])
def test_cv060_members_of_a_clique(indices: list[int], shown: tuple[int, bool]) -> None:
    entries = [{"name": f"n{at}", "cliqueID": "a", "index": index} for at, index in enumerate(indices)]
    other = {"name": "x", "cliqueID": "b", "index": 0}
    raw = {
        "kind": "ComputeDomain",
        "metadata": {"name": "d", "resourceVersion": "7"},
        "status": {"nodes": [*entries, other]},
    }
    streams = CachingWatchDecoder()
    assert streams.entry_count_and_index_conflict(parse_daemon_registry(raw), "a") == shown
    assert streams.entry_count_and_index_conflict(parse_daemon_registry(raw), "a") == shown


PAGE = """
# HELP apiserver_request_total of requests
apiserver_request_total{code="200",resource="computedomains",verb="APPLY"} 7
apiserver_request_total{code="201",resource="computedomaincliques",verb="POST"} 2
apiserver_request_total{code="200",resource="computedomains",verb="LIST"} 50
apiserver_request_total{code="200",resource="pods",verb="PUT"} 50
apiserver_request_total{code="409",resource="computedomains",subresource="status",verb="PUT"} 5
apiserver_request_total{code="429",resource="computedomains",verb="PUT"} 3
apiserver_request_total{code="504",resource="computedomains",verb="PUT"} 1
etcd_request_duration_seconds_count{operation="update",group="resource.nvidia.com",resource="computedomains"} 11
etcd_request_duration_seconds_count{operation="get",group="resource.nvidia.com",resource="computedomains"} 90
apiserver_watch_events_total{group="resource.nvidia.com",resource="computedomains",version="v1beta1"} 40
apiserver_watch_events_sizes_sum{group="resource.nvidia.com",resource="computedomains",version="v1beta1"} 1.5e+03
process_cpu_seconds_total 12.5
"""


def test_cv060_counters_of_the_server() -> None:
    found = parse_api_server_counters(PAGE, "process_cpu_seconds_total 2.25\n")
    assert found == ApiServerCounters(
        good=9,
        conflicts=5,
        throttled=3,
        timeouts=1,
        transactions=11,
        watch_events=40,
        watch_bytes=1500,
        cpu_server_s=12.5,
        cpu_store_s=2.25,
    )
    assert found.difference_since(parse_api_server_counters(PAGE)) == ApiServerCounters(cpu_store_s=2.25)


def test_cv060_a_fabric_daemon_that_was_stopped_is_never_ready() -> None:
    calls: list[str] = []

    async def live() -> None:
        fabric = SimulatedFabricProcess(0.02)
        fabric.on_change = lambda: calls.append("changed")
        await fabric.start(3, PeerMap(()))
        await fabric.stop()
        await asyncio.sleep(0.04)
        assert (fabric.fabric_state, calls) == (None, [])
        await fabric.start(3, PeerMap(()))
        await fabric.push_peer_map(PeerMap(((0, "10.0.0.1"),)))
        await asyncio.sleep(0.04)
        assert fabric.fabric_state is not None
        assert (fabric.fabric_state.ready, fabric.fabric_state.peers) == (True, PeerMap(((0, "10.0.0.1"),)))

    asyncio.run(live())
    assert calls == ["changed"]


@given(
    st.tuples(*[st.floats(10, 1000)] * 3),
    st.tuples(*[st.floats(0.001, 0.5)] * 5),
)
def test_cv021_fit_recovers_the_constants(fixed: tuple[float, float, float], slopes: tuple[float, ...]) -> None:
    """Measurements without noise, of a server that is the model."""
    request, watcher, store = fixed
    put, merge, once, each, stale = slopes

    def sample(size: int, watchers: int, slope: float) -> Sample:
        events = (once * size if watchers else 0) + watchers * (watcher + each * size)
        cost = request + slope * size + events
        return Sample(size, watchers, cost, store, cost + store + 700 + 2 * 400)

    sizes = (1000, 10_000, 50_000)
    samples = Samples(
        uses_apply=[sample(size, 0, merge) for size in sizes],
        puts=[sample(size, 0, put) for size in sizes],
        stale=[sample(size, 0, stale) for size in sizes],
        watched=[sample(size, watchers, merge) for size in sizes[:2] for watchers in (1, 10, 100)],
        idle_us=900.0,
        idle_server_us=100.0,
    )
    costs = fitted(samples, "a server of our own")
    assert costs.request_us == pytest.approx(request, rel=1e-6)
    assert (costs.put_ns_per_byte, costs.merge_ns_per_byte) == pytest.approx((put * 1000, merge * 1000), rel=1e-6)
    assert costs.stale_ns_per_byte == pytest.approx(stale * 1000, rel=1e-4)
    assert costs.serialise_ns_per_byte == pytest.approx(once * 1000, rel=1e-4)
    assert (costs.watcher_us, costs.watcher_ns_per_byte) == pytest.approx((watcher, each * 1000), rel=1e-4)
    assert (costs.store_us, costs.commit_us, costs.wire_us) == pytest.approx((store, 700, 400), rel=1e-6)
    again, problems = parse_model_server_costs(yaml.load(text_of(costs), yaml.CSafeLoader))
    assert (problems, again.source) == ((), "a server of our own")


def test_cv060_client_has_the_requested_limiter() -> None:
    """Two at once, and then one each twentieth of a second."""
    waited: list[float] = []

    async def take() -> None:
        bucket = daemon_rate_limiter_of_run(point(rate=20.0, burst=2))
        assert bucket is not None
        began = asyncio.get_running_loop().time()
        for _ in range(4):
            await bucket.take_token()
            waited.append(asyncio.get_running_loop().time() - began)

    asyncio.run(take())
    assert waited[1] < 0.04 <= waited[2]
    assert waited[3] >= 0.09
    assert daemon_rate_limiter_of_run(point(rate=0.0)) is None


def test_cv060_crashed_daemon_is_no_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """The other daemons are stopped, the fault is reported, and the counts are no run."""

    async def broken(_player: object, _api: object) -> None:
        raise OSError(24, "Too many open files")

    async def connected(_kubeconfig: object) -> object:
        return None

    monkeypatch.setattr(ConvergenceExperimentDaemon, "run", broken)
    monkeypatch.setattr(daemon_pool, "read_connection_settings", connected)
    monkeypatch.setattr(daemon_pool, "ApiSession", lambda *_, **__: nullcontext())
    monkeypatch.setattr(daemon_pool, "_QUIET_S", 0.0)
    ours, theirs = Pipe()
    ours.send("end")
    tally = asyncio.run(daemon_pool._run_task(DaemonPoolTask(point(), (IDENTITY,), (0,), "none", 0.0), theirs))  # noqa: SLF001 - what a process runs
    assert tally.faults == ["OSError(24, 'Too many open files')"]
    assert not tally.refused
    with pytest.raises(ChildProcessError, match="Too many open files"):
        require_no_crashed_daemons([DaemonPoolCounters(), tally])
    require_no_crashed_daemons([DaemonPoolCounters(refused=["409"])])


@pytest.mark.parametrize(("indices", "repicks"), [([3], 0), ([3, 3], 0), ([3, 4, 4, 3], 2), ([3, None, 4], 1)])
def test_cv060_a_write_with_another_index_is_a_repick(indices: list[int | None], repicks: int) -> None:
    """An own entry that is gone in between changes nothing; a write that failed is none."""
    counts, request = DaemonPoolCounters(), PostRequest(target=IDENTITY.pod_ref, manager="m", manifest=EMPTY)
    daemon = ConvergenceExperimentDaemon(
        DaemonPoolTask(point(), (IDENTITY,), (0,), "none", 0.0), 0, counts, CachingWatchDecoder()
    )
    for index in indices:
        entries = () if index is None else (DaemonEntry("n1", "10.0.0.1", "a", index),)
        other = DaemonEntry("n2", "10.0.0.2", "a", 9)
        registry = ComputeDomain(ref=IDENTITY.registry_ref(sharded=False), uid="u", nodes=(*entries, other))
        daemon.on_request_result(request, RequestSucceeded(registry))
        daemon.on_request_result(request, RequestFailed(RequestResultKind.CONFLICT, "409"))
    assert (counts.repicks, counts.writes, counts.conflicts) == (repicks, len(indices), len(indices))
