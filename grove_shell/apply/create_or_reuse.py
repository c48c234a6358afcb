"""Creates an object that several writers need at once, or accepts the one that exists (PL-016)."""

from collections.abc import Callable
from typing import Any

from grove_core.kernel.frozen import FrozenMap, freeze, thaw_json
from grove_core.kernel.refs import Ref
from grove_core.kernel.steps import AttemptOutcome
from grove_core.resources.domain_sharing_labels import sharing_user_in_manifest
from grove_core.resources.object_metadata import metadata_in
from grove_shell.apply.step_requests import exists_already, outcome_of
from grove_shell.client.api_session import ApiSession, NoServerResponse
from grove_shell.client.kinds import api_path_of, kind_of
from grove_shell.client.response import FORBIDDEN, NOT_FOUND
from grove_shell.client.response_check import shows_object

OnObject = Callable[[dict[str, Any]], None]


async def create_or_reuse(
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
    path = kind_of(ref).path(ref.namespace)
    response = await api.request("POST", path, query={"fieldManager": writer}, body=thaw_json(manifest))
    if shows_object(response, ref):
        take_in(response.json())
    refused, refusal = outcome_of(response, ref, creates=True), response.message
    is_forbidden = response.status == FORBIDDEN  # a quota refuses before the name is looked up
    if not (is_forbidden or exists_already(response)):
        return refused
    try:
        response = await api.request("GET", api_path_of(ref))
    except NoServerResponse:
        if is_forbidden:
            return refused
        raise
    if is_forbidden and not shows_object(response, ref):
        return refused
    if response.status == NOT_FOUND:
        return AttemptOutcome.CONFLICT, "it was deleted a moment ago"
    if not shows_object(response, ref):
        return outcome_of(response, ref)
    raw = response.json()
    take_in(raw)
    found = freeze(raw)
    holder, user = (
        sharing_user_in_manifest(found) if isinstance(found, FrozenMap) else None,
        sharing_user_in_manifest(manifest),
    )
    if holder is None or holder != user:
        found_user = holder or "another user (it has no label with the name)"
        return AttemptOutcome.REFUSED, f"{refusal}; it serves {found_user}, and would have to serve {user}"
    if metadata_in(raw).deleting:
        return AttemptOutcome.CONFLICT, "the one before is being deleted"
    return AttemptOutcome.DONE, ""
