"""The ready pods of a gang, compared with the numbers that a pod waits for."""

import asyncio
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, Final

from grove_core.resources.labels import CLIQUE, label_in

_READY: Final = ("Ready", "True")


class ReadyPodStore:
    """A reflector's store that keeps the ready pods of one gang.

    Attributes:
        satisfied: set once every PodClique has the wanted number of ready pods.
    """

    def __init__(self, wanted: Mapping[str, int]) -> None:
        """Start empty; ``wanted`` is the number of ready pods by the name of their PodClique."""
        self.satisfied = asyncio.Event()
        self._wanted = dict(wanted)
        self._ready: dict[str, str] = {}  # name of a pod -> of its PodClique

    def missing(self) -> list[str]:
        """Return the PodCliques with too few ready pods, sorted: ``llama-0-router: 0 of 1 pods ready``."""
        ready = Counter(self._ready.values())
        return [
            f"{name}: {ready[name]} of {number} pods ready"
            for name, number in sorted(self._wanted.items())
            if ready[name] < number
        ]

    def replace(self, kind: str, items: Iterable[Mapping[str, Any]], version: str) -> None:
        """Apply a complete list."""
        del kind, version
        self._ready.clear()
        for raw in items:
            self._store(raw)
        self._check()

    def put(self, kind: str, raw: Mapping[str, Any]) -> None:
        """Apply a new or changed pod."""
        del kind
        self._store(raw)
        self._check()

    def drop(self, kind: str, raw: Mapping[str, Any]) -> None:
        """Apply a deletion."""
        del kind
        self._ready.pop(raw["metadata"]["name"], None)

    def mark_unlisted(self, kind: str, why: str) -> None:
        """Forget all pods."""
        del kind, why
        self._ready.clear()

    def _store(self, raw: Mapping[str, Any]) -> None:
        meta, conditions = raw["metadata"], (raw.get("status") or {}).get("conditions") or ()
        ready = any((one.get("type"), one.get("status")) == _READY for one in conditions)
        clique = label_in(meta.get("labels") or {}, CLIQUE)
        if ready and not meta.get("deletionTimestamp") and clique in self._wanted:
            self._ready[meta["name"]] = clique
        else:
            self._ready.pop(meta["name"], None)

    def _check(self) -> None:
        if not self.missing():
            self.satisfied.set()
