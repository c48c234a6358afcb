"""Faults of the simulated API server: errors, delays and cut connections, each with a rate."""

import asyncio
from dataclasses import dataclass, field
from random import Random
from typing import Final

from aiohttp import web

from grove_core.resources.api_names import TERMINATION_IN_PROGRESS
from tests.fault_injection.api_store import Json

_DELAYS: Final = (0.05, 1.0, 8.0, 40.0)  # seconds; the last is longer than an answer is waited for
_PATIENCE: Final = "0135"
_TROUBLE: Final = ("busy", "busy", "fault", "no leader", "slow", "slow", "cut")
_REASONS: Final = {403: "Forbidden", 409: "Conflict", 500: "InternalError", 503: "ServiceUnavailable"}
_CODES: Final = {"busy": 429, "no leader": 503, "fault": 500}


@dataclass
class FaultRates:
    """What goes wrong, by chance.

    Attributes:
        bad: how often with a request, from 0 to 1.
        hesitates: how often with the deletion of a clique: the server has no time for it yet.
        cuts: how often with an event of a watch.
        denied: a method that is answered with ``denied_by`` for cliques, and pods to be made; empty for none.
        blind: the status code for every list of all pods or cliques; 0 where they are shown.
        kept: the name of a clique whose deletion is answered with ``kept_by`` so often as ``kept_for``.
        unreported: how often a status that reports a termination is answered so.
        lost: the name of a clique whose deletion is done once without an answer.
        mute: the name of a clique or a group whose status is answered with ``muted_by`` so often as ``muted_for``.
        fixed: the name of a clique of which everything but its status is answered with ``muted_by``.
        slow: the name of a clique -> for how many seconds its deletion waits.
    """

    random: Random
    bad: float = 0.0
    hesitates: float = 0.0
    cuts: float = 0.0
    denied: str = ""
    denied_by: int = 403
    blind: int = 0
    kept: str = ""
    kept_by: int = 403
    kept_for: int = 0
    unreported: int = 0
    lost: str = ""
    mute: str = ""
    fixed: str = ""
    muted_by: int = 503
    muted_for: int = 1_000_000
    slow: dict[str, float] = field(default_factory=dict)

    @property
    def is_without_faults(self) -> bool:
        """Whether nothing fails but what was chosen for it."""
        return not (self.bad or self.hesitates or self.cuts or self.denied or self.blind)

    def clear_up(self) -> None:
        """Nothing goes wrong any more."""
        self.bad = self.hesitates = self.cuts = 0.0
        self.denied = self.kept = self.lost = self.mute = self.fixed = ""
        self.kept_for = self.unreported = self.blind = 0
        self.slow = {}

    async def before(self, request: web.Request) -> web.Response | None:
        """What is answered without anything being done; None where the server goes on."""
        of_cliques = request.path.endswith(("/pods", "/podcliques")) or "/podcliques/" in request.path
        if of_cliques and request.method == self.denied:
            return _status(self.denied_by, reason=_REASONS[self.denied_by])
        is_list = request.path.endswith(("/pods", "/podcliques")) and "watch" not in request.query
        if self.blind and request.method == "GET" and is_list:
            return _status(self.blind, reason=_REASONS[self.blind])
        meant = await self._meant(request)
        if meant is not None:
            return meant
        if request.method == "DELETE" and self.slow:
            await asyncio.sleep(self.slow.get(request.path.rpartition("/")[2], 0.0))
        if request.method == "DELETE" and of_cliques and self.random.random() < self.hesitates:
            return _status(_CODES["busy"], patience="3")
        if self.random.random() >= self.bad:
            return None
        what = self.random.choice(_TROUBLE)
        if what == "slow":
            await asyncio.sleep(self.random.choice(_DELAYS))
            return None
        if what == "cut":
            _cut(request)
        return _status(_CODES.get(what, 500), patience=self.random.choice(_PATIENCE) if what == "busy" else "")

    async def _meant(self, request: web.Request) -> web.Response | None:
        """The response to the chosen requests."""
        if request.method == "DELETE" and self.kept_for > 0 and request.path.endswith(f"/podcliques/{self.kept}"):
            self.kept_for -= 1
            return _status(self.kept_by, reason=_REASONS[self.kept_by])
        if self.mute and self.muted_for > 0 and request.path.endswith(f"/{self.mute}/status"):
            self.muted_for -= 1
            return _status(self.muted_by, reason=_REASONS[self.muted_by])
        if self.fixed and request.method == "PATCH" and request.path.endswith(f"/podcliques/{self.fixed}"):
            return _status(self.muted_by, reason=_REASONS[self.muted_by])
        if self.unreported > 0 and request.path.endswith("/status") and TERMINATION_IN_PROGRESS in await request.text():
            self.unreported -= 1
            return _status(self.kept_by, reason=_REASONS[self.kept_by])
        return None

    async def after(self, request: web.Request) -> None:
        """It is done; the answer may come late, or never."""
        if self.lost and request.method == "DELETE" and request.path.endswith(f"/podcliques/{self.lost}"):
            self.lost = ""
            _cut(request)
        if self.random.random() >= self.bad / 2:
            return
        if self.random.random() < 0.5:
            _cut(request)
        else:
            await asyncio.sleep(self.random.choice(_DELAYS))

    def ends_watch(self) -> bool:
        """Whether the connection goes before the next event."""
        return self.random.random() < self.cuts


def _status(code: int, *, reason: str = "", patience: str = "") -> web.Response:
    reported: Json = {
        "kind": "Status",
        "status": "Failure",
        "code": code,
        "reason": reason,
        "message": f"trouble {code}",
    }
    return web.json_response(reported, status=code, headers={"Retry-After": patience} if patience else {})


def _cut(request: web.Request) -> None:
    if request.transport is not None:
        request.transport.abort()
