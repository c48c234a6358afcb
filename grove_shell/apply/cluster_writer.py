"""Writes of the operator to one API server, and the uncached list of a set before a gang is terminated (OP-013)."""

from collections.abc import Callable, Mapping
from typing import Any, Final

from grove_core.kernel.refs import Ref
from grove_core.kernel.steps import Step
from grove_core.kernel.structs import replace
from grove_core.resources.api_names import GROUP_KIND, GROVE, SET_KIND
from grove_core.resources.labels import SET
from grove_core.resources.object_metadata import ObjectMetadata, metadata_in, resource_version_number
from grove_shell.apply.execute_concurrently import Execute
from grove_shell.apply.fresh_reader import FreshReader, restorable_selector_label
from grove_shell.apply.pod_relist import LastPodLists
from grove_shell.apply.step_executor import StepExecutor
from grove_shell.cache.cluster_cache import ClusterCache
from grove_shell.cache.root_keys import RootKey
from grove_shell.client.api_kinds import KINDS
from grove_shell.client.api_session import ApiSession, NoServerResponse
from grove_shell.client.paged_lists import OLDER_STATE, list_kind_by_page

_RELISTED: Final = (GROUP_KIND, "PodClique", "Pod")


class ClusterWriter:
    """Executes the steps of rounds on one API server, and lists what decides about a termination."""

    def __init__(self, api: ApiSession, cache: ClusterCache) -> None:
        """Send nothing yet; ``cache`` gets what is read and written."""
        self._api = api
        self._cache = cache
        self._reader = FreshReader(api, cache)
        self._pods = LastPodLists(self._reader)

    def step_executor(self, withdrawn_because: Callable[[Step], str | None] = lambda _step: None) -> Execute:
        """Return what executes the steps of one round.

        Args:
            withdrawn_because: returns why a step is not sent any more; None to send it.
        """
        return StepExecutor(self._reader, self._pods, withdrawn_because).attempt_step

    async def relist_set(self, root_key: RootKey) -> None:
        """Read everything of a set from the server into the cache (OP-013).

        Raises:
            NoServerResponse, KindNotListed: no termination may follow. Also raised where an object exists that counted
                as deleted (OP-013), has no selector label (OP-018), or is older than the cached one (OP-080);
                everything else is in the cache then.
        """
        namespace, name = root_key
        await self._reader.read_into_cache(Ref(GROVE, SET_KIND, namespace, name))
        doubts = [words for kind in _RELISTED for words in await self._relist(root_key, kind)]
        if doubts:
            raise NoServerResponse(doubts[0])

    async def _relist(self, root_key: RootKey, kind: str) -> list[str]:
        """List one kind into the cache; return why the list must not decide about a termination, empty if it may."""
        namespace, name = root_key
        found: dict[Ref, Mapping[str, Any]] = {}
        selector = "" if kind == "Pod" else f"{SET.primary}={name}"  # a pod may have no label any more
        as_of, listed = 0, replace(KINDS[kind], selector=selector)
        async for page in list_kind_by_page(
            self._api, listed, namespace, least=self._cache.newest_resource_version(kind)
        ):
            if page.first:
                found.clear()
            as_of = resource_version_number(page.version)
            for raw in page.items:
                if self._cache.root_key_of(kind, raw) == root_key:
                    found[Ref(KINDS[kind].api_version, kind, *metadata_in(raw).namespace_and_name)] = raw
        doubts: list[str] = []
        for ref, item in sorted(found.items(), key=lambda pair: _is_unlabelled_pod(pair[0], metadata_in(pair[1]))):
            try:
                doubts = [*await self._take_in(ref, item, as_of), *doubts]
            except NoServerResponse as fault:  # it has no label; so has all that follows
                doubts = [str(fault), *doubts]
                break
        for ref in self._cache.refs_of_kind_in_set(root_key, kind):
            if ref not in found:
                await self._reader.read_into_cache(ref)
        return doubts

    async def _take_in(self, ref: Ref, raw: Mapping[str, Any], as_of: int) -> list[str]:
        """Put a listed object into the cache; return why that forbids a termination. Raises NoServerResponse."""
        doubts, store, meta = [], self._cache.stores[ref.kind], metadata_in(raw)
        if store.shows_server_rollback(meta, as_of):
            store.overwrite_after_server_rollback(raw)
            doubts.append(f"{ref.short}: {OLDER_STATE}")
        had_tombstone = store.has_tombstone(meta.uid)
        if not _is_unlabelled_pod(ref, meta):
            self._cache.put(ref.kind, raw)
        elif not await self._reader.put_into_cache(ref, raw):
            return doubts
        return [*doubts, f"{ref.short}: the server has it, and it counted as deleted"] if had_tombstone else doubts


def _is_unlabelled_pod(ref: Ref, meta: ObjectMetadata) -> bool:
    """Return whether an object of a PodClique has no selector label; pods of other owners are not watched by it."""
    return meta.controller.kind == "PodClique" and bool(restorable_selector_label(ref.kind, meta))
