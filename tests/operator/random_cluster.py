"""Random changes of a cluster, as lists and watches with a label selector report them; some objects are unreadable."""

from copy import deepcopy
from random import Random
from typing import Any, Final

from grove_core.resources.api_names import BINDING_KIND, GROUP_KIND, MANAGED_BY, OPERATOR, TOPOLOGY_KIND
from grove_core.resources.labels import SET
from grove_shell.client.api_kinds import KINDS
from tests.operator.cached_objects import NAMESPACE, Json, a_set
from tests.property.resources.manifests import clique, owner

SETS: Final = ("llm", "chat")
NAMES: Final = {
    "PodCliqueSet": SETS,
    GROUP_KIND: tuple(f"{name}-0-pool" for name in SETS),
    "PodClique": tuple(f"{name}-0-a" for name in SETS),
    "Pod": tuple(f"{name}-0-a-0" for name in SETS),
    "Service": tuple(f"{name}-0" for name in SETS),
    "ComputeDomain": ("llm-0-d",),
    TOPOLOGY_KIND: ("aws",),
    BINDING_KIND: ("aws",),
}
OFTEN: Final = (*NAMES, "Pod", "PodClique")
CONTROLLERS: Final = {
    GROUP_KIND: ("PodCliqueSet",),
    "PodClique": ("PodCliqueSet", GROUP_KIND),
    "Pod": ("PodClique",),
    "Service": ("PodCliqueSet",),
    "ComputeDomain": ("PodCliqueSet", GROUP_KIND, "PodClique"),
}


def is_shown(raw: Json) -> bool:
    """Whether the list and the watch of its kind have it."""
    labels = raw["metadata"].get("labels") or {}
    return not KINDS[raw["kind"]].selector or labels.get(MANAGED_BY) == OPERATOR


def at(raw: Json, version: int) -> Json:
    return {**raw, "metadata": {**raw["metadata"], "resourceVersion": str(version)}}


class RandomCluster:
    """Objects, and what a watch of each kind has to tell."""

    def __init__(self, chance: Random) -> None:
        self.chance = chance
        self.version = self.uids = 0
        self.there: dict[tuple[str, str], Json] = {}
        self.past: list[tuple[str, str, str]] = []  # kind, name and uid of everything that ever was
        self.events: dict[str, list[tuple[int, str, Json]]] = {kind: [] for kind in NAMES}

    def items(self, kind: str) -> list[Json]:
        """What a list of now has, in any order."""
        found = [deepcopy(raw) for raw in self.there.values() if raw["kind"] == kind and is_shown(raw)]
        self.chance.shuffle(found)
        return found

    def live(self) -> list[Json]:
        """Makes, edits, relabels, hands over, deletes or replaces an object; every state it was in."""
        kind = self.chance.choice(OFTEN)
        name, what = self.chance.choice(NAMES[kind]), self.chance.random()
        before = self.there.get((kind, name))
        if before is None:
            return [self._write(self._made(kind, name, self._uid()))]
        if what < 0.4:
            gone = self._delete(before)
            return [gone] if what < 0.2 else [gone, self._write(self._made(kind, name, self._uid()))]
        if what < 0.55:
            return [self._write(self._labelled(before, self._labels(kind)))]
        if what < 0.7:  # all labels are removed and restored at once, before an event is sent
            states = (self._labelled(before, {}), self._labelled(before, before["metadata"].get("labels") or {}))
            return [self._write(raw) for raw in states]
        return [self._write(self._made(kind, name, before["metadata"]["uid"]))]

    def _uid(self) -> str:
        self.uids += 1
        return f"uid-{self.uids}"

    def _write(self, raw: Json) -> Json:
        self.version += 1
        raw, key = at(raw, self.version), (raw["kind"], raw["metadata"]["name"])
        before = self.there.get(key)
        was = before is not None and is_shown(before)
        self.there[key] = raw
        self.past.append((*key, raw["metadata"]["uid"]))
        if is_shown(raw):
            self.events[raw["kind"]].append((self.version, "MODIFIED" if was else "ADDED", raw))
        elif was and before is not None:  # unselected: reported like a deletion, in the version of the change
            self.events[raw["kind"]].append((self.version, "DELETED", at(before, self.version)))
        return raw

    def _delete(self, raw: Json) -> Json:
        self.version += 1
        del self.there[raw["kind"], raw["metadata"]["name"]]
        if is_shown(raw):
            self.events[raw["kind"]].append((self.version, "DELETED", at(raw, self.version)))
        return raw

    def _labels(self, kind: str) -> dict[str, str]:
        followed = {MANAGED_BY: OPERATOR} if not KINDS[kind].selector or self.chance.random() < 0.8 else {}
        named = {SET.primary: self.chance.choice((*SETS, "another"))} if self.chance.random() < 0.7 else {}
        return {**followed, **named}

    @staticmethod
    def _labelled(raw: Json, labels: dict[str, str]) -> Json:
        return {**raw, "metadata": {**raw["metadata"], "labels": labels}}

    def _controllers(self, kind: str) -> list[Json]:
        """Mostly a present object, sometimes a deleted one, or an unknown one."""
        chosen = [one for one in self.past if one[0] in CONTROLLERS[kind]]
        if not chosen or self.chance.random() < 0.2:
            return []
        alive = [one for one in chosen if self.there.get(one[:2], {}).get("metadata", {}).get("uid") == one[2]]
        of, name, uid = self.chance.choice(alive if alive and self.chance.random() < 0.8 else chosen)
        return [owner(uid, kind=of, name=name)]

    def _made(self, kind: str, name: str, uid: str) -> Json:
        raw = self._whole(kind, name, uid)
        return {**raw, "spec": "text", "status": "text"} if self.chance.random() < 0.15 else raw

    def _whole(self, kind: str, name: str, uid: str) -> Json:
        raw: dict[str, Any] = {"apiVersion": KINDS[kind].api_version, "kind": kind, "spec": {}}
        if KINDS[kind].clustered:
            return {**raw, "metadata": {"name": name, "uid": uid}, "spec": {"levels": [{"domain": "zone", "key": "z"}]}}
        if kind == "PodCliqueSet":
            raw = a_set(name, uid)
            raw["metadata"]["namespace"] = NAMESPACE
            return raw
        meta = {"name": name, "namespace": NAMESPACE, "uid": uid, "labels": self._labels(kind)}
        raw["metadata"] = {**meta, "ownerReferences": self._controllers(kind)}
        if kind in {GROUP_KIND, "PodClique"}:
            return {**clique(name), **raw, "spec": clique(name)["spec"]}
        return raw
