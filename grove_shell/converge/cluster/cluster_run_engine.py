"""The engine that runs points on a real API server: daemons run in processes, and a monitor detects convergence."""

import asyncio
import base64
import multiprocessing
import platform
import ssl
import tempfile
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from itertools import chain
from multiprocessing.connection import Connection as Pipe
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import ClassVar, Final

from grove_core.areas.domain_cliques.daemon.daemon_input import DaemonIdentity
from grove_core.kernel.structs import replace
from grove_shell.client.api_discovery import connection_error_advice
from grove_shell.client.api_response import CONFLICT
from grove_shell.client.api_session import ApiSession, NoServerResponse
from grove_shell.client.connection_settings import ClusterAccessError, ConnectionSettings, read_connection_settings
from grove_shell.client.reflector import Reflector
from grove_shell.converge.cluster.daemon_pool import (
    DaemonPoolCounters,
    DaemonPoolTask,
    daemon_rate_limiter_of_run,
    run_experiment_daemon_pool,
)
from grove_shell.converge.cluster.run_measurements import (
    WORLD,
    ConvergenceRunWithServerCounters,
    convergence_run_from_counts,
    read_api_server_counters,
    require_no_crashed_daemons,
)
from grove_shell.converge.cluster.run_namespace import (
    DOMAIN_NAME,
    ConvergenceRunNamespace,
    check_compute_domain_crds_installed,
    write_service_account_kubeconfig,
)
from grove_shell.converge.cluster.run_watches import ConvergenceMonitor
from grove_shell.converge.model.model_run_context import numbered_daemon_identity
from grove_shell.converge.run_parameters_and_results import ConvergenceRun, ConvergenceRunParameters
from grove_shell.domain_controller.domain_reconcile_loop import DomainReconcileLoop
from grove_shell.domain_daemon.daemon_requests import CLIQUES, DOMAINS
from grove_shell.domain_daemon.domain_daemon_loop import MonotonicClock

_HEAD_START_S: Final = 0.5
_GRACE_S: Final = 2.0
_TICK_S: Final = 0.02


@dataclass(frozen=True, slots=True)
class ClusterConvergenceRunEngine:
    """Runs points on the cluster of a kubeconfig.

    Attributes:
        store: URL of the metrics of etcd, e.g. ``http://127.0.0.1:2379``; empty if they are not accessible.
        processes: number of processes that run the daemons.
    """

    world: ClassVar[str] = WORLD
    max_parallel: ClassVar[int] = 1
    kubeconfig: str | None
    setting: str
    store: str = ""
    processes: int = 2

    def run_point(self, point: ConvergenceRunParameters) -> ConvergenceRun:
        """Run one point."""
        return self.run_and_measure_server(point).run

    def run_and_measure_server(self, point: ConvergenceRunParameters) -> ConvergenceRunWithServerCounters:
        """Run one point and keep the counters of the server.

        Raises:
            ClusterAccessError: the server does not respond.
        """
        with _DaemonProcesses(min(self.processes, point.nodes)) as processes:
            try:
                return asyncio.run(_run_measured(self, point, processes))
            except NoServerResponse as fault:
                raise ClusterAccessError(connection_error_advice(fault)) from fault


def convergence_engine_from_kubeconfig(kubeconfig: str | None, store: str) -> ClusterConvergenceRunEngine:
    """Return the engine of a cluster.

    Raises:
        ClusterAccessError: the cluster does not respond, or lacks a kind.
    """
    return ClusterConvergenceRunEngine(kubeconfig, asyncio.run(_setting(kubeconfig)), store)


async def _setting(kubeconfig: str | None) -> str:
    """The setting of its runs: version of the server, and machine."""
    connection = await read_connection_settings(kubeconfig)
    async with ApiSession(connection) as api:
        try:
            await check_compute_domain_crds_installed(api)
            version = (await api.request("GET", "/version")).json_body().get("gitVersion", "of unknown version")
        except NoServerResponse as fault:
            raise ClusterAccessError(connection_error_advice(fault)) from fault
    cores = multiprocessing.cpu_count()
    return f"kube-apiserver {version}, {cores} cores shared with the daemons, nothing pinned, {platform.machine()}"


class _DaemonProcesses:
    """Processes that wait for a task; all of them are killed at the end."""

    def __init__(self, count: int) -> None:
        context = multiprocessing.get_context("spawn")
        self._all: list[tuple[BaseProcess, Pipe]] = []
        for _ in range(count):
            ours, theirs = context.Pipe()
            self._all.append((context.Process(target=run_experiment_daemon_pool, args=(theirs,), daemon=True), ours))

    def __enter__(self) -> list[Pipe]:
        for process, _ in self._all:
            process.start()
        for _, pipe in self._all:
            pipe.recv()
        return [pipe for _, pipe in self._all]

    def __exit__(self, *_: object) -> None:
        for process, pipe in self._all:
            process.kill()
            process.join()
            pipe.close()


async def _run_measured(
    engine: ClusterConvergenceRunEngine, point: ConvergenceRunParameters, pipes: Sequence[Pipe]
) -> ConvergenceRunWithServerCounters:
    connection = await read_connection_settings(engine.kubeconfig)
    async with ApiSession(connection, in_flight=64, user_agent="grove-converge") as api, _store(engine.store) as store:
        namespace = ConvergenceRunNamespace(api)
        token = await namespace.create_namespace_and_account()
        try:
            await namespace.warm_up_server_with_write()
            with tempfile.TemporaryDirectory(prefix="grove-converge-") as folder:
                path = Path(folder) / "kubeconfig"
                write_service_account_kubeconfig(path, connection.server, _authority(connection), token, namespace.name)
                uid = await namespace.create_domain(DOMAIN_NAME, point.nodes)
                before = await read_api_server_counters(api, store)
                monitor, start, all_counts, busy = await _run_daemons(point, namespace.name, uid, str(path), pipes)
                after = await read_api_server_counters(api, store)
        finally:
            await namespace.delete_namespace()
    require_no_crashed_daemons(all_counts)
    run = convergence_run_from_counts(engine.setting, point, monitor, start, all_counts, after.difference_since(before))
    spent = sum(counts.cpu_s for counts in all_counts) + busy
    refused = tuple(chain.from_iterable(counts.refused for counts in all_counts))
    decoded = sum(counts.decoded for counts in all_counts)
    return ConvergenceRunWithServerCounters(
        run=replace(run, cpu_harness_s=spent),
        server=after.difference_since(before),
        monitor_events=monitor.events - monitor.controller_writes,
        controller_conflicts=monitor.controller_conflicts,
        decoded=decoded,
        refused=refused,
    )


async def _run_daemons(
    point: ConvergenceRunParameters, namespace: str, uid: str, kubeconfig: str, pipes: Sequence[Pipe]
) -> tuple[ConvergenceMonitor, float, list[DaemonPoolCounters], float]:
    """Run the daemons; return the monitor, the start of the run, the counts, and the processor time of this process."""
    began = time.process_time()
    daemons = [_daemon(number, point, namespace, uid) for number in range(point.nodes)]
    monitor = ConvergenceMonitor(point, daemons)
    async with ApiSession(await read_connection_settings(kubeconfig), user_agent="grove-converge-controller") as api:
        statuses: list[int] = []
        controller = ApiSession(
            await read_connection_settings(kubeconfig),
            rate_limiter=daemon_rate_limiter_of_run(point),
            user_agent="grove-converge-controller",
        )
        async with controller:
            loop = DomainReconcileLoop(
                controller,
                monitor,
                lambda _step, response, _error: statuses.append(response.status if response else 0),
                MonotonicClock(),
            )
            reflectors = [Reflector(api, kind, monitor, namespace=namespace) for kind in (DOMAINS, CLIQUES)]
            tasks = [asyncio.create_task(loop.run()), *(asyncio.create_task(one.run()) for one in reflectors)]
            for reflector in reflectors:
                await reflector.synced.wait()
            start = time.monotonic() + _HEAD_START_S
            for at, pipe in enumerate(pipes):
                numbers = tuple(range(at, point.nodes, len(pipes)))
                pipe.send(
                    DaemonPoolTask(point, tuple(daemons[number] for number in numbers), numbers, kubeconfig, start)
                )
            await _until_converged(point, monitor, start, tasks)
            for pipe in pipes:
                pipe.send("end")
            all_counts = [await asyncio.to_thread(pipe.recv) for pipe in pipes]
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
    monitor.controller_writes = sum(status in {200, 201} for status in statuses)
    monitor.controller_conflicts = sum(status == CONFLICT for status in statuses)
    return monitor, start, all_counts, time.process_time() - began


async def _until_converged(
    point: ConvergenceRunParameters, monitor: ConvergenceMonitor, start: float, tasks: Sequence["asyncio.Task[None]"]
) -> None:
    """Wait until the monitor sees convergence and a while longer, or until the time limit."""
    while not monitor.has_converged and time.monotonic() < start + point.run_limit_s:
        for task in tasks:
            if task.done():
                task.result()
        await asyncio.sleep(_TICK_S)
    if monitor.has_converged:
        await asyncio.sleep(_GRACE_S)


def _daemon(number: int, point: ConvergenceRunParameters, namespace: str, uid: str) -> DaemonIdentity:
    made = numbered_daemon_identity(number, point.clique_number_of_daemon(number))
    return replace(made, namespace=namespace, pod_namespace=namespace, domain=DOMAIN_NAME, domain_uid=uid)


def _authority(connection: ConnectionSettings) -> str | None:
    """The CA certificates of the connection for a kubeconfig; None if they are not verified."""
    tls = connection.tls
    if tls is None or tls.verify_mode is ssl.CERT_NONE:
        return None
    texts = (ssl.DER_cert_to_PEM_cert(found) for found in tls.get_ca_certs(binary_form=True))
    return base64.b64encode("".join(texts).encode()).decode()


@asynccontextmanager
async def _store(url: str) -> AsyncIterator[ApiSession | None]:
    if not url:
        yield None
        return

    async def no_token() -> str | None:
        return None

    async with ApiSession(ConnectionSettings(url, None, no_token)) as api:
        yield api
