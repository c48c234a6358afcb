"""The domain controller: the reconcile loop, one worker for all domains, and the process that runs it."""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from grove_core.kernel.frozen import mapping_or_empty, thaw_json
from grove_core.kernel.steps import Apply, SetStatus, Step
from grove_core.plan.plan import Plan
from grove_core.reconcile_domain import CLEANUP_INTERVAL, reconcile_compute_domain
from grove_core.resources.api_names import DOMAIN_KIND
from grove_core.resources.compute_domain import ComputeDomain
from grove_core.version import VERSION
from grove_shell.client.api_response import ApiResponse
from grove_shell.client.api_session import APPLY, MERGE, ApiSession, NoServerResponse
from grove_shell.client.connection_settings import ConnectionSettings
from grove_shell.client.paged_lists import KindNotListed, list_all_objects_of_kind
from grove_shell.client.proxy_response_check import response_confirms_write
from grove_shell.client.rate_limiter import RateLimiter
from grove_shell.client.reflector import Reflector
from grove_shell.domain_controller.domain_cache import ComputeDomainCache
from grove_shell.domain_daemon.daemon_log import DaemonDecisionLog
from grove_shell.domain_daemon.daemon_requests import (
    BURST,
    CLIQUES,
    DOMAINS,
    PODS,
    REQUESTS_PER_SECOND,
    url_path_of_object,
)
from grove_shell.domain_daemon.domain_daemon_loop import MonotonicClock
from grove_shell.exit_codes import DONE
from grove_shell.until_stopped import run_until_stopped

MANAGER: Final = "compute-domain-controller"
OnWrite = Callable[[Step, ApiResponse | None, str], None]


class DomainReconcileLoop:
    """Reconciles changed domains; pods are listed again before a withheld decision is repeated (DC-132)."""

    def __init__(
        self,
        api: ApiSession,
        cache: ComputeDomainCache,
        on_write: OnWrite,
        clock: Callable[[], datetime],
        *,
        namespace: str = "",
        cleanup_interval: timedelta = CLEANUP_INTERVAL,
    ) -> None:
        """Start with an empty queue.

        Args:
            cache: of domains, cliques and pods; its changes are queued.
            on_write: called after each write with the step, the response (None without one) and the error.
            clock: returns aware UTC.
            namespace: of the pods to list again; empty for all.
            cleanup_interval: time until a domain is requeued after a withheld step or a failed write.
        """
        self._api = api
        self._cache = cache
        self._on_write = on_write
        self._clock = clock
        self._namespace = namespace
        self._cleanup_interval = cleanup_interval
        self._queue: set[str] = set()
        self._requeue_at: dict[str, datetime] = {}
        self._queued = asyncio.Event()
        cache.on_change = self.enqueue

    def enqueue(self, uid: str) -> None:
        """Queue a domain by its uid; all domains if it is empty."""
        self._queue.add(uid)
        self._queued.set()

    async def run(self) -> None:
        """Reconcile until cancelled."""
        while True:
            await self._wait_for_work()
            self._drop_deleted_domains()
            now = self._clock()
            due = {uid for uid, at in self._requeue_at.items() if at <= now}
            if due:
                await self._relist_pods()
            wanted, self._queue = self._queue | due, set()
            for domain in self._cache.all_domains:
                if "" in wanted or domain.uid in wanted:
                    await self.reconcile(domain)

    def _drop_deleted_domains(self) -> None:
        """Drop requeue times of deleted domains, which would stay due forever (DC-132)."""
        known = {domain.uid for domain in self._cache.all_domains}
        self._requeue_at = {uid: at for uid, at in self._requeue_at.items() if uid in known}

    async def reconcile(self, domain: ComputeDomain) -> None:
        """Plan one domain and carry out its writes."""
        plan = reconcile_compute_domain(
            self._cache.domain_snapshot(domain, self._clock()), cleanup_interval=self._cleanup_interval
        )
        self._requeue_at.pop(domain.uid, None)
        if plan.wake_at is not None:
            self._requeue_at[domain.uid] = plan.wake_at
        if not await self._carry_out(plan):
            self._requeue_at[domain.uid] = self._clock() + self._cleanup_interval

    async def _carry_out(self, plan: Plan) -> bool:
        """Send every write; return whether all succeeded."""
        all_succeeded = True
        for step in plan.steps:
            try:
                response = await self._write(step)
            except NoServerResponse as fault:
                self._on_write(step, None, str(fault))
                all_succeeded = False
                continue
            succeeded = response_confirms_write(response, step.target)
            self._on_write(step, response, "" if succeeded else response.error_message)
            all_succeeded = all_succeeded and succeeded
            if succeeded:
                self._cache.put(step.target.kind, response.json_body())
        return all_succeeded

    async def _write(self, step: Step) -> ApiResponse:
        """Send a write with the uid and version that the decision is based on."""
        ref, action = step.target, step.action
        assert isinstance(action, Apply | SetStatus)  # noqa: S101 - the only steps that the core plans for domains
        guard: Mapping[str, Any] = {"uid": action.guard.uid, "resourceVersion": action.guard.resource_version}
        path = url_path_of_object(ref, "status" if ref.kind == DOMAIN_KIND else "")
        if isinstance(action, Apply):
            fields = thaw_json(action.fields)
            body = {**fields, "metadata": {**mapping_or_empty(fields, "metadata"), **guard}}
            return await self._api.request(
                "PATCH", path, query={"fieldManager": MANAGER}, body=body, content_type=MERGE
            )
        metadata = {"name": ref.name, "namespace": ref.namespace, **guard}
        body = {
            "apiVersion": ref.api_version,
            "kind": ref.kind,
            "metadata": metadata,
            "status": thaw_json(action.fields),
        }
        query = {"fieldManager": MANAGER, "force": "true"}
        return await self._api.request("PATCH", path, query=query, body=body, content_type=APPLY)

    async def _relist_pods(self) -> None:
        """List the pods, so that the cache is as new as the list."""
        try:
            pods, version = await list_all_objects_of_kind(self._api, PODS, self._namespace)
        except (NoServerResponse, KindNotListed):
            return  # the watch of the pods reports the error
        self._cache.replace_all_of_kind(PODS.kind, pods, version)

    async def _wait_for_work(self) -> None:
        """Wait until a domain is queued or due."""
        soonest = min(self._requeue_at.values(), default=None)
        seconds = None if soonest is None else max((soonest - self._clock()).total_seconds(), 0)
        try:
            async with asyncio.timeout(seconds):
                await self._queued.wait()
        except TimeoutError:
            return
        self._queued.clear()


@dataclass(frozen=True, slots=True, kw_only=True)
class DomainControllerProcess:
    """The controller process.

    Attributes:
        namespace: of the domains; empty for all.
        pods_namespace: of daemons' pods and cliques; empty for all.
        cleanup_interval: time until entries that could not be judged are looked at again.
    """

    connection: ConnectionSettings
    log: DaemonDecisionLog
    namespace: str = ""
    pods_namespace: str = ""
    cleanup_interval: timedelta

    async def run(self) -> int:
        """Run until a signal; return the exit code."""
        agent = f"grove-domain-controller/{VERSION}"
        async with ApiSession(
            self.connection, rate_limiter=RateLimiter(REQUESTS_PER_SECOND, BURST), user_agent=agent
        ) as api:
            self.log.write_message("info", "controller starts", version=VERSION, server=self.connection.server)
            await run_until_stopped(asyncio.Event(), (self._run(api),))
        self.log.write_message("info", "controller stops")
        return DONE

    async def _run(self, api: ApiSession) -> None:
        cache = ComputeDomainCache(self._on_error)
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
            self.log.write_message("info", "caches are filled")
            loop.enqueue("")
            group.create_task(loop.run())

    def _on_error(self, what: str, message: str) -> None:
        self.log.write_message("warning", f"cannot follow {what}", error=message)

    def _on_write(self, step: Step, response: ApiResponse | None, error: str) -> None:
        reason = step.because[0]
        done = response is not None and response.is_success
        self.log.write_message(
            "info" if done else "warning",
            f"writes {step.target.short}" if done else f"cannot write {step.target.short}",
            **({} if done else {"error": error}),
            because=reason.sentence,
            rule=reason.rule.requirement,
        )
