"""Requests of a daemon as HTTP requests, and responses of the API server as results for the core.

A request is built before it waits for the rate limiter, as in every client that limits itself; its content may be
stale when it is sent (DC-120).
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from types import MappingProxyType
from typing import Any, Final, assert_never

from grove_core.areas.domain_cliques.daemon.daemon_input import DaemonIdentity
from grove_core.areas.domain_cliques.daemon.verdicts import (
    ApplyRequest,
    ClearOtherEntryRequest,
    DaemonRequest,
    LabelPodRequest,
    ListPodsRequest,
    PodsListed,
    PostRequest,
    PutRequest,
    ReadObjectRequest,
    RemoveEntryRequest,
    RequestFailed,
    RequestResult,
    RequestResultKind,
    RequestSucceeded,
    TooManyRequests,
)
from grove_core.kernel.errors import MalformedObject
from grove_core.kernel.frozen import thaw_json
from grove_core.kernel.refs import Ref
from grove_core.resources.api_names import CORE, DOMAIN, DOMAIN_CLIQUE_KIND, DOMAIN_KIND, NVIDIA
from grove_core.resources.compute_domain import compute_domain_from_json, daemon_pod_from_json, domain_clique_from_json
from grove_core.resources.daemon_entry_lists import DaemonRegistry
from grove_shell.client.api_kinds import ApiKind
from grove_shell.client.api_response import CONFLICT, NOT_FOUND, SERVER_FAULT, TOO_MANY, ApiResponse
from grove_shell.client.api_session import APPLY, JSON, MERGE, ApiSession, NoServerResponse
from grove_shell.client.proxy_response_check import (
    body_is_of_object,
    is_list_of_kind,
    response_confirms_absence,
)
from grove_shell.client.rate_limiter import RateLimiter

DOMAINS: Final = ApiKind(DOMAIN_KIND, NVIDIA, "computedomains")
CLIQUES: Final = ApiKind(DOMAIN_CLIQUE_KIND, NVIDIA, "computedomaincliques")
PODS: Final = ApiKind("Pod", CORE, "pods", DOMAIN)
KINDS: Final[Mapping[str, ApiKind]] = MappingProxyType({one.kind: one for one in (DOMAINS, CLIQUES, PODS)})


def url_path_of_object(ref: Ref, subresource: str = "") -> str:
    """Return the URL path of an object, or of a subresource of it."""
    return KINDS[ref.kind].url_path(ref.namespace, ref.name, subresource)


def parse_daemon_registry(raw: Mapping[str, Any]) -> DaemonRegistry:
    """Parse a ComputeDomain or a ComputeDomainClique.

    Raises:
        MalformedObject: with every problem.
    """
    return compute_domain_from_json(raw) if raw.get("kind") == DOMAIN_KIND else domain_clique_from_json(raw)


REQUESTS_PER_SECOND: Final = 5.0
BURST: Final = 10
REQUEST_TIMEOUT_S: Final = 10.0
LABEL_MANAGER: Final = "compute-domain-daemon"
_FIELD_CONFLICT: Final = "FieldManagerConflict"


@dataclass(frozen=True, slots=True)
class HttpRequest:
    """Method, path, query and body of a request."""

    method: str
    path: str
    query: Mapping[str, str] = field(default_factory=dict)
    body: Mapping[str, Any] | None = None
    content_type: str = JSON


def http_request_of(request: DaemonRequest, identity: DaemonIdentity) -> HttpRequest:
    """Return the HTTP request that carries out a request of a daemon."""
    match request:
        case RemoveEntryRequest(write) | ClearOtherEntryRequest(write):
            return http_request_of(write, identity)
        case ApplyRequest():
            query = {"fieldManager": request.manager, **({"force": "true"} if request.force else {})}
            return HttpRequest(
                "PATCH",
                url_path_of_object(request.target, request.subresource),
                query,
                thaw_json(request.fields),
                APPLY,
            )
        case PutRequest():
            query = {"fieldManager": request.manager}
            return HttpRequest(
                "PUT", url_path_of_object(request.target, request.subresource), query, thaw_json(request.manifest)
            )
        case PostRequest():
            path = KINDS[request.target.kind].url_path(request.target.namespace)
            return HttpRequest("POST", path, {"fieldManager": request.manager}, thaw_json(request.manifest))
        case LabelPodRequest(pod, labels):
            body = {"metadata": {"labels": thaw_json(labels)}}
            return HttpRequest("PATCH", url_path_of_object(pod), {"fieldManager": LABEL_MANAGER}, body, MERGE)
        case ListPodsRequest():
            query = {
                "labelSelector": f"{DOMAIN}={identity.domain_uid}",
                "fieldSelector": f"spec.nodeName={identity.node}",
            }
            return HttpRequest("GET", PODS.url_path(identity.pod_namespace), query)
        case ReadObjectRequest(target):
            return HttpRequest("GET", url_path_of_object(target))
        case _:
            assert_never(request)


def request_result_from_response(request: DaemonRequest, response: ApiResponse) -> RequestResult:
    """Return the result of a request, given the server's response."""
    if response.is_success:
        try:
            return _success(request, response)
        except MalformedObject as fault:
            return RequestFailed(RequestResultKind.REFUSED, f"malformed object in the response: {fault}")
    words = response.error_message
    if response.status == TOO_MANY:
        retry_after = None if response.retry_after is None else timedelta(seconds=response.retry_after)
        return TooManyRequests(retry_after, words)
    if response.status == NOT_FOUND:
        ref = _object_of(request)
        is_absent = ref is not None and response_confirms_absence(response, ref)
        return RequestFailed(RequestResultKind.NOT_FOUND if is_absent else RequestResultKind.NO_RESPONSE, words)
    if response.status == CONFLICT:
        is_of_fields = _is_field_conflict(response)
        return RequestFailed(RequestResultKind.FIELD_CONFLICT if is_of_fields else RequestResultKind.CONFLICT, words)
    is_fault = response.status >= SERVER_FAULT
    return RequestFailed(RequestResultKind.NO_RESPONSE if is_fault else RequestResultKind.REFUSED, words)


class DaemonRequestSender:
    """Sends the requests of one daemon, limited in rate."""

    def __init__(
        self,
        api: ApiSession,
        identity: DaemonIdentity,
        limiter: RateLimiter | None = None,
        *,
        on_send: Callable[[int], None] = lambda _bytes: None,
    ) -> None:
        """Send nothing yet.

        Args:
            api: the API server; it must not retry a 429, since the daemon decides itself when to try again.
        """
        self._api = api
        self._identity = identity
        self._limiter = limiter
        self._on_send = on_send

    async def send_request(self, request: DaemonRequest) -> RequestResult:
        """Send one request and return its result; a transport error is a result too."""
        http = http_request_of(request, self._identity)
        body = None if http.body is None else json.dumps(http.body, separators=(",", ":")).encode()
        self._on_send(len(body or b""))
        if self._limiter is not None:
            await self._limiter.take_token()
        try:
            response = await self._api.request(
                http.method, http.path, query=http.query, body=body, content_type=http.content_type
            )
        except NoServerResponse as fault:
            return RequestFailed(RequestResultKind.NO_RESPONSE, str(fault))
        return request_result_from_response(request, response)


def _success(request: DaemonRequest, response: ApiResponse) -> RequestResult:
    """The result of a 2xx response; a body that is not the requested object counts as no response (DC-132).

    Raises:
        MalformedObject: the object cannot be parsed.
    """
    raw, ref = response.json_body(), _object_of(request)
    if not (is_list_of_kind(raw, PODS) if ref is None else body_is_of_object(raw, ref)):
        detail = f"the response is not what was requested: {response.error_message}"
        return RequestFailed(RequestResultKind.NO_RESPONSE, detail)
    if isinstance(request, ListPodsRequest):
        pods = tuple(daemon_pod_from_json({"kind": PODS.kind, **item}) for item in raw["items"] or ())
        return PodsListed(request.address, pods)
    registry = None if isinstance(request, LabelPodRequest) else parse_daemon_registry(raw)
    return RequestSucceeded(registry)


def _is_field_conflict(response: ApiResponse) -> bool:
    causes = response.status_details.get("causes")
    return isinstance(causes, list) and any(
        isinstance(one, dict) and one.get("reason") == _FIELD_CONFLICT for one in causes
    )


def _object_of(request: DaemonRequest) -> Ref | None:
    match request:
        case RemoveEntryRequest(write) | ClearOtherEntryRequest(write):
            return _object_of(write)
        case LabelPodRequest(pod, _):
            return pod
        case ListPodsRequest():
            return None
        case ApplyRequest() | PutRequest() | PostRequest() | ReadObjectRequest():
            return request.target
        case _:
            assert_never(request)
