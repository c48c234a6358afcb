"""Executes steps on an API server, and puts the object in each response into the cache (OP-002).

A step is tried in one place, :meth:`StepExecutor.attempt_step`: its conditions are checked, it is sent, and the
response becomes its outcome.
"""

import asyncio
from collections.abc import Callable
from functools import partial
from typing import Final

from grove_core.kernel.refs import Guard, Ref
from grove_core.kernel.steps import Attempt, AttemptOutcome, Create, Delete, Ensure, Make, Step, StepStage
from grove_core.resources.object_metadata import metadata_in
from grove_core.resources.owned_object import clique_of_new_pod
from grove_shell.apply.create_or_reuse import create_or_reuse_object
from grove_shell.apply.fresh_reader import FreshReader, restorable_selector_label
from grove_shell.apply.pod_relist import LastPodLists
from grove_shell.apply.step_requests import (
    WRITER,
    UnusableApiResponse,
    is_already_exists_response,
    outcome_and_message_of_response,
    request_of_step,
)
from grove_shell.client.api_kinds import api_kind_of_ref, url_path_of_ref
from grove_shell.client.api_response import NOT_FOUND, ApiResponse
from grove_shell.client.api_session import NoServerResponse, RequestWithdrawn
from grove_shell.client.paged_lists import accept_header_for_kind
from grove_shell.client.proxy_response_check import (
    response_confirms_absence,
    response_confirms_write,
    response_is_about_object,
)

_DELETED: Final = "it was deleted a moment ago"


class StepExecutor:
    """Executes the steps of one round; every cause of a termination is read once."""

    def __init__(
        self,
        reader: FreshReader,
        pods: LastPodLists | None = None,
        withdrawn_because: Callable[[Step], str | None] = lambda _step: None,
    ) -> None:
        """Send nothing yet.

        Args:
            reader: reads, and puts the responses into its cache.
            pods: knows the pods of a namespace before one is created (OP-106); None to create them without that.
            withdrawn_because: called right before a request is sent; returns why it is withdrawn, None to send it
                (OP-074, OP-106).
        """
        self._reader = reader
        self._pods = pods
        self._withdrawn_because = withdrawn_because
        self._causes: dict[tuple[Ref, Guard], asyncio.Task[bool | NoServerResponse]] = {}

    async def attempt_step(self, step: Step) -> Attempt:
        """Execute a step and return its outcome; a refusal is an outcome, not an exception."""
        unmet = await self._unmet_condition(step)
        if unmet is not None:
            return Attempt(step, *unmet)
        target, reader, is_lost = step.target, self._reader, False
        try:
            if isinstance(step.action, Ensure):
                put = partial(reader.cache.put, target.kind)
                return Attempt(
                    step, *await create_or_reuse_object(reader.api, target, step.action.manifest, WRITER, put)
                )
            request = request_of_step(step, reader.cache.find_object(target))
            response = await reader.api.request(**request._asdict(), unless=partial(self._withdrawn_because, step))
            outcome, words = await self._outcome(step, response)
        except RequestWithdrawn as why:
            return Attempt(step, AttemptOutcome.CONFLICT, str(why))
        except NoServerResponse as fault:
            outcome, words = (
                fault.outcome if isinstance(fault, UnusableApiResponse) else AttemptOutcome.UNREACHABLE,
                str(fault),
            )
            is_lost = True
        if self._pods is not None and clique_of_new_pod(step) and (is_lost or outcome is AttemptOutcome.UNREACHABLE):
            self._pods.note_possible_pod(target.namespace)
        return Attempt(step, outcome, words)

    async def _unmet_condition(self, step: Step) -> tuple[AttemptOutcome, str] | None:
        """Return outcome and message of a step that must not be sent now; None to send it.

        A pod is created only once all pods of its PodClique are in the cache (OP-106), and a companion is deleted only
        while the server has every cause as it was judged (OP-074).
        """
        clique = clique_of_new_pod(step)
        if clique and self._pods is not None:
            words = await self._pods.pods_unknown_because(step.target.namespace, clique)
            return (AttemptOutcome.UNREACHABLE, words) if words else None
        if isinstance(step.action, Delete) and step.stage is not StepStage.CAUSE:
            for ref, guard in step.action.rests_on:
                is_unchanged = await self._is_unchanged(ref, guard)
                if isinstance(is_unchanged, NoServerResponse):
                    return AttemptOutcome.UNREACHABLE, str(is_unchanged)
                if not is_unchanged:
                    return AttemptOutcome.CONFLICT, f"{ref.short}, the cause, has been modified"
        return None

    async def _is_unchanged(self, ref: Ref, guard: Guard) -> bool | NoServerResponse:
        """Return whether the server has a cause as it was judged, asked once in a round, or the error."""

        async def read() -> bool | NoServerResponse:  # at the end of the process nothing may await the task
            try:
                return await self._reader.is_unchanged_on_server(ref, guard)
            except NoServerResponse as fault:
                return fault

        if (ref, guard) not in self._causes:
            self._causes[ref, guard] = asyncio.ensure_future(read())
        return await asyncio.shield(self._causes[ref, guard])

    async def _outcome(self, step: Step, response: ApiResponse) -> tuple[AttemptOutcome, str]:
        """Return outcome and message of a response, and put the object in it into the cache.

        A created object whose label cannot be restored is invisible to every watch, so its creation is tried again.
        """
        target, creates = step.target, isinstance(step.action, Make)
        if isinstance(step.action, Create) and is_already_exists_response(response):
            return await self._outcome_of_taken_name(target, step.action, response)
        if not creates and response_confirms_absence(response, target) and (guard := step.action.guard) is not None:
            self._reader.drop_deleted_from_cache(target, guard.uid)
        elif not creates and response.status == NOT_FOUND:  # the kind is not served right now
            return AttemptOutcome.UNREACHABLE, response.error_message
        outcome = outcome_and_message_of_response(response, target, creates=creates)
        if not response_confirms_write(response, target):
            return outcome
        try:
            exists = await self._take_in(target, response)
        except NoServerResponse as fault:
            return (AttemptOutcome.UNREACHABLE, str(fault)) if creates else outcome
        return outcome if exists or not creates else (AttemptOutcome.CONFLICT, _DELETED)

    async def _outcome_of_taken_name(
        self, target: Ref, action: Create, refusal: ApiResponse
    ) -> tuple[AttemptOutcome, str]:
        """Return the outcome where the name is taken, by an earlier try (RS3) or by another writer (OP-011)."""
        accept = accept_header_for_kind(api_kind_of_ref(target), a_list=False)
        response = await self._reader.api.request("GET", url_path_of_ref(target), accept=accept)
        if response.status == NOT_FOUND:
            return AttemptOutcome.CONFLICT, _DELETED
        if not response_is_about_object(response, target):
            return outcome_and_message_of_response(response, target)
        meta = metadata_in(response.json_body())
        is_labelled, owner = not restorable_selector_label(target.kind, meta), meta.controller
        if is_labelled:
            await self._take_in(target, response)
        if owner.uid != metadata_in(action.manifest).controller.uid:
            holder = f"{owner.kind} {owner.name}" if owner.uid else "another owner"
            return AttemptOutcome.REFUSED, f"{refusal.error_message}; it belongs to {holder}"
        if meta.deleting:
            return AttemptOutcome.CONFLICT, "the one before is being deleted"
        if is_labelled or await self._take_in(target, response):  # its owner is checked before its label is restored
            return AttemptOutcome.DONE, ""
        return AttemptOutcome.CONFLICT, _DELETED

    async def _take_in(self, target: Ref, response: ApiResponse) -> bool:
        """Apply the object in the response to a write to the cache; return whether it exists."""
        raw = response.json_body()
        if raw.get("kind") != "Status":
            return await self._reader.put_into_cache(target, raw)
        if uid := response.status_details.get("uid"):
            self._reader.drop_deleted_from_cache(target, uid)
            return False
        return True
