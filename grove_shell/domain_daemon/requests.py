"""What a daemon decides to ask, as requests to an API server, and the server's answers as the core takes them in.

A request is whole before it waits for its turn: what waited may be out of date when it goes out, as it is with every
client that limits itself (DC-121).
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, Final, assert_never

from grove_core.areas.domain_cliques.daemon_context import DaemonIdentity
from grove_core.areas.domain_cliques.verdicts import (
    Apply,
    ClearOtherEntry,
    LabelPod,
    ListPods,
    Post,
    Put,
    ReadObject,
    RemoveEntry,
    Request,
    RequestResult,
    ResultKind,
)
from grove_core.kernel.errors import MalformedObject
from grove_core.kernel.frozen import thaw
from grove_core.kernel.refs import Ref
from grove_core.resources.api_names import DOMAIN
from grove_core.resources.daemon_pod import daemon_pod_of
from grove_shell.client.api import APPLY, JSON, MERGE, Api, Unreachable
from grove_shell.client.rate_limiter import RateLimiter
from grove_shell.client.response import CONFLICT, NOT_FOUND, SERVER_FAULT, TOO_MANY, Response
from grove_shell.client.response_check import confirms_absence, is_list, is_object_at
from grove_shell.domain_daemon.kinds import KINDS, PODS, path_of, registry_of

LABEL_MANAGER: Final = "compute-domain-daemon"
_OWNED: Final = "FieldManagerConflict"


@dataclass(frozen=True, slots=True)
class HttpRequest:
    """A request as it goes out."""

    method: str
    path: str
    query: Mapping[str, str] = field(default_factory=dict)
    body: Mapping[str, Any] | None = None
    content_type: str = JSON


def http_request_of(request: Request, identity: DaemonIdentity) -> HttpRequest:
    """The request for what was decided."""
    match request:
        case RemoveEntry(write) | ClearOtherEntry(write):
            return http_request_of(write, identity)
        case Apply():
            query = {"fieldManager": request.manager, **({"force": "true"} if request.force else {})}
            return HttpRequest(
                "PATCH", path_of(request.target, request.subresource), query, thaw(request.fields), APPLY
            )
        case Put():
            query = {"fieldManager": request.manager}
            return HttpRequest("PUT", path_of(request.target, request.subresource), query, thaw(request.manifest))
        case Post():
            path = KINDS[request.target.kind].path(request.target.namespace)
            return HttpRequest("POST", path, {"fieldManager": request.manager}, thaw(request.manifest))
        case LabelPod(pod, labels):
            body = {"metadata": {"labels": thaw(labels)}}
            return HttpRequest("PATCH", path_of(pod), {"fieldManager": LABEL_MANAGER}, body, MERGE)
        case ListPods():
            query = {
                "labelSelector": f"{DOMAIN}={identity.domain_uid}",
                "fieldSelector": f"spec.nodeName={identity.node}",
            }
            return HttpRequest("GET", PODS.path(identity.pod_namespace), query)
        case ReadObject(target):
            return HttpRequest("GET", path_of(target))
        case _:
            assert_never(request)


def result_of(request: Request, said: Response) -> RequestResult:
    """What an answer means to the daemon."""
    if said.ok:
        try:
            return _done(request, said)
        except MalformedObject as fault:
            return RequestResult(kind=ResultKind.REFUSED, detail=f"what it answered does not read: {fault}")
    if said.status == TOO_MANY:
        patience = None if said.retry_after is None else timedelta(seconds=said.retry_after)
        return RequestResult(kind=ResultKind.BUSY, retry_after=patience, detail=said.message)
    if said.status == NOT_FOUND:
        about = _about(request)
        is_gone = about is not None and confirms_absence(said, about)
        return RequestResult(kind=ResultKind.GONE if is_gone else ResultKind.LOST, detail=said.message)
    if said.status == CONFLICT:
        return RequestResult(kind=ResultKind.OWNED if _is_owned(said) else ResultKind.STALE, detail=said.message)
    return RequestResult(
        kind=ResultKind.LOST if said.status >= SERVER_FAULT else ResultKind.REFUSED, detail=said.message
    )


class HttpRequestSender:
    """Sends what one daemon asks for, no faster than it may."""

    def __init__(
        self,
        api: Api,
        identity: DaemonIdentity,
        bucket: RateLimiter | None = None,
        *,
        sent: Callable[[int], None] = lambda _bytes: None,
    ) -> None:
        """Send nothing yet.

        Args:
            api: to whom; it has to hand on every 429 at once, since the daemon decides anew when it may ask again.
            me: whose.
            bucket: limits them; it belongs to this daemon alone.
            sent: is told the bytes of each body that goes out.
        """
        self._api = api
        self._me = identity
        self._bucket = bucket
        self._sent = sent

    async def ask(self, request: Request) -> RequestResult:
        """Send one and wait for its answer; nothing is raised for what goes wrong."""
        http = http_request_of(request, self._me)
        body = None if http.body is None else json.dumps(http.body, separators=(",", ":")).encode()
        self._sent(len(body or b""))
        if self._bucket is not None:
            await self._bucket.take()
        try:
            said = await self._api.request(
                http.method, http.path, query=http.query, body=body, content_type=http.content_type
            )
        except Unreachable as fault:
            return RequestResult(kind=ResultKind.LOST, detail=str(fault))
        return result_of(request, said)


def _done(request: Request, said: Response) -> RequestResult:
    """Raises MalformedObject; what is nothing of an API server is an answer that was lost (DC-133)."""
    raw, about = said.json(), _about(request)
    if not (is_list(raw, PODS) if about is None else is_object_at(raw, about)):
        return RequestResult(kind=ResultKind.LOST, detail=f"what came is not what was asked for: {said.message}")
    if isinstance(request, ListPods):
        pods = tuple(daemon_pod_of({"kind": PODS.kind, **item}) for item in raw["items"] or ())
        return RequestResult(kind=ResultKind.DONE, pods=pods)
    return RequestResult(kind=ResultKind.DONE, registry=None if isinstance(request, LabelPod) else registry_of(raw))


def _is_owned(said: Response) -> bool:
    """Whether fields of another manager were in the way, and not a version or a name."""
    causes = said.details.get("causes")
    return isinstance(causes, list) and any(isinstance(one, dict) and one.get("reason") == _OWNED for one in causes)


def _about(request: Request) -> Ref | None:
    """Which object it asks for, or writes; None for a list."""
    match request:
        case RemoveEntry(write) | ClearOtherEntry(write):
            return _about(write)
        case LabelPod(pod, _):
            return pod
        case ListPods():
            return None
        case Apply() | Put() | Post() | ReadObject():
            return request.target
        case _:
            assert_never(request)
