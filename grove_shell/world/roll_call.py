"""Who is there of the pods of a namespace, whatever their labels: asked before one is made (OP-106).

The name of a new pod depends on who had its place (WL-085), so it need not meet that of one that only lost its label. A
namespace is called once, and again when a pod of it went out of sight: that is one list, and none while all is well.
"""

import asyncio
from collections import defaultdict
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final, TypeAlias

from grove_core.kernel.frozen import thaw
from grove_core.kernel.refs import Ref
from grove_core.kernel.steps import Attempt, Create, Outcome, Step
from grove_core.resources.keys import CORE
from grove_core.resources.ownership import controller_in
from grove_shell.client.api import Api, Unreachable
from grove_shell.client.kinds import KINDS
from grove_shell.client.lists import NotListed, pages_of
from grove_shell.world.shelves import Shelves
from grove_shell.world.writes import Writes

Trial: TypeAlias = Callable[[Step], Awaitable[Attempt]]

_POD: Final = "Pod"
_PODS: Final = replace(KINDS[_POD], metadata_only=True)
_NOTHING: Final = -1


@dataclass(slots=True)
class Roll:
    """What a call came to.

    Attributes:
        as_of: how many pods of the namespace had gone out of sight when it began; -1 where it came to nothing.
        number: of the call among those that ended.
        silence: why it came to nothing.
        back: uid of a PodClique -> which of its pods is followed again.
        astray: uid of a PodClique -> its pods that were not followed, each with the reason.
    """

    as_of: int = _NOTHING
    number: int = 0
    silence: str = ""
    back: dict[str, str] = field(default_factory=dict)
    astray: defaultdict[str, list[tuple[Mapping[str, Any], str]]] = field(default_factory=lambda: defaultdict(list))


class RollCall:
    """The calls of one process, the last one of each namespace."""

    def __init__(self, api: Api, shelves: Shelves, writes: Writes) -> None:
        """Call nobody yet; who is met gets its label back by ``writes`` and stands on ``shelves`` then (OP-018)."""
        self._api, self._shelves, self._writes = api, shelves, writes
        self._ended = 0
        self._rolls: dict[str, Roll] = {}
        self._calls: dict[str, asyncio.Task[Roll]] = {}

    def before(self, attempt: Trial) -> Trial:
        """The same trial for the steps of a round that was planned just now, but nobody is made twice."""
        planned = self._ended

        async def tried(step: Step) -> Attempt:
            if step.target.kind != _POD or not isinstance(step.action, Create):
                return await attempt(step)
            clique = controller_in({"metadata": thaw(step.action.manifest["metadata"])}).uid
            roll = await self._roll_of(step.target.namespace, clique)
            if words := roll.silence or self._astray(roll, clique):
                return Attempt(step, Outcome.UNREACHABLE, words)
            if clique in roll.back and roll.number > planned:
                return Attempt(step, Outcome.CONFLICT, roll.back[clique])
            return await attempt(step)

        return tried

    async def _roll_of(self, namespace: str, clique: str) -> Roll:
        """A call that knows of every pod that went out of sight until now; one call at a time."""
        least = self._shelves.out_of_sight(namespace)
        roll = self._rolls.get(namespace, Roll())
        if roll.as_of >= least and not self._astray(roll, clique):
            return roll
        while True:
            call = self._calls.get(namespace)
            if call is None:
                call = self._calls[namespace] = asyncio.ensure_future(self._call(namespace))
            roll = await asyncio.shield(call)
            if roll.silence or roll.as_of >= least:
                return roll

    def _astray(self, roll: Roll, clique: str) -> str:
        """Why a pod of a PodClique is still not followed; those of which was heard meanwhile are."""
        pods = roll.astray.get(clique, ())
        return next((words for pod, words in pods if not self._shelves.knows(_POD, pod)), "")

    async def _call(self, namespace: str) -> Roll:
        roll = Roll(self._shelves.out_of_sight(namespace))
        try:
            async for page in pages_of(self._api, _PODS, namespace, ""):
                for raw in page.items:
                    await self._meet(roll, raw)
        except (Unreachable, NotListed) as fault:
            roll = Roll(silence=f"who is there could not be asked: {fault}")
        finally:
            del self._calls[namespace]
        self._ended += 1
        roll.number = self._ended
        self._rolls[namespace] = roll
        return roll

    async def _meet(self, roll: Roll, raw: Mapping[str, Any]) -> None:
        """One pod; what is nobody's or another's is none of our business."""
        owner = controller_in(raw)
        if owner.kind != "PodClique" or self._shelves.knows(_POD, raw):
            return
        ref = Ref(CORE, _POD, raw["metadata"]["namespace"], raw["metadata"]["name"])
        try:
            found = await self._writes.followed(ref, raw)
        except Unreachable as fault:
            roll.astray[owner.uid].append((raw, str(fault)))
            return
        if found is raw:
            roll.astray[owner.uid].append((raw, f"{ref.short} is there, and nobody told of it yet"))
            return
        self._shelves.put(_POD, found)
        roll.back[owner.uid] = f"{ref.short} had lost its label, and is there"
