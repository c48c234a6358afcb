"""``Ensure`` steps on a server that stores objects, and shared objects in the cache."""

import asyncio
from typing import Any, Final

import pytest

from grove_core.kernel.frozen import FrozenMap, freeze
from grove_core.kernel.refs import Ref
from grove_core.kernel.steps import Attempt, AttemptOutcome, Ensure, Step, StepStage
from grove_shell.apply.fresh_reader import FreshReader
from grove_shell.apply.step_executor import StepExecutor
from grove_shell.cache.cluster_cache import ClusterCache
from grove_shell.client.api_session import ApiSession
from tests.property.workload.sets import NOW
from tests.webhooks.object_server import ObjectServer

Json = dict[str, Any]
REF: Final = Ref("resource.nvidia.com/v1alpha1", "ComputeDomain", "ml", "llm-0-cd")
PATH: Final = "/apis/resource.nvidia.com/v1alpha1/namespaces/ml/computedomains/llm-0-cd"


def domain(set_name: str = "llm", owner: str = "root", kind: str = "PodCliqueSet", **metadata: Any) -> Json:
    labels = {
        "app.kubernetes.io/managed-by": "grove-operator",
        "grove.io/pcs-name": set_name,
        "grove.io/pcs-replica-index": "0",
        "grove.io/mnnvl-managed": "true",
    }
    owners = [{"apiVersion": "x/v1", "kind": kind, "name": set_name, "uid": owner, "controller": True}]
    meta = {"name": REF.name, "namespace": "ml", "labels": labels, "ownerReferences": owners, **metadata}
    return {"apiVersion": REF.api_version, "kind": "ComputeDomain", "metadata": meta, "spec": {"numNodes": 0}}


def tried(server: ObjectServer, cache: ClusterCache, times: int = 1) -> list[Attempt]:
    manifest = freeze(domain())
    assert isinstance(manifest, FrozenMap)
    step = Step(StepStage.FOUNDATION, REF, Ensure(manifest), ())

    async def play() -> list[Attempt]:
        async with server.connection() as connection, ApiSession(connection) as api:
            return [await StepExecutor(FreshReader(api, cache)).attempt_step(step) for _ in range(times)]

    return asyncio.run(play())


def a_set() -> Json:
    meta = {"name": "llm", "namespace": "ml", "uid": "root", "resourceVersion": "1"}
    template = {"cliques": [{"name": "a", "spec": {"roleName": "a", "replicas": 1, "podSpec": {"containers": []}}}]}
    spec = {"replicas": 1, "template": template}
    return {"apiVersion": "grove.io/v1alpha1", "kind": "PodCliqueSet", "metadata": meta, "spec": spec}


@pytest.mark.req("PL-018")
def test_pl016_the_second_is_content_and_both_are_seen_at_once() -> None:
    server, cache = ObjectServer(), ClusterCache()
    attempts = tried(server, cache, times=2)
    assert [attempt.outcome for attempt in attempts] == [AttemptOutcome.DONE, AttemptOutcome.DONE]
    assert list(server.objects) == [PATH]
    assert server.asked == {"POST": 2, "GET": 1}
    assert cache.find_object(REF) is not None


def test_pl016_a_gang_may_own_it_already() -> None:
    server = ObjectServer()
    server.objects[PATH] = domain(owner="gang", kind="PodGang", uid="d", resourceVersion="7")
    (attempt,) = tried(server, ClusterCache())
    assert attempt.outcome is AttemptOutcome.DONE


def test_pl016_what_serves_another_is_a_refusal_that_names_both() -> None:
    server = ObjectServer()
    server.objects[PATH] = domain("other", uid="d", resourceVersion="7")
    (attempt,) = tried(server, ClusterCache())
    assert attempt.outcome is AttemptOutcome.REFUSED
    assert "replica 0 of other" in attempt.detail
    assert "replica 0 of llm" in attempt.detail


def test_pl016_what_goes_is_a_conflict() -> None:
    server = ObjectServer()
    server.objects[PATH] = domain(uid="d", resourceVersion="7", deletionTimestamp="2026-11-20T09:00:00Z")
    (attempt,) = tried(server, ClusterCache())
    assert attempt.outcome is AttemptOutcome.CONFLICT


@pytest.mark.parametrize(
    ("there", "outcome", "words"),
    [
        (domain(), AttemptOutcome.DONE, ""),
        (domain("other"), AttemptOutcome.REFUSED, "exceeded quota: gpus; it serves replica 0 of other"),
        (None, AttemptOutcome.REFUSED, "exceeded quota: gpus"),
        (domain(deletionTimestamp="2026-11-20T09:00:00Z"), AttemptOutcome.CONFLICT, "the one before is being deleted"),
    ],
)
def test_pl016_a_quota_that_is_full_is_asked_before_the_name(
    there: Json | None, outcome: AttemptOutcome, words: str
) -> None:
    """A client that has not seen the other's creation receives the quota error, not "already exists"."""
    server = ObjectServer()
    server.refuses["computedomains"] = (403, {"kind": "Status", "message": "exceeded quota: gpus"})
    if there is not None:
        there["metadata"] |= {"uid": "d", "resourceVersion": "7"}
        server.objects[PATH] = there
    (attempt,) = tried(server, ClusterCache())
    assert attempt.outcome is outcome
    assert attempt.detail.startswith(words)
    assert server.asked == {"POST": 1, "GET": 1}


@pytest.mark.parametrize(
    ("code", "said"),
    [(403, {"kind": "Status", "message": "not yours to see"}), (503, {"kind": "Status", "message": "busy"}), (200, {})],
)
def test_pl016_a_refusal_stands_without_a_fresh_read(code: int, said: Json) -> None:
    server = ObjectServer()
    server.refuses["computedomains"] = (403, {"kind": "Status", "message": "exceeded quota: gpus"})
    server.hides["computedomains"] = (code, said)
    (attempt,) = tried(server, ClusterCache())
    assert (attempt.outcome, attempt.detail) == (AttemptOutcome.REFUSED, "exceeded quota: gpus")


def test_ms043_objects_of_an_earlier_owner_are_seen_and_foreign_ones_are_not_ours() -> None:
    """A domain of a gang that is gone is the set's to hand over; one of another set only holds its name."""
    cache = ClusterCache()
    cache.put("PodCliqueSet", a_set())
    cache.put("ComputeDomain", domain(owner="gone", kind="PodGang", uid="d", resourceVersion="7"))
    other = domain("other", uid="e", resourceVersion="8")
    other["metadata"]["name"] = "llm-1-cd"
    cache.put("ComputeDomain", other)
    claim = {**domain(owner="gone", kind="PodGang", uid="c", resourceVersion="9"), "kind": "ResourceClaim"}
    claim |= {"apiVersion": "resource.k8s.io/v1"}
    claim["metadata"] = {**claim["metadata"], "name": "llm-0-mnnvl-claim"}
    cache.put("ResourceClaim", claim)
    seen = cache.snapshot_of_set(("ml", "llm"), NOW)
    assert seen is not None
    assert [one.ref.name for one in seen.domains] == ["llm-0-cd"]
    assert [one.ref.name for one in seen.others] == ["llm-0-mnnvl-claim"]
    assert set(seen.named_domains) == {("ml", "llm-0-cd"), ("ml", "llm-1-cd")}
    assert set(seen.named_claims) == {("ml", "llm-0-mnnvl-claim")}
    cache.drop("ResourceClaim", claim)
    after = cache.snapshot_of_set(("ml", "llm"), NOW)
    assert after is not None
    assert not after.named_claims
