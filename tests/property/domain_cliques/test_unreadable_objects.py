"""Objects that cannot be parsed remove no entry and make no domain NotReady (DC-076, DC-089)."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grove_core.areas.domain_cliques.domain_snapshot import compute_domain_snapshot_of
from grove_core.kernel.frozen import thaw_json
from grove_core.kernel.refs import Ref
from grove_core.kernel.steps import Apply, SetStatus
from grove_core.plan.plan import Plan
from grove_core.reconcile_domain import reconcile_compute_domain
from grove_core.resources.compute_domain import (
    ComputeDomain,
    ComputeDomainClique,
    DaemonPod,
    compute_domain_from_json,
    daemon_pod_from_json,
    domain_clique_from_json,
)
from grove_core.resources.daemon_entry_lists import DaemonRegistry
from tests.property.domain_cliques.builders import NOW, UID, Json, clique, domain, entry, pod

NODES = ("n1", "n2", "n3", "n4")
words = st.sampled_from(["Ready", "NotReady"])
owners = st.sampled_from(["", UID])


def plan_of(
    found: ComputeDomain, cliques: list[ComputeDomainClique], pods: list[DaemonPod], unread: dict[Ref, str]
) -> Plan:
    return reconcile_compute_domain(
        compute_domain_snapshot_of(found, cliques, pods, pods_version=100, unreadable=unread, now=NOW)
    )


@st.composite
def entries(draw: st.DrawFn, name: str) -> list[Json]:
    """Entries of some nodes, some with an address that no pod has."""
    nodes = draw(st.lists(st.sampled_from(NODES), unique=True))
    addresses = [draw(st.sampled_from(["", "10.9.9.9"])) for _ in nodes]
    return [
        entry(node, place, address, clique=name, status=draw(words))
        for place, (node, address) in enumerate(zip(nodes, addresses, strict=True))
    ]


def settled(
    found: ComputeDomain, cliques: list[ComputeDomainClique], pods: list[DaemonPod]
) -> tuple[ComputeDomain, list[ComputeDomainClique]]:
    """The objects after a controller has written everything it wants."""
    while steps := plan_of(found, cliques, pods, {}).steps:
        for step in steps:
            assert isinstance(step.action, Apply | SetStatus)
            fields: Any = thaw_json(step.action.fields)
            if step.target == found.ref:
                raw: Any = thaw_json(found.stored)
                raw["status"] |= fields.get("status", {}) if isinstance(step.action, Apply) else fields
                found = compute_domain_from_json(raw)
            else:
                written = [thaw_json(one.stored) | (fields if one.ref == step.target else {}) for one in cliques]
                cliques = [domain_clique_from_json(one) for one in written]
    return found, cliques


@st.composite
def snapshots(draw: st.DrawFn) -> tuple[ComputeDomain, list[ComputeDomainClique], list[DaemonPod]]:
    """A domain, cliques and pods; often as a controller has already written them."""
    cliques = [clique(*draw(entries(name)), name=name) for name in draw(st.sampled_from([(), ("a",), ("a", "b")]))]
    found = domain(*draw(entries("")), status=draw(words))
    pods = [
        pod(node, f"10.0.0.{node[1:]}", f"pod-{node}", clique=draw(st.sampled_from(["a", "b", "", None])), ready=True)
        for node in draw(st.lists(st.sampled_from(NODES), unique=True))
    ]
    if draw(st.booleans()):
        found, cliques = settled(found, cliques, pods)
    return found, cliques, pods


def removals(plan: Plan, found: ComputeDomain, cliques: list[ComputeDomainClique]) -> set[tuple[Ref, str]]:
    """Object and node of each entry that a write removes; an apply removes only entries without clique."""
    gone = set()
    registries: dict[Ref, DaemonRegistry] = {one.ref: one for one in cliques} | {found.ref: found}
    for step in plan.steps:
        assert isinstance(step.action, Apply | SetStatus)
        fields: Any = thaw_json(step.action.fields)
        if isinstance(step.action, Apply):
            left = fields.get("daemons", fields.get("status", {}).get("nodes"))
        else:
            left = fields.get("nodes")
        if left is not None:
            kept = {one.get("nodeName") or one["name"] for one in left}
            theirs = [
                one
                for one in registries[step.target].daemon_entries
                if isinstance(step.action, Apply) or not one.clique
            ]
            gone |= {(step.target, one.node) for one in theirs if one.node not in kept}
    return gone


@pytest.mark.req("DC-089")
@given(st.data(), snapshots())
def test_dc076_unreadable_objects_remove_nothing(
    data: st.DataObject, seen: tuple[ComputeDomain, list[ComputeDomainClique], list[DaemonPod]]
) -> None:
    found, cliques, pods = seen
    full = plan_of(found, cliques, pods, {})
    known: tuple[DaemonPod | ComputeDomainClique, ...] = (*pods, *cliques)
    hidden = [one for one in known if data.draw(st.booleans(), f"unread {one.ref.name}")]
    unread = {one.ref: data.draw(owners, "label") for one in hidden}
    left = [one for one in cliques if one not in hidden]
    blind = plan_of(found, left, [one for one in pods if one not in hidden], unread)
    assert removals(blind, found, left) <= removals(full, found, cliques)
    if not full.steps:
        assert not blind.steps


@pytest.mark.parametrize("uid", ["", UID, "another"])
def test_dc089_unreadable_cliques_of_other_domains_do_not_matter(uid: str) -> None:
    strange = clique(name="b")
    plan = plan_of(domain(), [], [], {strange.ref: uid})
    assert bool(plan.steps) is (uid == "another")
    assert [held.target.kind for held in plan.withheld] == (["ComputeDomain"] if uid != "another" else [])


@pytest.mark.parametrize("odd", [{"status": "True"}, {"status": 5, "lastTransitionTime": 7}, {}])
def test_in053_another_condition_of_a_daemon_pod_is_not_read(odd: Json) -> None:
    ready = {"type": "Ready", "status": "True", "lastTransitionTime": "2026-11-20T08:00:10Z"}
    raw = {
        "metadata": {"name": "d0", "namespace": "dra", "uid": "d0"},
        "spec": {"nodeName": "n0"},
        "status": {"podIP": "10.0.0.1", "conditions": [{"type": "example.com/gate", **odd}, ready]},
    }
    assert daemon_pod_from_json(raw).ready
