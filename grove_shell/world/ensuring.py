"""Objects that several make who come at once: whoever is first creates it, the others are content (PL-022)."""

from collections.abc import Callable
from typing import Any

from grove_core.kernel.frozen import FrozenMap, freeze, thaw
from grove_core.kernel.refs import Ref
from grove_core.kernel.steps import Outcome
from grove_core.resources.membership import sharer_in
from grove_shell.client.answer import FORBIDDEN, NOT_FOUND
from grove_shell.client.api import Api, Unreachable
from grove_shell.client.genuine import is_shown_by
from grove_shell.client.kinds import kind_of, path_of
from grove_shell.world.answers import exists_already, judged, judged_creation

Taking = Callable[[dict[str, Any]], None]


async def ensure(
    api: Api, ref: Ref, manifest: FrozenMap, writer: str, take_in: Taking = lambda _raw: None
) -> tuple[Outcome, str]:
    """Create an object, or find one that serves the same user.

    Args:
        api: whom to ask.
        ref: where it is to stand.
        manifest: all of it.
        writer: in whose name.
        take_in: is told of the object as it is.

    Raises:
        Unreachable: there was no answer; it may have been made.
    """
    path = kind_of(ref).path(ref.namespace)
    answer = await api.request("POST", path, query={"fieldManager": writer}, body=thaw(manifest))
    if is_shown_by(answer, ref):
        take_in(answer.json())
    refused, refusal = judged_creation(answer, ref), answer.words
    is_forbidden = answer.status == FORBIDDEN  # a quota is asked before anybody looks whether the name is taken
    if not (is_forbidden or exists_already(answer)):
        return refused
    try:
        answer = await api.request("GET", path_of(ref))
    except Unreachable:
        if is_forbidden:
            return refused
        raise
    if is_forbidden and not is_shown_by(answer, ref):
        return refused
    if answer.status == NOT_FOUND:
        return Outcome.CONFLICT, "it went a moment ago"
    if not is_shown_by(answer, ref):
        return judged(answer, ref)
    raw = answer.json()
    take_in(raw)
    found = freeze(raw)
    holder, user = sharer_in(found) if isinstance(found, FrozenMap) else None, sharer_in(manifest)
    if holder is None or holder != user:
        whom = holder or "somebody else (no label says whom)"
        return Outcome.REFUSED, f"{refusal}; it serves {whom}, and would have to serve {user}"
    if raw["metadata"].get("deletionTimestamp"):
        return Outcome.CONFLICT, "the one before is being deleted"
    return Outcome.DONE, ""
