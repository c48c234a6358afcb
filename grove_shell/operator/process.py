"""One operator process: it starts, leads or waits, acts, and stops without leaving anything half done."""

import asyncio
import gc
import os
import socket
from collections.abc import Coroutine, Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Final, TextIO
from uuid import uuid4

from grove_core.areas.gang_termination.rulesets import rule_set
from grove_core.reconcile import reconcile
from grove_core.resources.configuration import NOT_DISCOVERED, ServedApis
from grove_core.version import IMAGE, VERSION
from grove_shell.apply.step_executor import StepExecutor
from grove_shell.cache.cluster_cache import ClusterCache
from grove_shell.client.api import Api
from grove_shell.client.connection import Connection
from grove_shell.client.kinds import kinds_as_served, watched_kinds
from grove_shell.client.rate_limiter import RateLimiter
from grove_shell.client.reflector import Reflector
from grove_shell.controller.reconcile_root import reconcile_root
from grove_shell.controller.round_listener import RoundListener
from grove_shell.exits import DONE, LOST
from grove_shell.operator.cluster_writer import ClusterWriter
from grove_shell.operator.event_recorder import EventRecorder
from grove_shell.operator.health_server import HealthServer, listening_at
from grove_shell.operator.json_log import JsonLog
from grove_shell.operator.leader import Leader, LeadershipLost, LeaseTerms
from grove_shell.operator.observer import Observer
from grove_shell.operator.operator_metrics import OperatorMetrics
from grove_shell.operator.reconcile_loop import ReconcileLoop
from grove_shell.operator.taken_names import log_taken_names
from grove_shell.operator.topology_notes import TopologyNotes
from grove_shell.replay.format import DecisionLog
from grove_shell.replay.recorder import Recorder
from grove_shell.settings.operator import OperatorSettings
from grove_shell.until_stopped import until_stopped

_LONGEST_FAREWELL: Final = 20.0


@dataclass(kw_only=True)
class OperatorProcess:
    """What one operator process is told.

    Attributes:
        served: what the server offers.
        namespace: to look after; empty for all.
        own_namespace: where its Lease is, unless the settings name another namespace.
        watching: plan and tell, and never write (``--observe``).
        own_image: that it runs from; pods wait for a start with it, unless the settings name another (WL-072).
        out, decisions: where lines are written, and what it sees and decides.
        stop: ends the process when it is set, as a signal does.
    """

    connection: Connection
    settings: OperatorSettings
    served: ServedApis = NOT_DISCOVERED
    namespace: str = ""
    own_namespace: str = "default"
    watching: bool = False
    own_image: str = IMAGE
    out: TextIO | None = None
    decisions: DecisionLog | None = None
    stop: asyncio.Event = field(default_factory=asyncio.Event)

    async def run(self) -> int:
        """Run until a signal, or until leadership is lost; returns the exit code."""
        telemetry, client = OperatorMetrics(), self.settings.client
        bucket = RateLimiter(client.qps, client.burst) if client.qps else None
        opened = partial(
            Api,
            self.connection,
            timeout=client.timeout,
            observer=telemetry.requested,
            agent=f"grove-operator/{VERSION}",
        )
        # A Lease must never wait in line behind a thousand pods, so it has a session of its own.
        async with opened(in_flight=client.in_flight, bucket=bucket) as api, opened() as lease_api:
            return await _Running(self, api, lease_api, telemetry).run()


class _Running:
    """The parts of a process that runs."""

    def __init__(self, told: OperatorProcess, api: Api, lease_api: Api, telemetry: OperatorMetrics) -> None:
        identity = f"{socket.gethostname()}_{os.getpid()}_{uuid4().hex[:8]}"
        self._told = told
        self._api = api
        self._journal = JsonLog(told.out)
        self._telemetry = telemetry
        self._leader = self._candidate(lease_api, identity)
        cache = ClusterCache()
        self._events = EventRecorder(api, identity, cache.lost)
        image = told.settings.startup.image or told.own_image
        cache.configuration = replace(told.settings.decisive, init_image=image)
        cache.served = told.served
        cache.topologies.kept = not told.namespace  # who uses them shows in all namespaces only (TP-045)
        api.allowed = self._may_write
        self._acting = acting = ClusterWriter(api, cache, StepExecutor(api, cache))
        self._standing = TopologyNotes(cache.holds)
        self._unread = cache.unread
        rules = rule_set(told.settings.rules)
        self._shadow = Observer(self._journal.say, partial(reconcile, rules=rules), telemetry.scored)
        witness: RoundListener = self._shadow if told.watching else self._events
        recorders: tuple[RoundListener, ...] = ()
        if told.decisions is not None:
            recorders = (Recorder(told.decisions, rules.name, told.namespace, self._journal.say),)
        self._rounds = ReconcileLoop(
            cache=cache,
            acting=None if told.watching else acting,
            decide=partial(reconcile_root, rules=rules),
            followers=(self._journal, telemetry, self._standing, witness, *recorders),
            workers=told.settings.workers,
            announced=self._events.flush,
        )
        cache.changed = self._rounds.wake
        telemetry.watch_queue(lambda: self._rounds.depth)
        self._synced = asyncio.Event()
        self._reflectors = [
            Reflector(api, kind, cache, namespace=told.namespace, told=self._trouble, newest=cache.newest)
            for kind in watched_kinds(
                kinds_as_served(cache.configuration, cache.served),
                everywhere=not told.namespace,
                by_topology=cache.configuration.topology.enabled,
            ).values()
        ]

    def _candidate(self, api: Api, identity: str) -> Leader | None:
        """For the election; None where nobody is elected."""
        terms = self._told.settings.leader_election
        if self._told.watching or not terms.enabled:
            return None
        lease = LeaseTerms(
            namespace=terms.namespace or self._told.own_namespace,
            name=terms.name,
            identity=identity,
            duration=terms.lease_duration,
            renew_within=terms.renew_deadline,
            retry=terms.retry_period,
        )
        said = {"lease": f"{lease.namespace}/{lease.name}"}
        return Leader(
            api, lease, self._elected, lambda why: self._journal.say("info", "does not lead", why=why, **said)
        )

    async def run(self) -> int:
        """Until somebody asks for the end, or leadership is lost."""
        code = DONE
        served = self._told.settings.serving
        serving = HealthServer(
            host=served.host,
            port=served.port,
            missing=self._missing,
            metrics=self._telemetry.page,
            notes=lambda: (*self._standing.notes, *self._unread()),
        )
        async with listening_at(serving, served.host, served.port) as port:
            self._journal.say(
                "info",
                "operator starts",
                version=VERSION,
                server=self._told.connection.server,
                port=port,
                namespace=self._told.namespace or "all",
                mode="observe" if self._told.watching else "act",
            )
            try:
                await until_stopped(self._told.stop, self._work(), self._farewell)
            except* LeadershipLost as lost:
                self._journal.say("error", "leadership lost", error="; ".join(map(str, lost.exceptions)))
                code = LOST
        if code == DONE and self._leader is not None:
            await self._leader.release()
        if self._told.watching:
            self._shadow.report()
        self._journal.say("info", "operator stops", code=code)
        return code

    def _work(self) -> Iterator[Coroutine[Any, Any, None]]:
        for reflector in self._reflectors:
            yield reflector.run()
        yield self._events.run()
        yield log_taken_names(self._api, self._journal.say)
        yield self._start()
        if not self._told.watching:
            yield self._acting.look_around(self._looks_around, self._fault_of_ours)
        if self._leader is not None:
            yield self._leader.run()

    async def _farewell(self) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(_LONGEST_FAREWELL):
                await self._rounds.close()
                await self._events.flush()

    async def _start(self) -> None:
        """Act only on what is known whole; what is old by then is not searched for garbage again and again."""
        for reflector in self._reflectors:
            await reflector.synced.wait()
        gc.collect()
        gc.freeze()
        self._synced.set()
        self._journal.say("info", "caches are filled")
        if self._leader is None or self._leader.leads:
            self._rounds.begin()

    def _missing(self) -> list[str]:
        return [f"the first list of {one.kind.kind}" for one in self._reflectors if not one.synced.is_set()]

    def _looks_around(self) -> bool:
        return self._synced.is_set() and self._may_write()

    def _may_write(self) -> bool:
        return not self._told.watching and (self._leader is None or self._leader.may_write)

    def _elected(self, leads: bool) -> None:  # noqa: FBT001 - the word is the argument
        self._telemetry.elected(leads)
        self._journal.say("info", "leads" if leads else "leads no more")
        if not leads:
            self._rounds.cease()
        elif self._synced.is_set():
            self._rounds.begin()

    def _fault_of_ours(self, words: str) -> None:
        self._journal.say("error", "fault of ours", error=words)

    def _trouble(self, kind: str, words: str) -> None:
        self._journal.say("warning", "cannot follow", kind=kind, error=words)
