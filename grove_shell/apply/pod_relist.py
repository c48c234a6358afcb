"""Lists all pods of a namespace without a label selector before a pod is created (OP-106).

Otherwise a pod whose selector label was removed would be created twice: its successor has another name (WL-085). A
namespace is listed once, and again after a pod of it disappeared from the watch or a creation had no response.
"""

import asyncio
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final

from grove_core.kernel.refs import Ref
from grove_core.kernel.structs import replace
from grove_core.resources.api_names import CORE, GROVE, POD_KIND
from grove_core.resources.object_metadata import metadata_in
from grove_shell.apply.fresh_reader import FreshReader
from grove_shell.apply.single_flight import SingleFlight
from grove_shell.apply.step_requests import UnusableApiResponse
from grove_shell.client.api_kinds import KINDS
from grove_shell.client.api_session import NoServerResponse
from grove_shell.client.paged_lists import KindNotListed, list_kind_by_page

_LIST_AGAIN_AFTER: Final = 10.0
_PODS: Final = replace(KINDS[POD_KIND], metadata_only=True, selector="")


@dataclass(slots=True)
class NamespacePodListResult:
    """The result of one list.

    Attributes:
        as_of: how many reasons for a list there had been when it began.
        at: when it was complete, by the clock of the event loop.
        error: why it failed; empty where it did not.
        unread: uid of a PodClique, its pod that could not be read into the cache, and why.
    """

    as_of: int
    at: float = 0.0
    error: str = ""
    unread: list[tuple[str, Mapping[str, Any], str]] = field(default_factory=list)


class LastPodLists:
    """The last list of each namespace; pods that the cache does not have are read into it."""

    def __init__(self, reader: FreshReader) -> None:
        """List nothing yet; ``reader`` restores labels and puts the pods into its cache (OP-018)."""
        self._reader = reader
        self._lists: dict[str, NamespacePodListResult] = {}
        self._in_flight = SingleFlight[NamespacePodListResult]()
        self._lost_creations = Counter[str]()

    def note_possible_pod(self, namespace: str) -> None:
        """Note that a pod may exist which nothing reported."""
        self._lost_creations[namespace] += 1

    async def pods_unknown_because(self, namespace: str, clique: str) -> str:
        """Return why the pods of a PodClique, given its uid, are not all in the cache; empty where they are."""
        least, listed = self._reasons(namespace), self._lists.get(namespace)
        while listed is None or listed.as_of < least:  # one that ran already may be too old
            listed = await self._list_once(namespace)
        if listed.error or not (words := self._unread_pod(listed, clique)):
            return listed.error
        if asyncio.get_running_loop().time() - listed.at <= _LIST_AGAIN_AFTER:
            return words
        listed = await self._list_once(namespace)
        return listed.error or self._unread_pod(listed, clique)

    def _reasons(self, namespace: str) -> int:
        """Return how many reasons there have been to list a namespace."""
        return self._reader.cache.vanished_pod_count(namespace) + self._lost_creations[namespace]

    def _unread_pod(self, listed: NamespacePodListResult, clique: str) -> str:
        knows = self._reader.cache.stores[POD_KIND].contains
        return next((why for owner, raw, why in listed.unread if owner == clique and not knows(raw)), "")

    async def _list_once(self, namespace: str) -> NamespacePodListResult:
        return await self._in_flight.call_once(namespace, partial(self._list, namespace))

    async def _list(self, namespace: str) -> NamespacePodListResult:
        """List a namespace; a failed list is not kept."""
        listed = NamespacePodListResult(self._reasons(namespace))
        try:
            await self._read_unknown(namespace, listed)
            listed.at = asyncio.get_running_loop().time()
            self._lists[namespace] = listed
            for empty in self._lists.keys() - set(self._reader.cache.namespaces_with_set_objects()):
                del self._lists[empty]
        except (NoServerResponse, KindNotListed) as fault:
            listed.error = f"the pods of the namespace could not be listed: {fault}"
        return listed

    async def _read_unknown(self, namespace: str, listed: NamespacePodListResult) -> None:
        """Read every pod of a PodClique that the cache does not have; none after the server did not respond."""
        cache, unknown = self._reader.cache, list[tuple[str, Mapping[str, Any]]]()
        async for page in list_kind_by_page(
            self._reader.api, _PODS, namespace, least=cache.newest_resource_version(POD_KIND)
        ):
            if page.first:
                unknown.clear()
            for raw in page.items:
                owner = metadata_in(raw).controller
                if (owner.api_version, owner.kind) == (GROVE, "PodClique") and not cache.stores[POD_KIND].contains(raw):
                    unknown.append((owner.uid, raw))
        silence = ""
        for clique, pod in unknown:
            try:
                words = silence or await self._read(pod)
            except UnusableApiResponse as fault:
                words = str(fault)
            except NoServerResponse as fault:
                words = silence = str(fault)
            if words:
                listed.unread.append((clique, pod, words))

    async def _read(self, raw: Mapping[str, Any]) -> str:
        """Read a pod into the cache; return why it is not there then."""
        ref = Ref(CORE, POD_KIND, *metadata_in(raw).namespace_and_name)
        knows = self._reader.cache.stores[POD_KIND].contains
        if knows(raw) or not await self._reader.read_into_cache(ref) or knows(raw):
            return ""
        return f"{ref.short} exists, and counts as deleted"
