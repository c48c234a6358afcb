"""A step as a request to an API server, and what the response means for the step.

A creation is a POST, a change is a patch of exactly the fields that differ, a status is applied as a whole by its one
writer (specs/decisions/0010). Every request but a POST names the version that was judged (PL-004).
"""

from collections.abc import Mapping
from typing import Any, Final, NamedTuple, assert_never

from grove_core.kernel.frozen import mapping_or_empty, thaw_json
from grove_core.kernel.refs import Guard, Ref
from grove_core.kernel.steps import Apply, AttemptOutcome, Create, Delete, DropFinalizer, Ensure, SetStatus, Step
from grove_core.resources.metadata_readers import Resource
from grove_core.resources.pod import Pod
from grove_core.resources.podclique import PodClique
from grove_core.resources.podcliqueset import PodCliqueSet
from grove_core.resources.podgang import PodGang
from grove_core.resources.scaling_group import ScalingGroup
from grove_core.resources.status_comparison import object_after_status_write, status_as_json
from grove_shell.client.api_kinds import api_kind_of_ref, url_path_of_ref
from grove_shell.client.api_response import CONFLICT, NOT_FOUND, SERVER_FAULT, TOO_MANY, ApiResponse
from grove_shell.client.api_session import APPLY, JSON, MERGE, STRATEGIC, NoServerResponse
from grove_shell.client.paged_lists import accept_header_for_kind
from grove_shell.client.proxy_response_check import response_confirms_write

WRITER: Final = "grove-operator"
STATUS_WRITER: Final = "grove-operator-status"
_WEBHOOK_FAILED: Final = "failed calling webhook"


class UnusableApiResponse(NoServerResponse):
    """A response about one object by which nothing can be decided; the server may respond about others.

    Attributes:
        outcome: of the step that needed the response.
    """

    def __init__(self, words: str, outcome: AttemptOutcome = AttemptOutcome.UNREACHABLE) -> None:
        """Keep the message and the outcome."""
        super().__init__(words)
        self.outcome = outcome


class WriteRequest(NamedTuple):
    """A request without its connection; see :meth:`ApiSession.request`."""

    method: str
    path: str
    body: Mapping[str, Any]
    query: Mapping[str, str] = {"fieldManager": WRITER}
    content_type: str = JSON
    accept: str = JSON


def request_of_step(step: Step, cached: Resource | Pod | None) -> WriteRequest:
    """Return the request of a step.

    Args:
        step: the write.
        cached: the object that it changes.

    Raises:
        UnusableApiResponse: the cache does not have the object, and the request is made of what it stores.
    """
    target = step.target
    match step.action:
        case Create() | Ensure() as action:
            kind = api_kind_of_ref(target)
            path, accept = kind.url_path(target.namespace), accept_header_for_kind(kind, a_list=False)
            return WriteRequest("POST", path, thaw_json(action.manifest), accept=accept)
        case Apply() as action:
            return _patch(target, thaw_json(action.fields), action.guard)
        case SetStatus() as action:
            return _status_patch(target, action, cached)
        case DropFinalizer() as action:
            if not isinstance(cached, Resource):
                raise UnusableApiResponse("not found", AttemptOutcome.CONFLICT)
            kept = [name for name in cached.finalizers if name != action.finalizer]
            return merge_patch_with_version(target, {"metadata": {"finalizers": kept}}, action.guard)
        case Delete() as action:
            policy = "Foreground" if action.foreground else "Background"
            body = {"preconditions": _version(action.guard), "propagationPolicy": policy}
            return WriteRequest("DELETE", url_path_of_ref(target), body, {})
        case _:
            assert_never(step.action)


def _patch(target: Ref, fields: Mapping[str, Any], guard: Guard) -> WriteRequest:
    """Return a patch; of a pod without its version, as only gates are removed and pods change all the time."""
    if target.kind != "Pod":
        return merge_patch_with_version(target, fields, guard)
    body = {**fields, "metadata": {**mapping_or_empty(fields, "metadata"), "uid": guard.uid}}
    return WriteRequest("PATCH", url_path_of_ref(target), body, content_type=STRATEGIC)


def _status_patch(target: Ref, action: SetStatus, cached: Resource | Pod | None) -> WriteRequest:
    if not isinstance(cached, PodCliqueSet | ScalingGroup | PodClique | PodGang):
        raise UnusableApiResponse("not found", AttemptOutcome.CONFLICT)
    metadata = {"name": target.name, "namespace": target.namespace, **_version(action.guard)}
    status: Any = thaw_json(status_as_json(object_after_status_write(cached, action.fields)))
    body = {"apiVersion": target.api_version, "kind": target.kind, "metadata": metadata, "status": status}
    query = {"fieldManager": STATUS_WRITER, "force": "true"}
    return WriteRequest("PATCH", url_path_of_ref(target, "status"), body, query, APPLY)


def merge_patch_with_version(target: Ref, fields: Mapping[str, Any], guard: Guard) -> WriteRequest:
    """Return the patch of these fields of an object in the version that was judged."""
    body = {**fields, "metadata": {**mapping_or_empty(fields, "metadata"), **_version(guard)}}
    return WriteRequest("PATCH", url_path_of_ref(target), body, content_type=MERGE)


def _version(guard: Guard) -> dict[str, str]:
    return {"uid": guard.uid, "resourceVersion": guard.resource_version}


def outcome_and_message_of_response(
    response: ApiResponse, ref: Ref, *, creates: bool = False
) -> tuple[AttemptOutcome, str]:
    """Return outcome and message of a response.

    404 and 409 are conflicts, 429 and 5xx count as no response, every other error is a refusal; of a creation also a
    missing namespace and a webhook that does not respond. A success that does not come from an API server, or is not
    about that object, counts as no response (OP-065).
    """
    status, message = response.status, response.error_message
    if response.is_success and response_confirms_write(response, ref):
        return AttemptOutcome.DONE, ""
    if response.is_success:
        return AttemptOutcome.UNREACHABLE, f"the response is not of an API server: {message}"
    if creates and (status == NOT_FOUND or (status >= SERVER_FAULT and _WEBHOOK_FAILED in message)):  # OP-011
        return AttemptOutcome.REFUSED, message
    if status in {CONFLICT, NOT_FOUND}:
        return AttemptOutcome.CONFLICT, message
    return (
        AttemptOutcome.UNREACHABLE if status == TOO_MANY or status >= SERVER_FAULT else AttemptOutcome.REFUSED,
        message,
    )


def is_already_exists_response(response: ApiResponse) -> bool:
    """Return whether a creation was refused because an object of that name exists."""
    return response.status == CONFLICT and response.json_body().get("reason") == "AlreadyExists"
