"""One operator process: caches, leader election, reconcile loop, and an orderly shutdown."""

import asyncio
import os
import socket
from collections.abc import Coroutine, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final, TextIO
from uuid import uuid4

from grove_core.kernel.structs import replace
from grove_core.preflight import preflight_notices
from grove_core.resources.configuration import NOT_DISCOVERED, ServedApis, WorkloadApiLevel
from grove_core.rule_sets.rule_set import DESIGN
from grove_core.rule_sets.rule_set_by_name import rule_set
from grove_core.version import IMAGE, VERSION
from grove_shell.apply.cluster_writer import ClusterWriter
from grove_shell.apply.planned_round import ReconcileRoundListener, plan_for_root
from grove_shell.cache.cluster_cache import ClusterCache
from grove_shell.client.api_kinds import kinds_in_served_versions, kinds_watched_by_operator
from grove_shell.client.api_session import ApiSession
from grove_shell.client.connection_settings import ConnectionSettings
from grove_shell.client.rate_limiter import RateLimiter
from grove_shell.client.reflector import ENCODED, WHOLE, Reflector
from grove_shell.exit_codes import DONE, LOST
from grove_shell.log_lines import reason_log_fields
from grove_shell.operator.crd_name_clashes import log_crd_name_clashes
from grove_shell.operator.event_recorder import EventRecorder
from grove_shell.operator.health_server import HealthServer
from grove_shell.operator.json_log import OperatorJsonLog, WithheldTopologyWrites
from grove_shell.operator.leader_elector import LeaderElector, LeadershipLost
from grove_shell.operator.metrics import OperatorMetrics
from grove_shell.operator.prediction_check import DeletionPredictionChecker
from grove_shell.operator.reconcile_loop import ReconcileLoop
from grove_shell.python_gc import exempt_existing_objects_from_gc
from grove_shell.replay.decision_log_format import DecisionLog
from grove_shell.replay.decision_log_recorder import DecisionLogRecorder
from grove_shell.settings.operator_settings import OperatorSettings
from grove_shell.until_stopped import run_until_stopped

_SHUTDOWN_TIMEOUT: Final = 20.0


@dataclass(kw_only=True)
class OperatorProcessOptions:
    """The options of one operator process.

    Attributes:
        connection: to the API server.
        settings: the configuration file.
        served: the optional kinds that the server serves.
        namespace: that is watched; empty for all.
        own_namespace: of its Lease, unless the settings name another one.
        observe_only: plan and log, and never write (``--observe``).
        own_image: the image of this process, which also runs in init containers, unless the settings name another
            (WL-084).
        out: gets the log lines.
        decisions: the decision log; None for none.
        stop: stops the process when it is set, as a signal does.
    """

    connection: ConnectionSettings
    settings: OperatorSettings
    served: ServedApis = NOT_DISCOVERED
    namespace: str = ""
    own_namespace: str = "default"
    observe_only: bool = False
    own_image: str = IMAGE
    out: TextIO | None = None
    decisions: DecisionLog | None = None
    stop: asyncio.Event = field(default_factory=asyncio.Event)

    async def run(self) -> int:
        """Run until a signal, or until leadership is lost; return the exit code."""
        metrics, client = OperatorMetrics(), self.settings.client
        limiter = RateLimiter(client.qps, client.burst) if client.qps else None
        opened = partial(
            ApiSession,
            self.connection,
            timeout=client.timeout,
            on_response=metrics.count_request,
            user_agent=f"grove-operator/{VERSION}",
        )
        # A Lease must not wait behind a thousand pods, so it has a session of its own.
        async with opened(in_flight=client.in_flight, rate_limiter=limiter) as api, opened() as lease_api:
            return await _Running(self, api, lease_api, metrics).run()


class _Running:
    """The parts of a running process."""

    def __init__(
        self, options: OperatorProcessOptions, api: ApiSession, lease_api: ApiSession, metrics: OperatorMetrics
    ) -> None:
        identity = f"{socket.gethostname()}_{os.getpid()}_{uuid4().hex[:8]}"
        self._options = options
        self._api = api
        self._log = OperatorJsonLog(options.out)
        self._metrics = metrics
        self._leader = self._candidate(lease_api, identity)
        cache = ClusterCache()
        self._events = EventRecorder(api, identity, cache.failed_watch_reasons)
        image = options.settings.startup.image or options.own_image
        cache.configuration = replace(options.settings.configuration, init_image=image)
        cache.served = options.served
        cache.topologies.kept = (
            not options.namespace
        )  # only an operator of all namespaces sees every set that uses one (TP-045)
        api.allowed = self._may_write
        writer = ClusterWriter(api, cache)
        self._topology_notes = WithheldTopologyWrites(cache.has_anything_of_root)
        self._unread = cache.unreadable_object_messages
        rules = rule_set(options.settings.rules)
        self._observer = DeletionPredictionChecker(
            self._log.write_line, rules, metrics.count_prediction_outcome, metrics.set_last_termination
        )
        reporter: ReconcileRoundListener = self._observer if options.observe_only else self._events
        recorders: tuple[ReconcileRoundListener, ...] = ()
        if options.decisions is not None:
            recorders = (DecisionLogRecorder(options.decisions, rules.name, options.namespace, self._log.write_line),)
        self._loop = ReconcileLoop(
            cache=cache,
            writer=None if options.observe_only else writer,
            decide=partial(plan_for_root, rules=rules),
            listeners=(self._log, metrics, self._topology_notes, reporter, *recorders),
            workers=options.settings.workers,
            flush_events=self._events.wait_until_written,
        )
        cache.changed = self._loop.enqueue
        metrics.read_queue_depth_from(lambda: self._loop.queue_depth)
        self._synced = asyncio.Event()
        self._reflectors = [
            Reflector(
                api,
                kind,
                cache,
                namespace=options.namespace,
                report=self._report_watch,
                decoding=ENCODED if kind.kind == "Pod" else WHOLE,
            )
            for kind in kinds_watched_by_operator(
                kinds_in_served_versions(cache.configuration, cache.served),
                everywhere=not options.namespace,
                by_topology=cache.configuration.topology.enabled,
                with_groups=cache.served.workload_api is WorkloadApiLevel.HIERARCHICAL,
            ).values()
        ]

    def _candidate(self, api: ApiSession, identity: str) -> LeaderElector | None:
        """Return the leader election; None where there is none."""
        terms = self._options.settings.leader_election
        if self._options.observe_only or not terms.enabled:
            return None
        terms = terms.model_copy(update={"namespace": terms.namespace or self._options.own_namespace})
        lease = f"{terms.namespace}/{terms.name}"

        def report(level: str, message: str, why: str) -> None:
            self._log.write_line(level, message, lease=lease, why=why)

        return LeaderElector(api, terms, identity, self._on_leading, report)

    async def run(self) -> int:
        """Run until it is stopped, or leadership is lost; return the exit code."""
        code = DONE
        served = self._options.settings.serving
        serving = HealthServer(
            host=served.host,
            port=served.port,
            missing=self._missing,
            metrics=self._metrics.as_prometheus_text,
            notes=lambda: (*self._topology_notes.readiness_notes, *self._unread()),
        )
        async with serving as port:
            self._log.write_line(
                "info",
                "operator starts",
                version=VERSION,
                server=self._options.connection.server,
                port=port,
                namespace=self._options.namespace or "all",
                mode="observe" if self._options.observe_only else "act",
            )
            decides_by_design = self._options.settings.rules == DESIGN.name
            notices = preflight_notices(self._options.settings.configuration, self._options.served)
            for notice in notices if decides_by_design else ():
                self._log.write_line("info", "gang back end", because=reason_log_fields(notice))
            try:
                await run_until_stopped(self._options.stop, self._work(), self._shut_down)
            except* LeadershipLost as lost:
                self._log.write_line("error", "leadership lost", error="; ".join(map(str, lost.exceptions)))
                code = LOST
        if code == DONE and self._leader is not None:
            await self._leader.release_lease()
        if self._options.observe_only:
            self._observer.log_outcome_totals()
        self._log.write_line("info", "operator stops", code=code)
        return code

    def _work(self) -> Iterator[Coroutine[Any, Any, None]]:
        for reflector in self._reflectors:
            yield reflector.run()
        yield self._events.run()
        yield log_crd_name_clashes(self._api, self._log.write_line)
        yield self._start()
        if self._leader is not None:
            yield self._leader.run()

    async def _shut_down(self) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(_SHUTDOWN_TIMEOUT):
                await self._loop.close()
                await self._events.wait_until_written()

    async def _start(self) -> None:
        """Start the loop once every kind was listed (OP-034); Python's collector skips the objects of these lists."""
        for reflector in self._reflectors:
            await reflector.synced.wait()
        exempt_existing_objects_from_gc()
        self._synced.set()
        self._log.write_line("info", "caches are filled")
        if self._leader is None or self._leader.is_leader:
            self._loop.start()

    def _missing(self) -> list[str]:
        return [f"the first list of {one.kind.kind}" for one in self._reflectors if not one.synced.is_set()]

    def _may_write(self) -> bool:
        return not self._options.observe_only and (self._leader is None or self._leader.may_write)

    def _on_leading(self, leads: bool) -> None:  # noqa: FBT001 - its name says what it is
        self._metrics.set_leading(leads)
        self._log.write_line("info", "leads" if leads else "stopped leading")
        if not leads:
            self._loop.pause()
        elif self._synced.is_set():
            self._loop.start()

    def _report_watch(self, kind: str, words: str) -> None:
        self._log.write_line("warning", "cannot follow", kind=kind, error=words)
