"""The HTTPS server that the API server calls; ``handlers`` decides the responses."""

import json
import ssl
import time
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final

from aiohttp import web

from grove_core.resources.api_names import TOPOLOGY_KIND
from grove_core.resources.object_metadata import metadata_in
from grove_shell.client.api_session import ApiSession
from grove_shell.log_lines import error_on_one_line
from grove_shell.operator.health_server import HttpServer
from grove_shell.operator.metrics import ApiRequestMetrics
from grove_shell.settings.webhook_settings import (
    DEFAULTING,
    JOINING,
    LEAVING,
    PATHS,
    PREVIEW,
    STAMPING,
    TOPOLOGIES,
    VALIDATION,
)
from grove_shell.webhooks.admission_cache import AdmissionCache
from grove_shell.webhooks.admission_handlers import (
    SharedObjectCreator,
    mutate_podclique,
    podcliqueset_defaults_response,
    podgang_mutation_response,
    validate_podcliqueset,
    validate_podcliqueset_with_topology,
    validate_topology,
)
from grove_shell.webhooks.admission_review import AdmissionRequest, Json, allow_admission, parse_admission_review

_LARGEST: Final = 32 * 1024 * 1024  # bytes; the new and the old object, several times what an API server stores
_BAD: Final = 400
_FORBIDDEN: Final = 403
_FAULT: Final = 500
_FINISH: Final = 10.0
_BUCKETS: Final = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10)

Handler = Callable[[AdmissionRequest], Awaitable[Json]]
_SETS: Final = ("grove.io", "PodCliqueSet")
_TOPOLOGIES: Final = (_SETS[0], TOPOLOGY_KIND)
_KINDS: Final = {
    DEFAULTING: _SETS,
    VALIDATION: _SETS,
    JOINING: ("grove.io", "PodClique"),
    STAMPING: ("scheduler.grove.io", "PodGang"),
    TOPOLOGIES: _TOPOLOGIES,
    LEAVING: _TOPOLOGIES,
    PREVIEW: _SETS,
}
_LOGGED_AS: Final = {_SETS[1]: "set", TOPOLOGY_KIND: "topology"}


class WebhookMetrics(ApiRequestMetrics):
    """The metrics of one process; it counts reviews and requests."""

    def __init__(self, expires: Callable[[], float]) -> None:
        """Begin at zero; ``expires`` returns when the certificate expires, in seconds since 1970."""
        super().__init__()
        self._responses = self._count("controller_runtime_webhook_requests_total", "Answers.", "webhook", "code")
        latency = "controller_runtime_webhook_latency_seconds"
        self._latency = self._time(latency, "Time to answer.", "webhook", _BUCKETS)
        self._verdicts = self._count("grove_admission_reviews_total", "Reviews.", "webhook", "operation", "verdict")
        name = "grove_webhook_certificate_expiry_timestamp_seconds"
        self._gauge(name, "When the certificate ends; 0 for none.").set_function(expires)

    def count_response(self, webhook: str, code: int, seconds: float) -> None:
        """Count a response, with its HTTP status and its time in seconds."""
        self._responses.labels(webhook, str(code)).inc()
        self._latency.labels(webhook).observe(seconds)

    def count_review(self, webhook: str, operation: str, verdict: str) -> None:
        """Count a review by verdict: ``allowed``, ``patched`` or ``refused``."""
        self._verdicts.labels(webhook, operation, verdict).inc()


def handlers_by_webhook(api: ApiSession, cache: AdmissionCache) -> dict[str, Handler]:
    """Return the handlers that default and validate, by the name of their webhook; those of the features that are on.

    Args:
        api: reads single topologies and creates shared objects.
        cache: what verdicts depend on.
    """
    handlers: dict[str, Handler] = {
        DEFAULTING: _at_once(podcliqueset_defaults_response),
        VALIDATION: _at_once(lambda request: validate_podcliqueset(request, cache)),
    }
    if cache.shares:
        creator = SharedObjectCreator(api, cache)
        handlers |= {
            JOINING: lambda request: mutate_podclique(request, cache, creator),
            STAMPING: _at_once(lambda request: podgang_mutation_response(request, cache)),
        }
    if cache.places:
        handlers[VALIDATION] = lambda request: validate_podcliqueset_with_topology(request, cache, api)
    if cache.validates_topologies:
        handler = _at_once(lambda request: validate_topology(request, cache))
        handlers |= dict.fromkeys((TOPOLOGIES, LEAVING), handler)
    return handlers


class AdmissionServer(HttpServer):
    """Answers admission reviews over HTTPS."""

    def __init__(
        self,
        *,
        host: str,
        port: int,
        tls: ssl.SSLContext,
        handlers: Mapping[str, Handler],
        metrics: WebhookMetrics,
        report: Callable[..., None],
        callers: frozenset[str] = frozenset(),
    ) -> None:
        """Serve nothing yet.

        Args:
            host, port: to listen at; port 0 for any that is free.
            callers: common names of the client certificates that may call; empty for all that ``tls`` accepts.
            handlers: by the name of their webhook; every other webhook allows its requests (WH-010).
        """
        self._metrics = metrics
        self._report = report
        self._handlers: dict[str, Handler] = {**dict.fromkeys(PATHS, _at_once(allow_admission)), **handlers}
        self._callers = callers
        application = web.Application(client_max_size=_LARGEST, middlewares=[self._only_callers] if callers else ())
        application.add_routes([web.post(PATHS[name], self._route(name)) for name in self._handlers])
        super().__init__(application, host, port, tls=tls, finish=_FINISH)

    @web.middleware
    async def _only_callers(
        self, request: web.Request, handler: Callable[[web.Request], Awaitable[web.StreamResponse]]
    ) -> web.StreamResponse:
        """Refuse a request of another client certificate (WH-049)."""
        certificate = request.get_extra_info("peercert") or {}
        names = {value for part in certificate.get("subject", ()) for key, value in part if key == "commonName"}
        if names & self._callers:
            return await handler(request)
        self._report("warning", "unknown caller", names=sorted(names))
        return web.Response(status=_FORBIDDEN, text="this client certificate may not call the webhooks\n")

    def _route(self, webhook: str) -> Callable[[web.Request], Any]:
        async def respond(http_request: web.Request) -> web.Response:
            begun = time.perf_counter()
            code, result = await self._handle(webhook, await http_request.read())
            self._metrics.count_response(webhook, code, time.perf_counter() - begun)
            if isinstance(result, str):
                return web.Response(text=result, status=code)
            body = json.dumps(result, separators=(",", ":")).encode()
            return web.Response(body=body, content_type="application/json")

        return respond

    async def _handle(self, webhook: str, body: bytes) -> tuple[int, Json | str]:
        request = None
        try:
            request, problems = parse_admission_review(body, *_KINDS[webhook])
            if request is None:
                words = "this is no review that can be answered:\n" + "".join(f"  {problem}\n" for problem in problems)
                self._report("warning", "malformed review", webhook=webhook, problems=[str(one) for one in problems])
                return _BAD, words
            review = await self._handlers[webhook](request)
        except Exception as fault:  # noqa: BLE001 - an internal error in one review must not end the others
            uid = request.uid if request is not None else ""
            self._report("error", "fault of ours", webhook=webhook, uid=uid, error=error_on_one_line(fault))
            return _FAULT, f"a fault of grove webhooks, not of the request: {type(fault).__name__}; see its log\n"
        self._log(webhook, request, review["response"])
        return 200, review

    def _log(self, webhook: str, request: AdmissionRequest, response: Json) -> None:
        verdict = "refused" if not response["allowed"] else "patched" if "patch" in response else "allowed"
        self._metrics.count_review(webhook, request.operation, verdict)
        if verdict == "refused":
            status = response["status"]
            meta = metadata_in(request.new)
            causes = status.get("details", {}).get("causes", ())
            rules = sorted({cause["reason"] for cause in causes}) or [status["reason"]]
            name = f"{meta.namespace}/{meta.name}" if meta.namespace else meta.name
            label = _LOGGED_AS.get(request.kind, "object")
            facts = {label: name, "operation": request.operation, "uid": request.uid, "rules": rules}
            self._report("info", "refused", **facts)


def _at_once(handler: Callable[[AdmissionRequest], Json]) -> Handler:
    """Return a handler that never waits as a coroutine function."""

    async def respond(request: AdmissionRequest) -> Json:
        return handler(request)

    return respond
