"""The set of an object, whatever its labels and the order of events."""

from typing import Any, Final

from hypothesis import given
from hypothesis import strategies as st

from grove_core.resources.api_names import CORE, DOMAIN_KIND, GROUP_KIND, GROVE, MANAGED_BY, NVIDIA, OPERATOR
from grove_core.resources.labels import SET, SET_REPLICA
from grove_shell.cache.cluster_cache import ClusterCache
from tests.operator.cached_objects import NAMESPACE, Json, a_set
from tests.property.resources.manifests import clique, owner
from tests.property.workload.sets import NOW

SETS: Final = ("llm", "chat")
LABELS: Final = st.sampled_from([{}, *({SET.primary: name} for name in (*SETS, "my-app", ""))])


def part(kind: str, name: str, controller: Json, labels: Json, version: str = "1") -> Json:
    meta: Json = {"name": name, "namespace": NAMESPACE, "uid": f"uid-{name}", "resourceVersion": version}
    meta |= {"labels": {MANAGED_BY: OPERATOR, **labels}, "ownerReferences": [{"controller": True, **controller}]}
    if kind == "Pod":
        status = {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}
        return {"apiVersion": CORE, "kind": kind, "metadata": meta, "status": status}
    return {**clique(name), "apiVersion": GROVE, "kind": kind, "metadata": meta}


@st.composite
def worlds(draw: st.DrawFn) -> list[Json]:
    """Two sets, each with a clique, a scaling group of two replicas, and pods; labels say what they like."""
    found: list[Json] = []
    for name in SETS:
        found.append({"kind": "PodCliqueSet", **a_set(name, f"uid-{name}")})
        of_set = owner(f"uid-{name}", kind="PodCliqueSet", name=name)
        pool = f"{name}-0-pool"
        found.append(part(GROUP_KIND, pool, of_set, draw(LABELS)))
        cliques = {f"{name}-0-a": of_set}
        cliques |= {f"{pool}-{index}-b": owner(f"uid-{pool}", kind=GROUP_KIND, name=pool) for index in range(2)}
        for each, controller in cliques.items():
            found.append(part("PodClique", each, controller, draw(LABELS)))
            found += [
                part("Pod", f"{each}-{index}", owner(f"uid-{each}", name=each), draw(LABELS)) for index in range(2)
            ]
    return found


def seen_by(cache: ClusterCache) -> dict[str, Any]:
    found = {}
    for name in SETS:
        seen = cache.snapshot_of_set((NAMESPACE, name), NOW)
        assert seen is not None
        pods = {uid: sorted(pod.name for pod in pods) for uid, pods in seen.pods_of.items()}
        found[name] = ([one.ref.name for one in seen.groups], sorted(one.ref.name for one in seen.cliques), pods)
    return found


def not_collected(cache: ClusterCache, name: str) -> frozenset[str]:
    seen = cache.snapshot_of_set((NAMESPACE, name), NOW)
    assert seen is not None
    return seen.not_collected


def kept(items: list[Json]) -> ClusterCache:
    cache = ClusterCache()
    for raw in items:
        cache.put(raw["kind"], raw)
    return cache


@given(worlds(), st.data())
def test_op075_in_any_order(items: list[Json], data: st.DataObject) -> None:
    cache = kept(data.draw(st.permutations(items)))
    assert seen_by(cache) == seen_by(kept(items))
    assert seen_by(cache)["llm"][1] == ["llm-0-a", "llm-0-pool-0-b", "llm-0-pool-1-b"]
    assert all(len(pods) == 2 for pods in seen_by(cache)["llm"][2].values())


def broken(raw: Json) -> Json:
    """Only its identity and its owner are readable."""
    return {**raw, "metadata": {**raw["metadata"], "resourceVersion": "2"}, "spec": [], "status": "text"}


@given(worlds(), st.data())
def test_op075_what_does_not_read_makes_its_own_set_unsure(items: list[Json], data: st.DataObject) -> None:
    """A pod among them, whatever its labels say, and in any order (OP-004)."""
    pods = [raw for raw in items if raw["kind"] == "Pod" and "llm" in raw["metadata"]["name"]]
    which = data.draw(st.sampled_from(pods))
    spoiled = [broken(raw) if raw is which else raw for raw in items]
    cache = kept(data.draw(st.permutations(spoiled)))
    unsure = {name: "Pod" in not_collected(cache, name) for name in SETS}
    assert unsure == {"llm": True, "chat": False}


@given(worlds(), st.data())
def test_op075_an_owner_that_was_out_of_sight_finds_its_own_again(items: list[Json], data: st.DataObject) -> None:
    """A kind is lost, or one of it does not read for a while, while the rest comes; then it is shown again."""
    cache = kept(data.draw(st.permutations(items)))
    kind = data.draw(st.sampled_from([GROUP_KIND, "PodClique"]))
    those = [raw for raw in items if raw["kind"] == kind]
    if data.draw(st.booleans()):
        cache.mark_kind_unlisted(kind, "403")
    else:
        cache.put(kind, broken(data.draw(st.sampled_from(those))))
    for raw in data.draw(st.permutations(items)):
        if raw["kind"] != kind:
            cache.put(raw["kind"], raw)
    shown = [{**raw, "metadata": {**raw["metadata"], "resourceVersion": "3"}} for raw in those]
    cache.replace_all_of_kind(kind, data.draw(st.permutations(shown)), "3")
    assert seen_by(cache) == seen_by(kept(items))


def test_op075_a_clique_that_changes_hands_is_no_more_of_the_one_before() -> None:
    of_set, pool = (
        owner("uid-llm", kind="PodCliqueSet", name="llm"),
        owner("uid-p", kind=GROUP_KIND, name="chat-0-pool"),
    )
    cache = kept([{"kind": "PodCliqueSet", **a_set(one, f"uid-{one}")} for one in SETS])
    cache.put("PodClique", part("PodClique", "llm-0-a", pool, {SET.primary: "llm"}))
    cache.put("PodClique", part("PodClique", "llm-0-a", of_set, {SET.primary: "llm"}, "2"))
    late = part(GROUP_KIND, "chat-0-pool", owner("uid-chat", kind="PodCliqueSet", name="chat"), {SET.primary: "chat"})
    cache.put(GROUP_KIND, {**late, "metadata": {**late["metadata"], "uid": "uid-p"}})
    assert seen_by(cache)["llm"][1] == ["llm-0-a"]


def test_op075_one_of_the_same_name_has_pods_of_its_own() -> None:
    """The end of the one before was missed; its pod is still there, and of no known clique."""
    of_set = owner("uid-llm", kind="PodCliqueSet", name="llm")
    cache = kept([{"kind": "PodCliqueSet", **a_set(one, f"uid-{one}")} for one in SETS])
    cache.put("PodClique", part("PodClique", "llm-0-a", of_set, {}))
    cache.put("Pod", part("Pod", "llm-0-a-0", owner("uid-llm-0-a", name="llm-0-a"), {SET.primary: "llm"}))
    of_chat = owner("uid-chat", kind="PodCliqueSet", name="chat")
    anew = part("PodClique", "llm-0-a", of_chat, {SET_REPLICA.primary: "0"}, "2")
    cache.put("PodClique", {**anew, "metadata": {**anew["metadata"], "uid": "another"}})
    assert seen_by(cache)["chat"][1:] == (["llm-0-a"], {})
    assert [ref.name for ref in cache.refs_of_kind_in_set((NAMESPACE, "llm"), "Pod")] == ["llm-0-a-0"]


@given(worlds(), st.data())
def test_op075_nothing_is_kept_without_a_waiting_object(items: list[Json], data: st.DataObject) -> None:
    """Heard of in any order, and then gone in any order: nothing is left of it."""
    cache = kept(data.draw(st.permutations(items)))
    for raw in data.draw(st.permutations(items)):
        cache.drop(raw["kind"], raw)
    assert not any(cache.has_anything_of_root((NAMESPACE, name)) for name in (*SETS, "my-app", ""))
    assert not cache._controlled  # noqa: SLF001 - memory is what this is about


def test_op075_an_owner_that_is_put_right_brings_its_own_along() -> None:
    """A clique before its group, by a label that lies, and its pods with it; then the group comes."""
    pool = owner("uid-llm-0-pool", kind=GROUP_KIND, name="llm-0-pool")
    of_set = owner("uid-llm", kind="PodCliqueSet", name="llm")
    lies = {SET.primary: "chat"}
    cache = kept(
        [
            *({"kind": "PodCliqueSet", **a_set(name, f"uid-{name}")} for name in SETS),
            part("PodClique", "llm-0-pool-0-b", pool, lies),
            part("Pod", "llm-0-pool-0-b-0", owner("uid-llm-0-pool-0-b", name="llm-0-pool-0-b"), {}),
        ]
    )
    assert [ref.name for ref in cache.refs_of_kind_in_set((NAMESPACE, "chat"), "PodClique")] == ["llm-0-pool-0-b"]
    reported = list[tuple[str, str]]()
    cache.changed = reported.append
    cache.put(GROUP_KIND, part(GROUP_KIND, "llm-0-pool", of_set, lies))
    assert (
        cache.refs_of_kind_in_set((NAMESPACE, "chat"), "PodClique")
        == cache.refs_of_kind_in_set((NAMESPACE, "chat"), "Pod")
        == []
    )
    assert seen_by(cache)["llm"][1:] == (["llm-0-pool-0-b"], {"uid-llm-0-pool-0-b": ["llm-0-pool-0-b-0"]})
    assert set(reported) == {(NAMESPACE, name) for name in SETS}


def test_op075_a_foreign_domain_that_disappears_requeues_the_set_that_waits_for_its_name() -> None:
    """Such a name, ``llm-0-cd``, is that of a replica, so neither its labels nor its form show the set."""
    requeued: list[tuple[str, str]] = []
    cache = ClusterCache(requeued.append)
    for name in SETS:
        cache.put("PodCliqueSet", {"kind": "PodCliqueSet", **a_set(name, f"uid-{name}")})
    meta = {"name": "llm-0-cd", "namespace": NAMESPACE, "uid": "uid-of-a-foreign-one", "resourceVersion": "7"}
    domain: Json = {"apiVersion": NVIDIA, "kind": DOMAIN_KIND, "metadata": meta, "spec": {"numNodes": 0}}
    cache.put(DOMAIN_KIND, domain)
    requeued.clear()
    cache.drop(DOMAIN_KIND, {**domain, "metadata": {**meta, "resourceVersion": "8"}})
    assert set(requeued) == {(NAMESPACE, "llm")}
