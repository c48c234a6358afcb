"""Decisions of the domain controller, rule by rule (DC-062 to DC-086)."""

from datetime import datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grove_core.areas.domain_cliques.domain_snapshot import compute_domain_snapshot_of
from grove_core.areas.domain_cliques.wants import daemon_entries_without_fabric
from grove_core.kernel.frozen import thaw_json
from grove_core.kernel.steps import Apply as ApplyStep
from grove_core.kernel.structs import replace
from grove_core.resources.compute_domain import (
    ComputeDomain,
    ComputeDomainClique,
    DaemonPod,
    compute_domain_from_json,
    domain_clique_from_json,
)
from tests.property.domain_cliques.builders import NOW, Json, clique, domain, entry, planned, pod, status_in


def test_domain_plans_name_no_rule_set() -> None:
    assert planned(domain(), [], []).rules == ""


@pytest.mark.parametrize(
    ("found", "stays"),
    [
        (pod("n1", "10.0.0.1"), True),
        (pod("n1", "10.9.9.9"), True),
        (pod("n1", "10.9.9.9", clique=None), True),
        (pod("n1", "", clique=None, living=False), True),
        (pod("n1", "10.9.9.9", clique="b"), False),
        (pod("n2", "10.9.9.9"), False),
        (replace(pod("n1", "10.9.9.9"), domain_uid="other_registry"), False),
    ],
)
@pytest.mark.req("DC-070")
def test_dc071_pods_that_keep_an_entry(found: DaemonPod, *, stays: bool) -> None:
    plan = planned(domain(), [clique(entry("n1", 0))], [found])
    removed = [step for step in plan.steps if step.target.kind == "ComputeDomainClique"]
    assert bool(removed) is not stays


def test_dc072_older_pods_remove_no_entry() -> None:
    plan = planned(domain(), [clique(entry("n1", 0), version=50)], [], version=49)
    assert [held.target.kind for held in plan.withheld] == ["ComputeDomainClique"]
    assert plan.wake_at == NOW + timedelta(seconds=2)
    assert planned(domain(), [clique(entry("n1", 0), version=50)], [], version=50).withheld == ()


@pytest.mark.parametrize(
    ("ip", "pods", "version", "goes"),
    [
        ("10.9.9.1", [pod("n1", "10.0.0.1")], 50, True),
        ("10.9.9.1", [pod("n1", "10.0.0.1"), pod("n1", "10.0.0.2", name="newer", clique=None)], 50, True),
        ("10.9.9.1", [pod("n1", "10.0.0.1", living=False), pod("n1", "10.0.0.2", name="newer")], 50, False),
        ("10.0.0.2", [pod("n1", "10.0.0.1"), pod("n1", "10.0.0.2", name="older")], 50, False),
        ("10.9.9.1", [pod("n1", "10.0.0.1")], 49, False),
    ],
)
def test_dc074_registered_in_another_object(ip: str, pods: list[DaemonPod], version: int, *, goes: bool) -> None:
    """An entry without a pod is removed if a living pod of the node is registered in the clique."""
    plan = planned(domain(entry("n1", 0, ip)), [clique(entry("n1", 0), version=50)], pods, version)
    removed = [step for step in plan.steps if isinstance(step.action, ApplyStep)]
    assert [step.target.kind for step in removed] == (["ComputeDomain"] if goes else [])


def test_dc062_a_node_without_fabric_gets_its_entry() -> None:
    bare = pod("n1", "10.0.0.1", clique="", ready=True)
    status = status_in(planned(domain(), [], [bare]))
    assert status["nodes"] == [{"name": "n1", "ipAddress": "10.0.0.1", "cliqueID": "", "index": -1, "status": "Ready"}]
    stored = domain(entry("n1", -1, clique="", status="Ready"), status="Ready")
    raw = thaw_json(stored.stored)
    raw["status"]["nodes"][0]["cliqueID"] = ""
    assert planned(compute_domain_from_json(raw), [], [bare]).steps == ()


@pytest.mark.parametrize(
    ("first", "second", "wins"),
    [
        (None, None, "z"),
        (None, NOW, "a"),
        (NOW, NOW, "z"),
        (NOW, NOW + timedelta(seconds=1), "a"),
        (NOW + timedelta(seconds=1), NOW, "z"),
    ],
)
def test_dc062_of_two_pods_of_a_node_the_newer_counts(
    first: datetime | None, second: datetime | None, wins: str
) -> None:
    """As in DC-052: the pod created later, or the larger uid within one second; names do not matter."""
    pods = [
        pod("n1", "10.0.0.1", "z", clique="", ready=True, created=first),
        pod("n1", "10.0.0.2", "a", clique="", created=second),
    ]
    for order in (pods, pods[::-1]):
        (result,) = status_in(planned(domain(), [], order))["nodes"]
        assert (result["ipAddress"], result["status"]) == {"z": ("10.0.0.1", "Ready"), "a": ("10.0.0.2", "NotReady")}[
            wins
        ]


def test_dc082_only_cliques_of_the_domain_have_a_record() -> None:
    status = status_in(planned(domain(), [clique(), clique(uid="other_registry", name="b")], []))
    assert status["cliques"] == [{"id": "a", "status": "NotReady"}]


def test_dc082_two_objects_with_one_id_have_one_record() -> None:
    """In two namespaces, for instance: a record is NotReady if one object is."""
    ready, other = clique(entry("n1", 0, status="Ready")), clique(entry("n2", 0))
    pods = [pod("n1", "10.0.0.1"), pod("n2", "10.0.0.2", "other_registry")]
    for here, there in ((ready, other), (other, ready)):
        cliques = [here, replace(there, ref=replace(there.ref, namespace="elsewhere"))]
        for order in (cliques, cliques[::-1]):
            assert status_in(planned(domain(), order, pods))["cliques"] == [{"id": "a", "status": "NotReady"}]


def test_dc082_records_of_other_managers_are_removed() -> None:
    """An apply does not remove what another manager owns, so all records are written."""
    stored = domain(cliques=[{"id": "b", "status": "Ready"}, {"id": "c", "status": "Ready"}])
    (step,) = planned(stored, [clique()], []).steps
    assert isinstance(step.action, ApplyStep)
    result: Json = {"status": "NotReady", "cliques": [{"id": "a", "status": "NotReady"}]}
    assert thaw_json(step.action.fields) == {"status": result}
    assert step.because[0].sentence == "there are records without a clique object of the domain: b, c"
    assert planned(domain(**result), [clique()], []).steps == ()


def unlabelled(status: str) -> tuple[ComputeDomain, DaemonPod]:
    """A node without fabric whose first-generation daemon writes an entry and does not label its pod."""
    return domain(entry("n1", 0, clique="", status=status), status=status), pod("n1", "10.0.0.1", clique=None)


@pytest.mark.parametrize("status", ["Ready", "NotReady"])
@pytest.mark.req("DC-086")
def test_dc083_self_registered_nodes_without_fabric_count(status: str) -> None:
    found, itself = unlabelled(status)
    plan = planned(found, [], [itself])
    assert plan.steps == ()
    assert [finding.verdict for finding in plan.findings if finding.subject.kind == "ComputeDomain"] == [status]


def test_dc072_an_apply_keeps_entries_newer_than_the_pods() -> None:
    """The controller owns the entries of nodes without fabric: an apply without one removes it."""
    found, _ = unlabelled("Ready")
    plan = planned(found, [], [], version=9)
    assert plan.steps == ()
    assert [held.target.kind for held in plan.withheld] == ["ComputeDomain"]
    (step,) = planned(found, [], []).steps
    assert thaw_json(step.action.fields) == {"status": {"nodes": []}}


@pytest.mark.parametrize(("status", "wanted"), [("Ready", "Ready"), ("NotReady", "NotReady"), ("", "NotReady")])
def test_dc084_missing_status_is_not_ready(status: str, wanted: str) -> None:
    plan = planned(domain(), [clique(entry("n1", 0, status=status))], [pod("n1", "10.0.0.1")])
    found = {finding.subject.kind: finding.verdict for finding in plan.findings}
    assert found == {"ComputeDomain": wanted, "ComputeDomainClique": wanted}


def test_dc066_a_node_in_two_registries_counts_once() -> None:
    both = [clique(entry("n1", 0, status="Ready"))]
    plan = planned(domain(entry("n1", 0, ip="10.9.9.9")), both, [pod("n1", "10.0.0.1")], version=5)
    assert [found.verdict for found in plan.findings if found.subject.kind == "ComputeDomain"][-1] == "NotReady"


@given(st.permutations([clique(entry("n1", 0, status="Ready")), clique(entry("n2", 0, clique="b"), name="b")]))
def test_dc086_reconciling_again_writes_nothing(cliques: list[ComputeDomainClique]) -> None:
    pods = [pod("n1", "10.0.0.1"), pod("n2", "10.0.0.2", "other_registry", clique="b")]
    fields = status_in(planned(domain(), cliques, pods))
    assert fields == status_in(planned(domain(), cliques[::-1], pods[::-1]))
    raw = thaw_json(domain().stored)
    raw["status"] = fields
    assert planned(compute_domain_from_json(raw), cliques, pods).steps == ()


def test_dc086_kept_entries_are_unchanged() -> None:
    raw = thaw_json(clique(entry("n1", 0), entry("n2", 1)).stored)
    raw["daemons"][1]["novelty"] = True
    plan = planned(domain(), [domain_clique_from_json(raw)], [pod("n2", "10.0.0.2")])
    (step,) = [step for step in plan.steps if step.target.kind == "ComputeDomainClique"]
    assert thaw_json(step.action.fields) == {"daemons": [raw["daemons"][1]]}


def test_dc062_nodes_without_fabric_are_sorted() -> None:
    pods = [pod(node, f"10.0.0.{node[1:]}", node, clique="") for node in ("n3", "n1", "n2")]
    snapshot = compute_domain_snapshot_of(domain(), [], pods, pods_version=100, now=NOW)
    assert [one.node for one in daemon_entries_without_fabric(snapshot)] == ["n1", "n2", "n3"]
    assert daemon_entries_without_fabric(replace(snapshot, pods=())) == ()
