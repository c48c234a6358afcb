"""What a check and an impact say of a set as a whole (TP-103, TP-111, TP-124), without any file or command."""

from dataclasses import replace
from typing import Any, Final

import pytest

from grove_core.areas.topology.rules import Refuse, Why
from grove_core.areas.topology.verdicts import Fits
from grove_core.areas.workload.rules import Why as Workload
from grove_core.check_topology import Tenant, check_topology, tenant_of
from grove_core.impact_topology import Fate, SetImpact, impact_of
from grove_core.kernel.errors import MalformedObject
from grove_core.resources.cluster_topology import DEFAULT_TOPOLOGY, TOPOLOGY_KIND
from grove_core.resources.node import Node
from grove_core.snapshot.cluster import EVERYWHERE, Gap, cluster_of
from grove_core.snapshot.snapshot import Snapshot
from tests.property.topology.test_gangs import HOST, LEVELS, RACK, ZONE, constrained, placed, started, told, topology
from tests.property.workload.sets import NOW, applied

Json = dict[str, Any]
GROUND: Final = [
    Node(f"n{number}", {ZONE: "z", RACK: "r", HOST: f"n{number}"}, (), {"pods": 10_000, "cpu": 4000})
    for number in range(2)
]
DEFAULT: Final = topology(DEFAULT_TOPOLOGY)


def applied_to(*known: Any, **template: Any) -> Snapshot:
    return told(applied(constrained(**template)), *known)


@pytest.mark.req("TP-010")
@pytest.mark.req("TP-013")
def test_tp111_a_topology_that_cannot_place_leaves_the_others_to_be_tried() -> None:
    missing = check_topology(applied_to(topology("t"), clusterTopologyName="gone"), GROUND, ())
    assert (missing.own.verdict, missing.own.levels) == (Fits.CANNOT, ())
    assert missing.own.because[0].rule is Why.TOPOLOGY_MISSING
    assert [(one.name, one.verdict) for one in missing.others] == [("t", Fits.FITS)]
    narrow = topology("t", ("zone", ZONE))
    lacking = check_topology(applied_to(narrow, clusterTopologyName="t"), GROUND, ())
    assert (lacking.own.verdict, lacking.own.levels) == (Fits.CANNOT, narrow.levels)


def test_tp111_what_keeps_a_set_from_another_topology() -> None:
    leaving = topology("t", deletionTimestamp="2026-11-20T09:00:00Z")
    (free,) = check_topology(applied_to(DEFAULT, leaving), GROUND, ()).others
    assert [reason.rule for reason in free.against] == [Refuse.TOPOLOGY_LEAVING]
    bound = placed(started(DEFAULT, topology("t", ("zone", ZONE))))
    (locked,) = check_topology(bound, GROUND, ()).others
    assert [reason.rule for reason in locked.against] == [Refuse.TOPOLOGY_LOCKED]
    assert (locked.verdict, locked.fit) == (Fits.CANNOT, None)


@pytest.mark.req("WL-024")
def test_tp111_a_set_of_millions_is_not_looked_at() -> None:
    raw = constrained()
    raw["spec"]["replicas"] = 2_000_000
    snapshot = told(applied(raw), DEFAULT)
    found = check_topology(snapshot, GROUND, ())
    assert (found.own.verdict, found.others) == (Fits.CANNOT, ())
    assert [reason.rule for reason in found.own.because] == [Workload.TOO_LARGE]
    (one,) = impacts(snapshot).gangs
    assert (one.fate, one.because[0].rule) == (Fate.UNKNOWN, Workload.TOO_LARGE)


def test_tp125_configured_levels_count_while_topologies_are_not_known() -> None:
    snapshot = replace(applied_to(), complete=frozenset())
    found = check_topology(snapshot, GROUND, ())
    assert (found.own.verdict, found.own.levels, found.others) == (Fits.FITS, LEVELS, ())


class TestTP103:
    """What a node may give away less what the pods on it ask for, those of the set itself left out."""

    @pytest.mark.parametrize(
        ("owner", "verdict"), [(("ml", "llm"), Fits.FITS), (("ml", "other"), Fits.CANNOT), (("x", "llm"), Fits.CANNOT)]
    )
    def test_only_others_take_room(self, owner: tuple[str, str], verdict: Fits) -> None:
        tenants = [Tenant(node.name, owner, {"pods": 11_000, "cpu": 1000}) for node in GROUND]
        assert check_topology(applied_to(DEFAULT), GROUND, tenants).own.verdict is verdict

    @pytest.mark.parametrize("status", ["Succeeded", "Failed"])
    def test_who_has_ended_or_is_on_no_node_takes_nothing(self, status: str) -> None:
        assert tenant_of({"spec": {"nodeName": "n"}, "status": {"phase": status}}) is None
        assert tenant_of({"spec": {}, "status": {"phase": "Pending"}}) is None

    def test_a_pod_as_it_takes_room(self) -> None:
        asks = {"containers": [{"resources": {"requests": {"cpu": "2"}}}]}
        meta = {"labels": {"app.kubernetes.io/part-of": "llm"}}
        found = tenant_of({"metadata": meta, "spec": {**asks, "nodeName": "n"}, "status": {"phase": "Running"}})
        assert found == Tenant("n", ("default", "llm"), {"cpu": 2000, "pods": 1000})
        asks["containers"][0]["resources"]["requests"]["cpu"] = "two"
        with pytest.raises(MalformedObject):
            tenant_of({"metadata": meta, "spec": {**asks, "nodeName": "n"}})


def test_tp106_claims_that_are_shared_through_the_set_are_claims() -> None:
    sharing = {"resourceSharing": [{"name": "x", "namespace": "other", "scope": "AllReplicas"}]}
    found = check_topology(applied_to(DEFAULT, **sharing), GROUND, ())
    assert found.own.verdict is Fits.UNDECIDED


def impacts(snapshot: Snapshot, *levels: tuple[str, str], complete: frozenset[Gap] = frozenset()) -> SetImpact:
    """Of a change of the default topology, in a cluster of one set."""
    known = frozenset({(TOPOLOGY_KIND, EVERYWHERE)}) | complete
    everything = cluster_of(
        sets=(snapshot.root,),
        groups=snapshot.groups,
        cliques=snapshot.cliques,
        gangs=snapshot.gangs,
        pods=[pod for _, pod in snapshot.pods()],
        complete=known,
    )
    cluster = replace(everything, configuration=snapshot.configuration, topologies=snapshot.topologies)
    (found,) = impact_of(cluster, topology(DEFAULT_TOPOLOGY, *levels), NOW)
    return found


class TestTP124:
    """Which PodGangs would follow, which stay as they are, and which would not be made."""

    OTHER: Final = (("zone", ZONE), ("rack", "example.com/other"), ("host", HOST))

    def fates(self, snapshot: Snapshot, *levels: tuple[str, str], complete: frozenset[Gap] = frozenset()) -> set[Fate]:
        return {gang.fate for gang in impacts(snapshot, *levels, complete=complete).gangs}

    def test_existing_gangs(self) -> None:
        pending = started(DEFAULT)
        assert self.fates(pending) == {Fate.SAME}
        assert self.fates(pending, *self.OTHER) == {Fate.FOLLOWS}
        assert self.fates(placed(pending), *self.OTHER) == {Fate.STAYS}
        assert self.fates(pending, ("zone", ZONE)) == {Fate.STAYS}

    def test_gangs_that_are_not_there(self) -> None:
        fresh = replace(started(DEFAULT), gangs=())
        gangs: frozenset[Gap] = frozenset({("PodGang", EVERYWHERE)})
        assert self.fates(fresh) == {Fate.UNKNOWN}
        assert self.fates(fresh, complete=gangs) == {Fate.MADE}
        assert self.fates(fresh, ("zone", ZONE), complete=gangs) == {Fate.WAITS}
