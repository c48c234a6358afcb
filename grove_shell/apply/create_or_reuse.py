"""Creates an object that several writers need at once, or accepts the one that exists (PL-016)."""

from collections.abc import Callable
from typing import Any

from grove_core.kernel.frozen import FrozenMap, freeze, thaw_json
from grove_core.kernel.refs import Ref
from grove_core.kernel.steps import AttemptOutcome
from grove_core.resources.domain_sharing_labels import domain_user_in_manifest_labels
from grove_core.resources.object_metadata import metadata_in
from grove_shell.apply.step_requests import is_already_exists_response, outcome_and_message_of_response
from grove_shell.client.api_kinds import api_kind_of_ref, url_path_of_ref
from grove_shell.client.api_response import FORBIDDEN, NOT_FOUND
from grove_shell.client.api_session import ApiSession, NoServerResponse
from grove_shell.client.proxy_response_check import response_is_about_object

OnObject = Callable[[dict[str, Any]], None]


async def create_or_reuse_object(
    api: ApiSession, ref: Ref, manifest: FrozenMap, writer: str, take_in: OnObject = lambda _raw: None
) -> tuple[AttemptOutcome, str]:
    """Create an object, or find one that serves the same user; return outcome and message.

    Args:
        api: the API server.
        ref: the address of the object.
        manifest: the whole object.
        writer: the field manager.
        take_in: called with the object that exists then.

    Raises:
        NoServerResponse: there was no response; the object may have been created.
    """
    path = api_kind_of_ref(ref).url_path(ref.namespace)
    response = await api.request("POST", path, query={"fieldManager": writer}, body=thaw_json(manifest))
    if response_is_about_object(response, ref):
        take_in(response.json_body())
    refused, refusal = outcome_and_message_of_response(response, ref, creates=True), response.error_message
    is_forbidden = response.status == FORBIDDEN  # a quota refuses before the name is looked up
    if not (is_forbidden or is_already_exists_response(response)):
        return refused
    try:
        response = await api.request("GET", url_path_of_ref(ref))
    except NoServerResponse:
        if is_forbidden:
            return refused
        raise
    if is_forbidden and not response_is_about_object(response, ref):
        return refused
    if response.status == NOT_FOUND:
        return AttemptOutcome.CONFLICT, "it was deleted a moment ago"
    if not response_is_about_object(response, ref):
        return outcome_and_message_of_response(response, ref)
    raw = response.json_body()
    take_in(raw)
    found = freeze(raw)
    holder, user = (
        domain_user_in_manifest_labels(found) if isinstance(found, FrozenMap) else None,
        domain_user_in_manifest_labels(manifest),
    )
    if holder is None or holder != user:
        found_user = holder or "another user (it has no label with the name)"
        return AttemptOutcome.REFUSED, f"{refusal}; it serves {found_user}, and would have to serve {user}"
    if metadata_in(raw).deleting:
        return AttemptOutcome.CONFLICT, "the one before is being deleted"
    return AttemptOutcome.DONE, ""
