"""The cache equals a list of the same moment although events were late, repeated and incomplete."""

from copy import deepcopy
from random import Random
from typing import Any, Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grove_core.resources.api_names import CLAIM_TEMPLATE_KIND
from grove_core.resources.cluster_topology import topology_ref
from grove_shell.cache.cluster_cache import ClusterCache
from grove_shell.client.api_kinds import KINDS
from grove_shell.client.object_store import CachedObject
from tests.operator.cached_objects import Json
from tests.operator.random_cluster import NAMES, RandomCluster, is_shown

OFTEN: Final = settings(max_examples=min(20_000, 20 * settings().max_examples))
"""An example takes a millisecond, and most orders do no harm."""

TOPOLOGIES: Final = [
    topology_ref(name, kind) for kind, names in NAMES.items() if KINDS[kind].clustered for name in names
]


class Copy:
    """Caches that receive what a client may receive, when it may receive it."""

    def __init__(self, server: RandomCluster, chance: Random) -> None:
        self.server, self.chance = server, chance
        self.cache = ClusterCache()
        self.heard: dict[str, int] = {}  # kind -> version of its last event, or of its list; without one it is listed
        self.listed = dict.fromkeys(NAMES, 0)
        self.known: dict[str, set[str]] = {kind: set() for kind in NAMES}  # uids that were reported, and of ours
        self.missed: set[str] = set()  # uids that were not found, in an unknown version
        self.lists: dict[str, tuple[list[Json], int]] = {}  # under way
        self.answers: list[tuple[str, Json]] = []  # under way
        for kind in NAMES:
            self.listen(kind)
            self.listen(kind)

    def listen(self, kind: str) -> bool:
        """A list is asked for, or comes; or else the next event. Whether there was anything."""
        if kind not in self.heard:
            if kind not in self.lists:
                self.lists[kind] = (self.server.items(kind), self.server.version)
                return True
            items, version = self.lists.pop(kind)
            self.cache.replace_all_of_kind(kind, items, str(version))
            self.heard[kind] = self.listed[kind] = version
            self._note(*items)
            return True
        following = next((event for event in self.server.events[kind] if event[0] > self.heard[kind]), None)
        if following is None:
            return False
        self.heard[kind], what, raw = following
        (self.cache.drop if what == "DELETED" else self.cache.put)(kind, deepcopy(raw))
        self._note(raw)
        return True

    def _note(self, *reported: Json) -> None:
        for raw in reported:
            if KINDS[raw["kind"]].clustered or self.cache.root_key_of(raw["kind"], raw) is not None:
                self.known[raw["kind"]].add(raw["metadata"]["uid"])

    def ask(self, raw: Json) -> None:
        """A write or a question of our own; what the server says now comes some time."""
        current = self.server.there.get((raw["kind"], raw["metadata"]["name"]))
        if current is None or current["metadata"]["uid"] != raw["metadata"]["uid"]:
            self.answers.append(("not found", raw))
        elif is_shown(current):  # an unselected object gets its label back first (OP-018)
            self.answers.append(("shown", current))

    def answered(self) -> None:
        """The response to one of them, in no order; one older than a list shows what the copy knew before.

        An object not found is gone as of the known version. A response that is newer than that, older than a list
        and later than both would bring it back until the next list; it takes three requests that overtake each other.
        """
        said, raw = self.answers.pop(self.chance.randrange(len(self.answers)))
        kind, meta = raw["kind"], raw["metadata"]
        if said == "not found":
            named = {key: meta[key] for key in ("name", "namespace", "uid") if key in meta}
            self.cache.drop(kind, {"metadata": named})
            self.missed.add(meta["uid"])
        elif int(meta["resourceVersion"]) > self.listed[kind] or meta["uid"] in self.known[kind] - self.missed:
            self.cache.put(kind, deepcopy(raw))
            self._note(raw)

    def mark_kind_unlisted(self, kind: str) -> None:
        """The server shows a kind no more, and says nothing else of it (OP-004)."""
        self.heard.pop(kind, None)
        self.cache.mark_kind_unlisted(kind, "forbidden")
        self.answers = [answer for answer in self.answers if answer[1]["kind"] != kind]
        self.known[kind].clear()

    def step(self) -> None:
        kind, what = self.chance.choice(tuple(NAMES)), self.chance.random()
        if what < 0.05:
            self.heard.pop(kind, None)  # 410, and all over again
        elif what < 0.08:
            self.mark_kind_unlisted(kind)
        elif what < 0.7:
            self.listen(kind)
        elif self.answers:
            self.answered()

    def settle(self) -> None:
        """The server is well again, and everything that is under way comes."""
        while sum(map(self.listen, NAMES)) or self.answers:
            if self.answers:
                self.answered()


def held_by(cache: ClusterCache) -> dict[Any, Any]:
    """Every object, its version, its root if its controller is known, and whether it reads (OP-002, OP-075)."""
    found: dict[Any, Any] = {"unread": sorted(cache.topologies.unreadable_topology_messages)}
    known = cache._places  # noqa: SLF001 - a known controller decides whether a label counts
    for (kind, *key), entry in entries_of(cache):
        (root_key, controller), reads = entry.index, entry.item is not None
        found[kind, *key] = (
            entry.uid,
            entry.version,
            controller,
            root_key if not controller or controller in known else None,
            reads,
        )
    for ref in TOPOLOGIES:
        topology = cache.find_object(ref)
        found[ref] = topology and (topology.uid, topology.resource_version)
    return found


def entries_of(cache: ClusterCache) -> list[tuple[Any, CachedObject[Any]]]:
    """Address and entry of each object of a set."""
    return [
        ((kind, *key), entry)
        for kind, store in cache.stores.items()
        if not (KINDS[kind].clustered or kind == CLAIM_TEMPLATE_KIND)
        for key, entry in store.entries.items()
    ]


def versions_of(cache: ClusterCache) -> dict[Any, int]:
    """In which version each name is known; those that do not read among them, but for topologies."""
    found: dict[Any, int] = {address: entry.version for address, entry in entries_of(cache)}
    return found | {ref: int(one.resource_version) for ref in TOPOLOGIES if (one := cache.find_object(ref)) is not None}


def is_sound(cache: ClusterCache) -> bool:
    """No object is held twice or left behind, and every object is at a known controller (OP-075)."""
    places = [entry.index for _, entry in entries_of(cache)]
    set_caches = cache._set_caches  # noqa: SLF001 - memory is what this is about
    inside = sum(
        (set_cache.root is not None)
        + len(set_cache.items)
        + len(set_cache.broken)
        + sum(map(len, set_cache.pods.values()))
        for set_cache in set_caches.values()
    )
    of_sets = [root_key for root_key, _ in places if root_key[1]]
    controllers = cache._places  # noqa: SLF001 - as above
    stand = all(
        controller not in controllers or controllers[controller].root_key == root_key for root_key, controller in places
    )
    return stand and inside == len(of_sets) and set(set_caches) == set(of_sets)


@OFTEN
@given(st.integers(10, 60), st.randoms(use_true_random=True))
@pytest.mark.req("OP-075")
def test_op002_a_copy_comes_right_whatever_it_went_through(steps: int, chance: Random) -> None:
    """Lists, events and answers to writes interleaved: late, twice, of the one before; labels taken and given back."""
    server = RandomCluster(chance)
    copy = Copy(server, chance)
    for _ in range(steps):
        before = versions_of(copy.cache)
        what = chance.random()
        if what < 0.35:
            states = server.live()
            if chance.random() < 0.6:
                copy.ask(chance.choice(states))
        elif what < 0.45 and server.there:
            copy.ask(chance.choice(list(server.there.values())))
        else:
            copy.step()
        assert is_sound(copy.cache)
        after = versions_of(copy.cache)
        assert all(after.get(name, version) >= version for name, version in before.items()), "no name goes back"
    copy.settle()
    fresh = ClusterCache()
    for kind in NAMES:
        fresh.replace_all_of_kind(kind, server.items(kind), str(server.version))
    assert is_sound(copy.cache)
    assert dict(copy.cache.failed_watch_reasons) == {}
    assert held_by(copy.cache) == held_by(fresh)
