"""Acting on a real cluster: writes, and the last look at the server itself before something is ended."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from grove_core.kernel.refs import Ref
from grove_core.kernel.steps import Step
from grove_core.resources.keys import GROVE, SET
from grove_core.resources.ownership import controller_in
from grove_core.resources.podclique import GROUP_KIND
from grove_shell.client.api import Api, Unreachable
from grove_shell.client.kinds import KINDS, POD_CLIQUE_SET
from grove_shell.client.lists import WENT_BACK, pages_of
from grove_shell.client.versions import number_of
from grove_shell.world.confirming import Confirming
from grove_shell.world.homes import Home
from grove_shell.world.lost_labels import label_missing
from grove_shell.world.roll_call import RollCall, Trial
from grove_shell.world.shelves import Shelves
from grove_shell.world.writes import Writes

_JUDGED: Final = (GROUP_KIND, "PodClique", "Pod")  # a pod is told by its clique


class ClusterActing:
    """Writes to one API server."""

    def __init__(self, api: Api, shelves: Shelves, writes: Writes) -> None:
        """Write nothing yet."""
        self._api = api
        self._shelves = shelves
        self._writes = writes
        self._roll_call = RollCall(api, shelves, writes)

    def trial(self, unless: Callable[[Step], str | None] = lambda _step: None) -> Trial:
        """What tries the steps of one round, unless somebody says why one is not to be done any more."""
        return self._roll_call.before(Confirming(self._writes, unless).attempt)

    async def look_around(self, leads: Callable[[], bool], told: Callable[[str], None]) -> None:
        """Look for pods that nobody follows, for as long as this process runs, whenever it leads (OP-107)."""
        await self._roll_call.run(leads, told)

    async def refresh(self, home: Home) -> None:
        """Take in everything of a set as the server has it now (OP-013).

        Raises:
            Unreachable, NotListed: then nothing is ended; also where something is there that counts as gone (OP-019),
                is not followed (OP-018), or is as it was before (OP-084). All else is taken in nevertheless, so that
                the next look need not wait for it.
        """
        namespace, name = home
        await self._writes.look_at(Ref(GROVE, POD_CLIQUE_SET, namespace, name))
        doubts = [words for kind in _JUDGED for words in await self._listed(home, kind)]
        if doubts:
            raise Unreachable(doubts[0])

    async def _listed(self, home: Home, kind: str) -> list[str]:
        """Take in what the server has of one kind; why no end can be decided by that."""
        namespace, name = home
        listed: set[Ref] = set()
        doubts: list[str] = []
        lost: list[tuple[Ref, Mapping[str, Any]]] = []
        selector = "" if kind == "Pod" else f"{SET[0]}={name}"  # a pod may have lost every label
        least = self._shelves.newest(kind)
        async for page in pages_of(self._api, KINDS[kind], namespace, selector, least=least):
            as_of = number_of(page.version)
            if page.first:
                listed.clear()
                lost.clear()
            for raw in page.items:
                if self._shelves.home_in(kind, raw, controller_in(raw)) == home:
                    ref = Ref(KINDS[kind].api_version, kind, namespace, raw["metadata"]["name"])
                    listed.add(ref)
                    if self._shelves.goes_back(ref, raw, as_of):
                        self._shelves.believe(kind, raw)
                        doubts.append(f"{ref.short}: {WENT_BACK}")
                    if controller_in(raw).kind == "PodClique" and label_missing(kind, raw):
                        lost.append((ref, raw))
                    else:
                        doubts += self._taken_in(ref, raw)
        lasting = await self._given_back(lost)
        for ref in self._shelves.of(home, kind):
            if ref not in listed:
                await self._writes.look_at(ref)
        return [*lasting, *doubts]

    async def _given_back(self, lost: Iterable[tuple[Ref, Mapping[str, Any]]]) -> list[str]:
        """Of a pod that is not followed nobody would hear the end (OP-018); where one stays so no end is decided."""
        doubts: list[str] = []
        for ref, raw in lost:
            try:
                found = await self._writes.followed(ref, raw)
            except Unreachable as fault:
                return [*doubts, str(fault)]
            if found is not None:
                doubts += self._taken_in(ref, found)
        return doubts

    def _taken_in(self, ref: Ref, raw: Mapping[str, Any]) -> list[str]:
        """Why it is in doubt, where it is."""
        counted_as_gone = self._shelves.is_buried(raw["metadata"].get("uid"))
        self._shelves.put(ref.kind, raw)
        return [f"{ref.short}: the server has it, and it counted as gone"] if counted_as_gone else []
