"""The PodCliqueSets of a cluster as far as names go: whom a set could share the name of an object with (WL-117)."""

from collections.abc import Iterable, Mapping
from typing import Any, Final

_KIND: Final = "PodCliqueSet"


class SetNames:
    """A copy of all PodCliqueSets, kept by a reflector.

    Attributes:
        trouble: why they are not known; empty while they are.
    """

    def __init__(self) -> None:
        """Nothing is known yet."""
        self.trouble = "they are not listed yet"
        self._sets: dict[str, dict[str, Mapping[str, Any]]] = {}

    def near(self, namespace: str, name: str) -> list[Mapping[str, Any]] | None:
        """The sets whose names begin with this one, or it with theirs; no others can collide. None: not known.

        Cost: one comparison of texts for each set of the namespace.
        """
        if self.trouble:
            return None
        there = self._sets.get(namespace, {})
        words = name.split("-")
        shorter = ("-".join(words[:end]) for end in range(1, len(words)))
        found = [there[other] for other in shorter if other in there]
        return found + [raw for other, raw in there.items() if other.startswith(f"{name}-")]

    def replace(self, _kind: str, items: Iterable[Mapping[str, Any]], _version: str) -> None:
        """Everything there is."""
        self._sets.clear()
        self.trouble = ""
        for raw in items:
            self.put(_kind, raw)

    def put(self, _kind: str, raw: Mapping[str, Any]) -> None:
        """One set is new or has changed; only what names are made of is kept."""
        meta = raw["metadata"]
        kept = {"kind": _KIND, "metadata": {"name": meta["name"], "namespace": meta["namespace"]}}
        self._sets.setdefault(meta["namespace"], {})[meta["name"]] = {**kept, "spec": raw.get("spec")}

    def drop(self, _kind: str, raw: Mapping[str, Any]) -> None:
        """One set is gone."""
        self._sets.get(raw["metadata"]["namespace"], {}).pop(raw["metadata"]["name"], None)

    def mark_unlisted(self, _kind: str, why: str) -> None:
        """Nothing is known any more."""
        self._sets.clear()
        self.trouble = why
