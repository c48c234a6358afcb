"""The HTTPS server that an API server calls; what it answers is decided elsewhere."""

import json
import ssl
import time
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final

from aiohttp import web

from grove_core.resources.cluster_topology import TOPOLOGY_KIND
from grove_core.resources.configuration import DEFAULT_CONFIGURATION, Configuration
from grove_shell import internal_errors
from grove_shell.client.webhook_names import DEFAULTING, JOINING, LEAVING, PATHS, STAMPING, TOPOLOGIES, VALIDATION
from grove_shell.operator.health_server import HttpServer
from grove_shell.webhooks.admission_review import AdmissionRequest, Json, allow, parse_review
from grove_shell.webhooks.caches import WebhookCaches
from grove_shell.webhooks.handlers import default_set, validate_set, validate_set_with_topology, validate_topology
from grove_shell.webhooks.sharing_handlers import mutate_podclique, mutate_podgang
from grove_shell.webhooks.webhook_metrics import WebhookMetrics

_LARGEST: Final = 32 * 1024 * 1024  # an object and the one before it, several times what an API server stores
_BAD: Final = 400
_FAULT: Final = 500
_FINISH: Final = 10.0

Judge = Callable[[AdmissionRequest], Awaitable[Json]]
_SETS: Final = ("grove.io", "PodCliqueSet")
_TOPOLOGIES: Final = (_SETS[0], TOPOLOGY_KIND)
_KINDS: Final = {
    DEFAULTING: _SETS,
    VALIDATION: _SETS,
    JOINING: ("grove.io", "PodClique"),
    STAMPING: ("scheduler.grove.io", "PodGang"),
    TOPOLOGIES: _TOPOLOGIES,
    LEAVING: _TOPOLOGIES,
}
_TOLD_AS: Final = {_SETS[1]: "set", TOPOLOGY_KIND: "topology"}


class AdmissionServer(HttpServer):
    """Answers reviews over HTTPS."""

    def __init__(
        self,
        *,
        host: str,
        port: int,
        tls: ssl.SSLContext,
        copies: WebhookCaches,
        configuration: Configuration = DEFAULT_CONFIGURATION,
        telemetry: WebhookMetrics,
        say: Callable[..., None],
    ) -> None:
        """Serve nothing yet.

        Args:
            host, port: to listen at; port 0 for any that is free.
            tls: with a certificate.
            copies: of what is judged by.
            configuration: what verdicts depend on.
            telemetry: hears of every review.
            say: writes to the log.
        """
        self._telemetry = telemetry
        self._say = say
        self._judges: dict[str, Judge] = {
            **dict.fromkeys(PATHS, _at_once(allow)),  # where a feature is off (WH-010)
            DEFAULTING: _at_once(default_set),
            VALIDATION: _at_once(lambda request: validate_set(request, copies.names, configuration)),
        }
        if copies.sharing is not None:
            known, ensuring = copies.sharing
            self._judges |= {
                JOINING: lambda request: mutate_podclique(request, known, ensuring),
                STAMPING: _at_once(lambda request: mutate_podgang(request, known)),
            }
        if copies.placing is not None:
            placing = copies.placing
            self._judges[VALIDATION] = lambda request: validate_set_with_topology(
                request, copies.names, configuration, placing
            )
            if placing.guarded:
                judge = _at_once(lambda request: validate_topology(request, placing.known, configuration))
                self._judges |= dict.fromkeys((TOPOLOGIES, LEAVING), judge)
        application = web.Application(client_max_size=_LARGEST)
        application.add_routes([web.post(PATHS[name], self._handler(name)) for name in self._judges])
        super().__init__(application, host, port, tls=tls, finish=_FINISH)

    def _handler(self, webhook: str) -> Callable[[web.Request], Any]:
        async def answer(called: web.Request) -> web.Response:
            begun = time.perf_counter()
            code, said = await self._answered(webhook, await called.read())
            self._telemetry.answered(webhook, code, time.perf_counter() - begun)
            if isinstance(said, str):
                return web.Response(text=said, status=code)
            body = json.dumps(said, separators=(",", ":")).encode()
            return web.Response(body=body, content_type="application/json")

        return answer

    async def _answered(self, webhook: str, body: bytes) -> tuple[int, Json | str]:
        request = None
        try:
            request, problems = parse_review(body, *_KINDS[webhook])
            if request is None:
                words = "this is no review that can be answered:\n" + "".join(f"  {problem}\n" for problem in problems)
                self._say("warning", "malformed review", webhook=webhook, problems=[str(one) for one in problems])
                return _BAD, words
            review = await self._judges[webhook](request)
        except Exception as fault:  # noqa: BLE001 - a fault of ours in one review must not end the others
            uid = request.uid if request is not None else ""
            self._say("error", "fault of ours", webhook=webhook, uid=uid, error=internal_errors.described(fault))
            return _FAULT, f"a fault of grove webhooks, not of the request: {type(fault).__name__}; see its log\n"
        self._tell(webhook, request, review["response"])
        return 200, review

    def _tell(self, webhook: str, request: AdmissionRequest, response: Json) -> None:
        verdict = "refused" if not response["allowed"] else "patched" if "patch" in response else "allowed"
        self._telemetry.judged(webhook, request.operation, verdict)
        if verdict == "refused":
            status = response["status"]
            meta = request.new.get("metadata")
            namespace = meta.get("namespace") if isinstance(meta, Mapping) else None
            causes = status.get("details", {}).get("causes", ())
            rules = sorted({cause["reason"] for cause in causes}) or [status["reason"]]
            name = f"{meta.get('name') or ''}" if isinstance(meta, Mapping) else ""
            name = f"{namespace}/{name}" if namespace else name
            whose = _TOLD_AS.get(request.kind, "object")
            facts = {whose: name, "operation": request.operation, "uid": request.uid, "rules": rules}
            self._say("info", "refused", **facts)


def _at_once(judge: Callable[[AdmissionRequest], Json]) -> Judge:
    """Who answers without waiting, among those who may have to."""

    async def answer(request: AdmissionRequest) -> Json:
        return judge(request)

    return answer
