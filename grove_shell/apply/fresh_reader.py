"""Reads objects from the API server into the cache; a removed selector label is restored before that (OP-018).

A watch with a label selector reports no deletion of an object without the label: it would stay in the cache for ever.
"""

import asyncio
from collections.abc import Mapping
from typing import Any, Final

from grove_core.kernel.refs import Guard, Ref
from grove_core.kernel.steps import AttemptOutcome
from grove_core.resources.api_names import GROVE
from grove_core.resources.object_metadata import ObjectMetadata, metadata_in
from grove_shell.apply.step_requests import (
    UnusableApiResponse,
    merge_patch_with_version,
    outcome_and_message_of_response,
)
from grove_shell.cache.cluster_cache import ClusterCache
from grove_shell.client.api_kinds import KINDS, url_path_of_ref
from grove_shell.client.api_response import ApiResponse
from grove_shell.client.api_session import ApiSession, NoServerResponse
from grove_shell.client.proxy_response_check import response_confirms_absence, response_is_about_object

_LABELLED: Final = frozenset({"Pod", "Service", "HorizontalPodAutoscaler", "ResourceClaim"})
"""Kinds that are watched with a label selector and may be patched."""
_RESTORE_AGAIN_AFTER: Final = 10.0


class FreshReader:
    """Reads single objects without the cache, and puts them into it.

    Attributes:
        api: the API server.
        cache: gets what is read, and the responses to writes.
    """

    def __init__(self, api: ApiSession, cache: ClusterCache) -> None:
        """Read nothing yet."""
        self.api = api
        self.cache = cache
        self._restored_at: dict[str, float] = {}  # uid -> when its label was restored, the longest ago first

    async def read_into_cache(self, ref: Ref) -> bool:
        """Read an object into the cache; return whether it exists.

        Raises:
            NoServerResponse: there was no response.
            UnusableApiResponse: the response neither shows the object nor confirms that it does not exist
                (OP-013), or its label could not be restored (OP-018).
        """
        before = self.cache.find_object(ref)
        response = await self.api.request("GET", url_path_of_ref(ref))
        if response_is_about_object(response, ref):
            if await self.put_into_cache(ref, response.json_body()):
                return True
        elif not response_confirms_absence(response, ref):
            raise _fault(response, ref, f"{ref.short}: {response.error_message}")
        if before is not None:  # a later object of the name may have arrived since
            self.drop_deleted_from_cache(ref, before.uid)
        return False

    async def is_unchanged_on_server(self, ref: Ref, guard: Guard) -> bool:
        """Return whether the server has an object in the version that was judged; the response enters the cache."""
        response = await self.api.request("GET", url_path_of_ref(ref))
        if not response_is_about_object(response, ref):
            return False
        raw = response.json_body()
        self.cache.put(ref.kind, raw)
        return guard_of_read_object(metadata_in(raw)) == guard

    async def put_into_cache(self, ref: Ref, raw: Mapping[str, Any]) -> bool:
        """Put an object into the cache, with its label; return False if it was deleted or is not of Grove.

        Raises:
            NoServerResponse: there was no response.
            UnusableApiResponse: the label was not restored, or was removed within ten seconds after it had been.
        """
        meta = metadata_in(raw)
        label = restorable_selector_label(ref.kind, meta)
        found = await self._restored(ref, meta, label) if label else raw
        if found is not None:  # of a Secret there is only metadata (OP-050)
            self.cache.put(ref.kind, {**found, "apiVersion": ref.api_version, "kind": ref.kind})
        return found is not None

    def drop_deleted_from_cache(self, ref: Ref, uid: str) -> None:
        """Remove an object from the cache that the server has confirmed to be deleted."""
        meta = {"namespace": ref.namespace, "name": ref.name, "uid": uid}
        self.cache.drop(ref.kind, {"metadata": meta}, confirmed=True)

    async def _restored(self, ref: Ref, meta: ObjectMetadata, label: Mapping[str, str]) -> Mapping[str, Any] | None:
        if meta.controller.api_version != GROVE:
            return None
        lost = f"{ref.short} lost its label {next(iter(label))}"
        uid, now = meta.uid, asyncio.get_running_loop().time()
        while self._restored_at and next(iter(self._restored_at.values())) <= now - _RESTORE_AGAIN_AFTER:
            del self._restored_at[next(iter(self._restored_at))]
        if uid in self._restored_at:
            raise UnusableApiResponse(f"{lost} again, right after it was restored")
        patch = merge_patch_with_version(ref, {"metadata": {"labels": label}}, guard_of_read_object(meta))
        response = await self.api.request(**patch._asdict())
        if response_confirms_absence(response, ref):
            return None
        if not response_is_about_object(response, ref):
            raise _fault(response, ref, f"{lost}: {outcome_and_message_of_response(response, ref)[1]}")
        self._restored_at[uid] = now
        raw = response.json_body()
        if restorable_selector_label(ref.kind, metadata_in(raw)):
            raise UnusableApiResponse(f"{lost}: it was removed again at once")
        return raw


def guard_of_read_object(meta: ObjectMetadata) -> Guard:
    """Return the uid and version of an object as it was read."""
    return Guard(meta.uid, meta.resource_version)


def restorable_selector_label(kind: str, meta: ObjectMetadata) -> dict[str, str]:
    """Return the selector label that an object lacks and that may be restored; empty if it lacks none."""
    label, _, text = KINDS[kind].selector.partition("=")
    if kind not in _LABELLED or meta.labels.get(label) == text:
        return {}
    return {label: text}


def _fault(response: ApiResponse, ref: Ref, words: str) -> NoServerResponse:
    """Return the error for a response that does not show an object; of the one object, or of the whole server."""
    outcome, _ = outcome_and_message_of_response(response, ref)
    return NoServerResponse(words) if outcome is AttemptOutcome.UNREACHABLE else UnusableApiResponse(words, outcome)
