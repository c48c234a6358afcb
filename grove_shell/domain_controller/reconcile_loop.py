"""Looks at domains of which something is new, and carries out what the core wants of each."""

import asyncio
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from typing import Any, Final

from grove_core.kernel.frozen import thaw
from grove_core.kernel.steps import Apply, SetStatus, Step
from grove_core.plan.plan import Plan
from grove_core.reconcile_domain import CLEANUP_INTERVAL, reconcile_domain
from grove_core.resources.compute_domain import DOMAIN_KIND, ComputeDomain
from grove_shell.client.api import APPLY, MERGE, Api, Unreachable
from grove_shell.client.lists import NotListed, list_all
from grove_shell.client.response import Response
from grove_shell.client.response_check import confirms_write
from grove_shell.domain_controller.domain_cache import DomainCache
from grove_shell.domain_daemon.kinds import PODS, path_of

MANAGER: Final = "compute-domain-controller"
OnWrite = Callable[[Step, Response | None, str], None]


class DomainReconcileLoop:
    """One worker for all domains; what is held back is looked at again on pods that were listed anew (DC-128)."""

    def __init__(
        self,
        api: Api,
        shelf: DomainCache,
        answered: OnWrite,
        clock: Callable[[], datetime],
        *,
        namespace: str = "",
        cleanup: timedelta = CLEANUP_INTERVAL,
    ) -> None:
        """Wait for news.

        Args:
            api: whom to write to.
            shelf: what is known; it says when something is new.
            answered: is told of each write, with the answer, or with the reason why there is none.
            clock: aware UTC.
            namespace: of the pods that are listed anew; empty for all.
            cleanup: how long until something that could not be said is looked at again.
        """
        self._api = api
        self._shelf = shelf
        self._answered = answered
        self._clock = clock
        self._namespace = namespace
        self._cleanup = cleanup
        self._dirty: set[str] = set()
        self._again: dict[str, datetime] = {}
        self._news = asyncio.Event()
        shelf.changed = self.wake

    def wake(self, uid: str) -> None:
        """Look at this domain; at all where none is named."""
        self._dirty.add(uid)
        self._news.set()

    async def run(self) -> None:
        """Until cancelled."""
        while True:
            await self._rest()
            self._forget_the_gone()
            now = self._clock()
            due = {uid for uid, moment in self._again.items() if moment <= now}
            if due:
                await self._see_pods()
            wanted, self._dirty = self._dirty | due, set()
            for domain in self._shelf.domains:
                if "" in wanted or domain.uid in wanted:
                    await self.round(domain)

    def _forget_the_gone(self) -> None:
        """Nobody looks again at a domain that is not there; it would be due for ever (DC-131)."""
        known = {domain.uid for domain in self._shelf.domains}
        self._again = {uid: moment for uid, moment in self._again.items() if uid in known}

    async def round(self, domain: ComputeDomain) -> None:
        """One look at one domain, and its writes."""
        plan = reconcile_domain(self._shelf.moment(domain, self._clock()), cleanup=self._cleanup)
        self._again.pop(domain.uid, None)
        if plan.wake_at is not None:
            self._again[domain.uid] = plan.wake_at
        if not await self._carried_out(plan):
            self._again[domain.uid] = self._clock() + self._cleanup

    async def _carried_out(self, plan: Plan) -> bool:
        """Whether every write went well; one that did not is decided anew later."""
        good = True
        for step in plan.steps:
            try:
                answer = await self._write(step)
            except Unreachable as fault:
                self._answered(step, None, str(fault))
                good = False
                continue
            was_done = confirms_write(answer, step.target)
            self._answered(step, answer, "" if was_done else answer.message)
            good = good and was_done
            if was_done:
                self._shelf.put(step.target.kind, answer.json())
        return good

    async def _write(self, step: Step) -> Response:
        """Every write is aimed at the version that was judged."""
        ref, action = step.target, step.action
        assert isinstance(action, Apply | SetStatus)  # noqa: S101 - what the core plans of domains
        aim: Mapping[str, Any] = {"uid": action.guard.uid, "resourceVersion": action.guard.resource_version}
        path = path_of(ref, "status" if ref.kind == DOMAIN_KIND else "")
        if isinstance(action, Apply):
            body = {**thaw(action.fields), "metadata": aim}
            return await self._api.request(
                "PATCH", path, query={"fieldManager": MANAGER}, body=body, content_type=MERGE
            )
        metadata = {"name": ref.name, "namespace": ref.namespace, **aim}
        body = {"apiVersion": ref.api_version, "kind": ref.kind, "metadata": metadata, "status": thaw(action.fields)}
        query = {"fieldManager": MANAGER, "force": "true"}
        return await self._api.request("PATCH", path, query=query, body=body, content_type=APPLY)

    async def _see_pods(self) -> None:
        """The pods from the server itself, which makes the view as new as the list."""
        try:
            found, version = await list_all(self._api, PODS, self._namespace)
        except (Unreachable, NotListed):
            return  # the watch of the pods tells the trouble
        self._shelf.replace(PODS.kind, found, version)

    async def _rest(self) -> None:
        """Until there are news, or something is to be looked at again."""
        soonest = min(self._again.values(), default=None)
        seconds = None if soonest is None else max((soonest - self._clock()).total_seconds(), 0)
        try:
            async with asyncio.timeout(seconds):
                await self._news.wait()
        except TimeoutError:
            return
        self._news.clear()
