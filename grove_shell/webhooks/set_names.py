"""The PodCliqueSets of the cluster, as far as the names of their objects may collide (WL-117)."""

from collections.abc import Iterable, Mapping
from typing import Any, Final

_KIND: Final = "PodCliqueSet"


class SetNames:
    """A cache of all PodCliqueSets, updated by a reflector.

    Attributes:
        unknown_because: why the sets are unknown; empty if they are known.
    """

    def __init__(self) -> None:
        """Begin without a list."""
        self.unknown_because = "they are not listed yet"
        self._sets: dict[str, dict[str, Mapping[str, Any]]] = {}

    def possible_collisions(self, namespace: str, name: str) -> list[Mapping[str, Any]] | None:
        """Return the sets whose name is a prefix of this one or has it as a prefix; None if the sets are unknown.

        The names of objects of any other set cannot collide. Compares one string for each set of the namespace.
        """
        if self.unknown_because:
            return None
        there = self._sets.get(namespace, {})
        words = name.split("-")
        shorter = ("-".join(words[:end]) for end in range(1, len(words)))
        found = [there[other] for other in shorter if other in there]
        return found + [raw for other, raw in there.items() if other.startswith(f"{name}-")]

    def replace(self, _kind: str, items: Iterable[Mapping[str, Any]], _version: str) -> None:
        """Apply a complete list."""
        self._sets.clear()
        self.unknown_because = ""
        for raw in items:
            self.put(_kind, raw)

    def put(self, _kind: str, raw: Mapping[str, Any]) -> None:
        """Apply a new or changed set; only the fields that names depend on are kept."""
        meta = raw["metadata"]
        kept = {"kind": _KIND, "metadata": {"name": meta["name"], "namespace": meta["namespace"]}}
        self._sets.setdefault(meta["namespace"], {})[meta["name"]] = {**kept, "spec": raw.get("spec")}

    def drop(self, _kind: str, raw: Mapping[str, Any]) -> None:
        """Apply a deletion."""
        self._sets.get(raw["metadata"]["namespace"], {}).pop(raw["metadata"]["name"], None)

    def mark_unlisted(self, _kind: str, why: str) -> None:
        """Forget all sets."""
        self._sets.clear()
        self.unknown_because = why
