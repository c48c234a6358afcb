"""A real API server as an engine: ground is prepared, processes play the daemons, an onlooker says when it is over."""

import asyncio
import base64
import json
import multiprocessing
import platform
import ssl
import tempfile
import time
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from itertools import chain
from multiprocessing.connection import Connection as Pipe
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any, Final

from grove_core.areas.domain_cliques.daemon_context import DaemonIdentity
from grove_shell.client.api import Api, Unreachable
from grove_shell.client.connect_check import advice_on
from grove_shell.client.connection import Connection, NoAccess, connect
from grove_shell.client.reflector import Reflector
from grove_shell.client.response import CONFLICT
from grove_shell.converge.cluster.daemon_pool import DaemonCounts, PoolTask, limiter_of, run_pool
from grove_shell.converge.cluster.run_monitor import RunMonitor
from grove_shell.converge.cluster.run_namespace import DOMAIN_NAME, RunNamespace, check_kinds, write_kubeconfig
from grove_shell.converge.cluster.server_metrics import ServerCounters, read_counters
from grove_shell.converge.engine import EngineOptions
from grove_shell.converge.model.participants import daemon_identity
from grove_shell.converge.points import Point
from grove_shell.converge.runs import Outcome, Run
from grove_shell.domain_controller.reconcile_loop import DomainReconcileLoop
from grove_shell.domain_daemon.kinds import CLIQUES, DOMAINS
from grove_shell.domain_daemon.monotonic_clock import MonotonicClock

WORLD: Final = "cluster"
_HEAD_START_S: Final = 0.5
_GRACE_S: Final = 2.0
_TICK_S: Final = 0.02


@dataclass(frozen=True, slots=True)
class MeasuredRun:
    """A run, and what else is known of it.

    Attributes:
        server: what the server has counted: also the events that the onlooker's watches brought, ``onlooked`` of them,
            and conflicts of the controller, ``parried`` of them.
        decoded: lines of daemons' watches that were read to the end.
        refused: in words.
    """

    run: Run
    server: ServerCounters
    onlooked: int
    parried: int
    decoded: int
    refused: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ClusterEngine:
    """Runs points on the cluster of a kubeconfig.

    Attributes:
        store: where the store's own metrics are, e.g. ``http://127.0.0.1:2379``; empty where nobody can read them.
        processes: how many play the daemons.
    """

    kubeconfig: str | None
    setting: str
    store: str = ""
    processes: int = 2

    @property
    def world(self) -> str:
        """The word that its runs carry."""
        return WORLD

    @property
    def at_once(self) -> int:
        """One run after the other, in this process."""
        return 1

    def run(self, point: Point) -> Run:
        """Run one point."""
        return self.measured(point).run

    def measured(self, point: Point) -> MeasuredRun:
        """Run one point, and keep what the server says of it. Raises NoAccess where the server is away."""
        with _DaemonProcesses(min(self.processes, point.nodes)) as processes:
            try:
                return asyncio.run(_run_measured(self, point, processes))
            except Unreachable as fault:
                raise NoAccess(advice_on(fault)) from fault


def engine_for(wishes: EngineOptions) -> ClusterEngine:
    """The engine of this world. Raises NoAccess."""
    return ClusterEngine(wishes.kubeconfig, asyncio.run(_setting(wishes.kubeconfig)), wishes.store)


async def _setting(kubeconfig: str | None) -> str:
    """What runs say of where they were run: machine, and version of the server."""
    connection = await connect(kubeconfig)
    async with Api(connection) as api:
        try:
            await check_kinds(api)
            version = (await api.request("GET", "/version")).json().get("gitVersion", "of no version")
        except Unreachable as fault:
            raise NoAccess(advice_on(fault)) from fault
    cores = multiprocessing.cpu_count()
    return f"kube-apiserver {version}, {cores} cores shared with the daemons, nothing pinned, {platform.machine()}"


class _DaemonProcesses:
    """Processes that wait for their call; whatever happens, none of them stays."""

    def __init__(self, count: int) -> None:
        context = multiprocessing.get_context("spawn")
        self._all: list[tuple[BaseProcess, Pipe]] = []
        for _ in range(count):
            ours, theirs = context.Pipe()
            self._all.append((context.Process(target=run_pool, args=(theirs,), daemon=True), ours))

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


async def _run_measured(engine: ClusterEngine, point: Point, pipes: Sequence[Pipe]) -> MeasuredRun:
    connection = await connect(engine.kubeconfig)
    async with Api(connection, in_flight=64, user_agent="grove-converge") as api, _store(engine.store) as store:
        ground = RunNamespace(api)
        token = await ground.prepare()
        try:
            await ground.warm_up()
            with tempfile.TemporaryDirectory(prefix="grove-converge-") as folder:
                path = Path(folder) / "kubeconfig"
                write_kubeconfig(path, connection.server, _authority(connection), token, ground.namespace)
                uid = await ground.make_domain(DOMAIN_NAME, point.nodes)
                before = await read_counters(api, store)
                seen, start, tallies, busy = await _run_daemons(point, ground, uid, str(path), pipes)
                after = await read_counters(api, store)
        finally:
            await ground.clear()
    require_no_faults(tallies)
    run = _run_of(engine, point, seen, start, tallies, after.since(before))
    spent = sum(tally.cpu_s for tally in tallies) + busy
    refused = tuple(chain.from_iterable(tally.refused for tally in tallies))
    decoded = sum(tally.decoded for tally in tallies)
    return MeasuredRun(
        run=replace(run, cpu_harness_s=spent),
        server=after.since(before),
        onlooked=seen.heard - seen.written,
        parried=seen.parried,
        decoded=decoded,
        refused=refused,
    )


def require_no_faults(tallies: Iterable[DaemonCounts]) -> None:
    """Raises ChildProcessError where a daemon broke: that is no slow protocol, and no run (CV-067)."""
    faults = [fault for tally in tallies for fault in tally.faults]
    if faults:
        raise ChildProcessError(f"{len(faults)} daemons of the run broke, the first of them by {faults[0]}")


async def _run_daemons(
    point: Point, ground: RunNamespace, uid: str, kubeconfig: str, pipes: Sequence[Pipe]
) -> tuple[RunMonitor, float, list[DaemonCounts], float]:
    """Play the run; the onlooker, the moment of its start, the tallies, and the processor time of this process."""
    began = time.process_time()
    daemons = [_daemon(number, point, ground.namespace, uid) for number in range(point.nodes)]
    monitor = RunMonitor(point, daemons)
    async with Api(await connect(kubeconfig), user_agent="grove-converge-controller") as api:
        written: list[int] = []
        controller = Api(
            await connect(kubeconfig), rate_limiter=limiter_of(point), user_agent="grove-converge-controller"
        )
        async with controller:
            rounds = DomainReconcileLoop(
                controller,
                monitor,
                lambda _step, answer, _words: written.append(answer.status if answer else 0),
                MonotonicClock(),
            )
            reflectors = [Reflector(api, kind, monitor, namespace=ground.namespace) for kind in (DOMAINS, CLIQUES)]
            tasks = [asyncio.create_task(rounds.run()), *(asyncio.create_task(one.run()) for one in reflectors)]
            for reflector in reflectors:
                await reflector.synced.wait()
            start = time.monotonic() + _HEAD_START_S
            for at, pipe in enumerate(pipes):
                numbers = tuple(range(at, point.nodes, len(pipes)))
                pipe.send(PoolTask(point, tuple(daemons[number] for number in numbers), numbers, kubeconfig, start))
            await _until_converged(point, monitor, start, tasks)
            for pipe in pipes:
                pipe.send("end")
            tallies = [await asyncio.to_thread(pipe.recv) for pipe in pipes]
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
    monitor.written = sum(status in {200, 201} for status in written)
    monitor.parried = sum(status == CONFLICT for status in written)
    return monitor, start, tallies, time.process_time() - began


async def _until_converged(
    point: Point, monitor: RunMonitor, start: float, tasks: Sequence["asyncio.Task[None]"]
) -> None:
    """Until everything was seen as it should be and a while after, or the run is given up."""
    while not monitor.converged and time.monotonic() < start + point.run_limit_s:
        for task in tasks:
            if task.done():
                task.result()
        await asyncio.sleep(_TICK_S)
    if monitor.converged:
        await asyncio.sleep(_GRACE_S)


def _run_of(
    engine: ClusterEngine,
    point: Point,
    seen: RunMonitor,
    start: float,
    tallies: Sequence[DaemonCounts],
    server: ServerCounters,
) -> Run:
    pushed = [moment for tally in tallies for moment in tally.pushed]
    viewed = sorted(moment for tally in tallies for moment in tally.viewed)
    writes = sum(tally.writes for tally in tallies)
    managed = seen.largest.get("metadata", {}).get("managedFields", [])
    return Run(
        world=WORLD,
        point=point,
        outcome=Outcome.CENSORED if seen.all_at is None else Outcome.CONVERGED,
        setting=engine.setting,
        t_all_s=_since(start, seen.all_at),
        t_global_s=_since(start, seen.global_at),
        t_push_s=max(pushed) if len(pushed) == point.nodes else None,
        t_views_s=tuple(max(moment, 0.0) for moment in viewed),
        writes=writes,
        controller_writes=seen.written,
        conflicts=sum(tally.conflicts for tally in tallies),
        throttled=sum(tally.throttled for tally in tallies),
        timeouts=sum(tally.timeouts for tally in tallies),
        cas_failures=max(round(server.transactions) - round(server.good), 0),
        watch_events=sum(tally.watch_events for tally in tallies),
        watch_bytes=sum(tally.watch_bytes for tally in tallies),
        uploaded_bytes=sum(tally.uploaded_bytes for tally in tallies),
        cpu_server_s=max(server.cpu_server_s, 0.0),
        cpu_store_s=max(server.cpu_store_s, 0.0),
        object_bytes=_length(seen.largest),
        managed_bytes=_length(managed),
        repicks=sum(tally.repicks for tally in tallies),
    )


def _daemon(number: int, point: Point, namespace: str, uid: str) -> DaemonIdentity:
    made = daemon_identity(number, point.clique_of(number))
    return replace(made, namespace=namespace, pod_namespace=namespace, domain=DOMAIN_NAME, domain_uid=uid)


def _length(value: Any) -> int:  # noqa: ANN401 - JSON of any shape
    return len(json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode()) if value else 0


def _since(start: float, moment: float | None) -> float | None:
    return None if moment is None else max(moment - start, 0.0)


def _authority(connection: Connection) -> str | None:
    """The certificates by which the server is trusted, as a kubeconfig has them; None where nobody looks."""
    tls = connection.tls
    if tls is None or tls.verify_mode is ssl.CERT_NONE:
        return None
    texts = (ssl.DER_cert_to_PEM_cert(found) for found in tls.get_ca_certs(binary_form=True))
    return base64.b64encode("".join(texts).encode()).decode()


@asynccontextmanager
async def _store(url: str) -> AsyncIterator[Api | None]:
    if not url:
        yield None
        return

    async def nobody() -> str | None:
        return None

    async with Api(Connection(url, None, nobody)) as api:
        yield api
