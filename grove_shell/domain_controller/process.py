"""The controller as a process: three watches, one worker, and the signal that ends it."""

import asyncio
from dataclasses import dataclass
from datetime import timedelta

from grove_core.kernel.steps import Step
from grove_core.version import VERSION
from grove_shell.client.api import Api
from grove_shell.client.connection import Connection
from grove_shell.client.rate_limiter import RateLimiter
from grove_shell.client.reflector import Reflector
from grove_shell.client.response import Response
from grove_shell.domain_controller.domain_cache import DomainCache
from grove_shell.domain_controller.reconcile_loop import DomainReconcileLoop
from grove_shell.domain_daemon.daemon_log import DaemonLog
from grove_shell.domain_daemon.kinds import CLIQUES, DOMAINS, PODS
from grove_shell.domain_daemon.monotonic_clock import BURST, REQUESTS_PER_SECOND, MonotonicClock
from grove_shell.exits import DONE
from grove_shell.until_stopped import until_stopped


@dataclass(frozen=True, slots=True, kw_only=True)
class DomainControllerProcess:
    """What the controller process is told.

    Attributes:
        namespace: of the domains; empty for all.
        pods_namespace: of daemons' pods and cliques; empty for all.
        cleanup: how long until something that could not be said is looked at again.
    """

    connection: Connection
    telling: DaemonLog
    namespace: str = ""
    pods_namespace: str = ""
    cleanup: timedelta

    async def run(self) -> int:
        """Run until a signal."""
        agent = f"grove-domain-controller/{VERSION}"
        async with Api(self.connection, rate_limiter=RateLimiter(REQUESTS_PER_SECOND, BURST), user_agent=agent) as api:
            self.telling.say("info", "controller starts", version=VERSION, server=self.connection.server)
            await until_stopped(asyncio.Event(), (self._live(api),))
        self.telling.say("info", "controller stops")
        return DONE

    async def _live(self, api: Api) -> None:
        shelf = DomainCache(self._trouble)
        places = ((DOMAINS, self.namespace), (CLIQUES, self.pods_namespace), (PODS, self.pods_namespace))
        reflectors = [
            Reflector(api, kind, shelf, namespace=namespace, report=self._trouble) for kind, namespace in places
        ]
        rounds = DomainReconcileLoop(
            api, shelf, self._answered, MonotonicClock(), namespace=self.pods_namespace, cleanup=self.cleanup
        )
        async with asyncio.TaskGroup() as group:
            for reflector in reflectors:
                group.create_task(reflector.run())
            for reflector in reflectors:
                await reflector.synced.wait()
            self.telling.say("info", "caches are filled")
            rounds.wake("")
            group.create_task(rounds.run())

    def _trouble(self, what: str, words: str) -> None:
        self.telling.say("warning", f"cannot follow {what}", error=words)

    def _answered(self, step: Step, answer: Response | None, words: str) -> None:
        reason = step.because[0]
        done = answer is not None and answer.ok
        self.telling.say(
            "info" if done else "warning",
            f"writes {step.target.short}" if done else f"cannot write {step.target.short}",
            **({} if done else {"error": words}),
            because=reason.sentence,
            rule=reason.rule.requirement,
        )
