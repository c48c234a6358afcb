"""A daemon as a process: its two watches, its rate limit, its child process, and its signals."""

import asyncio
import signal
from collections.abc import Callable, Coroutine, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final, Generic, TypeVar

from grove_core.areas.domain_cliques.daemon.daemon_input import DaemonIdentity
from grove_core.areas.domain_cliques.daemon.registration_protocols import DaemonRegistrationSettings
from grove_core.kernel.errors import MalformedObject
from grove_core.kernel.structs import replace
from grove_core.resources.compute_domain import daemon_pod_from_json
from grove_core.resources.object_metadata import metadata_in, resource_version_number
from grove_core.version import VERSION
from grove_shell.client.api_kinds import ApiKind
from grove_shell.client.api_session import ApiSession
from grove_shell.client.connection_settings import ConnectionSettings
from grove_shell.client.proxy_response_check import parse_watch_event
from grove_shell.client.rate_limiter import RateLimiter
from grove_shell.client.reflector import WHOLE, Reflector
from grove_shell.domain_daemon.daemon_log import DaemonDecisionLog
from grove_shell.domain_daemon.daemon_requests import (
    BURST,
    CLIQUES,
    DOMAINS,
    PODS,
    REQUEST_TIMEOUT_S,
    REQUESTS_PER_SECOND,
    DaemonRequestSender,
    parse_daemon_registry,
)
from grove_shell.domain_daemon.domain_daemon_loop import DomainDaemon, MonotonicClock
from grove_shell.domain_daemon.fabric_process import FabricChildProcess
from grove_shell.exit_codes import DONE, ERROR

T = TypeVar("T")
_LONGEST_PAUSE_S: Final = 10.0


class SingleObjectWatch(Generic[T]):
    """Calls a function with every state of one object."""

    def __init__(
        self,
        api: ApiSession,
        kind: ApiKind,
        key: tuple[str, str],
        parse: Callable[[Mapping[str, Any]], T],
        on_change: Callable[[int, T | None], None],
        *,
        report: Callable[[str], None] = lambda _message: None,
        limiter: RateLimiter | None = None,
        parse_event: Callable[[bytes], tuple[str, dict[str, Any]]] = parse_watch_event,
    ) -> None:
        """Start without a list.

        Args:
            key: namespace and name of the object.
            parse: of JSON; raises MalformedObject.
            on_change: called with the version and the parsed object; None if it does not exist.
            report: called once for each error.
            limiter: see :class:`Reflector`.
            parse_event: see :class:`ObjectDecoding`.
        """
        self._parse = parse
        self._on_change = on_change
        self._report = report
        self._malformed = ""  # the last report of an object that cannot be parsed
        self._reflector = Reflector(
            api,
            replace(kind, name=key[1], selector=""),
            self,
            namespace=key[0],
            report=lambda _kind, message: report(message),
            longest_pause=_LONGEST_PAUSE_S,
            limiter=limiter,
            decoding=WHOLE._replace(parse_event=parse_event),
        )

    async def run(self) -> None:
        """List and watch until cancelled."""
        await self._reflector.run()

    def newest_resource_version(self, _kind: str) -> int:
        """See :class:`ReflectorCache`; older states are dropped by the core (DC-010)."""
        return 0

    def replace_all_of_kind(self, _kind: str, items: Iterable[Mapping[str, Any]], version: str) -> None:
        """Apply the list of the objects of this name: one or none."""
        self._apply(resource_version_number(version), next(iter(items), None))

    def put(self, _kind: str, raw: Mapping[str, Any]) -> None:
        """Apply the new or changed object."""
        self._apply(metadata_in(raw).version_number, raw)

    def drop(self, _kind: str, raw: Mapping[str, Any]) -> None:
        """Apply the deletion."""
        self._apply(metadata_in(raw).version_number, None)

    def mark_kind_unlisted(self, kind: str, why: str) -> None:
        """Keep the last state."""

    def _apply(self, version: int, raw: Mapping[str, Any] | None) -> None:
        try:
            found = None if raw is None else self._parse(raw)
        except MalformedObject as fault:
            if str(fault) != self._malformed:
                self._malformed = str(fault)
                self._report(f"malformed object: {fault}")
            return
        self._malformed = ""
        self._on_change(version, found)


@dataclass(frozen=True, slots=True, kw_only=True)
class DomainDaemonProcess:
    """One daemon process.

    Attributes:
        fabric_command: program and arguments of its fabric daemon.
        grace_period: time to remove its entry after a signal.
    """

    connection: ConnectionSettings
    identity: DaemonIdentity
    settings: DaemonRegistrationSettings
    fabric_command: Sequence[str]
    log: DaemonDecisionLog
    grace_period: timedelta

    async def run(self) -> int:
        """Run until a signal; return the exit code, 1 if its entry remains."""
        agent = f"grove-daemon/{VERSION}"
        async with ApiSession(self.connection, timeout=REQUEST_TIMEOUT_S, tries=1, user_agent=agent) as api:
            return await self._run(api)

    async def _run(self, api: ApiSession) -> int:
        identity, log = self.identity, self.log
        limiter = RateLimiter(REQUESTS_PER_SECOND, BURST)
        fabric = FabricChildProcess(self.fabric_command, lambda message: log.write_message("warning", message))
        sender = DaemonRequestSender(api, identity, limiter)
        daemon = DomainDaemon(identity, self.settings, sender, fabric, log, MonotonicClock())
        fabric.on_change = daemon.decide_again
        for name in (signal.SIGTERM, signal.SIGINT):
            asyncio.get_running_loop().add_signal_handler(name, daemon.stop, self.grace_period)
        log.write_message(
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
            async with asyncio.TaskGroup() as group:  # a daemon must not go on without its watches (DC-132)
                watches = [group.create_task(one) for one in self._watches(api, daemon, limiter)]
                last = await daemon.run()
                for watch in watches:
                    watch.cancel()
        finally:
            await fabric.stop()
        return ERROR if last.entry_remains else DONE

    def _watches(
        self, api: ApiSession, daemon: DomainDaemon, limiter: RateLimiter
    ) -> Iterator[Coroutine[Any, Any, None]]:
        """Watches of the registry and of the daemon's pod, each of one object alone (DC-120)."""
        identity, sharded = self.identity, self.settings.protocol.sharded
        registry = identity.registry_ref(sharded=sharded)
        if identity.clique:
            key, report = (registry.namespace, registry.name), self._reporter(registry.short)
            kind = CLIQUES if sharded else DOMAINS
            changed = daemon.on_registry_change
            yield SingleObjectWatch(
                api, kind, key, parse_daemon_registry, changed, report=report, limiter=limiter
            ).run()
        if self.settings.has_pods:
            key, report = (identity.pod_namespace, identity.pod), self._reporter(identity.pod_ref.short)
            yield SingleObjectWatch(api, PODS, key, daemon_pod_from_json, daemon.on_pod_change, report=report).run()

    def _reporter(self, what: str) -> Callable[[str], None]:
        return lambda message: self.log.write_message("warning", f"cannot follow {what}", error=message)
