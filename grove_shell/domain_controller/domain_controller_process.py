"""The domain controller as a process: three watches, one worker, and the signal that ends it."""

import asyncio
from dataclasses import dataclass
from datetime import timedelta

from grove_core.kernel.steps import Step
from grove_core.version import VERSION
from grove_shell.client.api_session import ApiSession
from grove_shell.client.connection_settings import ConnectionSettings
from grove_shell.client.rate_limiter import RateLimiter
from grove_shell.client.reflector import Reflector
from grove_shell.client.response import Response
from grove_shell.domain_controller.domain_cache import DomainCache
from grove_shell.domain_controller.domain_reconcile_loop import DomainReconcileLoop
from grove_shell.domain_daemon.compute_domain_kinds import CLIQUES, DOMAINS, PODS
from grove_shell.domain_daemon.daemon_log import DaemonLog
from grove_shell.domain_daemon.daemon_requests import BURST, REQUESTS_PER_SECOND
from grove_shell.domain_daemon.domain_daemon_loop import MonotonicClock
from grove_shell.exit_codes import DONE
from grove_shell.until_stopped import run_until_stopped


@dataclass(frozen=True, slots=True, kw_only=True)
class DomainControllerProcess:
    """The controller process.

    Attributes:
        namespace: of the domains; empty for all.
        pods_namespace: of daemons' pods and cliques; empty for all.
        cleanup_interval: time until entries that could not be judged are looked at again.
    """

    connection: ConnectionSettings
    log: DaemonLog
    namespace: str = ""
    pods_namespace: str = ""
    cleanup_interval: timedelta

    async def run(self) -> int:
        """Run until a signal; return the exit code."""
        agent = f"grove-domain-controller/{VERSION}"
        async with ApiSession(
            self.connection, rate_limiter=RateLimiter(REQUESTS_PER_SECOND, BURST), user_agent=agent
        ) as api:
            self.log.write("info", "controller starts", version=VERSION, server=self.connection.server)
            await run_until_stopped(asyncio.Event(), (self._run(api),))
        self.log.write("info", "controller stops")
        return DONE

    async def _run(self, api: ApiSession) -> None:
        cache = DomainCache(self._on_error)
        watched = ((DOMAINS, self.namespace), (CLIQUES, self.pods_namespace), (PODS, self.pods_namespace))
        reflectors = [
            Reflector(api, kind, cache, namespace=namespace, report=self._on_error) for kind, namespace in watched
        ]
        loop = DomainReconcileLoop(
            api,
            cache,
            self._on_write,
            MonotonicClock(),
            namespace=self.pods_namespace,
            cleanup_interval=self.cleanup_interval,
        )
        async with asyncio.TaskGroup() as group:
            for reflector in reflectors:
                group.create_task(reflector.run())
            for reflector in reflectors:
                await reflector.synced.wait()
            self.log.write("info", "caches are filled")
            loop.enqueue("")
            group.create_task(loop.run())

    def _on_error(self, what: str, message: str) -> None:
        self.log.write("warning", f"cannot follow {what}", error=message)

    def _on_write(self, step: Step, response: Response | None, error: str) -> None:
        reason = step.because[0]
        done = response is not None and response.ok
        self.log.write(
            "info" if done else "warning",
            f"writes {step.target.short}" if done else f"cannot write {step.target.short}",
            **({} if done else {"error": error}),
            because=reason.sentence,
            rule=reason.rule.requirement,
        )
