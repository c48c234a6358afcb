"""The work queue by itself: a set that is only looked at, and never written."""

import asyncio

from grove_core.areas.gang_termination.rulesets import BY_NAME
from grove_shell.operator.rounds import Look, Rounds
from grove_shell.world.shelves import Home, Shelves
from tests.property.workload.sets import clique_raw, set_raw

HOME: Home = ("ml", "llama")


class Waker:
    """Wakes the set again and again in the midst of its first look."""

    def __init__(self) -> None:
        self.rounds: Rounds | None = None
        self.looks = 0
        self.seen_twice = asyncio.Event()

    def planned(self, look: Look) -> None:
        self.looks += 1
        if self.looks == 1 and self.rounds is not None:
            for _ in range(100):
                self.rounds.wake(look.home)
        if self.looks > 1:
            self.seen_twice.set()

    def answered(self, look: Look, attempts: object) -> None:
        raise AssertionError("nothing is tried")

    def failed(self, home: Home, words: str) -> None:
        raise AssertionError(words)


def test_op020_however_often_a_set_changes_one_look_more_follows() -> None:
    async def scenario() -> int:
        waker = Waker()
        shelves = Shelves()
        rounds = waker.rounds = Rounds(shelves=shelves, acting=None, rules=BY_NAME["design"], followers=(waker,))
        raw = set_raw(clique_raw("worker"))
        raw["metadata"] |= {"name": "llama", "namespace": "ml", "uid": "u", "resourceVersion": "1"}
        shelves.put("PodCliqueSet", raw)
        for _ in range(100):
            rounds.wake(HOME)
        assert rounds.depth == 1
        await asyncio.sleep(0)
        assert waker.looks == 0, "nobody may act yet"
        rounds.may.set()
        await waker.seen_twice.wait()
        assert rounds.depth == 0
        await rounds.close()
        return waker.looks

    assert asyncio.run(scenario()) == 2
