"""The domain controller's cache, with lists, events and responses in any order (DC-010)."""

from datetime import UTC, datetime
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grove_core.kernel.steps import Apply, Step
from grove_core.reconcile_domain import reconcile_compute_domain
from grove_shell.domain_controller.domain_cache import ComputeDomainCache
from tests.domain_controller.objects import LABEL, Json, domain, raw

NOW: Final = datetime(2026, 11, 20, 9, tzinfo=UTC)


def pod(version: int, **more: Any) -> Json:
    return raw("Pod", "p", version, spec={"nodeName": "n1"}, status={"podIP": "10.0.0.1"}, **more)


def clique(version: int) -> Json:
    return raw("ComputeDomainClique", "u1.c", version, daemons=[])


def removed(cache: ComputeDomainCache) -> list[str]:
    """The objects from which the controller would remove an entry now."""
    (one,) = cache.all_domains
    steps = reconcile_compute_domain(cache.domain_snapshot(one, NOW)).steps
    return [step.target.name for step in steps if isinstance(step.action, Apply)]


@pytest.mark.req("DC-072")
def test_dc010_older_pod_list_is_dropped() -> None:
    cache = ComputeDomainCache()
    for one in (pod(101), domain(104), pod(105)):
        cache.put(one["kind"], one)
    cache.replace_all_of_kind("Pod", [], "100")
    assert cache.pods_version == 105
    assert not removed(cache)
    cache.replace_all_of_kind("Pod", [], "106")
    assert removed(cache) == ["d"]


def test_dc010_any_list_is_accepted_after_a_loss() -> None:
    cache = ComputeDomainCache()
    cache.put("Pod", pod(105))
    cache.mark_kind_unlisted("Pod", "forbidden")
    cache.replace_all_of_kind("Pod", [], "100")
    assert cache.pods_version == 100


@pytest.mark.req("DC-082")
def test_dc010_stale_response_does_not_restore_a_deleted_object() -> None:
    cache = ComputeDomainCache()
    cache.put("ComputeDomain", domain(104))
    cache.put("ComputeDomainClique", clique(110))
    cache.drop("ComputeDomainClique", clique(112))
    cache.put("ComputeDomainClique", clique(111))
    (one,) = cache.all_domains
    assert not cache.domain_snapshot(one, NOW).cliques
    cache.replace_all_of_kind("ComputeDomainClique", [clique(113)], "113")
    assert cache.domain_snapshot(one, NOW).cliques


def test_dc010_deletion_keeps_the_successor() -> None:
    cache = ComputeDomainCache()
    cache.put("ComputeDomain", domain(104))
    cache.replace_all_of_kind("Pod", [pod(110, uid="second")], "110")
    for old in (pod(105, uid="first"), pod(106, uid="first")):
        cache.put("Pod", old)
    cache.drop("Pod", pod(107, uid="first"))
    (one,) = cache.all_domains
    assert [found.uid for found in cache.domain_snapshot(one, NOW).pods] == ["second"]


def test_in030_malformed_object_is_reported_and_ignored() -> None:
    reports: list[str] = []
    cache = ComputeDomainCache(lambda what, _words: reports.append(what))
    cache.put("ComputeDomain", domain(104))
    cache.put("ComputeDomain", {**domain(105), "status": {"nodes": 7}})
    assert reports == ["ComputeDomain ml/d"]
    assert [one.resource_version for one in cache.all_domains] == ["104"]


def steps_of(cache: ComputeDomainCache) -> list[Step]:
    (one,) = cache.all_domains
    return list(reconcile_compute_domain(cache.domain_snapshot(one, NOW)).steps)


ODD: Final = {"conditions": [{"type": "example.com/gate", "status": "True"}, {"type": "Ready", "status": "True"}]}
BROKEN: Final = {"podIP": 7}


@pytest.mark.parametrize("listed", [True, False])
@pytest.mark.parametrize("status", [ODD, BROKEN])
def test_dc076_malformed_pod_is_not_gone(status: Json, *, listed: bool) -> None:
    cache = ComputeDomainCache()
    odd = raw("Pod", "p", 107, spec={"nodeName": "n1"}, status={"podIP": "10.0.0.1", **status})
    for one in (pod(101), domain(104)):
        cache.put(one["kind"], one)
    if listed:
        cache.replace_all_of_kind("Pod", [odd], "107")
    else:
        cache.put("Pod", odd)
    assert not removed(cache)
    assert cache.pods_version == 107
    cache.drop("Pod", raw("Pod", "p", 108))
    assert removed(cache) == ["d"]


def test_dc076_malformed_pod_of_another_domain_withholds_nothing() -> None:
    cache = ComputeDomainCache()
    foreign = raw("Pod", "p", 107, spec={"nodeName": "n1"}, status=BROKEN)
    foreign["metadata"]["labels"] = {LABEL: "u2"}
    cache.put("ComputeDomain", domain(104))
    cache.replace_all_of_kind("Pod", [foreign], "107")
    assert removed(cache) == ["d"]
    del foreign["metadata"]["labels"][LABEL]
    foreign["metadata"]["resourceVersion"] = "108"
    cache.replace_all_of_kind("Pod", [foreign], "108")
    assert not removed(cache)
    cache.replace_all_of_kind("Pod", [pod(109)], "109")
    cache.drop("Pod", pod(110))
    assert removed(cache) == ["d"]


@pytest.mark.parametrize("listed", [True, False])
def test_dc089_malformed_clique_is_not_gone(*, listed: bool) -> None:
    cache = ComputeDomainCache()
    seen = domain(104)
    seen["status"] = {"status": "Ready", "cliques": [{"id": "c", "status": "Ready"}]}
    daemon = {"nodeName": "n1", "ipAddress": "10.0.0.1", "cliqueID": "c", "index": 0, "status": "Ready"}
    whole, odd = (raw("ComputeDomainClique", "u1.c", 100 + n, daemons=some) for n, some in enumerate(([daemon], 5)))
    for one in (pod(105), seen, whole):
        cache.put(one["kind"], one)
    assert not steps_of(cache)
    if listed:
        cache.replace_all_of_kind(odd["kind"], [odd], "102")
    else:
        cache.put(odd["kind"], odd)
    assert not steps_of(cache)
    cache.drop(odd["kind"], odd)
    assert steps_of(cache)


@given(st.permutations(range(4)), st.booleans())
def test_dc010_newest_state_wins_in_any_order(order: list[int], gone: bool) -> None:
    """The states of one object, applied in any order."""
    cache = ComputeDomainCache()
    history = [clique(version) for version in range(101, 105)]
    cache.put("ComputeDomain", domain(100))
    for place in order:
        is_termination = gone and place == 3
        (cache.drop if is_termination else cache.put)("ComputeDomainClique", history[place])
    (one,) = cache.all_domains
    assert [found.resource_version for found in cache.domain_snapshot(one, NOW).cliques] == ([] if gone else ["104"])
