"""The check and the impact of one set (TP-103, TP-111, TP-123), without files or commands."""

from typing import Any, Final

import pytest

from grove_core.areas.topology.rules import FitReason, TopologyDenial, TopologyReason
from grove_core.areas.topology.verdicts import FitVerdict
from grove_core.areas.workload.rules import WorkloadReason as Workload
from grove_core.gang_fit import check_gang_fit, check_replica_fit
from grove_core.kernel.errors import MalformedObject
from grove_core.kernel.frozen import FrozenDict, FrozenMap, freeze
from grove_core.kernel.structs import replace
from grove_core.reconcile_topology import GangTopologyChange, SetTopologyImpact, topology_impacts_on_sets
from grove_core.resources.api_names import MNNVL_ENABLED, TOPOLOGY_KIND
from grove_core.resources.cluster_topology import DEFAULT_TOPOLOGY
from grove_core.resources.configuration import MnnvlConfiguration, MnnvlMode
from grove_core.resources.node import Node
from grove_core.resources.pod_demand import PodOnNode, pod_demand_of, read_pod_using_node_capacity
from grove_core.resources.pod_spec_gpus import GPU
from grove_core.snapshot.cluster import EVERYWHERE, Gap
from grove_core.snapshot.cluster_index import index_cluster
from grove_core.snapshot.snapshot import Snapshot
from tests.property.topology.sets_with_constraints import (
    HOST,
    LEVELS,
    RACK,
    ZONE,
    constrained_set,
    topology,
    unplaced_set,
    with_bound_pod,
    with_topologies,
)
from tests.property.workload.sets import NOW, applied

Json = dict[str, Any]
GROUND: Final = [
    Node(
        f"n{number}",
        FrozenDict({ZONE: "z", RACK: "r", HOST: f"n{number}"}),
        (),
        FrozenDict({"pods": 10_000, "cpu": 4000}),
    )
    for number in range(2)
]
DEFAULT: Final = topology(DEFAULT_TOPOLOGY)


def applied_to(*known: Any, **template: Any) -> Snapshot:
    return with_topologies(applied(constrained_set(**template)), *known)


@pytest.mark.req("TP-010")
@pytest.mark.req("TP-013")
def test_tp111_other_topologies_are_checked_if_the_own_one_cannot_place() -> None:
    missing = check_gang_fit(applied_to(topology("t"), clusterTopologyName="gone"), GROUND, ())
    assert (missing.own.worst_verdict, missing.own.levels) == (FitVerdict.CANNOT, ())
    assert missing.own.because[0].rule is TopologyReason.TOPOLOGY_MISSING
    assert [(one.name, one.worst_verdict) for one in missing.others] == [("t", FitVerdict.FITS)]
    narrow = topology("t", ("zone", ZONE))
    lacking = check_gang_fit(applied_to(narrow, clusterTopologyName="t"), GROUND, ())
    assert (lacking.own.worst_verdict, lacking.own.levels) == (FitVerdict.CANNOT, narrow.levels)


def test_tp111_what_keeps_a_set_from_another_topology() -> None:
    leaving = topology("t", deletionTimestamp="2026-11-20T09:00:00Z")
    (free,) = check_gang_fit(applied_to(DEFAULT, leaving), GROUND, ()).others
    assert [reason.rule for reason in free.switch_refusals] == [TopologyDenial.TOPOLOGY_BEING_DELETED]
    bound = with_bound_pod(unplaced_set(DEFAULT, topology("t", ("zone", ZONE))))
    (locked,) = check_gang_fit(bound, GROUND, ()).others
    assert [reason.rule for reason in locked.switch_refusals] == [TopologyDenial.TOPOLOGY_LOCKED]
    assert (locked.worst_verdict, locked.fit) == (FitVerdict.CANNOT, None)


@pytest.mark.req("WL-024")
@pytest.mark.req("TP-128")
def test_tp111_a_set_of_millions_is_not_checked() -> None:
    raw = constrained_set()
    raw["spec"]["replicas"] = 2_000_000
    snapshot = with_topologies(applied(raw), DEFAULT)
    found = check_gang_fit(snapshot, GROUND, ())
    assert (found.own.worst_verdict, found.others) == (FitVerdict.UNDECIDED, ())
    assert found.own.name == DEFAULT_TOPOLOGY
    assert [reason.rule for reason in found.own.because] == [Workload.TOO_LARGE]
    assert not found.all_gangs_fit
    assert check_replica_fit(snapshot, snapshot.root.ref.at_replica(0), GROUND) is None
    (one,) = impacts(snapshot).gangs
    assert (one.change, one.because[0].rule) == (GangTopologyChange.UNKNOWN, Workload.TOO_LARGE)


def test_tp111_another_topology_whose_order_admission_would_refuse() -> None:
    """The set packs a clique by host, and by that topology a host is broader than a zone."""
    upside_down = topology("t", ("host", HOST), ("rack", RACK), ("zone", ZONE))
    (other,) = check_gang_fit(applied_to(DEFAULT, upside_down), GROUND, ()).others
    assert {reason.rule for reason in other.switch_refusals} == {TopologyDenial.BROADER_THAN_PARENT}
    (same,) = check_gang_fit(applied_to(DEFAULT, topology("t")), GROUND, ()).others
    assert same.switch_refusals == ()


def test_tp128_a_topology_that_is_not_in_the_input_may_exist() -> None:
    snapshot = replace(applied_to(clusterTopologyName="t"), complete=frozenset())
    found = check_gang_fit(snapshot, GROUND, ())
    assert (found.own.worst_verdict, found.own.fit, found.all_gangs_fit) == (FitVerdict.UNDECIDED, None, False)
    assert [reason.rule for reason in found.own.because] == [
        TopologyReason.TOPOLOGY_NOT_COLLECTED,
        TopologyReason.TOPOLOGY_NAMED,
        FitReason.TOPOLOGIES_TO_ADD,
    ]


@pytest.mark.req("TP-111")
class TestObjectionsToASetThatWouldFit:
    """Where a set is not in the cluster yet and admission would refuse its topology or constraints, ``grove topology
    check`` MUST print the objections.
    """

    BROADER: Final = {"pack": {"required": "host", "preferred": "host"}}

    def test_a_part_that_is_broader_than_the_whole(self) -> None:
        snapshot = applied_to(DEFAULT, topologyConstraint=self.BROADER)
        snapshot = replace(snapshot, root=replace(snapshot.root, uid=""))
        found = check_gang_fit(snapshot, GROUND, ())
        assert {one.reason.rule for one in found.objections} == {TopologyDenial.BROADER_THAN_PARENT}
        assert found.own.worst_verdict is FitVerdict.FITS
        assert not found.all_gangs_fit

    def test_an_existing_set_was_admitted(self) -> None:
        found = check_gang_fit(applied_to(DEFAULT, topologyConstraint=self.BROADER), GROUND, ())
        assert (found.objections, found.all_gangs_fit) == ((), True)

    def test_a_set_that_cannot_be_placed_gets_no_objections(self) -> None:
        snapshot = applied_to(topology("t"), clusterTopologyName="gone")
        found = check_gang_fit(replace(snapshot, root=replace(snapshot.root, uid="")), GROUND, ())
        assert (found.own.worst_verdict, found.objections) == (FitVerdict.CANNOT, ())


def test_tp121_configured_levels_count_while_topologies_are_unknown() -> None:
    snapshot = replace(applied_to(), complete=frozenset())
    found = check_gang_fit(snapshot, GROUND, ())
    assert (found.own.worst_verdict, found.own.levels, found.others) == (FitVerdict.FITS, LEVELS, ())


class TestTP103:
    """A node's free capacity MUST be what it can allocate minus the requests of the pods on it that are not of the set.
    Requests, taints, node selectors and required node affinity count as for a scheduler. If the input has no pods, the
    output says so.
    """

    @pytest.mark.parametrize(
        ("owner", "verdict"),
        [(("ml", "llm"), FitVerdict.FITS), (("ml", "other"), FitVerdict.CANNOT), (("x", "llm"), FitVerdict.CANNOT)],
    )
    def test_only_pods_of_other_sets_are_subtracted(self, owner: tuple[str, str], verdict: FitVerdict) -> None:
        tenants = [PodOnNode(node.name, owner, FrozenDict({"pods": 11_000, "cpu": 1000})) for node in GROUND]
        assert check_gang_fit(applied_to(DEFAULT), GROUND, tenants).own.worst_verdict is verdict

    @pytest.mark.parametrize("status", ["Succeeded", "Failed"])
    def test_finished_and_unbound_pods_are_not_subtracted(self, status: str) -> None:
        assert read_pod_using_node_capacity({"spec": {"nodeName": "n"}, "status": {"phase": status}}) is None
        assert read_pod_using_node_capacity({"spec": {}, "status": {"phase": "Pending"}}) is None

    def test_the_amounts_of_a_pod_on_a_node(self) -> None:
        asks = {"containers": [{"resources": {"requests": {"cpu": "2"}}}]}
        owner = {"kind": "PodClique", "name": "llm-0-a", "uid": "u", "controller": True}
        meta = {"labels": {"app.kubernetes.io/part-of": "llm"}, "ownerReferences": [owner]}
        found = read_pod_using_node_capacity(
            {"metadata": meta, "spec": {**asks, "nodeName": "n"}, "status": {"phase": "Running"}}
        )
        assert found == PodOnNode("n", ("default", "llm"), FrozenDict({"cpu": 2000, "pods": 1000}))
        for other in ({**owner, "kind": "ReplicaSet"}, {**owner, "controller": False}):  # a label does not decide (D22)
            one = {**meta, "ownerReferences": [other]}
            unowned = read_pod_using_node_capacity({"metadata": one, "spec": {"nodeName": "n"}})
            assert unowned is not None
            assert unowned.owner == ("default", "")
        asks["containers"][0]["resources"]["requests"]["cpu"] = "two"
        with pytest.raises(MalformedObject):
            read_pod_using_node_capacity({"metadata": meta, "spec": {**asks, "nodeName": "n"}})


def test_tp106_claims_that_are_shared_through_the_set_are_claims() -> None:
    sharing = {"resourceSharing": [{"name": "x", "namespace": "other", "scope": "AllReplicas"}]}
    found = check_gang_fit(applied_to(DEFAULT, **sharing), GROUND, ())
    assert found.own.worst_verdict is FitVerdict.UNDECIDED


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
    assert check_gang_fit(snapshot, WITH_GPUS, ()).own.worst_verdict is FitVerdict.FITS
    reported_so = replace(snapshot.configuration, mnnvl=MnnvlConfiguration(enabled=True, mode=mode))
    own = check_gang_fit(replace(snapshot, configuration=reported_so), WITH_GPUS, ()).own
    assert own.worst_verdict is verdict
    sentences = [gang.result.because[0].sentence for gang in own.fit.gangs] if own.fit is not None else []
    assert any("resource claims" in sentence for sentence in sentences) is (verdict is FitVerdict.UNDECIDED)


WITH_GPUS: Final = [replace(node, amounts=FrozenDict({**node.amounts, GPU: 100_000})) for node in GROUND]


def with_gpus(snapshot: Snapshot, annotations: dict[str, str]) -> Snapshot:
    """A set each pod of which asks for a GPU."""
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
def test_tp106_anti_affinity_of_other_pods_is_not_checked(
    namespace: str, term: Json | None, verdict: FitVerdict
) -> None:
    required = [{"labelSelector": {}, "topologyKey": HOST, **term}] if term is not None else []
    away = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}}
    raw = {"metadata": {"namespace": namespace}, "spec": {"nodeName": "n0", "affinity": away, "containers": []}}
    tenant = read_pod_using_node_capacity(raw)
    assert tenant is not None
    found = check_gang_fit(applied_to(DEFAULT), GROUND, [tenant]).own
    assert found.worst_verdict is verdict
    assert found.fit is not None
    words = {dict(why.facts).get("what") for gang in found.fit.gangs for why in gang.result.because}
    assert ("pods on nodes that keep others away" in words) is (verdict is FitVerdict.UNDECIDED)
    own = tenant._replace(owner=("ml", "llm"))
    assert check_gang_fit(applied_to(DEFAULT), GROUND, [own]).own.worst_verdict is FitVerdict.FITS


@pytest.mark.req("PL-040")
def test_tp111_a_replica_without_gangs_has_no_fit() -> None:
    snapshot = applied_to(DEFAULT)
    assert check_replica_fit(snapshot, snapshot.root.ref.at_replica(0), GROUND) is not None
    assert check_replica_fit(snapshot, snapshot.root.ref.at_replica(9), GROUND) is None


def test_tp106_a_runtime_class_may_ask_for_more() -> None:
    assert pod_demand_of({"runtimeClassName": "kata"}).unchecked == ("a class of runtimes",)


def impacts(
    snapshot: Snapshot,
    *levels: tuple[str, str],
    complete: frozenset[Gap] = frozenset(),
    gaps: frozenset[Gap] = frozenset(),
) -> SetTopologyImpact:
    """The impact of a change of the default topology in a cluster of one set."""
    known = frozenset({(TOPOLOGY_KIND, EVERYWHERE)}) | complete
    everything = index_cluster(
        sets=(snapshot.root,),
        groups=snapshot.groups,
        cliques=snapshot.cliques,
        gangs=snapshot.gangs,
        pods=[pod for _, pod in snapshot.pods()],
        complete=known,
        gaps=gaps,
    )
    cluster = replace(everything, configuration=snapshot.configuration, topologies=snapshot.topologies)
    (found,) = topology_impacts_on_sets(cluster, topology(DEFAULT_TOPOLOGY, *levels), NOW)
    return found


@pytest.mark.req("TP-123")
class TestTheImpactByPodGang:
    """For a change, `grove topology impact` MUST report which PodGangs would follow it, which stay as they are, and
    which would be withheld.
    """

    OTHER: Final = (("zone", ZONE), ("rack", "example.com/other"), ("host", HOST))

    def changes(
        self, snapshot: Snapshot, *levels: tuple[str, str], complete: frozenset[Gap] = frozenset()
    ) -> set[GangTopologyChange]:
        return {gang.change for gang in impacts(snapshot, *levels, complete=complete).gangs}

    def test_existing_gangs(self) -> None:
        pending = unplaced_set(DEFAULT)
        assert self.changes(pending) == {GangTopologyChange.SAME}
        assert self.changes(pending, *self.OTHER) == {GangTopologyChange.FOLLOWS}
        assert self.changes(with_bound_pod(pending), *self.OTHER) == {GangTopologyChange.STAYS}
        assert self.changes(pending, ("zone", ZONE)) == {GangTopologyChange.STAYS}

    def test_pods_may_be_placed_where_podcliques_were_not_collected(self) -> None:
        without = replace(unplaced_set(DEFAULT), cliques=(), pods_of=FrozenDict())
        gaps: frozenset[Gap] = frozenset({("PodClique", EVERYWHERE)})
        found = {one.change for one in impacts(without, *self.OTHER, gaps=gaps).gangs}
        assert found == {GangTopologyChange.UNKNOWN}
        same = {one.change for one in impacts(without, gaps=gaps).gangs}
        assert same == {GangTopologyChange.SAME}

    def test_without_topologies_nothing_follows(self) -> None:
        off = unplaced_set(DEFAULT)
        disabled = replace(off.configuration, topology=replace(off.configuration.topology, enabled=False))
        off = replace(off, configuration=disabled)
        assert self.changes(off, *self.OTHER) == {GangTopologyChange.SAME}
        known: frozenset[Gap] = frozenset({("PodGang", EVERYWHERE)})
        assert self.changes(replace(off, gangs=()), *self.OTHER, complete=known) == {GangTopologyChange.MADE}

    def test_gangs_that_do_not_exist(self) -> None:
        fresh = replace(unplaced_set(DEFAULT), gangs=())
        gangs: frozenset[Gap] = frozenset({("PodGang", EVERYWHERE)})
        assert self.changes(fresh) == {GangTopologyChange.UNKNOWN}
        assert self.changes(fresh, complete=gangs) == {GangTopologyChange.MADE}
        assert self.changes(fresh, ("zone", ZONE), complete=gangs) == {GangTopologyChange.WAITS}


def test_tp111_objections_by_the_levels_of_the_other_topology_are_reported() -> None:
    """A clique with a zone constraint in a gang with a rack constraint."""
    raw = constrained_set(clusterTopologyName="t", topologyConstraint={"packDomain": "rack"})
    raw["spec"]["template"]["cliques"][0]["topologyConstraint"] = {"packDomain": "zone"}
    seen = with_topologies(applied(raw), topology("t"))
    new = replace(seen, root=replace(seen.root, uid=""))
    found = check_gang_fit(new, GROUND, ())
    assert [one.reason.rule for one in found.objections] == [TopologyDenial.BROADER_THAN_PARENT]


def test_tp109_groups_of_one_gang_have_preferences_of_their_own() -> None:
    raw = constrained_set(topologyConstraint=None)
    template = raw["spec"]["template"]
    del template["cliques"][0]["topologyConstraint"]
    template["podCliqueScalingGroups"] = [
        {"name": name, "cliqueNames": [member], "topologyConstraint": {"pack": {"preferred": "rack"}}}
        for name, member in (("one", "a"), ("two", "b"))
    ]
    fit = check_gang_fit(with_topologies(applied(raw), DEFAULT), GROUND, ()).own.fit
    assert fit is not None
    assert [promise.of for promise, _ in fit.gangs[0].preferred] == ["llm-0-one-0", "llm-0-two-0"]
