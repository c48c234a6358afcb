"""A daemon as a process: its two watches, its limits, its child, and the signal that ends it."""

import asyncio
import signal
from collections.abc import Callable, Coroutine, Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from grove_core.areas.domain_cliques.protocols import Setup
from grove_core.areas.domain_cliques.situation import Daemon
from grove_core.resources.daemon_pod import daemon_pod_of
from grove_core.version import VERSION
from grove_shell.client.api import Api
from grove_shell.client.connection import Connection
from grove_shell.client.rate_limiter import RateLimiter
from grove_shell.exits import DONE, ERROR
from grove_shell.fabric_daemon.daemon import FabricDaemon
from grove_shell.fabric_daemon.fabric import ChildFabric
from grove_shell.fabric_daemon.following import Following
from grove_shell.fabric_daemon.habits import BURST, RATE, TIMEOUT, SteadyClock
from grove_shell.fabric_daemon.kinds import CLIQUES, DOMAINS, PODS, register_of
from grove_shell.fabric_daemon.requests import Requests
from grove_shell.fabric_daemon.telling import Telling


@dataclass(frozen=True, slots=True, kw_only=True)
class DaemonProcess:
    """What one daemon process is told.

    Attributes:
        fabric: the command of its fabric daemon.
        grace: how long it may take to remove its entry when it is told to stop.
    """

    connection: Connection
    me: Daemon
    setup: Setup
    fabric: Sequence[str]
    telling: Telling
    grace: timedelta

    async def run(self) -> int:
        """Run until a signal; the exit code: 1 where its entry had to be left behind."""
        agent = f"grove-daemon/{VERSION}"
        async with Api(self.connection, timeout=TIMEOUT, tries=1, agent=agent) as api:
            return await self._live(api)

    async def _live(self, api: Api) -> int:
        me, told = self.me, self.telling
        bucket = RateLimiter(RATE, BURST)
        fabric = ChildFabric(self.fabric, lambda words: told.say("warning", words))
        daemon = FabricDaemon(me, self.setup, Requests(api, me, bucket), fabric, told, SteadyClock())
        fabric.changed = daemon.look
        for name in (signal.SIGTERM, signal.SIGINT):
            asyncio.get_running_loop().add_signal_handler(name, daemon.stop, self.grace)
        told.say(
            "info",
            "daemon starts",
            version=VERSION,
            server=self.connection.server,
            node=me.node,
            ip=me.ip,
            clique=me.clique or "none",
            domain=f"{me.namespace}/{me.domain}",
            protocol=self.setup.protocol.word,
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

    def _watches(self, api: Api, daemon: FabricDaemon, bucket: RateLimiter) -> Iterator[Coroutine[Any, Any, None]]:
        """Of its register and, where it has one, of its pod: each of one object alone (DC-120)."""
        me, sharded = self.me, self.setup.protocol.sharded
        register = me.register_ref(sharded=sharded)
        if me.clique:
            place, told = (register.namespace, register.name), self._trouble(register.short)
            kind = CLIQUES if sharded else DOMAINS
            yield Following(api, kind, place, register_of, daemon.seen, told=told, bucket=bucket).run()
        if self.setup.has_pods:
            place, told = (me.pod_namespace, me.pod), self._trouble(me.pod_ref.short)
            yield Following(api, PODS, place, daemon_pod_of, daemon.pod_seen, told=told).run()

    def _trouble(self, what: str) -> Callable[[str], None]:
        return lambda words: self.telling.say("warning", f"cannot follow {what}", error=words)
