"""Pods on nodes that do not answer: which ones these are, when they are evicted, and what a forecast makes of it."""

from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grove_core.areas.gang_termination.field.rules import GoOperatorReason
from grove_core.in_memory.forecasts import forecasts_of_snapshots
from grove_core.in_memory.in_memory_cluster import InMemoryCluster
from grove_core.kernel.questions import LOST_NODE
from grove_core.kernel.structs import replace
from grove_core.kernel.time_formats import format_time
from grove_core.resources.decoded_pod import decode_pod
from grove_core.resources.node_loss import (
    NOT_READY,
    UNREACHABLE,
    NodeLossSigns,
    NodeReadiness,
    node_loss_signs,
    node_readiness_from_json,
)
from grove_core.resources.pod import pod_from_json
from grove_core.rule_sets.rule_set_by_name import rule_set
from grove_core.snapshot.snapshot import Snapshot
from grove_core.testing import RandomCluster
from grove_core.testing.cluster_builder import START
from tests.property.few_examples import RARELY
from tests.property.gang_termination_field.worlds import field_clusters, field_storm
from tests.property.workload.life import Life
from tests.property.workload.sets import clique_raw, set_raw

Json = dict[str, Any]
SINCE = START - timedelta(seconds=20)
FIELD = rule_set("field")


def signs_of(spec: Json, status: Json) -> NodeLossSigns | None:
    """Return what a pod shows about its node, given its manifest."""
    fields = decode_pod({"metadata": {"name": "a"}, "spec": spec, "status": status})
    assert fields.spec is not None
    assert fields.status is not None
    return node_loss_signs(fields.spec, fields.status)


def tolerating(seconds: int | None, key: str = UNREACHABLE) -> Json:
    limited = {} if seconds is None else {"tolerationSeconds": seconds}
    return {"effect": "NoExecute", "key": key, "operator": "Exists", **limited}


def pod(tolerations: list[Json], *, reason: str = "", is_container_ready: bool = True, **spec: Any) -> Json:
    ready = {"type": "Ready", "status": "False", "reason": reason, "lastTransitionTime": format_time(SINCE)}
    return {
        "metadata": {"name": "p", "uid": "p"},
        "spec": {"nodeName": "n1", "tolerations": tolerations, **spec},
        "status": {"conditions": [ready], "containerStatuses": [{"name": "main", "ready": is_container_ready}]},
    }


class TestGF015:
    """Unready pods of a node that does not answer MUST be reported with the node and with what they count as. A
    Node of the input answers if it is `Ready` without an evicting taint. Without its Node, an unready pod whose
    containers all are ready shows the loss.
    """

    @pytest.mark.parametrize(
        ("raw", "expected"),
        [
            (pod([]), True),
            (pod([], reason="ContainersNotReady", is_container_ready=False), False),
            (pod([], is_container_ready=False), False),
            (pod([], reason="ReadinessGatesNotReady"), False),
            (pod([], readinessGates=[{"conditionType": "example.com/a"}]), False),
        ],
    )
    def test_the_control_plane_leaves_the_containers_as_they_were(self, raw: Json, expected: bool) -> None:
        signs = pod_from_json(raw, {}).node_signs
        assert signs is not None
        assert signs.written_for_node is expected
        assert signs.since == SINCE

    def test_a_ready_pod_and_one_without_a_node_show_nothing(self) -> None:
        ready = pod([])
        ready["status"]["conditions"][0]["status"] = "True"
        assert pod_from_json(ready, {}).node_signs is None
        assert pod_from_json(pod([], nodeName=""), {}).node_signs is None

    @pytest.mark.parametrize(
        "spec",
        [
            {"tolerations": [1]},
            {"tolerations": 7},
            {"tolerations": [tolerating(1) | {"tolerationSeconds": "x"}]},
            {"tolerations": [tolerating(1) | {"tolerationSeconds": "x"}, tolerating(2)]},
        ],
    )
    def test_a_pod_is_read_whose_tolerations_are_not(self, spec: Json) -> None:
        raw = pod([])
        raw["spec"] |= spec
        assert pod_from_json(raw, {}).node_signs is None

    @pytest.mark.parametrize(
        ("raw", "expected"),
        [
            ({}, None),
            ({"status": 1}, None),
            ({"spec": {"taints": ["x"]}}, None),
            ({"status": {"conditions": [{"type": "MemoryPressure", "status": "True"}]}}, None),
            ({"status": {"conditions": [{"type": "Ready", "status": "True"}]}}, NodeReadiness("")),
            ({"status": {"conditions": [{"type": "Ready", "status": "False"}]}}, NodeReadiness(NOT_READY)),
            ({"status": {"conditions": [{"type": "Ready", "status": "Unknown"}]}}, NodeReadiness(UNREACHABLE)),
            ({"spec": {"taints": [{"key": UNREACHABLE, "effect": "NoSchedule"}]}}, None),
            (
                {
                    "spec": {
                        "taints": [{"key": UNREACHABLE, "effect": "NoExecute", "timeAdded": "2026-11-20T09:00:00Z"}]
                    },
                    "status": {"conditions": [{"type": "Ready", "status": "True"}]},
                },
                NodeReadiness(UNREACHABLE, START),
            ),
        ],
    )
    def test_what_a_node_shows(self, raw: Json, expected: NodeReadiness | None) -> None:
        assert node_readiness_from_json(raw) == expected


@pytest.mark.parametrize(
    ("tolerations", "expected"),
    [
        ([], 0),
        ([tolerating(300)], 300),
        ([tolerating(300), tolerating(60)], 60),
        ([tolerating(300), tolerating(None)], 300),
        ([tolerating(-5)], 0),
        ([tolerating(300, NOT_READY)], 0),
        ([{"operator": "Exists"}], None),
        ([tolerating(10**12)], None),
        ([{"key": UNREACHABLE, "effect": "NoSchedule", "operator": "Exists"}], 0),
        ([{"key": UNREACHABLE, "value": ""}], None),
        ([{"key": UNREACHABLE, "value": "x"}], 0),
    ],
)
@pytest.mark.req("GF-019")
def test_gf016_the_shortest_matching_toleration_counts(tolerations: list[Json], expected: int | None) -> None:
    signs = signs_of({"tolerations": tolerations}, {})
    assert signs is not None
    at = signs.evicted_at(UNREACHABLE, SINCE)
    assert at == (None if expected is None else SINCE + timedelta(seconds=expected))


def with_lost_pods(generated: RandomCluster, tolerations: list[Json]) -> Snapshot:
    """Return the snapshot with every unready scheduled pod on a lost node."""
    signs = signs_of({"tolerations": tolerations}, pod([])["status"])
    lost = (
        replace(one, node_signs=signs, node="n1") if one.scheduled and not one.ready else one for one in generated.pods
    )
    return replace(generated, pods=tuple(lost)).snapshot


@RARELY
@given(field_clusters(), st.sampled_from([300, 60, 30, 10, None]))
def test_gf018_an_evicted_pod_is_being_deleted_until_the_end(generated: RandomCluster, seconds: int | None) -> None:
    snapshot = with_lost_pods(generated, [tolerating(seconds)])
    begun, until = snapshot.now, snapshot.now + timedelta(minutes=10)
    assert FIELD.lost_nodes is not None
    result = FIELD.lost_nodes(snapshot, {})
    lost = [one for _, one in snapshot.pods() if one.node_signs and not one.deleting and one.phase == "Running"]
    assert sorted(one.name for _, one in result.evictions) == sorted(one.name for one in lost if seconds is not None)
    assert {one.question for one in result.findings} <= {LOST_NODE}
    within = {clique.ref: clique.enclosing_replicas(snapshot.root.ref) for clique in snapshot.cliques}
    assert all(one.within == within[one.subject] for one in result.findings)
    coming = [at for at, _ in result.evictions if begun < at <= until]
    cluster = InMemoryCluster((snapshot,))
    (whole,) = forecasts_of_snapshots((snapshot,), FIELD, limit=None, until=until)
    assert whole.complete
    if coming:
        before = min(coming) - timedelta(microseconds=1)
        (first,) = forecasts_of_snapshots((snapshot,), FIELD, limit=None, until=before)
        assert whole.rounds[: len(first.rounds)] == first.rounds or first.again is not None
    for evicted in lost:
        cluster.evict_pod(evicted.ref)
        cluster.evict_pod(evicted.ref)
        there = cluster.get_pod(evicted.ref)
        assert there is not None
        assert there.deleting


def test_gf017_a_node_that_is_ready_has_lost_no_pod() -> None:
    generated = field_storm(bytes(range(64)), b"")
    snapshot = with_lost_pods(generated, [tolerating(300)])
    assert FIELD.lost_nodes is not None
    assert FIELD.lost_nodes(snapshot, {"n1": NodeReadiness("")}) == ((), ())


def test_gf017_a_pod_of_a_node_that_is_ready_hides_no_lost_pod() -> None:
    life = Life(set_raw(clique_raw("a", 2)))
    life.settle()
    signs = signs_of({"tolerations": [tolerating(300)]}, pod([])["status"])
    pods = next(iter(life.world.pods.values()))
    for node, one in zip(("n1", "n2"), tuple(pods), strict=True):
        life.world.put_pod(replace(one, ready=False, node=node, node_signs=signs))
    seen = life.look()
    assert seen is not None
    assert FIELD.lost_nodes is not None
    evicted = FIELD.lost_nodes(seen, {"n1": NodeReadiness("")}).evictions
    assert [one.node for _, one in evicted] == ["n2"]


@pytest.mark.parametrize(("replicas", "expected"), [(3, [{"left": 2, "needed": 3}]), (4, [])])
def test_gf017_a_breach_needs_fewer_pods_than_the_minimum(replicas: int, expected: list[Json]) -> None:
    """The first pod is on a lost node and being deleted, so it is not evicted and still counts as scheduled."""
    life = Life(set_raw(clique_raw("a", replicas, minAvailable=3)))
    life.settle()
    signs = signs_of({"tolerations": [tolerating(300)]}, pod([])["status"])
    pods = next(iter(life.world.pods.values()))
    for one in (replace(pods[0], deleting=True), pods[-1]):
        life.world.put_pod(replace(one, ready=False, node_signs=signs))
    seen = life.look()
    assert seen is not None
    assert FIELD.lost_nodes is not None
    (found,) = FIELD.lost_nodes(seen, {}).findings
    rule = GoOperatorReason.BREACHED_WITHOUT_LOST_PODS
    assert [dict(why.facts) for why in found.because if why.rule is rule] == expected
