"""Writes of the operator to one API server, and the uncached list of a set before a gang is terminated (OP-013)."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from grove_core.kernel.refs import Ref
from grove_core.kernel.steps import Step
from grove_core.resources.api_names import GROVE
from grove_core.resources.labels import SET
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

_RELISTED: Final = (GROUP_KIND, "PodClique", "Pod")


class ClusterWriter:
    """Executes steps on one API server, and lists what decides about a termination."""

    def __init__(self, api: Api, cache: ClusterCache, writes: StepExecutor) -> None:
        """Send nothing yet; ``cache`` gets what ``writes`` reads."""
        self._api = api
        self._cache = cache
        self._writes = writes
        self._pod_relist = PodRelist(api, cache, writes)

    def executor(self, withdrawn_because: Callable[[Step], str | None] = lambda _step: None) -> Execute:
        """Return what executes the steps of one round.

        Args:
            withdrawn_because: returns why a step is not sent any more; None to send it.
        """
        return self._pod_relist.before(ConfirmedExecutor(self._writes, withdrawn_because).attempt)

    async def repair_labels(self, leads: Callable[[], bool], report: Callable[[str], None]) -> None:
        """Restore removed selector labels of pods until cancelled, while this process leads (OP-107)."""
        await self._pod_relist.run(leads, report)

    async def relist_set(self, root_key: RootKey) -> None:
        """Read everything of a set from the server into the cache (OP-013).

        Raises:
            Unreachable, NotListed: no termination may follow. Also raised where an object exists that counted as
                deleted (OP-019), has no selector label (OP-018), or is older than the cached one (OP-084); everything
                else is in the cache then.
        """
        namespace, name = root_key
        await self._writes.read(Ref(GROVE, POD_CLIQUE_SET, namespace, name))
        doubts = [words for kind in _RELISTED for words in await self._listed(root_key, kind)]
        if doubts:
            raise Unreachable(doubts[0])

    async def _listed(self, root_key: RootKey, kind: str) -> list[str]:
        """List one kind into the cache; return why the list must not decide about a termination, empty if it may."""
        namespace, name = root_key
        listed: set[Ref] = set()
        doubts: list[str] = []
        unlabelled: list[tuple[Ref, Mapping[str, Any]]] = []
        selector = "" if kind == "Pod" else f"{SET.primary}={name}"  # a pod may have no label any more
        least = self._cache.newest(kind)
        async for page in list_pages(self._api, KINDS[kind], namespace, selector, least=least):
            as_of = version_number(page.version)
            if page.first:
                listed.clear()
                unlabelled.clear()
            for raw in page.items:
                if self._cache.root_key_in(kind, raw, controller_in(raw)) == root_key:
                    ref = Ref(KINDS[kind].api_version, kind, namespace, raw["metadata"]["name"])
                    listed.add(ref)
                    if self._cache.is_rolled_back(ref, raw, as_of):
                        self._cache.overwrite(kind, raw)
                        doubts.append(f"{ref.short}: {OLDER_STATE}")
                    if controller_in(raw).kind == "PodClique" and label_missing(kind, raw):
                        unlabelled.append((ref, raw))
                    else:
                        doubts += self._put(ref, raw)
        unrepaired = await self._repaired(unlabelled)
        for ref in self._cache.of(root_key, kind):
            if ref not in listed:
                await self._writes.read(ref)
        return [*unrepaired, *doubts]

    async def _repaired(self, unlabelled: Iterable[tuple[Ref, Mapping[str, Any]]]) -> list[str]:
        """Restore labels and put the pods into the cache; return why that failed, which forbids a termination."""
        doubts: list[str] = []
        for ref, raw in unlabelled:
            try:
                found = await self._writes.repaired(ref, raw)
            except Unreachable as fault:
                return [*doubts, str(fault)]
            if found is not None:
                doubts += self._put(ref, found)
        return doubts

    def _put(self, ref: Ref, raw: Mapping[str, Any]) -> list[str]:
        """Put an object into the cache; return a sentence if it counted as deleted (OP-019)."""
        had_tombstone = self._cache.has_tombstone(raw["metadata"].get("uid"))
        self._cache.put(ref.kind, raw)
        return [f"{ref.short}: the server has it, and it counted as deleted"] if had_tombstone else []
