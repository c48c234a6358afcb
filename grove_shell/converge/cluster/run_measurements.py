"""What is measured in a run: counters from the metrics of the server, and the run made of all counts."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, Final

from prometheus_client.parser import text_string_to_metric_families

from grove_core.kernel.frozen import mapping_or_empty
from grove_shell.client.api_session import ApiSession, NoServerResponse
from grove_shell.converge.cluster.daemon_pool import DaemonPoolCounters
from grove_shell.converge.cluster.run_watches import ConvergenceMonitor
from grove_shell.converge.run_parameters_and_results import (
    ConvergenceRun,
    ConvergenceRunOutcome,
    ConvergenceRunParameters,
)

WORLD: Final = "cluster"
RESOURCES: Final = frozenset({"computedomains", "computedomaincliques"})
KINDS: Final = frozenset({"ComputeDomain", "ComputeDomainClique"})
_SUMMED: Final = (
    *("writes", "conflicts", "throttled", "timeouts", "repicks"),
    *("uploaded_bytes", "watch_events", "watch_bytes"),
)
"""Counters of the pools of daemons that a run has under the same name."""
_WRITING: Final = frozenset({"APPLY", "PATCH", "PUT", "POST"})


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiServerCounters:
    """Counters of a server at one time.

    Attributes:
        good, conflicts, throttled, timeouts: writes by status: 2xx, 409, 429, 504.
        transactions: updates and creations requested from the store.
        watch_events, watch_bytes: of all watches on both kinds.
        cpu_server_s, cpu_store_s: processor time.
    """

    good: float = 0
    conflicts: float = 0
    throttled: float = 0
    timeouts: float = 0
    transactions: float = 0
    watch_events: float = 0
    watch_bytes: float = 0
    cpu_server_s: float = 0
    cpu_store_s: float = 0

    def difference_since(self, before: "ApiServerCounters") -> "ApiServerCounters":
        """Return the difference to earlier counters."""
        return ApiServerCounters(
            **{one.name: getattr(self, one.name) - getattr(before, one.name) for one in fields(self)}
        )


async def read_api_server_counters(api: ApiSession, store: ApiSession | None) -> ApiServerCounters:
    """Read the metrics of the server and of its store.

    Args:
        api: the API server, with permission to read its metrics.
        store: etcd; None if its metrics are not accessible.

    Raises:
        NoServerResponse: the metrics cannot be read.
    """
    server = await _page(api)
    return parse_api_server_counters(server, await _page(store) if store is not None else "")


def parse_api_server_counters(server: str, store: str = "") -> ApiServerCounters:
    """Parse the counters from the metrics pages of the server and of its store."""
    found = dict.fromkeys((one.name for one in fields(ApiServerCounters)), 0.0)
    for name, labels, value in _samples(server):
        for counter in _counters(name, labels):
            found[counter] += value
    found["cpu_store_s"] = sum(value for name, _, value in _samples(store) if name == "process_cpu_seconds_total")
    return ApiServerCounters(**found)


def _counters(name: str, labels: Mapping[str, str]) -> Iterator[str]:
    if name == "process_cpu_seconds_total":
        yield "cpu_server_s"
    elif name == "apiserver_request_total" and labels.get("resource") in RESOURCES and labels.get("verb") in _WRITING:
        code = labels.get("code", "")
        named = {"409": "conflicts", "429": "throttled", "504": "timeouts"}
        yield from ("good",) if code.startswith("2") else filter(None, (named.get(code),))
    elif name == "etcd_request_duration_seconds_count" and labels.get("operation") in {"update", "create"}:
        if _is_of_domains(labels):
            yield "transactions"
    elif name == "apiserver_watch_events_total" and _is_of_domains(labels):
        yield "watch_events"
    elif name == "apiserver_watch_events_sizes_sum" and _is_of_domains(labels):
        yield "watch_bytes"


def _is_of_domains(labels: Mapping[str, str]) -> bool:
    """Whether a metric is about one of the two kinds; the labels differ between server versions."""
    names = {labels.get("kind", ""), labels.get("resource", ""), labels.get("type", "").rpartition("/")[2]}
    return bool(names & (KINDS | RESOURCES)) or any(labels.get("type", "").startswith(one) for one in RESOURCES)


def _samples(page: str) -> Iterator[tuple[str, dict[str, str], float]]:
    for family in text_string_to_metric_families(page):
        yield from ((sample.name, sample.labels, sample.value) for sample in family.samples)


async def _page(api: ApiSession) -> str:
    answer = await api.request("GET", "/metrics", accept="text/plain")
    if not answer.is_success:
        raise NoServerResponse(f"{api.connection.server}/metrics: {answer.error_message}")
    return answer.body.decode()


@dataclass(frozen=True, slots=True)
class ConvergenceRunWithServerCounters:
    """A run with what the server counted.

    Attributes:
        server: counters of the server; they include ``monitor_events`` of the monitor's own watches and
            ``controller_conflicts`` of the controller.
        decoded: watch lines of daemons that were decoded.
        refused: error messages of refused requests.
    """

    run: ConvergenceRun
    server: ApiServerCounters
    monitor_events: int
    controller_conflicts: int
    decoded: int
    refused: tuple[str, ...]


def require_no_crashed_daemons(all_counts: Iterable[DaemonPoolCounters]) -> None:
    """Check that no daemon crashed: such a run says nothing about the protocol (CV-060).

    Raises:
        ChildProcessError: a daemon crashed.
    """
    faults = [fault for counts in all_counts for fault in counts.faults]
    if faults:
        raise ChildProcessError(f"{len(faults)} daemons of the run crashed, the first with {faults[0]}")


def convergence_run_from_counts(
    setting: str,
    point: ConvergenceRunParameters,
    monitor: ConvergenceMonitor,
    start: float,
    all_counts: Sequence[DaemonPoolCounters],
    server: ApiServerCounters,
) -> ConvergenceRun:
    """Return the run made of the counts of daemons, monitor and server.

    Args:
        setting: machine and versions, for captions.
        monitor: with the times at which the run converged.
        start: of the run, on the monotonic clock.
        all_counts: of each process with daemons.
        server: by how much the counters of the server increased in the run.
    """
    pushed = [at for counts in all_counts for at in counts.pushed]
    viewed = sorted(at for counts in all_counts for at in counts.viewed)
    summed = {name: sum(getattr(counts, name) for counts in all_counts) for name in _SUMMED}
    return ConvergenceRun(
        world=WORLD,
        point=point,
        outcome=ConvergenceRunOutcome.CENSORED if monitor.all_at is None else ConvergenceRunOutcome.CONVERGED,
        setting=setting,
        t_all_s=_since(start, monitor.all_at),
        t_global_s=_since(start, monitor.global_at),
        t_push_s=max(pushed) if len(pushed) == point.nodes else None,
        t_views_s=tuple(max(at, 0.0) for at in viewed),
        controller_writes=monitor.controller_writes,
        cas_failures=max(round(server.transactions) - round(server.good), 0),
        cpu_server_s=max(server.cpu_server_s, 0.0),
        cpu_store_s=max(server.cpu_store_s, 0.0),
        object_bytes=_length(monitor.largest),
        managed_bytes=_length(mapping_or_empty(monitor.largest, "metadata").get("managedFields")),
        **summed,
    )


def _length(value: Any) -> int:  # noqa: ANN401 - JSON of any shape
    return len(json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode()) if value else 0


def _since(start: float, at: float | None) -> float | None:
    return None if at is None else max(at - start, 0.0)
