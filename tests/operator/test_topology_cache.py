"""The cache of topologies after late events, and the roots that it requeues."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grove_core.areas.topology.cluster_topology_snapshot import ClusterTopologySnapshot
from grove_core.kernel.refs import Ref
from grove_core.plan.plan import Plan
from grove_core.resources.api_names import BINDING_KIND, GROVE, TOPOLOGY_FINALIZER, TOPOLOGY_KIND
from grove_core.resources.cluster_topology import DEFAULT_TOPOLOGY, TopologyLevel
from grove_core.resources.configuration import Configuration, TopologyAwareSettings
from grove_shell.apply.planned_round import plan_for_root
from grove_shell.cache.cluster_cache import ClusterCache
from grove_shell.cache.root_keys import RootKey, topology_cache_key
from tests.property.resources.manifests import clique, owner
from tests.property.workload.sets import clique_raw, set_raw

Json = dict[str, Any]
NOW: Final = datetime(2026, 11, 20, 9, tzinfo=UTC)
ON: Final = Configuration(
    topology=TopologyAwareSettings(enabled=True, levels=(TopologyLevel("zone", "z"), TopologyLevel("rack", "r")))
)
NAMES: Final = ("aws", DEFAULT_TOPOLOGY)
SETS: Final = ("chat", "llm")
HOMES: Final = (*(("ml", name) for name in SETS), *map(topology_cache_key, NAMES))
LEVELS: Final = ({"domain": "zone", "key": "z"}, {"domain": "rack", "key": "r"}, {"domain": "host", "key": "h"})


def a_topology(kind: str, name: str, levels: int, *finalizers: str) -> Json:
    meta = {"name": name, "finalizers": list(finalizers)}
    return {"apiVersion": GROVE, "kind": kind, "metadata": meta, "spec": {"levels": list(LEVELS[:levels])}}


def a_set(name: str, topology: str, constraint: str) -> Json:
    constrained = {"topologyConstraint": {"packDomain": constraint}} if constraint else {}
    named = {"clusterTopologyName": topology} if topology else {}
    raw = set_raw(clique_raw("a", 2), meta={"name": name, "finalizers": ["grove.io/podcliqueset.grove.io"]})
    raw["spec"]["template"] |= {**constrained, **named}
    return {"apiVersion": GROVE, "kind": "PodCliqueSet", **raw}


def a_clique(of: str, uid: str, scheduled: int) -> Json:
    raw = clique(f"{of}-0-a", owned_by=owner(uid, kind="PodCliqueSet", name=of))
    raw["metadata"] |= {"namespace": "ml"}
    raw["status"] = {"scheduledReplicas": scheduled}
    return {"apiVersion": GROVE, "kind": "PodClique", **raw}


def a_pod(of: str, clique_uid: str, node: str) -> Json:
    labels = {"app.kubernetes.io/part-of": of, "app.kubernetes.io/managed-by": "grove-operator"}
    meta: Json = {"name": f"{of}-0-a-x", "namespace": "ml", "labels": labels}
    meta |= {"ownerReferences": [owner(clique_uid, name=f"{of}-0-a")]}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": {"nodeName": node} if node else {}}


@dataclass
class Cluster:
    """What an API server has, and how that came about; a uid for each life of an object."""

    there: dict[tuple[str, str], Json] = field(default_factory=dict)
    log: list[tuple[str, Json]] = field(default_factory=list)
    version: int = 0

    def uid_of(self, kind: str, name: str) -> str:
        found = self.there.get((kind, name))
        return str(found["metadata"]["uid"]) if found else f"{kind}-{name}-{self.version + 1}"

    def write(self, raw: Json) -> None:
        kind, name = raw["kind"], raw["metadata"]["name"]
        uid = self.uid_of(kind, name)
        self.version += 1
        stored = {**raw, "metadata": {**raw["metadata"], "uid": uid, "resourceVersion": str(self.version)}}
        self.there[kind, name] = stored
        self.log.append(("put", stored))

    def delete(self, kind: str, name: str) -> None:
        raw = self.there.pop((kind, name), None)
        if raw is not None:
            self.version += 1
            last = {**raw, "metadata": {**raw["metadata"], "resourceVersion": str(self.version)}}
            self.log.append(("drop", last))

    def items(self, kind: str) -> list[Json]:
        return [raw for (of, _), raw in self.there.items() if of == kind]


TOPOLOGIES: Final = st.builds(
    a_topology,
    st.sampled_from((TOPOLOGY_KIND, BINDING_KIND)),
    st.sampled_from(NAMES),
    st.integers(1, 3),
    *([st.sampled_from((TOPOLOGY_FINALIZER, "example.com/theirs"))]),
)
USERS: Final = st.builds(
    a_set, st.sampled_from(SETS), st.sampled_from(("", *NAMES)), st.sampled_from(("", "rack", "host"))
)
MOVE: Final = st.one_of(
    st.tuples(st.just("write"), TOPOLOGIES),
    st.tuples(st.just("write"), USERS),
    st.tuples(st.just("bind"), st.tuples(st.sampled_from(SETS), st.integers(0, 2))),
    st.tuples(st.just("pod"), st.tuples(st.sampled_from(SETS), st.sampled_from(("", "node-0")))),
    st.tuples(
        st.just("delete"),
        st.tuples(
            st.sampled_from((TOPOLOGY_KIND, BINDING_KIND, "PodCliqueSet", "PodClique", "Pod")),
            st.sampled_from((*NAMES, *SETS, *(f"{name}-0-a{end}" for name in SETS for end in ("", "-x")))),
        ),
    ),
)
MOVES: Final = st.lists(MOVE, max_size=14)


KINDS: Final = (TOPOLOGY_KIND, BINDING_KIND, "PodCliqueSet", "PodClique")
TROUBLE: Final = st.one_of(
    st.tuples(st.sampled_from(("lose", "list")), st.sampled_from(KINDS)),
    st.tuples(st.just("spoil"), st.tuples(st.sampled_from(KINDS), st.sampled_from((*NAMES, *SETS)))),
)


def spoiled(kind: str, name: str, owner_uid: str) -> Json:
    """An object that cannot be read."""
    raw: Json = {"apiVersion": GROVE, "kind": kind, "metadata": {"name": name}, "spec": "nonsense"}
    if kind == "PodClique":
        raw["metadata"] = a_clique(name, owner_uid, 0)["metadata"]
    if kind == "PodCliqueSet":
        raw["metadata"]["namespace"] = "ml"
    return raw


def lived(moves: Iterable[tuple[str, Any]]) -> Cluster:
    """A cluster after all that."""
    cluster = Cluster()
    for what, reported in moves:
        if what == "write":
            cluster.write(reported)
        elif what == "delete":
            cluster.delete(*reported)
        elif what == "lose":
            cluster.log.append(("lose", {"kind": reported}))
        elif what == "list":
            listed = {"kind": reported, "items": cluster.items(reported), "version": str(cluster.version)}
            cluster.log.append(("list", listed))
        elif what == "spoil":
            kind, name = reported
            cluster.write(spoiled(kind, name, cluster.uid_of("PodCliqueSet", name)))
        elif what == "pod":
            name, node = reported
            cluster.write(a_pod(name, cluster.uid_of("PodClique", f"{name}-0-a"), node))
        else:
            name, scheduled = reported
            cluster.write(a_clique(name, cluster.uid_of("PodCliqueSet", name), scheduled))
    return cluster


def cache_of(cluster: Cluster, configured: Configuration = ON) -> ClusterCache:
    """Everything as it is listed."""
    cache = ClusterCache()
    cache.configuration = configured
    for kind in (TOPOLOGY_KIND, BINDING_KIND, "PodCliqueSet", "PodClique", "Pod"):
        cache.replace_all_of_kind(kind, cluster.items(kind), str(cluster.version))
    return cache


def take(cache: ClusterCache, event: tuple[str, Json]) -> None:
    what, raw = event
    match what:
        case "put":
            cache.put(raw["kind"], raw)
        case "drop":
            cache.drop(raw["kind"], raw)
        case "lose":
            cache.mark_kind_unlisted(raw["kind"], "403")
        case _:
            cache.replace_all_of_kind(raw["kind"], raw["items"], raw["version"])


def plans(cache: ClusterCache) -> dict[RootKey, Plan | None]:
    """What would be done for each root that there may be."""
    seen = {root_key: cache.snapshot_of_root(root_key, NOW) for root_key in HOMES}
    return {
        root_key: None if observation is None else plan_for_root(observation) for root_key, observation in seen.items()
    }


def acts_of(plan: Plan | None) -> set[tuple[Ref, type | None]]:
    """Steps by target, and withheld ones; without their wording."""
    if plan is None:
        return set()
    done = {(step.target, type(step.action)) for step in plan.steps}
    return {*done, *((held.target, None) for held in plan.withheld)}


@pytest.mark.req("TP-049")
@given(MOVES, st.data())
def test_tp046_it_ends_as_the_cluster_is(moves: list[tuple[str, Any]], data: st.DataObject) -> None:
    """Events in their order, some repeated, and late; then nothing differs from a list."""
    cluster = lived(moves)
    cache = cache_of(Cluster())
    for number, event in enumerate(cluster.log):
        take(cache, event)
        if number and data.draw(st.booleans(), label="again"):
            take(cache, cluster.log[data.draw(st.integers(0, number), label="which")])
    assert plans(cache) == plans(cache_of(cluster))


@pytest.mark.req("TP-042")
@given(st.lists(st.one_of(MOVE, TROUBLE), max_size=14))
def test_tp046_a_set_whose_plan_would_change_is_requeued(moves: list[tuple[str, Any]]) -> None:
    """Beyond that a set is requeued by its own changes: no plan changes without an event."""
    cluster, reported = lived(moves), set[RootKey]()
    cache = cache_of(Cluster())
    cache.changed = reported.add
    before = plans(cache)
    for event in cluster.log:
        reported.clear()
        take(cache, event)
        after = plans(cache)
        changed = {root_key for root_key in HOMES if acts_of(before[root_key]) != acts_of(after[root_key])}
        assert changed <= reported, event
        before = after


@pytest.mark.req("TP-002")
def test_tp046_a_set_that_comes_and_goes_requeues_its_topology_and_no_other() -> None:
    cache, reported = cache_of(lived([("write", a_topology(TOPOLOGY_KIND, "aws", 2))])), set[RootKey]()
    cache.changed = reported.add
    cluster = lived([("write", a_set("llm", "", "rack")), ("bind", ("llm", 1)), ("delete", ("PodCliqueSet", "llm"))])
    for event in cluster.log:
        reported.clear()
        take(cache, event)
        assert reported == {("ml", "llm"), topology_cache_key(DEFAULT_TOPOLOGY)}


def test_tp052_a_pod_that_is_bound_counts_before_any_status_says_so() -> None:
    moves = [("write", a_set("llm", "aws", "rack")), ("bind", ("llm", 0)), ("pod", ("llm", "node-0"))]
    cache = cache_of(lived([("write", a_topology(TOPOLOGY_KIND, "aws", 2)), *moves]))
    seen = cache.snapshot_of_root(topology_cache_key("aws"), NOW)
    assert isinstance(seen, ClusterTopologySnapshot)
    assert [user.scheduled for user in seen.users_with_bound_pods] == [1]


def test_tp046_a_clique_that_goes_with_its_pods_requeues_the_topology() -> None:
    cluster = lived([("write", a_set("llm", "aws", "rack")), ("bind", ("llm", 2))])
    cache, reported = cache_of(cluster), set[RootKey]()
    cache.changed = reported.add
    cluster.delete("PodClique", "llm-0-a")
    take(cache, cluster.log[-1])
    assert topology_cache_key("aws") in reported


def test_tp049_a_binding_that_is_shadowed_is_seen() -> None:
    moves = [("write", a_topology(kind, "aws", 2, TOPOLOGY_FINALIZER)) for kind in (BINDING_KIND, TOPOLOGY_KIND)]
    seen = cache_of(lived(moves)).snapshot_of_root(topology_cache_key("aws"), NOW)
    assert isinstance(seen, ClusterTopologySnapshot)
    assert seen.shadowed is not None
    assert (seen.root_ref.kind, seen.shadowed.ref.kind) == (TOPOLOGY_KIND, BINDING_KIND)


@pytest.mark.req("OP-034")
def test_tp046_a_kind_that_is_not_served_any_more_has_no_objects() -> None:
    cache = cache_of(lived([("write", a_topology(TOPOLOGY_KIND, "aws", 2))]))
    cache.replace_all_of_kind(TOPOLOGY_KIND, (), "")
    assert not cache.topologies.by_name


def test_tp046_a_status_that_changes_nothing_requeues_no_topology() -> None:
    cluster = lived([("write", a_set("llm", "", "rack")), ("bind", ("llm", 1))])
    cache, reported = cache_of(cluster), set[RootKey]()
    cache.changed = reported.add
    cluster.write({**cluster.there["PodCliqueSet", "llm"], "status": {"replicas": 1}})
    take(cache, cluster.log[-1])
    assert reported == {("ml", "llm")}


def test_tp045_an_operator_of_one_namespace_keeps_none() -> None:
    reported: set[RootKey] = set()
    cache = ClusterCache(reported.add)
    cache.topologies.kept = False
    cache.configuration = ON
    cluster = lived([("write", a_topology(TOPOLOGY_KIND, "aws", 2)), ("write", a_set("llm", "aws", "rack"))])
    for kind in (TOPOLOGY_KIND, BINDING_KIND, "PodCliqueSet"):
        cache.replace_all_of_kind(kind, cluster.items(kind), "9")
    assert reported == {("ml", "llm")}
    seen = cache.snapshot_of_set(("ml", "llm"), NOW)
    assert seen is not None
    assert set(seen.topologies) == {"aws"}


def held_for(cache: ClusterCache) -> set[str]:
    """Why things of the set are held back."""
    plan = plans(cache)["ml", "llm"]
    return {reason.rule.code for held in plan.withheld for reason in held.because} if plan is not None else set()


@pytest.mark.req("TP-013")
def test_tp042_what_is_not_shown_is_not_known() -> None:
    cluster = lived([("write", a_topology(TOPOLOGY_KIND, "aws", 2)), ("write", a_set("llm", "aws", "rack"))])
    cache = cache_of(cluster)
    topology = cache.snapshot_of_root(topology_cache_key("aws"), NOW)
    assert isinstance(topology, ClusterTopologySnapshot)
    assert (topology.users[0].namespace_and_name, topology.not_collected) == ("ml/llm", ())
    assert "TopologyNotCollected" not in held_for(cache)
    cache.mark_kind_unlisted("PodClique", "forbidden")
    topology = cache.snapshot_of_root(topology_cache_key("aws"), NOW)
    assert isinstance(topology, ClusterTopologySnapshot)
    assert topology.not_collected == ("PodClique",)

    cache.replace_all_of_kind("PodClique", (), "9")
    cache.mark_kind_unlisted(TOPOLOGY_KIND, "forbidden")
    assert "TopologyNotCollected" in held_for(cache)
    assert cache.failed_watch_reasons[TOPOLOGY_KIND] == "forbidden"
    assert cache.snapshot_of_root(topology_cache_key(DEFAULT_TOPOLOGY), NOW) is None, "whether it is there is not known"


def test_tp013_one_that_cannot_be_read_is_no_topology_that_is_missing() -> None:
    broken = a_topology(TOPOLOGY_KIND, "aws", 2)
    broken["spec"]["levels"][0] = {"domain": 5}
    cluster = lived([("write", broken), ("write", a_set("llm", "aws", "rack"))])
    cache = cache_of(cluster)
    assert not cache.topologies.knows_if_topology_exists("aws")
    assert "TopologyNotCollected" in held_for(cache)
    cluster.write(a_topology(TOPOLOGY_KIND, "aws", 2))
    take(cache, cluster.log[-1])
    assert cache.topologies.knows_if_topology_exists("aws")
    assert "TopologyNotCollected" not in held_for(cache)
    cluster.write(broken)
    take(cache, cluster.log[-1])
    cluster.delete(TOPOLOGY_KIND, "aws")
    take(cache, cluster.log[-1])
    assert cache.topologies.knows_if_topology_exists("aws")
