"""Who is there of the pods of a namespace, whatever their labels: asked before one is made (OP-106).

The name of a new pod depends on who had its place (WL-085), so it need not meet that of one that only lost its label. A
namespace is called once, and again when a pod of it went out of sight: that is one list, and none while all is well.
"""

import asyncio
from collections import Counter, defaultdict
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Final, TypeAlias

from grove_core.kernel.refs import Ref
from grove_core.kernel.steps import Attempt, Outcome, Step
from grove_core.resources.keys import CORE
from grove_core.resources.ownership import clique_of_new, controller_in
from grove_shell import own_faults
from grove_shell.client.api import Api, Unreachable
from grove_shell.client.kinds import KINDS
from grove_shell.client.lists import NotListed, pages_of
from grove_shell.world.answers import Undecided
from grove_shell.world.joined import Joined
from grove_shell.world.lost_labels import is_of_grove
from grove_shell.world.shelves import Shelves
from grove_shell.world.writes import Writes

Trial: TypeAlias = Callable[[Step], Awaitable[Attempt]]

_POD: Final = "Pod"
_PAUSE: Final = 30.0
_DOUBT: Final = 10.0
_SIDE_BY_SIDE: Final = 8
_PODS: Final = replace(KINDS[_POD], metadata_only=True)


@dataclass(slots=True)
class Roll:
    """What a call came to.

    Attributes:
        as_of: how many reasons there had been for it when it began.
        at: when it was answered, of the clock of the loop.
        silence: why it came to nothing; else empty.
        strangers: uid of a PodClique -> its pods of which nobody had told, as they were.
        is_doubted: whether one of them was met in vain; somebody may have taken its place, or its owner.
    """

    as_of: int
    at: float = 0.0
    silence: str = ""
    strangers: defaultdict[str, list[Mapping[str, Any]]] = field(default_factory=lambda: defaultdict(list))
    is_doubted: bool = False


class RollCall:
    """The calls of one process, the last one of each namespace."""

    def __init__(self, api: Api, shelves: Shelves, writes: Writes) -> None:
        """Call nobody yet; who is met gets its label back by ``writes`` and stands on ``shelves`` then (OP-018)."""
        self._api, self._shelves, self._writes = api, shelves, writes
        self._rolls: dict[str, Roll] = {}
        self._calls, self._meetings = Joined[Roll](), Joined[None]()
        self._unanswered = Counter[str]()
        self._in_vain: dict[str, dict[str, None]] = {}  # uids by namespace, who was met the longest ago first
        self._turns = asyncio.Semaphore(_SIDE_BY_SIDE)

    def before(self, attempt: Trial) -> Trial:
        """The same trial, once all pods are known that a PodClique has for which one is to be made."""

        async def tried(step: Step) -> Attempt:
            clique, namespace = clique_of_new(step), step.target.namespace
            if clique and (words := await self._doubt(namespace, clique)):
                return Attempt(step, Outcome.UNREACHABLE, words)
            answer = await attempt(step)
            if clique and answer.outcome is Outcome.UNREACHABLE:
                self._unanswered[namespace] += 1
            return answer

        return tried

    async def run(self, leads: Callable[[], bool], told: Callable[[str], None]) -> None:
        """Call whatever namespace has to be called, twice in a minute, until cancelled (OP-107).

        A PodClique that has enough pods without one that went out of sight makes none, and so asks nobody. Namespaces
        take turns, a few at a time, for in one of them each answer may take long.

        Args:
            leads: whether this process is to act.
            told: of a fault of ours, which keeps no other namespace waiting.
        """

        async def look(namespace: str) -> None:
            try:
                await self._call_all(namespace, leads)
            except Exception as fault:  # noqa: BLE001 - it is tried again, and the process goes on (OP-027)
                told(own_faults.told(fault))

        async with asyncio.TaskGroup() as looks:
            under_way: dict[str, asyncio.Task[None]] = {}
            while True:
                await asyncio.sleep(_PAUSE)
                namespaces = self._shelves.namespaces()
                for gone in (self._rolls.keys() | self._in_vain.keys()).difference(namespaces):
                    self._rolls.pop(gone, None)
                    self._in_vain.pop(gone, None)
                under_way = {namespace: task for namespace, task in under_way.items() if not task.done()}
                for namespace in namespaces:
                    if namespace not in under_way:
                        under_way[namespace] = looks.create_task(look(namespace))

    async def _call_all(self, namespace: str, leads: Callable[[], bool]) -> None:
        """One pod that stays out of sight hides no other.

        Where the server is not well it stops at one; whoever was met in vain comes after the others the next time, the
        longest ago first.
        """
        async with self._turns:
            if not leads():
                return
            roll = await self._again(namespace, await self._roll_of(namespace))
        if roll.silence:
            return
        everybody = {raw["metadata"]["uid"]: (raw, found) for found in roll.strangers.values() for raw in found}
        before = self._in_vain.get(namespace, {})
        in_vain = self._in_vain[namespace] = dict.fromkeys(uid for uid in before if uid in everybody)
        for uid in (*(uid for uid in everybody if uid not in in_vain), *in_vain):
            async with self._turns:
                if not leads():
                    return
                fault = await self._meet(roll, *everybody[uid])
            in_vain.pop(uid, None)
            if fault is not None:
                in_vain[uid] = None
            if not isinstance(fault, Undecided | None):
                return

    async def _doubt(self, namespace: str, clique: str) -> str:
        """Why nobody knows what pods a PodClique has; who is not followed gets its label back."""
        roll = await self._roll_of(namespace)
        if clique in roll.strangers:
            roll = await self._again(namespace, roll)
        strangers = roll.strangers.get(clique, [])
        for raw in (*strangers,):
            if (fault := await self._meet(roll, raw, strangers)) is not None:
                return str(fault)
        return roll.silence

    async def _roll_of(self, namespace: str) -> Roll:
        """A call that knows of every pod that went out of sight until now; one call at a time."""
        least = self._reasons(namespace)
        roll = self._rolls.get(namespace)
        while roll is None or roll.as_of < least:
            roll = await self._calls.once(namespace, partial(self._call, namespace))
        return roll

    async def _again(self, namespace: str, roll: Roll) -> Roll:
        """The same, ten seconds after one of its strangers was met in vain a new one; without an answer it stands."""
        if not roll.is_doubted or asyncio.get_running_loop().time() - roll.at <= _DOUBT:
            return roll
        anew = await self._calls.once(namespace, partial(self._call, namespace))
        if not anew.silence:
            return anew
        roll.at = asyncio.get_running_loop().time()
        return roll

    def _reasons(self, namespace: str) -> int:
        """How often there was reason to call it (again)."""
        unfollowed = self._writes.unfollowed[namespace]
        return self._shelves.out_of_sight(namespace) + self._unanswered[namespace] + unfollowed

    async def _call(self, namespace: str) -> Roll:
        """What came to nothing is called again."""
        roll = Roll(self._reasons(namespace))
        try:
            await self._list(namespace, roll)
            roll.at = asyncio.get_running_loop().time()
            self._rolls[namespace] = roll
        except (Unreachable, NotListed) as fault:
            roll.silence = f"who is there could not be asked: {fault}"
        return roll

    async def _list(self, namespace: str, roll: Roll) -> None:
        async for page in pages_of(self._api, _PODS, namespace, "", least=self._shelves.newest(_POD)):
            if page.first:
                roll.strangers.clear()
            for raw in page.items:
                owner = controller_in(raw)
                if owner.kind == "PodClique" and is_of_grove(owner) and not self._shelves.knows(_POD, raw):
                    roll.strangers[owner.uid].append(raw)

    async def _meet(self, roll: Roll, raw: Mapping[str, Any], strangers: list[Mapping[str, Any]]) -> Unreachable | None:
        """Take a pod in, unless it was heard of meanwhile, and it is a stranger no more; or what came between."""
        ref = Ref(CORE, _POD, raw["metadata"]["namespace"], raw["metadata"]["name"])
        if not self._shelves.knows(_POD, raw):
            try:
                await self._meetings.once(raw["metadata"]["uid"], partial(self._take_in, ref))
            except Unreachable as fault:
                roll.is_doubted = True
                return fault
        if raw in strangers:  # somebody else may have met it too
            strangers.remove(raw)
        return None

    async def _take_in(self, ref: Ref) -> None:
        if await self._writes.look_at(ref) and self._shelves.find(ref) is None:
            raise Undecided(f"{ref.short} is there, and cannot be read or counts as gone")
