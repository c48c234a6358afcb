"""One leader among several processes: a Lease that is renewed, and an end of the process where it is not."""

import asyncio
import math
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from random import uniform
from typing import Any, Final

from grove_core.kernel.refs import Ref
from grove_shell.client.api import Api, Unreachable
from grove_shell.client.response import NOT_FOUND, Response
from grove_shell.client.response_check import shows_object

_COORDINATION: Final = "coordination.k8s.io/v1"


@dataclass(frozen=True, slots=True, kw_only=True)
class LeaseTerms:
    """How leadership is had and lost; seconds.

    Attributes:
        namespace, name: of the Lease.
        identity: of this process; unique.
        duration: how long others wait for a leader that says nothing.
        renew_within: how long the leader tries to renew before it gives up; shorter than ``duration``.
        retry: between two tries.
        release_within: how long it tries to give the Lease back at its end; then that runs out by itself.
    """

    namespace: str
    name: str
    identity: str
    duration: float = 15.0
    renew_within: float = 10.0
    retry: float = 2.0
    release_within: float = 5.0


class LeadershipLost(Exception):
    """The Lease could not be renewed in time, or is another's: this process must not go on (exit 75)."""


class Leader:
    """Stands for election until it is cancelled; others' clocks are never trusted, only that a Lease changed."""

    def __init__(
        self,
        api: Api,
        terms: LeaseTerms,
        elected: Callable[[bool], None],
        told: Callable[[str], None] = lambda _words: None,
    ) -> None:
        """Stand for nothing yet.

        Args:
            api: of the server that has the Lease.
            terms: which Lease, and for how long.
            elected: hears when leadership begins and ends.
            told: hears why it does not have the Lease, each time that it is for another reason (OP-073).
        """
        self._api = api
        self._terms = terms
        self._elected = elected
        self._told = told
        self._trouble = ""
        self._ref = Ref(_COORDINATION, "Lease", terms.namespace, terms.name)
        self._seen: tuple[str, float] = ("", 0.0)  # a version of the Lease, and when it was first seen
        self._renewed = 0.0
        self.holder = ""

    @property
    def leads(self) -> bool:
        """Whether this process is the leader, as far as it knows."""
        return self.holder == self._terms.identity

    @property
    def may_write(self) -> bool:
        """Whether nobody else can have become leader yet: asked before every write, for a process may stand still."""
        return self.leads and time.monotonic() - self._renewed < self._terms.renew_within

    async def run(self) -> None:
        """Become leader, and stay it.

        Raises:
            LeadershipLost: it is not leader any more; whoever acts must stop at once.
        """
        held = await self._renew()
        while not held:
            await asyncio.sleep(self._terms.retry * uniform(1.0, 1.2))  # noqa: S311 - no secret
            held = await self._renew()
        self._elected(True)  # noqa: FBT003 - it leads
        try:
            await self._stay()
        finally:
            self._elected(False)  # noqa: FBT003 - it does not

    async def _stay(self) -> None:
        terms = self._terms
        while True:
            await asyncio.sleep(terms.retry)
            left = terms.renew_within - (time.monotonic() - self._renewed)
            if left <= 0:  # no answer for too long, or the process stood still
                why = f": {self._trouble}" if self._trouble else ""
                raise LeadershipLost(f"the Lease {terms.namespace}/{terms.name} was not renewed in time{why}")
            with suppress(TimeoutError):
                async with asyncio.timeout(left):
                    await self._renew()
            if not self.leads:
                raise LeadershipLost(f"the Lease {terms.namespace}/{terms.name} is held by {self.holder}")

    async def _renew(self) -> bool:
        """One try; it counts from when it was begun."""
        begun = time.monotonic()
        held = await self._try()
        if held:
            self._renewed = begun
            self._trouble = ""
        return held

    def _is_in_trouble(self, words: str) -> None:
        if words != self._trouble:
            self._trouble = words
            self._told(words)

    async def release(self) -> None:
        """Let the next one begin at once; from here on nothing is written any more (OP-031).

        A server that does not take it in time is not waited for (OP-091).
        """
        if not self.leads:
            return
        self.holder = ""
        with suppress(Unreachable, TimeoutError):
            async with asyncio.timeout(self._terms.release_within):
                await self._give_back()

    async def _give_back(self) -> None:
        answer = await self._ask("GET")
        if self._is_held_in(answer):
            raw = answer.json()
            raw["spec"] |= {"holderIdentity": "", "leaseDurationSeconds": 1}
            await self._ask("PUT", raw)

    async def _try(self) -> bool:
        """Take or renew the Lease, if it may be taken."""
        try:
            answer = await self._ask("GET")
            if answer.status == NOT_FOUND:
                return self._has(await self._ask("POST", self._lease({}, transitions=0)))
            if not shows_object(answer, self._ref):
                self._is_in_trouble(answer.words)
                return False
            raw = answer.json()
            spec = raw.get("spec") or {}
            holder = str(spec.get("holderIdentity") or "")
            transitions = int(spec.get("leaseTransitions") or 0)
            if holder not in {"", self._terms.identity} and not self._ran_out(raw, spec):
                self.holder = holder
                self._is_in_trouble(f"{holder} holds it")
                return False
            changed = holder != self._terms.identity
            return self._has(await self._ask("PUT", self._lease(raw, transitions=transitions + changed)))
        except Unreachable as fault:
            self._is_in_trouble(str(fault))
            return False

    def _ran_out(self, raw: dict[str, Any], spec: dict[str, Any]) -> bool:
        """Whether nobody has touched the Lease for as long as it says, by our own clock."""
        version, now = str(raw["metadata"].get("resourceVersion")), time.monotonic()
        if self._seen[0] != version:
            self._seen = (version, now)
        return now - self._seen[1] >= float(spec.get("leaseDurationSeconds") or self._terms.duration)

    def _has(self, answer: Response) -> bool:
        """Whether the server wrote that this process holds it; who else does, if anybody, the next look tells."""
        is_held = self._is_held_in(answer)
        if is_held:
            self.holder = self._terms.identity
        else:
            self._is_in_trouble(answer.words)
        return is_held

    def _is_held_in(self, answer: Response) -> bool:
        if not shows_object(answer, self._ref):
            return False
        held_by = (answer.json().get("spec") or {}).get("holderIdentity")
        return bool(held_by == self._terms.identity)

    def _lease(self, before: dict[str, Any], *, transitions: int) -> dict[str, Any]:
        terms, now = self._terms, f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%S.%fZ}"
        spec = before.get("spec") or {}
        kept = spec.get("acquireTime") if spec.get("holderIdentity") == terms.identity else None
        metadata = before.get("metadata") or {"name": terms.name, "namespace": terms.namespace}
        return {
            "apiVersion": _COORDINATION,
            "kind": "Lease",
            "metadata": metadata,
            "spec": {
                "holderIdentity": terms.identity,
                "leaseDurationSeconds": max(1, math.ceil(terms.duration)),
                "acquireTime": kept or now,
                "renewTime": now,
                "leaseTransitions": transitions,
            },
        }

    async def _ask(self, method: str, body: dict[str, Any] | None = None) -> Response:
        root = f"/apis/{_COORDINATION}/namespaces/{self._terms.namespace}/leases"
        return await self._api.request(method, root if method == "POST" else f"{root}/{self._terms.name}", body=body)
