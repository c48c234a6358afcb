"""Leader election: a Lease that is renewed; a process that cannot renew it must exit."""

import asyncio
import math
import time
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from random import uniform
from typing import Any, Final

from grove_core.kernel.frozen import mapping_or_empty
from grove_core.kernel.refs import Ref
from grove_core.resources.object_metadata import metadata_in
from grove_shell.client.api_response import CONFLICT, NOT_FOUND, ApiResponse
from grove_shell.client.api_session import ApiSession, NoServerResponse
from grove_shell.client.proxy_response_check import response_is_about_object
from grove_shell.settings.operator_settings import LeaderElectionSettings

_COORDINATION: Final = "coordination.k8s.io/v1"
_RELEASE_WITHIN: Final = 5.0


class LeadershipLost(Exception):
    """The Lease was not renewed in time, or another process holds it; this process must exit with 75."""


class LeaderElector:
    """Acquires and renews the Lease until cancelled.

    Times in a Lease are not compared with the clock of this process; only changes of the Lease count.
    """

    def __init__(
        self,
        api: ApiSession,
        terms: LeaderElectionSettings,
        identity: str,
        on_change: Callable[[bool], None],
        report: Callable[[str, str, str], None] = lambda _level, _message, _why: None,
        *,
        release_within: float = _RELEASE_WITHIN,
    ) -> None:
        """Request nothing yet.

        Args:
            api: the API server.
            terms: which Lease, with its namespace, and for how long.
            identity: of this process; unique.
            on_change: called with True when this process becomes leader, and with False when it stops to be.
            report: called once for each reason why it does not get or renew the Lease, with the level and the message
                of a log line, and the reason (OP-030).
            release_within: seconds in which it tries to release the Lease when it stops; then the Lease expires.
        """
        self._api = api
        self._terms = terms
        self._identity = identity
        self._release_within = release_within
        self._on_change = on_change
        self._report = report
        self._trouble = ""
        self._ref = Ref(_COORDINATION, "Lease", terms.namespace, terms.name)
        self._seen: tuple[str, float] = ("", 0.0)  # a version of the Lease, and when it was first seen
        self._renewed = 0.0
        self.holder = ""

    @property
    def is_leader(self) -> bool:
        """Whether this process is the leader, by the last response."""
        return self.holder == self._identity

    @property
    def may_write(self) -> bool:
        """Whether no other process can be leader yet. Read before every write: a process may be paused (OP-030)."""
        return self.is_leader and time.monotonic() - self._renewed < self._terms.renew_deadline

    async def run(self) -> None:
        """Become leader, and renew the Lease.

        Raises:
            LeadershipLost: this process is not the leader any more; it must write nothing.
        """
        held = await self._renew()
        while not held:
            await asyncio.sleep(self._terms.retry_period * uniform(1.0, 1.2))  # noqa: S311 - no secret
            held = await self._renew()
        self._on_change(True)  # noqa: FBT003 - it is the leader
        try:
            await self._stay()
        finally:
            self._on_change(False)  # noqa: FBT003 - it is not

    async def _stay(self) -> None:
        terms = self._terms
        while True:
            await asyncio.sleep(terms.retry_period)
            left = terms.renew_deadline - (time.monotonic() - self._renewed)
            if left <= 0:  # no response for too long, or the process was paused
                why = f": {self._trouble}" if self._trouble else ""
                raise LeadershipLost(f"the Lease {terms.namespace}/{terms.name} was not renewed in time{why}")
            with suppress(TimeoutError):
                async with asyncio.timeout(left):
                    await self._renew()
            if not self.is_leader:
                raise LeadershipLost(f"the Lease {terms.namespace}/{terms.name} is held by {self.holder}")

    async def _renew(self) -> bool:
        """Try once, and return whether this process holds the Lease; it is valid from when the try began."""
        begun = time.monotonic()
        try:
            held = await self._try()
        except NoServerResponse as fault:
            self._fail(str(fault))
            return False
        if held:
            self._renewed, self._trouble = begun, ""
        return held

    def _fail(self, words: str, level: str = "warning") -> None:
        if words != self._trouble:
            self._trouble = words
            self._report(level, "the Lease is not renewed" if self.is_leader else "does not lead", words)

    async def release_lease(self) -> None:
        """Release the Lease, so that another process can lead at once; write nothing after that (OP-030, OP-033)."""
        if not self.is_leader:
            return
        self.holder = ""
        with suppress(NoServerResponse, TimeoutError):
            async with asyncio.timeout(self._release_within):
                response = await self._request("GET")
                if self._is_held_in(response):
                    raw = response.json_body()
                    spec = {**raw["spec"], "holderIdentity": "", "leaseDurationSeconds": 1}
                    await self._request("PUT", {**raw, "spec": spec})

    async def _try(self) -> bool:
        """Acquire or renew the Lease; return whether this process holds it."""
        response = await self._request("GET")
        if response.status == NOT_FOUND:
            return self._has(await self._request("POST", self._lease({}, transitions=0)))
        if not response_is_about_object(response, self._ref):
            self._fail(response.error_message)
            return False
        raw = response.json_body()
        spec = raw.get("spec") or {}
        holder = str(spec.get("holderIdentity") or "")
        if holder not in {"", self._identity} and not self._ran_out(raw, spec):
            self.holder = holder
            self._fail(f"{holder} holds it", "info")
            return False
        transitions = int(spec.get("leaseTransitions") or 0) + (holder != self._identity)
        return self._has(await self._request("PUT", self._lease(raw, transitions=transitions)))

    def _ran_out(self, raw: dict[str, Any], spec: dict[str, Any]) -> bool:
        """Return whether the Lease did not change for its duration, by the clock of this process."""
        version, now = metadata_in(raw).resource_version, time.monotonic()
        if self._seen[0] != version:
            self._seen = (version, now)
        return now - self._seen[1] >= float(spec.get("leaseDurationSeconds") or self._terms.lease_duration)

    def _has(self, response: ApiResponse) -> bool:
        """Return whether a response shows this process as holder."""
        is_held = self._is_held_in(response)
        if is_held:
            self.holder = self._identity
        else:  # a conflict: two processes tried at once
            self._fail(response.error_message, "info" if response.status == CONFLICT else "warning")
        return is_held

    def _is_held_in(self, response: ApiResponse) -> bool:
        if not response_is_about_object(response, self._ref):
            return False
        held_by = (response.json_body().get("spec") or {}).get("holderIdentity")
        return bool(held_by == self._identity)

    def _lease(self, before: dict[str, Any], *, transitions: int) -> dict[str, Any]:
        terms, now = self._terms, f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%S.%fZ}"
        spec = before.get("spec") or {}
        kept = spec.get("acquireTime") if spec.get("holderIdentity") == self._identity else None
        metadata = mapping_or_empty(before, "metadata") or {"name": terms.name, "namespace": terms.namespace}
        return {
            "apiVersion": _COORDINATION,
            "kind": "Lease",
            "metadata": metadata,
            "spec": {
                "holderIdentity": self._identity,
                "leaseDurationSeconds": max(1, math.ceil(terms.lease_duration)),
                "acquireTime": kept or now,
                "renewTime": now,
                "leaseTransitions": transitions,
            },
        }

    async def _request(self, method: str, body: dict[str, Any] | None = None) -> ApiResponse:
        root = f"/apis/{_COORDINATION}/namespaces/{self._terms.namespace}/leases"
        return await self._api.request(method, root if method == "POST" else f"{root}/{self._terms.name}", body=body)
