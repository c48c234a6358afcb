"""The cache after events and lists in any order."""

import sys
from dataclasses import dataclass, field
from typing import Any, Final

from hypothesis import given
from hypothesis import strategies as st

from grove_core.kernel.refs import Ref
from grove_core.resources.api_names import CORE, GROVE
from grove_core.resources.pod import Pod, pod_from_json
from grove_core.resources.podclique import PodClique
from grove_core.snapshot.snapshot import EVERY_KIND, Snapshot
from grove_shell.cache.cluster_cache import ClusterCache
from grove_shell.cache.root_keys import RootKey
from tests.operator.cached_objects import NAMESPACE, Json, a_set
from tests.property.resources.manifests import clique, meta, owner
from tests.property.workload.sets import NOW

SETS: Final = ("llm", "chat")


@dataclass
class Server:
    """What a cluster went through: every version of every object, in order."""

    version: int = 0
    there: dict[tuple[str, str], Json] = field(default_factory=dict)
    log: list[tuple[str, str, Json]] = field(default_factory=list)

    def write(self, kind: str, raw: Json) -> None:
        self.version += 1
        raw["metadata"]["resourceVersion"] = str(self.version)
        key = (kind, raw["metadata"]["name"])
        self.log.append(("MODIFIED" if key in self.there else "ADDED", kind, raw))
        self.there[key] = raw

    def uid_of(self, kind: str, name: str) -> str:
        """Of an object that is there, or that is made next: no two that follow each other have the same."""
        found = self.there.get((kind, name))
        return str(found["metadata"]["uid"]) if found else f"{kind} {name} no. {self.version + 1}"

    def delete(self, kind: str, name: str) -> None:
        raw = self.there.pop((kind, name), None)
        if raw is not None:
            self.version += 1
            last = {**raw, "metadata": {**raw["metadata"], "resourceVersion": str(self.version)}}
            self.log.append(("DELETED", kind, last))


def a_clique(of: str, uid: str, owner_uid: str) -> Json:
    raw = clique(f"{of}-0-a", owned_by=owner(owner_uid, kind="PodCliqueSet", name=of))
    raw["metadata"] |= {"namespace": NAMESPACE, "uid": uid}
    return {"apiVersion": GROVE, "kind": "PodClique", **raw}


def a_pod(of: str, number: int, uid: str, owner_uid: str = "uid-llm-0-a", *, ready: bool) -> Json:
    return {
        "apiVersion": CORE,
        "kind": "Pod",
        "metadata": {
            "name": f"{of}-0-a-{number}",
            "namespace": NAMESPACE,
            "uid": uid,
            "labels": {"app.kubernetes.io/part-of": of},
            "ownerReferences": [owner(owner_uid, name=f"{of}-0-a")],
        },
        "status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True" if ready else "False"}]},
    }


@st.composite
def servers(draw: st.DrawFn) -> Server:
    """A cluster after up to forty writes."""
    server = Server()
    for _ in range(draw(st.integers(1, 40))):
        name = draw(st.sampled_from(SETS))
        what = draw(st.sampled_from(("set", "clique", "pod", "pod", "pod", "delete")))
        of_set, of_clique = server.uid_of("PodCliqueSet", name), server.uid_of("PodClique", f"{name}-0-a")
        if what == "set":
            server.write("PodCliqueSet", a_set(name, of_set))
        elif what == "clique":
            server.write("PodClique", a_clique(name, of_clique, of_set))
        elif what == "pod":
            index = draw(st.integers(0, 3))
            uid = server.uid_of("Pod", f"{name}-0-a-{index}")
            server.write("Pod", a_pod(name, index, uid, of_clique, ready=draw(st.booleans())))
        elif server.there:
            server.delete(*draw(st.sampled_from(sorted(server.there))))
    return server


def feed(cache: ClusterCache, event: tuple[str, str, Json]) -> None:
    what, kind, raw = event
    (cache.drop if what == "DELETED" else cache.put)(kind, raw)


def reported(cache: ClusterCache) -> dict[str, tuple[Any, ...]]:
    """What every set sees, in a form that can be compared."""
    found = {}
    for name in SETS:
        seen = cache.snapshot_of_set((NAMESPACE, name), NOW)
        if seen is not None:
            found[name] = content_of(seen)
    return found


def content_of(seen: Snapshot) -> tuple[Any, ...]:
    pods = sorted(pod.name + pod.uid + pod.resource_version for pods in seen.pods_of.values() for pod in pods)
    return seen.root.guard, tuple(one.guard for one in seen.cliques), tuple(pods)


def listed(server: Server) -> ClusterCache:
    """A copy that was made by listing what there is in the end."""
    cache = ClusterCache()
    for kind in ("PodCliqueSet", "PodClique", "Pod"):
        items = [raw for (of, _), raw in server.there.items() if of == kind]
        cache.replace_all_of_kind(kind, items, str(server.version))
    return cache


@given(servers(), st.randoms(use_true_random=False))
def test_op002_what_comes_early_or_twice_changes_nothing(server: Server, chance: Any) -> None:
    """Each kind's events in order, as a watch sends them; any of them before its time too, as answers to writes do."""
    cache = ClusterCache()
    for event in server.log:
        early = chance.choice(server.log)
        if early[0] != "DELETED":
            feed(cache, early)
        feed(cache, event)
    for event in server.log:
        if event[0] == "DELETED" or chance.random() < 0.5:
            feed(cache, event)
    assert reported(cache) == reported(listed(server))


@given(servers(), st.data())
def test_op002_a_list_repairs_what_was_lost(server: Server, data: st.DataObject) -> None:
    cache = ClusterCache()
    for event in server.log:
        if data.draw(st.booleans()):
            feed(cache, event)
    for kind in ("Pod", "PodCliqueSet", "PodClique"):
        items = [raw for (of, _), raw in server.there.items() if of == kind]
        cache.replace_all_of_kind(kind, items, str(server.version))
    assert reported(cache) == reported(listed(server))


def test_op002_what_is_newer_than_a_list_stays() -> None:
    cache = ClusterCache()
    server = Server()
    server.write("PodCliqueSet", a_set("llm", "uid-llm"))
    cache.replace_all_of_kind("PodCliqueSet", [server.there["PodCliqueSet", "llm"]], "1")
    server.write("Pod", a_pod("llm", 0, "one", ready=True))
    cache.put("Pod", server.there["Pod", "llm-0-a-0"])
    cache.replace_all_of_kind("Pod", [], "1")
    assert cache.find_object(Ref(CORE, "Pod", NAMESPACE, "llm-0-a-0")) is not None
    cache.replace_all_of_kind("Pod", [], "2")
    assert cache.find_object(Ref(CORE, "Pod", NAMESPACE, "llm-0-a-0")) is None


def test_op002_every_change_is_of_one_set() -> None:
    heard: list[RootKey] = []
    cache = ClusterCache(heard.append)
    cache.put("PodCliqueSet", {**a_set("llm", "uid-llm"), "metadata": meta_of("llm", "uid-llm", "1")})
    raw = a_pod("chat", 0, "one", ready=False)
    raw["metadata"]["resourceVersion"] = "2"
    cache.put("Pod", raw)
    assert heard == [(NAMESPACE, "llm"), (NAMESPACE, "chat")]
    cache.put("Pod", raw)
    assert len(heard) == 2
    cache.drop("Pod", raw)
    assert heard[2:] == [(NAMESPACE, "chat")]
    assert not cache.has_anything_of_root((NAMESPACE, "chat"))


def meta_of(name: str, uid: str, version: str) -> Json:
    return {**meta(name), "namespace": NAMESPACE, "uid": uid, "resourceVersion": version}


def test_op004_a_kind_that_is_not_shown_is_unknown() -> None:
    cache = ClusterCache()
    raw = a_set("llm", "uid-llm")
    raw["metadata"]["resourceVersion"] = "1"
    cache.put("PodCliqueSet", raw)
    seen = cache.snapshot_of_set((NAMESPACE, "llm"), NOW)
    assert seen is not None
    assert (seen.complete, seen.not_collected) == (EVERY_KIND, frozenset())
    cache.mark_kind_unlisted("Pod", "pods is forbidden")
    seen = cache.snapshot_of_set((NAMESPACE, "llm"), NOW)
    assert seen is not None
    assert (seen.complete, seen.not_collected) == (EVERY_KIND - {"Pod"}, frozenset({"Pod"}))
    cache.replace_all_of_kind("Pod", [], "5")
    seen = cache.snapshot_of_set((NAMESPACE, "llm"), NOW)
    assert seen is not None
    assert seen.not_collected == frozenset()


def test_op004_what_does_not_read_is_unknown_for_its_set_alone() -> None:
    server, cache = Server(), ClusterCache()
    for name in SETS:
        server.write("PodCliqueSet", a_set(name, f"uid-{name}"))
        server.write("Pod", a_pod(name, 0, f"pod of {name}", ready=True))
    for event in server.log:
        feed(cache, event)
    broken = a_pod("llm", 0, "pod of llm", ready=True)
    broken["metadata"]["resourceVersion"] = "9"
    broken["status"]["conditions"] = [{"type": "Ready", "status": True}]
    cache.put("Pod", broken)
    hurt, well = (cache.snapshot_of_set((NAMESPACE, name), NOW) for name in SETS)
    assert hurt is not None
    assert well is not None
    assert (hurt.not_collected, well.not_collected) == (frozenset({"Pod"}), frozenset())
    assert [*cache.unreadable_objects_of_sets()] == ["Pod ml/llm-0-a-0"]
    server.version = 9
    server.write("Pod", a_pod("llm", 0, "pod of llm", ready=True))
    feed(cache, server.log[-1])
    hurt = cache.snapshot_of_set((NAMESPACE, "llm"), NOW)
    assert hurt is not None
    assert hurt.not_collected == frozenset()
    assert cache.unreadable_objects_of_sets() == {}


def test_op002_objects_of_every_kind_are_found_and_let_go() -> None:
    server, cache = Server(), ClusterCache()
    server.write("PodCliqueSet", a_set("llm", "uid-llm"))
    server.write("PodClique", a_clique("llm", "uid-llm-0-a", "uid-llm"))
    server.write("Pod", a_pod("llm", 0, "one", ready=True))
    for event in server.log:
        feed(cache, event)
    root_key = (NAMESPACE, "llm")
    ref = Ref(GROVE, "PodClique", NAMESPACE, "llm-0-a")
    assert isinstance(cache.find_object(ref), PodClique)
    assert isinstance(cache.find_object(Ref(CORE, "Pod", NAMESPACE, "llm-0-a-0")), Pod)
    assert cache.find_object(Ref(CORE, "Pod", NAMESPACE, "nobody")) is None
    assert [*cache.refs_of_kind_in_set(root_key, "PodClique")] == [ref]
    assert pod_from_json(server.there["Pod", "llm-0-a-0"], {}).ref in cache.refs_of_kind_in_set(root_key, "Pod")
    for kind, name in list(server.there):
        server.delete(kind, name)
        feed(cache, server.log[-1])
    assert cache.snapshot_of_set(root_key, NOW) is None
    assert not cache.has_anything_of_root(root_key)


def a_domain(name: str, **metadata: object) -> Json:
    meta = {"namespace": NAMESPACE, "name": name, "uid": f"uid of {name}", "resourceVersion": "9", **metadata}
    return {"apiVersion": "resource.nvidia.com/v1beta1", "kind": "ComputeDomain", "metadata": meta}


def test_in033_a_set_sees_the_holder_of_a_name_and_owns_its_own() -> None:
    requeued: list[RootKey] = []
    cache = ClusterCache(requeued.append)
    cache.put("PodCliqueSet", a_set("llm", "u"))
    requeued.clear()
    cache.put("ComputeDomain", a_domain("llm-cd-0", ownerReferences=[owner("u", kind="PodCliqueSet", name="llm")]))
    cache.put("ComputeDomain", a_domain("llm-cd-1"))
    assert requeued == [(NAMESPACE, "llm")] * 2
    cache.put("ComputeDomain", a_domain("of nobody"))
    assert len(requeued) == 2
    seen = cache.snapshot_of_set((NAMESPACE, "llm"), NOW)
    assert seen is not None
    assert [one.ref.name for one in seen.domains] == ["llm-cd-0"]
    assert {name for _, name in seen.named_domains} == {"llm-cd-0", "llm-cd-1", "of nobody"}
    cache.drop("ComputeDomain", a_domain("llm-cd-1"))
    seen = cache.snapshot_of_set((NAMESPACE, "llm"), NOW)
    assert seen is not None
    assert {name for _, name in seen.named_domains} == {"llm-cd-0", "of nobody"}


def test_pl001_snapshots_share_the_named_objects_until_one_changes() -> None:
    """A snapshot keeps what it was taken of, and costs no copy of the objects of a whole cluster."""
    cache = ClusterCache()
    cache.put("PodCliqueSet", a_set("llm", "u"))
    cache.put("ComputeDomain", a_domain("llm-cd-0"))
    first, second = (cache.snapshot_of_set((NAMESPACE, "llm"), NOW) for _ in range(2))
    cache.put("ComputeDomain", a_domain("llm-cd-1"))
    third = cache.snapshot_of_set((NAMESPACE, "llm"), NOW)
    assert first is not None
    assert second is not None
    assert third is not None
    assert first.named_domains is second.named_domains
    assert {name for _, name in first.named_domains} == {"llm-cd-0"}
    assert {name for _, name in third.named_domains} == {"llm-cd-0", "llm-cd-1"}
    assert first.named_claims is third.named_claims
    assert first.claim_templates is third.claim_templates
    assert first.topologies is third.topologies


def leaving(cache: ClusterCache) -> list[str]:
    return [part.ref.name for part in cache.leftovers_of_deleted_set((NAMESPACE, "llm"))]


def test_wl001_what_is_of_a_set_that_cannot_be_seen_is_not_let_go_of() -> None:
    """A clique that is being deleted: its set is not shown, then it does not read, and at last it is gone."""
    server, cache = Server(), ClusterCache()
    server.write("PodCliqueSet", a_set("llm", "uid-llm"))
    going = a_clique("llm", "uid-llm-0-a", "uid-llm")
    going["metadata"]["deletionTimestamp"] = "2026-11-20T09:00:00Z"
    server.write("PodClique", going)
    for event in server.log:
        feed(cache, event)
    assert leaving(cache) == []
    cache.mark_kind_unlisted("PodCliqueSet", "podcliquesets is forbidden")
    assert leaving(cache) == []
    broken = a_set("llm", "uid-llm")
    broken["spec"]["replicas"] = "many"
    server.write("PodCliqueSet", broken)
    cache.replace_all_of_kind("PodCliqueSet", [server.there["PodCliqueSet", "llm"]], str(server.version))
    assert [*cache.unreadable_objects_of_sets()] == ["PodCliqueSet ml/llm"]
    assert leaving(cache) == []
    server.delete("PodCliqueSet", "llm")
    feed(cache, server.log[-1])
    assert leaving(cache) == ["llm-0-a"]


def test_op002_what_is_gone_takes_no_memory() -> None:
    """Cliques and pods come and go; the last 20,000 deletions of each kind are remembered, and nothing else."""
    cache, version, before = ClusterCache(), 0, sys.getallocatedblocks()
    held: list[int] = []  # blocks of memory
    for generation in range(44):
        for number in range(500):
            clique_uid, version = f"clique {generation} {number}", version + 3
            one, pod = (
                a_clique("llm", clique_uid, "uid-llm"),
                a_pod("llm", 0, f"pod {version}", clique_uid, ready=True),
            )
            for kind, raw in (("PodClique", one), ("Pod", pod)):
                raw["metadata"]["resourceVersion"] = str(version)
                cache.put(kind, raw)
            for kind, raw in (("PodClique", one), ("Pod", pod)):
                cache.drop(kind, raw)
        held.append(sys.getallocatedblocks() - before)
    assert max(held[42:]) < max(held[:42]) * 1.05, held


def test_wf001_the_manifest_of_a_template_outlives_its_pod() -> None:
    """Of each template one pod keeps its manifest; an update deletes that pod, and then the edit is taken back."""
    cache = ClusterCache()
    root, of_clique = a_set("llm", "u1"), a_clique("llm", "uid-llm-0-a", "u1")
    pods = [a_pod("llm", number, f"p{number}", ready=True) for number in range(3)]
    for version, (kind, raw) in enumerate((("PodCliqueSet", root), ("PodClique", of_clique)), start=1):
        raw["metadata"]["resourceVersion"] = str(version)
        cache.replace_all_of_kind(kind, [raw], str(version))
    for version, pod in enumerate(pods, start=3):
        pod["metadata"] |= {"resourceVersion": str(version)}
        pod["metadata"]["labels"]["grove.io/pod-template-hash"] = "old" if version < 5 else "new"
    cache.replace_all_of_kind("Pod", pods, "5")

    def kept() -> list[tuple[str, str]]:
        seen = cache.snapshot_of_set((NAMESPACE, "llm"), NOW)
        assert seen is not None
        stored = cache.stores["Pod"].readable_objects.values()
        assert {id(pod) for _, pod in seen.pods()} == set(map(id, stored))
        return sorted((pod.template_hash, pod.name) for pod in stored if pod.manifest is not None)

    before = cache.snapshot_of_set((NAMESPACE, "llm"), NOW)
    assert kept() == [("new", "llm-0-a-2"), ("old", "llm-0-a-0")]
    feed(cache, ("DELETED", "Pod", {**pods[0], "metadata": {**pods[0]["metadata"], "resourceVersion": "6"}}))
    assert kept() == [("new", "llm-0-a-2"), ("old", "llm-0-a-1")]
    feed(cache, ("MODIFIED", "Pod", {**pods[1], "metadata": {**pods[1]["metadata"], "resourceVersion": "7"}}))
    assert kept() == [("new", "llm-0-a-2"), ("old", "llm-0-a-1")]
    feed(cache, ("DELETED", "Pod", {**pods[1], "metadata": {**pods[1]["metadata"], "resourceVersion": "8"}}))
    assert kept() == [("new", "llm-0-a-2")]
    assert before is not None  # a snapshot does not change with the cache
    assert [pod.name for _, pod in before.pods() if pod.manifest is not None] == ["llm-0-a-0", "llm-0-a-2"]


def a_service(of: str, uid: str, version: str) -> Json:
    owners = [owner(f"uid-{of}", kind="PodCliqueSet", name=of)]
    meta = {"namespace": NAMESPACE, "name": "x", "uid": uid, "resourceVersion": version, "ownerReferences": owners}
    return {"apiVersion": CORE, "kind": "Service", "metadata": meta}


def test_op002_a_set_that_loses_an_object_is_requeued() -> None:
    """It is deleted and made anew by another set, and the watch reports the second alone."""
    requeued: list[RootKey] = []
    cache = ClusterCache(requeued.append)
    cache.put("Service", a_service("chat", "1", "5"))
    requeued.clear()
    cache.put("Service", a_service("llm", "2", "6"))
    assert requeued == [(NAMESPACE, "chat"), (NAMESPACE, "llm")]
    assert not cache.has_anything_of_root((NAMESPACE, "chat")), "nothing is left there"
    requeued.clear()
    cache.put("Service", a_service("llm", "3", "7"))
    assert requeued == [(NAMESPACE, "llm")]
