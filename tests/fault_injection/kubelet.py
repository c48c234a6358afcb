"""A kubelet, which starts and stops pods, and a garbage collector."""

import asyncio
from random import Random

from tests.fault_injection.api_store import Address, Json, Store, is_leaving
from tests.fault_injection.virtual_time import seconds


class Kubelet:
    """Pods become ready some time after their gates are open, and end some time after they are deleted.

    Attributes:
        sick: uids of pods that are not ready.
    """

    def __init__(self, store: Store, random: Random) -> None:
        self.sick: set[str] = set()
        self._store, self._chance = store, random
        self._due: dict[tuple[str, bool], float] = {}

    async def run(self) -> None:
        while True:
            await asyncio.sleep(1)
            for raw in self._store.of("Pod"):
                self._tend(raw)
            self._store.collect_garbage()

    def _tend(self, raw: Json) -> None:
        meta, leaves = raw["metadata"], is_leaving(raw)
        address = Address("Pod", meta["namespace"], meta["name"])
        if not leaves and raw["spec"].get("schedulingGates"):
            return
        takes = self._chance.choice((0, 2, 15)) if leaves else self._chance.uniform(1, 15)
        if seconds() < self._due.setdefault((meta["uid"], leaves), seconds() + takes):
            return
        if leaves:
            self._store.remove(address)
        elif raw.get("status") != (status := _status(ready=meta["uid"] not in self.sick)):
            self._store.change(address, lambda it: it.update(status=status))


def is_ready(raw: Json) -> bool:
    reported = (raw.get("status") or {}).get("conditions", ())
    return any((one["type"], one["status"]) == ("Ready", "True") for one in reported)


def _status(*, ready: bool) -> Json:
    reported = [{"type": "PodScheduled", "status": "True"}, {"type": "Ready", "status": str(ready)}]
    main = {"name": "main", "started": True, "ready": ready, "restartCount": 0}
    return {"phase": "Running", "conditions": reported, "containerStatuses": [main]}
