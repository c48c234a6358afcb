"""Which pods of a gang are ready, and whether they are as many as are waited for."""

import asyncio
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, Final

from grove_core.resources.labels import CLIQUE, label_in

_READY: Final = ("Ready", "True")


class ReadyPodStore:
    """What is known of the pods of one gang; a shelf that a reflector fills.

    Attributes:
        over: every clique has as many ready pods as are waited for.
    """

    def __init__(self, wanted: Mapping[str, int]) -> None:
        """Nothing is known yet; ``wanted`` is the number of ready pods by the name of their clique."""
        self.over = asyncio.Event()
        self._wanted = dict(wanted)
        self._ready: dict[str, str] = {}  # name of a pod -> of its clique

    def missing(self) -> list[str]:
        """Whom is waited for, sorted: ``llama-0-router: 0 of 1 pods ready``."""
        ready = Counter(self._ready.values())
        return [
            f"{name}: {ready[name]} of {number} pods ready"
            for name, number in sorted(self._wanted.items())
            if ready[name] < number
        ]

    def replace(self, kind: str, items: Iterable[Mapping[str, Any]], version: str) -> None:
        """All pods there are."""
        del kind, version
        self._ready.clear()
        for raw in items:
            self._take(raw)
        self._judge()

    def put(self, kind: str, raw: Mapping[str, Any]) -> None:
        """A pod is new or has changed."""
        del kind
        self._take(raw)
        self._judge()

    def drop(self, kind: str, raw: Mapping[str, Any]) -> None:
        """A pod is gone."""
        del kind
        self._ready.pop(raw["metadata"]["name"], None)

    def mark_unlisted(self, kind: str, why: str) -> None:
        """Nothing is known of pods any more."""
        del kind, why
        self._ready.clear()

    def _take(self, raw: Mapping[str, Any]) -> None:
        meta, conditions = raw["metadata"], (raw.get("status") or {}).get("conditions") or ()
        ready = any((one.get("type"), one.get("status")) == _READY for one in conditions)
        clique = label_in(meta.get("labels") or {}, CLIQUE)
        if ready and not meta.get("deletionTimestamp") and clique in self._wanted:
            self._ready[meta["name"]] = clique
        else:
            self._ready.pop(meta["name"], None)

    def _judge(self) -> None:
        if not self.missing():
            self.over.set()
