"""Acting on a real cluster: writes, and the last look at the server itself before something is ended."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from grove_core.kernel.refs import Ref
from grove_core.kernel.steps import Step
from grove_core.resources.api_names import GROVE, SET
from grove_core.resources.owner_reference import controller_in
from grove_core.resources.podclique import GROUP_KIND
from grove_shell.apply.label_repair import label_missing
from grove_shell.apply.pod_relist import Execute, PodRelist
from grove_shell.apply.preconditions import ConfirmedExecutor
from grove_shell.apply.step_executor import StepExecutor
from grove_shell.cache.cluster_cache import ClusterCache
from grove_shell.cache.root_keys import RootKey
from grove_shell.client.api import Api, Unreachable
from grove_shell.client.kinds import KINDS, POD_CLIQUE_SET
from grove_shell.client.lists import OLDER_STATE, list_pages
from grove_shell.client.version_numbers import version_number

_JUDGED: Final = (GROUP_KIND, "PodClique", "Pod")  # a pod is told by its clique


class ClusterWriter:
    """Writes to one API server."""

    def __init__(self, api: Api, cache: ClusterCache, writes: StepExecutor) -> None:
        """Write nothing yet."""
        self._api = api
        self._cache = cache
        self._writes = writes
        self._roll_call = PodRelist(api, cache, writes)

    def trial(self, unless: Callable[[Step], str | None] = lambda _step: None) -> Execute:
        """What tries the steps of one round, unless somebody says why one is not to be done any more."""
        return self._roll_call.before(ConfirmedExecutor(self._writes, unless).attempt)

    async def look_around(self, leads: Callable[[], bool], report: Callable[[str], None]) -> None:
        """Look for pods that nobody follows, for as long as this process runs, whenever it leads (OP-107)."""
        await self._roll_call.run(leads, report)

    async def refresh(self, root_key: RootKey) -> None:
        """Take in everything of a set as the server has it now (OP-013).

        Raises:
            Unreachable, NotListed: then nothing is ended; also where something is there that counts as gone (OP-019),
                is not followed (OP-018), or is as it was before (OP-084). All else is taken in nevertheless, so that
                the next look need not wait for it.
        """
        namespace, name = root_key
        await self._writes.look_at(Ref(GROVE, POD_CLIQUE_SET, namespace, name))
        doubts = [words for kind in _JUDGED for words in await self._listed(root_key, kind)]
        if doubts:
            raise Unreachable(doubts[0])

    async def _listed(self, root_key: RootKey, kind: str) -> list[str]:
        """Take in what the server has of one kind; why no end can be decided by that."""
        namespace, name = root_key
        listed: set[Ref] = set()
        doubts: list[str] = []
        lost: list[tuple[Ref, Mapping[str, Any]]] = []
        selector = "" if kind == "Pod" else f"{SET[0]}={name}"  # a pod may have lost every label
        least = self._cache.newest(kind)
        async for page in list_pages(self._api, KINDS[kind], namespace, selector, least=least):
            as_of = version_number(page.version)
            if page.first:
                listed.clear()
                lost.clear()
            for raw in page.items:
                if self._cache.root_key_in(kind, raw, controller_in(raw)) == root_key:
                    ref = Ref(KINDS[kind].api_version, kind, namespace, raw["metadata"]["name"])
                    listed.add(ref)
                    if self._cache.goes_back(ref, raw, as_of):
                        self._cache.believe(kind, raw)
                        doubts.append(f"{ref.short}: {OLDER_STATE}")
                    if controller_in(raw).kind == "PodClique" and label_missing(kind, raw):
                        lost.append((ref, raw))
                    else:
                        doubts += self._taken_in(ref, raw)
        lasting = await self._given_back(lost)
        for ref in self._cache.of(root_key, kind):
            if ref not in listed:
                await self._writes.look_at(ref)
        return [*lasting, *doubts]

    async def _given_back(self, lost: Iterable[tuple[Ref, Mapping[str, Any]]]) -> list[str]:
        """Of a pod that is not followed nobody would hear the end (OP-018); where one stays so no end is decided."""
        doubts: list[str] = []
        for ref, raw in lost:
            try:
                found = await self._writes.repaired(ref, raw)
            except Unreachable as fault:
                return [*doubts, str(fault)]
            if found is not None:
                doubts += self._taken_in(ref, found)
        return doubts

    def _taken_in(self, ref: Ref, raw: Mapping[str, Any]) -> list[str]:
        """Why it is in doubt, where it is."""
        counted_as_gone = self._cache.has_tombstone(raw["metadata"].get("uid"))
        self._cache.put(ref.kind, raw)
        return [f"{ref.short}: the server has it, and it counted as gone"] if counted_as_gone else []
