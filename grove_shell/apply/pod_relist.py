"""Lists all pods of a namespace without a label selector before a pod is created (OP-106).

Otherwise a pod whose selector label was removed would be created twice: its successor has another name (WL-085). A
namespace is listed once, and again after a pod of it disappeared from the watch.
"""

import asyncio
from collections import Counter, defaultdict
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Final, TypeAlias

from grove_core.kernel.refs import Ref
from grove_core.kernel.steps import Attempt, Outcome, Step
from grove_core.resources.api_names import CORE
from grove_core.resources.owner_reference import clique_of_new_pod, controller_in
from grove_shell import internal_errors
from grove_shell.apply.label_repair import is_of_grove
from grove_shell.apply.outcomes import Undecided
from grove_shell.apply.single_flight import SingleFlight
from grove_shell.apply.step_executor import StepExecutor
from grove_shell.cache.cluster_cache import ClusterCache
from grove_shell.client.api import Api, Unreachable
from grove_shell.client.kinds import KINDS
from grove_shell.client.lists import NotListed, list_pages

Execute: TypeAlias = Callable[[Step], Awaitable[Attempt]]

_POD: Final = "Pod"
_PAUSE: Final = 30.0
_DOUBT_AFTER: Final = 10.0
_CONCURRENT: Final = 8
_PODS: Final = replace(KINDS[_POD], metadata_only=True)


@dataclass(slots=True)
class PodList:
    """The result of one list.

    Attributes:
        as_of: how many reasons for a list there had been when it began.
        at: when it was complete, by the clock of the event loop.
        error: why it failed; empty where it did not.
        unselected: uid of a PodClique -> its pods that the cache does not have, as listed.
        is_doubted: whether reading one of them failed, so that the list may be out of date.
    """

    as_of: int
    at: float = 0.0
    error: str = ""
    unselected: defaultdict[str, list[Mapping[str, Any]]] = field(default_factory=lambda: defaultdict(list))
    is_doubted: bool = False


class PodRelist:
    """The last list of each namespace."""

    def __init__(self, api: Api, cache: ClusterCache, writes: StepExecutor) -> None:
        """List nothing yet; ``writes`` restores labels and puts the pods into ``cache`` (OP-018)."""
        self._api, self._cache, self._writes = api, cache, writes
        self._lists: dict[str, PodList] = {}
        self._listing, self._reads = SingleFlight[PodList](), SingleFlight[None]()
        self._creations_without_response = Counter[str]()
        self._slots = asyncio.Semaphore(_CONCURRENT)

    def before(self, attempt: Execute) -> Execute:
        """Return an executor that creates a pod only once all pods of its PodClique are in the cache."""

        async def tried(step: Step) -> Attempt:
            clique, namespace = clique_of_new_pod(step), step.target.namespace
            if clique and (words := await self._unknown(namespace, clique)):
                return Attempt(step, Outcome.UNREACHABLE, words)
            answer = await attempt(step)
            if clique and answer.outcome is Outcome.UNREACHABLE:
                self._creations_without_response[namespace] += 1
            return answer

        return tried

    async def run(self, leads: Callable[[], bool], report: Callable[[str], None]) -> None:
        """List every namespace that needs it, every 30 seconds, until cancelled (OP-107).

        This finds unselected pods of PodCliques that create none. Up to eight namespaces are listed at once.

        Args:
            leads: whether this process is the leader.
            report: called with a fault in our own code; the other namespaces go on.
        """

        async def read_namespace(namespace: str) -> None:
            try:
                await self._read_all(namespace, leads)
            except Exception as fault:  # noqa: BLE001 - it is tried again, and the process goes on (OP-027)
                report(internal_errors.described(fault))

        async with asyncio.TaskGroup() as tasks:
            running: dict[str, asyncio.Task[None]] = {}
            while True:
                await asyncio.sleep(_PAUSE)
                namespaces = self._cache.namespaces()
                for gone in self._lists.keys() - namespaces:
                    del self._lists[gone]
                running = {namespace: task for namespace, task in running.items() if not task.done()}
                for namespace in namespaces:
                    if namespace not in running:
                        running[namespace] = tasks.create_task(read_namespace(namespace))

    async def _read_all(self, namespace: str, leads: Callable[[], bool]) -> None:
        """Read every unselected pod of a namespace into the cache.

        It stops where the server does not answer.
        """
        async with self._slots:
            if not leads():
                return
            listed = await self._renewed(namespace, await self._list_of(namespace))
        if listed.error:
            return
        pods = [(raw, found) for found in listed.unselected.values() for raw in found]
        for raw, found in pods:
            async with self._slots:
                if not leads():
                    return
                fault = await self._read_in(listed, raw, found)
            if not isinstance(fault, Undecided | None):
                return

    async def _unknown(self, namespace: str, clique: str) -> str:
        """Return why the pods of a PodClique are not all known; empty where they are."""
        listed = await self._list_of(namespace)
        if clique in listed.unselected:
            listed = await self._renewed(namespace, listed)
        unselected = listed.unselected.get(clique, [])
        for raw in (*unselected,):
            if (fault := await self._read_in(listed, raw, unselected)) is not None:
                return str(fault)
        return listed.error

    async def _list_of(self, namespace: str) -> PodList:
        """Return a list that began after the last reason for one; lists of a namespace run one at a time."""
        least = self._reasons(namespace)
        listed = self._lists.get(namespace)
        while listed is None or listed.as_of < least:
            listed = await self._listing.once(namespace, partial(self._relist, namespace))
        return listed

    async def _renewed(self, namespace: str, listed: PodList) -> PodList:
        """Return a newer list if a read failed more than ten seconds ago; the old one where that list fails too."""
        if not listed.is_doubted or asyncio.get_running_loop().time() - listed.at <= _DOUBT_AFTER:
            return listed
        renewed = await self._listing.once(namespace, partial(self._relist, namespace))
        if not renewed.error:
            return renewed
        listed.at = asyncio.get_running_loop().time()
        return listed

    def _reasons(self, namespace: str) -> int:
        """Return how many reasons there have been to list a namespace."""
        unlabelled = self._writes.unlabelled_pods[namespace]
        return self._cache.vanished_pods(namespace) + self._creations_without_response[namespace] + unlabelled

    async def _relist(self, namespace: str) -> PodList:
        """List a namespace; a failed list is not kept."""
        listed = PodList(self._reasons(namespace))
        try:
            await self._list(namespace, listed)
            listed.at = asyncio.get_running_loop().time()
            self._lists[namespace] = listed
        except (Unreachable, NotListed) as fault:
            listed.error = f"the pods of the namespace could not be listed: {fault}"
        return listed

    async def _list(self, namespace: str, listed: PodList) -> None:
        async for page in list_pages(self._api, _PODS, namespace, "", least=self._cache.newest(_POD)):
            if page.first:
                listed.unselected.clear()
            for raw in page.items:
                owner = controller_in(raw)
                if owner.kind == "PodClique" and is_of_grove(owner) and not self._cache.knows(_POD, raw):
                    listed.unselected[owner.uid].append(raw)

    async def _read_in(
        self, listed: PodList, raw: Mapping[str, Any], unselected: list[Mapping[str, Any]]
    ) -> Unreachable | None:
        """Read an unselected pod into the cache; return the error, None where it is in the cache then."""
        ref = Ref(CORE, _POD, raw["metadata"]["namespace"], raw["metadata"]["name"])
        if not self._cache.knows(_POD, raw):
            try:
                await self._reads.once(raw["metadata"]["uid"], partial(self._take_in, ref))
            except Unreachable as fault:
                listed.is_doubted = True
                return fault
        if raw in unselected:  # another task may have read it too
            unselected.remove(raw)
        return None

    async def _take_in(self, ref: Ref) -> None:
        if await self._writes.read(ref) and self._cache.find(ref) is None:
            raise Undecided(f"{ref.short} exists, and cannot be read or counts as deleted")
