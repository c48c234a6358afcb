"""What a check and an impact say of a set as a whole (TP-103, TP-111, TP-124), without any file or command."""

from dataclasses import replace
from typing import Any, Final

import pytest

from grove_core.areas.topology.rules import Fit, Refuse, Why
from grove_core.areas.topology.verdicts import FitVerdict
from grove_core.areas.workload.rules import Why as Workload
from grove_core.check_topology import check_topology
from grove_core.impact_topology import GangChange, SetImpact, set_impacts_of
from grove_core.kernel.errors import MalformedObject
from grove_core.kernel.frozen import FrozenMap, freeze
from grove_core.resources.api_names import MNNVL_ENABLED
from grove_core.resources.cluster_topology import DEFAULT_TOPOLOGY, TOPOLOGY_KIND
from grove_core.resources.configuration import Mnnvl, MnnvlMode
from grove_core.resources.gpus import GPU
from grove_core.resources.node import Node
from grove_core.resources.pod_demand import pod_demand_of
from grove_core.resources.pod_on_node import PodOnNode, pod_on_node_of
from grove_core.snapshot.cluster import EVERYWHERE, Gap
from grove_core.snapshot.indexing import cluster_of
from grove_core.snapshot.snapshot import Snapshot
from tests.property.topology.sets_with_constraints import (
    HOST,
    LEVELS,
    RACK,
    ZONE,
    constrained,
    placed,
    started,
    told,
    topology,
)
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
    assert (missing.own.verdict, missing.own.levels) == (FitVerdict.CANNOT, ())
    assert missing.own.because[0].rule is Why.TOPOLOGY_MISSING
    assert [(one.name, one.verdict) for one in missing.others] == [("t", FitVerdict.FITS)]
    narrow = topology("t", ("zone", ZONE))
    lacking = check_topology(applied_to(narrow, clusterTopologyName="t"), GROUND, ())
    assert (lacking.own.verdict, lacking.own.levels) == (FitVerdict.CANNOT, narrow.levels)


def test_tp111_what_keeps_a_set_from_another_topology() -> None:
    leaving = topology("t", deletionTimestamp="2026-11-20T09:00:00Z")
    (free,) = check_topology(applied_to(DEFAULT, leaving), GROUND, ()).others
    assert [reason.rule for reason in free.switch_refusals] == [Refuse.TOPOLOGY_LEAVING]
    bound = placed(started(DEFAULT, topology("t", ("zone", ZONE))))
    (locked,) = check_topology(bound, GROUND, ()).others
    assert [reason.rule for reason in locked.switch_refusals] == [Refuse.TOPOLOGY_LOCKED]
    assert (locked.verdict, locked.fit) == (FitVerdict.CANNOT, None)


@pytest.mark.req("WL-024")
@pytest.mark.req("TP-128")
def test_tp111_a_set_of_millions_is_not_looked_at() -> None:
    raw = constrained()
    raw["spec"]["replicas"] = 2_000_000
    snapshot = told(applied(raw), DEFAULT)
    found = check_topology(snapshot, GROUND, ())
    assert (found.own.verdict, found.others) == (FitVerdict.UNDECIDED, ())
    assert found.own.name == DEFAULT_TOPOLOGY
    assert [reason.rule for reason in found.own.because] == [Workload.TOO_LARGE]
    assert not found.is_success
    (one,) = impacts(snapshot).gangs
    assert (one.change, one.because[0].rule) == (GangChange.UNKNOWN, Workload.TOO_LARGE)


def test_tp111_another_topology_whose_order_admission_would_refuse() -> None:
    """The set packs a clique by host, and by that topology a host is broader than a zone."""
    upside_down = topology("t", ("host", HOST), ("rack", RACK), ("zone", ZONE))
    (other,) = check_topology(applied_to(DEFAULT, upside_down), GROUND, ()).others
    assert {reason.rule for reason in other.switch_refusals} == {Refuse.BROADER_THAN_PARENT}
    (same,) = check_topology(applied_to(DEFAULT, topology("t")), GROUND, ()).others
    assert same.switch_refusals == ()


def test_tp128_a_topology_that_is_not_in_the_input_may_be_there() -> None:
    snapshot = replace(applied_to(clusterTopologyName="t"), complete=frozenset())
    found = check_topology(snapshot, GROUND, ())
    assert (found.own.verdict, found.own.fit, found.is_success) == (FitVerdict.UNDECIDED, None, False)
    assert [reason.rule for reason in found.own.because] == [
        Why.TOPOLOGY_NOT_COLLECTED,
        Why.TOPOLOGY_NAMED,
        Fit.TOPOLOGIES_TO_ADD,
    ]


class TestTP129:
    """Where a set is not in the cluster yet and admission would refuse its topology or constraints, ``grove topology
    check`` MUST print the objections.
    """

    BROADER: Final = {"pack": {"required": "host", "preferred": "host"}}

    def test_a_part_that_is_wider_than_the_whole(self) -> None:
        snapshot = applied_to(DEFAULT, topologyConstraint=self.BROADER)
        snapshot = replace(snapshot, root=replace(snapshot.root, uid=""))
        found = check_topology(snapshot, GROUND, ())
        assert {one.reason.rule for one in found.objections} == {Refuse.BROADER_THAN_PARENT}
        assert found.own.verdict is FitVerdict.FITS
        assert not found.is_success

    def test_one_that_is_there_was_admitted(self) -> None:
        found = check_topology(applied_to(DEFAULT, topologyConstraint=self.BROADER), GROUND, ())
        assert (found.objections, found.is_success) == ((), True)

    def test_what_cannot_be_placed_is_told_already(self) -> None:
        snapshot = applied_to(topology("t"), clusterTopologyName="gone")
        found = check_topology(replace(snapshot, root=replace(snapshot.root, uid="")), GROUND, ())
        assert (found.own.verdict, found.objections) == (FitVerdict.CANNOT, ())


def test_tp125_configured_levels_count_while_topologies_are_not_known() -> None:
    snapshot = replace(applied_to(), complete=frozenset())
    found = check_topology(snapshot, GROUND, ())
    assert (found.own.verdict, found.own.levels, found.others) == (FitVerdict.FITS, LEVELS, ())


class TestTP103:
    """The free capacity of a node MUST be what it can allocate less what the pods on it ask for, pods of the set itself
    left out; without pods in the input it is what the node can allocate, and the output says so.
    """

    @pytest.mark.parametrize(
        ("owner", "verdict"),
        [(("ml", "llm"), FitVerdict.FITS), (("ml", "other"), FitVerdict.CANNOT), (("x", "llm"), FitVerdict.CANNOT)],
    )
    def test_only_others_take_room(self, owner: tuple[str, str], verdict: FitVerdict) -> None:
        tenants = [PodOnNode(node.name, owner, {"pods": 11_000, "cpu": 1000}) for node in GROUND]
        assert check_topology(applied_to(DEFAULT), GROUND, tenants).own.verdict is verdict

    @pytest.mark.parametrize("status", ["Succeeded", "Failed"])
    def test_who_has_ended_or_is_on_no_node_takes_nothing(self, status: str) -> None:
        assert pod_on_node_of({"spec": {"nodeName": "n"}, "status": {"phase": status}}) is None
        assert pod_on_node_of({"spec": {}, "status": {"phase": "Pending"}}) is None

    def test_a_pod_as_it_takes_room(self) -> None:
        asks = {"containers": [{"resources": {"requests": {"cpu": "2"}}}]}
        owner = {"kind": "PodClique", "name": "llm-0-a", "uid": "u", "controller": True}
        meta = {"labels": {"app.kubernetes.io/part-of": "llm"}, "ownerReferences": [owner]}
        found = pod_on_node_of({"metadata": meta, "spec": {**asks, "nodeName": "n"}, "status": {"phase": "Running"}})
        assert found == PodOnNode("n", ("default", "llm"), {"cpu": 2000, "pods": 1000})
        for other in ({**owner, "kind": "ReplicaSet"}, {**owner, "controller": False}):  # a label says nothing (D22)
            one = {**meta, "ownerReferences": [other]}
            of_nobody = pod_on_node_of({"metadata": one, "spec": {"nodeName": "n"}})
            assert of_nobody is not None
            assert of_nobody.owner == ("default", "")
        asks["containers"][0]["resources"]["requests"]["cpu"] = "two"
        with pytest.raises(MalformedObject):
            pod_on_node_of({"metadata": meta, "spec": {**asks, "nodeName": "n"}})


def test_tp106_claims_that_are_shared_through_the_set_are_claims() -> None:
    sharing = {"resourceSharing": [{"name": "x", "namespace": "other", "scope": "AllReplicas"}]}
    found = check_topology(applied_to(DEFAULT, **sharing), GROUND, ())
    assert found.own.verdict is FitVerdict.UNDECIDED


@pytest.mark.parametrize(
    ("mode", "annotations", "verdict"),
    [
        (MnnvlMode.OPERATOR, {}, FitVerdict.UNDECIDED),
        (MnnvlMode.OPERATOR, {MNNVL_ENABLED: "false"}, FitVerdict.FITS),
        (MnnvlMode.ANNOTATIONS, {}, FitVerdict.FITS),
        (MnnvlMode.ANNOTATIONS, {MNNVL_ENABLED: "true"}, FitVerdict.UNDECIDED),
    ],
)
def test_tp106_claims_that_grove_adds_are_claims(
    mode: MnnvlMode, annotations: dict[str, str], verdict: FitVerdict
) -> None:
    snapshot = with_gpus(applied_to(DEFAULT), annotations)
    assert check_topology(snapshot, WITH_GPUS, ()).own.verdict is FitVerdict.FITS
    told_so = replace(snapshot.configuration, mnnvl=Mnnvl(enabled=True, mode=mode))
    own = check_topology(replace(snapshot, configuration=told_so), WITH_GPUS, ()).own
    assert own.verdict is verdict
    sentences = [gang.result.because[0].sentence for gang in own.fit.gangs] if own.fit is not None else []
    assert any("resource claims" in sentence for sentence in sentences) is (verdict is FitVerdict.UNDECIDED)


WITH_GPUS: Final = [replace(node, amounts={**node.amounts, GPU: 100_000}) for node in GROUND]


def with_gpus(snapshot: Snapshot, annotations: dict[str, str]) -> Snapshot:
    """Each of its pods asks for a GPU."""
    template = snapshot.root.spec.template
    asks = freeze({"containers": [{"name": "c", "resources": {"limits": {GPU: "1"}}}]})
    cliques = tuple(
        one.model_copy(update={"spec": one.spec.model_copy(update={"pod_spec": asks})}) for one in template.cliques
    )
    changed = snapshot.root.spec.model_copy(update={"template": template.model_copy(update={"cliques": cliques})})
    root = replace(snapshot.root, spec=changed, annotations=FrozenMap(annotations))
    return replace(snapshot, root=root)


@pytest.mark.parametrize(
    ("namespace", "term", "verdict"),
    [
        ("ml", {}, FitVerdict.UNDECIDED),
        ("x", {}, FitVerdict.FITS),
        ("x", {"namespaces": ["ml"]}, FitVerdict.UNDECIDED),
        ("ml", {"namespaces": ["x"]}, FitVerdict.FITS),
        ("x", {"namespaceSelector": {}}, FitVerdict.UNDECIDED),
        ("x", None, FitVerdict.FITS),
    ],
)
def test_tp106_pods_on_nodes_may_keep_others_away(namespace: str, term: Json | None, verdict: FitVerdict) -> None:
    required = [{"labelSelector": {}, "topologyKey": HOST, **term}] if term is not None else []
    away = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}}
    raw = {"metadata": {"namespace": namespace}, "spec": {"nodeName": "n0", "affinity": away, "containers": []}}
    tenant = pod_on_node_of(raw)
    assert tenant is not None
    found = check_topology(applied_to(DEFAULT), GROUND, [tenant]).own
    assert found.verdict is verdict
    assert found.fit is not None
    words = {dict(why.facts).get("what") for gang in found.fit.gangs for why in gang.result.because}
    assert ("pods on nodes that keep others away" in words) is (verdict is FitVerdict.UNDECIDED)
    own = tenant._replace(owner=("ml", "llm"))
    assert check_topology(applied_to(DEFAULT), GROUND, [own]).own.verdict is FitVerdict.FITS


def test_tp106_a_class_of_runtimes_may_ask_for_more() -> None:
    assert pod_demand_of({"runtimeClassName": "kata"}).unseen == ("a class of runtimes",)


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
    (found,) = set_impacts_of(cluster, topology(DEFAULT_TOPOLOGY, *levels), NOW)
    return found


class TestTP124:
    """For a change, `grove topology impact` MUST report which PodGangs would follow it, which stay as they are, and
    which would be withheld.
    """

    OTHER: Final = (("zone", ZONE), ("rack", "example.com/other"), ("host", HOST))

    def fates(
        self, snapshot: Snapshot, *levels: tuple[str, str], complete: frozenset[Gap] = frozenset()
    ) -> set[GangChange]:
        return {gang.change for gang in impacts(snapshot, *levels, complete=complete).gangs}

    def test_existing_gangs(self) -> None:
        pending = started(DEFAULT)
        assert self.fates(pending) == {GangChange.SAME}
        assert self.fates(pending, *self.OTHER) == {GangChange.FOLLOWS}
        assert self.fates(placed(pending), *self.OTHER) == {GangChange.STAYS}
        assert self.fates(pending, ("zone", ZONE)) == {GangChange.STAYS}

    def test_gangs_that_are_not_there(self) -> None:
        fresh = replace(started(DEFAULT), gangs=())
        gangs: frozenset[Gap] = frozenset({("PodGang", EVERYWHERE)})
        assert self.fates(fresh) == {GangChange.UNKNOWN}
        assert self.fates(fresh, complete=gangs) == {GangChange.MADE}
        assert self.fates(fresh, ("zone", ZONE), complete=gangs) == {GangChange.WAITS}


def test_tp111_what_admission_would_refuse_by_the_levels_of_the_topology_is_told() -> None:
    """A clique that may be in any zone, of a gang that is in one rack."""
    raw = constrained(clusterTopologyName="t", topologyConstraint={"packDomain": "rack"})
    raw["spec"]["template"]["cliques"][0]["topologyConstraint"] = {"packDomain": "zone"}
    seen = told(applied(raw), topology("t"))
    new = replace(seen, root=replace(seen.root, uid=""))
    found = check_topology(new, GROUND, ())
    assert [one.reason.rule for one in found.objections] == [Refuse.BROADER_THAN_PARENT]


def test_tp108_groups_of_one_gang_have_preferences_of_their_own() -> None:
    raw = constrained(topologyConstraint=None)
    template = raw["spec"]["template"]
    del template["cliques"][0]["topologyConstraint"]
    template["podCliqueScalingGroups"] = [
        {"name": name, "cliqueNames": [member], "topologyConstraint": {"pack": {"preferred": "rack"}}}
        for name, member in (("one", "a"), ("two", "b"))
    ]
    fit = check_topology(told(applied(raw), DEFAULT), GROUND, ()).own.fit
    assert fit is not None
    assert [promise.of for promise, _ in fit.gangs[0].preferred] == ["llm-0-one-0", "llm-0-two-0"]
