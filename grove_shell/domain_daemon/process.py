"""A daemon as a process: its two watches, its limits, its child, and the signal that ends it."""

import asyncio
import signal
from collections.abc import Callable, Coroutine, Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from grove_core.areas.domain_cliques.daemon_context import DaemonIdentity
from grove_core.areas.domain_cliques.protocols import DaemonSettings
from grove_core.resources.daemon_pod import daemon_pod_of
from grove_core.version import VERSION
from grove_shell.client.api import Api
from grove_shell.client.connection import Connection
from grove_shell.client.rate_limiter import RateLimiter
from grove_shell.domain_daemon.daemon import DomainDaemon
from grove_shell.domain_daemon.daemon_log import DaemonLog
from grove_shell.domain_daemon.fabric_process import FabricChildProcess
from grove_shell.domain_daemon.kinds import CLIQUES, DOMAINS, PODS, registry_of
from grove_shell.domain_daemon.monotonic_clock import BURST, REQUEST_TIMEOUT_S, REQUESTS_PER_SECOND, MonotonicClock
from grove_shell.domain_daemon.object_watch import ObjectWatch
from grove_shell.domain_daemon.requests import HttpRequestSender
from grove_shell.exits import DONE, ERROR


@dataclass(frozen=True, slots=True, kw_only=True)
class DaemonProcess:
    """What one daemon process is told.

    Attributes:
        fabric: the command of its fabric daemon.
        grace: how long it may take to remove its entry when it is told to stop.
    """

    connection: Connection
    identity: DaemonIdentity
    settings: DaemonSettings
    fabric: Sequence[str]
    telling: DaemonLog
    grace: timedelta

    async def run(self) -> int:
        """Run until a signal; the exit code: 1 where its entry had to be left behind."""
        agent = f"grove-daemon/{VERSION}"
        async with Api(self.connection, timeout=REQUEST_TIMEOUT_S, tries=1, user_agent=agent) as api:
            return await self._live(api)

    async def _live(self, api: Api) -> int:
        identity, told = self.identity, self.telling
        bucket = RateLimiter(REQUESTS_PER_SECOND, BURST)
        fabric = FabricChildProcess(self.fabric, lambda words: told.say("warning", words))
        daemon = DomainDaemon(
            identity, self.settings, HttpRequestSender(api, identity, bucket), fabric, told, MonotonicClock()
        )
        fabric.changed = daemon.look
        for name in (signal.SIGTERM, signal.SIGINT):
            asyncio.get_running_loop().add_signal_handler(name, daemon.stop, self.grace)
        told.say(
            "info",
            "daemon starts",
            version=VERSION,
            server=self.connection.server,
            node=identity.node,
            ip=identity.ip,
            clique=identity.clique or "none",
            domain=f"{identity.namespace}/{identity.domain}",
            protocol=self.settings.protocol.short_name,
        )
        try:
            async with asyncio.TaskGroup() as group:  # a daemon that hears nothing any more must not go on (DC-132)
                watches = [group.create_task(one) for one in self._watches(api, daemon, bucket)]
                last = await daemon.run()
                for watch in watches:
                    watch.cancel()
        finally:
            await fabric.stop()
        return ERROR if last.entry_remains else DONE

    def _watches(self, api: Api, daemon: DomainDaemon, bucket: RateLimiter) -> Iterator[Coroutine[Any, Any, None]]:
        """Of its register and, where it has one, of its pod: each of one object alone (DC-120)."""
        identity, sharded = self.identity, self.settings.protocol.sharded
        registry = identity.registry_ref(sharded=sharded)
        if identity.clique:
            place, told = (registry.namespace, registry.name), self._trouble(registry.short)
            kind = CLIQUES if sharded else DOMAINS
            yield ObjectWatch(api, kind, place, registry_of, daemon.seen, told=told, bucket=bucket).run()
        if self.settings.has_pods:
            place, told = (identity.pod_namespace, identity.pod), self._trouble(identity.pod_ref.short)
            yield ObjectWatch(api, PODS, place, daemon_pod_of, daemon.pod_seen, told=told).run()

    def _trouble(self, what: str) -> Callable[[str], None]:
        return lambda words: self.telling.say("warning", f"cannot follow {what}", error=words)
