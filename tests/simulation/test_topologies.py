"""Topologies in simulations: writes, reconciliation, what admission sees, and placement of gangs."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grove_core.kernel.frozen import FrozenMap
from grove_core.kernel.steps import Apply, AttemptOutcome, Step, StepStage
from grove_core.kernel.structs import replace
from grove_core.resources.api_names import TOPOLOGY_FINALIZER
from grove_core.resources.cluster_topology import ClusterTopology, topology_ref
from grove_core.resources.podgang import GangPackConstraint, PodGang
from grove_shell.simulator.cluster.simulated_cluster import is_live_pod
from grove_shell.simulator.promise_violation import PromiseViolated
from grove_shell.simulator.recording.simulation_history import (
    EntryKind,
    NoteKind,
    RefusedApplyHistoryEntry,
    UnplacedGangHistoryEntry,
    WriteEffect,
)
from grove_shell.simulator.scenario.scenario import Scenario
from grove_shell.simulator.scenario.scenario_field_types import WRITTEN
from grove_shell.simulator.simulation import Simulation
from grove_shell.simulator.simulation_run import SimulationResult
from grove_shell.simulator.virtual_time import SECOND
from grove_shell.views.simulation.simulation_run_document import history_entry_fields
from grove_shell.views.simulation.simulation_timeline import simulation_timeline_page
from tests.oracles import checked
from tests.simulation.sample_sets import clique_raw, scenario_of, set_raw
from tests.simulation.scenario_files import faults, read

Json = dict[str, Any]
RACK, HOST = "example.com/rack", "kubernetes.io/hostname"
LEVELS = (("rack", RACK), ("host", HOST))


def topology(name: str, levels: tuple[tuple[str, str], ...] = LEVELS, kind: str = "ClusterTopology") -> Json:
    spec = {"levels": [{"domain": domain, "key": key} for domain, key in levels]}
    return {"apiVersion": "grove.io/v1alpha1", "kind": kind, "metadata": {"name": name}, "spec": spec}


def on(levels: tuple[tuple[str, str], ...] = LEVELS, *, enabled: bool = True) -> Json:
    reported = [{"domain": domain, "key": key} for domain, key in levels]
    return {"topologyAwareScheduling": {"enabled": enabled, "levels": reported}}


def packed(*cliques: Json, name: str = "shelves", domain: str = "rack", how: str = "required", **more: Any) -> Json:
    found = set_raw(*(cliques or (clique_raw("a", 3, 3),)), **more)
    template = found["spec"]["template"]
    for clique in template["cliques"]:
        clique["spec"]["podSpec"]["schedulerName"] = "kai-scheduler"
    if name:
        template["clusterTopologyName"] = name
    if domain:
        template["topologyConstraint"] = {"pack": {how: domain}}
    return found


def scenario(manifest: Json, *events: Json, racks: tuple[int, ...] = (2, 3), gpus: int = 1, **more: Any) -> Scenario:
    raw = scenario_of(manifest).as_json
    raw["spec"] |= {
        "nodes": [
            {"name": f"n{rack}", "count": count, "labels": {RACK: f"r{rack}"}, "capacity": {"gpu": str(gpus)}}
            for rack, count in enumerate(racks)
        ],
        "topologies": [topology("shelves")],
        "operator": on(),
        "events": list(events),
        **more,
    }
    return Scenario.model_validate(raw, context=WRITTEN)


def played(manifest: Json, *events: Json, **more: Any) -> tuple[Simulation, SimulationResult]:
    simulation = Simulation(scenario(manifest, *events, **more), checked())
    run = simulation.run()
    assert run.violation is None, run.violation
    return simulation, run


def racks_of(simulation: Simulation, clique: str = "") -> list[str]:
    """Return the racks of the pods, sorted; empty for a pod without a node."""
    names = {item.uid: item.ref.name for item in simulation.cluster.all_cliques()}
    pods = (
        pod for pod in simulation.cluster.all_pods() if is_live_pod(pod) and names[pod.owner_uid].startswith(clique)
    )
    return sorted(simulation.nodes[pod.node].labels[RACK] if pod.node else "" for pod in pods)


def kept(simulation: Simulation, name: str) -> ClusterTopology | None:
    found = simulation.cluster.server.items.get(topology_ref(name))
    return found if isinstance(found, ClusterTopology) else None


def gang(simulation: Simulation, name: str) -> PodGang:
    found = simulation.cluster.find_object("PodGang", name)
    assert isinstance(found, PodGang)
    return found


def entries_of(run: SimulationResult, what: EntryKind) -> list[str]:
    found = []
    for content in (one.content for one in run.history.entries if one.kind is what):
        _, _, detail, because = history_entry_fields(content)
        found.append(" ".join((str(content.subject), detail, *because)))
    return found


@pytest.mark.req("SM-020")
class TestRequiredLabels:
    """Pods for which a label is required share one value of it."""

    def test_sm020_a_gang_goes_where_all_of_it_fits(self) -> None:
        assert racks_of(played(packed())[0]) == ["r1"] * 3

    def test_sm020_or_nowhere(self) -> None:
        simulation, run = played(packed(), racks=(2, 2))
        assert racks_of(simulation) == [""] * 3
        assert (
            f"it needs nodes for 3 pods at once, and there are none so near by {RACK}"
            in entries_of(run, UnplacedGangHistoryEntry)[0]
        )

    def test_sm020_of_two_racks_with_room_the_fuller_is_taken(self) -> None:
        assert racks_of(played(packed(), racks=(4, 3))[0]) == ["r1"] * 3

    def test_sm020_a_later_pod_is_placed_with_the_placed_ones(self) -> None:
        """The recreated pod waits for its rack, although the other one has room."""
        events: list[Json] = [
            {"at": "20s", "cordon": {"of": {"clique": "llm-0-a", "index": 0}}},
            {"at": "30s", "deletePod": {"clique": "llm-0-a", "index": 0}},
        ]
        patient = packed(terminationDelay="1h")
        simulation, _ = played(patient, *events, until="2m")
        assert racks_of(simulation) == ["", "r1", "r1"]
        back = {"at": "1m", "addNodes": {"name": "more", "labels": {RACK: "r1"}, "capacity": {"gpu": "1"}}}
        assert racks_of(played(patient, *events, back)[0]) == ["r1"] * 3

    def test_sm020_a_node_without_the_label_is_in_no_rack(self) -> None:
        simulation, _ = played(packed(domain="rack"), nodes=[{"name": "n", "count": 5, "capacity": {"gpu": "1"}}])
        assert not any(pod.node for pod in simulation.cluster.all_pods())

    def test_sm020_cliques_each_by_themselves(self) -> None:
        one = {**clique_raw("a", 2, 2), "topologyConstraint": {"packDomain": "rack"}}
        other = {**clique_raw("b", 3, 3), "topologyConstraint": {"packDomain": "rack"}}
        simulation, _ = played(packed(one, other, domain=""))
        assert (racks_of(simulation, "llm-0-a"), racks_of(simulation, "llm-0-b")) == (["r0"] * 2, ["r1"] * 3)

    def test_sm020_group_replicas_each_by_themselves(self) -> None:
        group = {
            "name": "g",
            "cliqueNames": ["b"],
            "replicas": 3,
            "minAvailable": 2,
            "topologyConstraint": {"packDomain": "rack"},
        }
        cliques = (clique_raw("a", 1, 1), clique_raw("b", 2, 2))
        simulation, _ = played(packed(*cliques, domain="", groups=(group,)), racks=(2, 2, 3))
        racks = [racks_of(simulation, f"llm-0-g-{index}") for index in range(3)]
        assert all(len(set(found)) == 1 for found in racks)
        assert len({found[0] for found in racks}) == 3

    @settings(max_examples=60)
    @given(st.lists(st.integers(1, 4), min_size=1, max_size=4), st.integers(1, 4), st.integers(0, 3), st.integers(1, 2))
    def test_sm020_a_gang_that_fits_is_placed(self, racks: list[int], pods: int, extra: int, gpus: int) -> None:
        """Promise B6 is checked; a gang that fits into the largest rack is placed."""
        manifest = packed(clique_raw("a", pods + extra, pods))
        simulation, _ = played(manifest, racks=tuple(racks), gpus=gpus)
        standing = [rack for rack in racks_of(simulation) if rack]
        assert len(set(standing)) <= 1
        assert len(standing) >= pods if pods <= max(racks) * gpus else not standing


@pytest.mark.req("SM-020")
class TestPreferredLabels:
    """Pods for which a label is preferred share one value of it where they fit."""

    def test_sm020_one_rack_where_there_is_one(self) -> None:
        assert racks_of(played(packed(how="preferred"))[0]) == ["r1"] * 3

    def test_sm020_and_two_where_there_is_none(self) -> None:
        assert racks_of(played(packed(how="preferred"), racks=(2, 2))[0]) == ["r0", "r0", "r1"]


def test_sm020_without_gang_awareness_nothing_is_packed() -> None:
    simulation, _ = played(packed(), racks=(2, 2), scheduler={"gangAware": False})
    assert racks_of(simulation) == ["r0", "r0", "r1"]
    assert gang(simulation, "llm-0").placement.gang.required == RACK


def test_sm064_a_pod_that_is_bound_away_from_its_gang_is_found() -> None:
    simulation, _ = played(packed())
    (pod, *_) = simulation.cluster.all_pods()
    simulation.cluster.put_pod(replace(pod, node=""))
    simulation.cluster.deliver_changes()
    simulation.cluster.put_pod(replace(pod, node="n0-0"))
    with pytest.raises(PromiseViolated) as found:
        simulation.cluster.deliver_changes()
    assert found.value.violation.code == "B6"


def test_sm064_a_pod_is_not_bound_away_by_what_its_gang_requires_of_others() -> None:
    """Their requirement may change after the binding: the scheduler's writes are observed later."""
    simulation, _ = played(packed(clique_raw("a", 2, 2), clique_raw("b", 1, 1), domain=""))
    found = gang(simulation, "llm-0")
    near = found.placement._replace(cliques=(("llm-0-a", GangPackConstraint(RACK, "")),))
    simulation.cluster.put_object(replace(found, placement=near))
    far = [pod for pod in simulation.cluster.all_pods() if "-a-" in pod.name]
    for pod, node in zip(far, ("n0-0", "n1-0"), strict=True):
        simulation.cluster.put_pod(replace(pod, node=node))
    (other,) = (pod for pod in simulation.cluster.all_pods() if "-b-" in pod.name)
    simulation.cluster.put_pod(replace(other, node=""))
    simulation.cluster.deliver_changes()
    simulation.cluster.put_pod(replace(other, node="n0-1"))
    simulation.cluster.deliver_changes()
    simulation.cluster.put_pod(replace(far[0], node=""))
    simulation.cluster.deliver_changes()
    simulation.cluster.put_pod(replace(far[0], node="n0-0"))
    with pytest.raises(PromiseViolated) as wrong:
        simulation.cluster.deliver_changes()
    assert wrong.value.violation.code == "B6"


@pytest.mark.req("SM-011")
class TestTopologyReconciliation:
    """The operator reconciles topologies as it does sets."""

    @pytest.mark.parametrize("write", range(1, 8))
    @pytest.mark.parametrize("committed", [True, False])
    def test_sm011_an_operator_that_crashes_comes_to_the_same_end(self, write: int, *, committed: bool) -> None:
        crash = {"at": "0s", "crashOperator": {"write": write, "committed": committed, "down": "1s"}}
        simulation, _ = played(packed(), crash)
        found, default = kept(simulation, "shelves"), kept(simulation, "grove-topology")
        assert found is not None
        assert found.finalizers == (TOPOLOGY_FINALIZER,)
        assert default is not None
        assert default.finalizers == ()

    def test_sm011_a_refused_write_is_tried_again(self) -> None:
        refuse = {"at": "0s", "refuseWrites": {"code": 403, "kind": "ClusterTopology", "writes": 3}}
        simulation, run = played(packed(), refuse)
        found = kept(simulation, "shelves")
        assert found is not None
        assert found.finalizers == (TOPOLOGY_FINALIZER,)
        assert any("ClusterTopology" in line for line in entries_of(run, WriteEffect.FAILED))

    def test_sm011_a_cache_that_stands_still_is_waited_for(self) -> None:
        lag = {"at": "0s", "lagCache": {"kinds": ["ClusterTopology"], "span": "20s"}}
        _, run = played(packed(), lag)
        writes = [change for change in run.changes if change.kind == "ClusterTopology" and change.before is not None]
        assert [change.at >= 20 * SECOND for change in writes] == [True]

    def test_sm011_a_second_leader_does_no_harm(self) -> None:
        old = {"at": "100ms", "secondLeader": {"span": "15s", "every": "1s"}}
        simulation, _ = played(packed(), old, {"at": "5s", "deleteSet": {"name": "llm"}})
        found = kept(simulation, "shelves")
        assert found is not None
        assert found.finalizers == ()

    def test_sm011_a_binding_is_looked_after_as_well(self) -> None:
        simulation, _ = played(packed(), topologies=[topology("shelves", kind="ClusterTopologyBinding")])
        found = simulation.cluster.find_object("ClusterTopologyBinding", "shelves")
        assert found is not None
        assert found.finalizers == (TOPOLOGY_FINALIZER,)

    @pytest.mark.req("TP-085")
    def test_sm011_an_operators_write_is_admitted_too(self) -> None:
        """A write of other levels to the default topology is refused."""
        simulation, _ = played(packed())
        found = kept(simulation, "grove-topology")
        assert found is not None
        fields = FrozenMap({"spec": FrozenMap({"levels": (FrozenMap({"domain": "rack", "key": RACK}),)})})
        answer = simulation.cluster.attempt_step(Step(StepStage.WORKLOAD, found.ref, Apply(fields, found.guard), ()))
        assert (answer.outcome, answer.detail[:3]) == (AttemptOutcome.REFUSED, "422")
        gone = replace(found.ref, name="gone")
        answer = simulation.cluster.attempt_step(Step(StepStage.WORKLOAD, gone, Apply(fields, found.guard), ()))
        assert answer.outcome is AttemptOutcome.CONFLICT

    @pytest.mark.req("SM-080")
    def test_sm011_what_is_being_deleted_takes_no_new_finalizer(self) -> None:
        simulation, _ = played(packed(), {"at": "20s", "deleteTopology": {"name": "shelves"}})
        found = kept(simulation, "shelves")
        assert found is not None
        assert found.deleting
        fields = FrozenMap({"metadata": FrozenMap({"finalizers": (TOPOLOGY_FINALIZER, "example.com/mine")})})
        answer = simulation.cluster.attempt_step(Step(StepStage.WORKLOAD, found.ref, Apply(fields, found.guard), ()))
        assert answer.outcome is AttemptOutcome.REFUSED


@pytest.mark.req("SM-002")
class TestTopologyAdmission:
    """Writes of topologies and of sets that name one are admitted as the webhooks decide."""

    def test_sm002_a_topology_that_is_applied_twice_keeps_what_is_on_it(self) -> None:
        labelled = topology("shelves")
        labelled["metadata"]["labels"] = {"example.com/team": "network"}
        simulation, run = played(packed(), {"at": "20s", "applyTopology": {"manifest": labelled}})
        found = kept(simulation, "shelves")
        assert found is not None
        assert (found.finalizers, dict(found.labels)) == ((TOPOLOGY_FINALIZER,), {"example.com/team": "network"})
        assert run.history.refused == 0

    @pytest.mark.parametrize(
        "manifest",
        [topology("new", ()), {"kind": "ClusterTopology", "metadata": {"name": 7}}, {"metadata": None}],
        ids=["no levels", "no name", "nothing"],
    )
    def test_sm002_what_is_wrong_is_refused(self, manifest: Json) -> None:
        _, run = played(packed(), {"at": "20s", "applyTopology": {"manifest": manifest}})
        assert run.history.refused == 1
        assert entries_of(run, RefusedApplyHistoryEntry)[0].startswith("None ClusterTopology")

    def test_sm002_an_unknown_topology_cannot_be_deleted(self) -> None:
        again: list[Json] = [{"at": at, "deleteTopology": {"name": "shelves"}} for at in ("20s", "30s")]
        simulation, run = played(packed(), *again)
        assert "ClusterTopology shelves is being deleted already" in entries_of(run, NoteKind.NO_EFFECT)[0]
        _, run = played(packed(name=""), *again)
        assert "there is no ClusterTopology shelves" in entries_of(run, NoteKind.NO_EFFECT)[0]
        assert kept(simulation, "shelves") is not None

    def test_sm002_a_topology_that_is_made_again_is_another_one(self) -> None:
        events: list[Json] = [
            {"at": "20s", "deleteTopology": {"name": "shelves"}},
            {"at": "30s", "applyTopology": {"manifest": topology("shelves")}},
        ]
        simulation, run = played(packed(name=""), *events)
        uids = {change.latest_object.uid for change in run.changes if change.latest_object.ref.name == "shelves"}
        assert len(uids) == 2
        assert kept(simulation, "shelves") is not None


@pytest.mark.req("SM-011")
class TestLaggingAdmission:
    """Admission sees topologies and their users as late as ````admission.watch```` says."""

    MOVES = (
        {"at": "10s", "applySet": {"manifest": packed()}},
        {"at": "14s", "applySet": {"manifest": packed(name="other")}},
    )

    @pytest.mark.parametrize(("watch", "refused"), [("0s", 1), ("1s", 1), ("5s", 0)])
    def test_sm011_a_set_admitted_by_an_old_view_gets_its_condition(self, watch: str, refused: int) -> None:
        """The pods are bound and observed after two seconds; admission does not see it yet (TP5)."""
        both = [topology("shelves"), topology("other", (("rack", "example.com/shelf"),))]
        simulation, run = played(packed(), *self.MOVES, sets=[], topologies=both, admission={"watch": watch})
        assert run.history.refused == refused
        assert gang(simulation, "llm-0").placement.topology == "shelves"
        page = simulation_timeline_page(run).plain_text
        assert ("TopologyInSync=False (PlacedOtherwise)" in page) == (not refused)

    @pytest.mark.req("SM-070")
    def test_sm011_a_topology_that_had_gone(self) -> None:
        """It is deleted when the set is admitted: until it exists again no gang is created, as the condition says."""
        late = packed()
        late["metadata"]["name"] = "late"
        events: list[Json] = [
            {"at": "20s", "deleteTopology": {"name": "other"}},
            {"at": "22s", "applySet": {"manifest": {**late, "spec": packed(name="other")["spec"]}}},
            {"at": "60s", "applyTopology": {"manifest": topology("other")}},
        ]
        both = [topology("shelves"), topology("other")]
        simulation, run = played(packed(), *events, topologies=both, admission={"watch": "5s"}, racks=(3, 3))
        page = simulation_timeline_page(run).plain_text
        assert "TopologyInSync=False (TopologyMissing)" in page
        assert "its topology holds again, TopologyInSync is removed" in page
        assert racks_of(simulation, "late") == ["r1"] * 3
        made = [
            change.at
            for change in run.changes
            if change.latest_object.ref.name == "late-0" and change.kind == "PodGang"
        ]
        assert min(made) >= 60 * SECOND


class TestSM036:
    """An operator process MUST keep the configuration of its start. With MNNVL on it exits while NVIDIA's driver is not
    ``installed``, and is started again ten seconds later. A deleted ComputeDomain exists until the delay ``release`` is
    over.
    """

    def test_sm036_what_is_left_out_stays(self) -> None:
        events: list[Json] = [
            {"at": "20s", "reconfigure": {"mnnvl": {"enabled": True}, "down": "1s"}},
            {"at": "40s", "reconfigure": {**on((("host", HOST),)), "down": "1s"}},
        ]
        simulation, _ = played(packed(), *events)
        configuration = simulation.operator.configuration
        assert configuration.mnnvl.enabled
        assert [level.domain for level in configuration.topology.levels] == ["host"]

    def test_sm001_one_of_the_two_is_required(self, tmp_path: Path) -> None:
        found = faults(read(tmp_path, {"events": [{"at": "1s", "reconfigure": {"down": "1s"}}]}))
        assert found["spec.events[0].reconfigure"][0] == "mnnvl, topologyAwareScheduling, or both"


def test_sm001_all_problems_of_topologies_are_reported(tmp_path: Path) -> None:
    (tmp_path / "more.yaml").write_text("apiVersion: v1\nkind: List\nitems: []\n")
    narrow = topology("narrow", (("host", HOST), ("zone", "example.com/zone")))
    spec: Json = {
        "topologies": [topology("a"), topology("a"), narrow, {"kind": "Node"}, {"file": "more.yaml"}],
        "operator": {"topologyAwareScheduling": {"enabled": True}},
        "sets": [packed(name="b")],
        "events": [{"at": "1s", "applyTopology": {"manifest": {"file": "more.yaml"}}}],
    }
    found = faults(read(tmp_path, spec))
    assert found["spec.topologies[1].metadata.name"] == ("a name of its own", "a")
    assert "levels from broad to narrow" in found["spec.topologies[2].spec.levels[1].domain"][0]
    assert found["spec.topologies[3].kind"][0] == "ClusterTopology or ClusterTopologyBinding"
    assert found["spec.topologies[4].file"][0] == "a file with a ClusterTopology"
    assert found["spec.events[0].applyTopology"] == ("one ClusterTopology", "0 of them")
    assert found["spec.operator.topologyAwareScheduling.levels"] == ("between 1 and 16 levels", "0")


@pytest.mark.req("SM-001")
def test_sm002_sets_are_admitted_by_the_topologies_of_the_scenario(tmp_path: Path) -> None:
    spec: Json = {
        "topologies": [topology("shelves")],
        "operator": on(),
        "sets": [packed(), {**packed(name="shelve"), "metadata": {"name": "other"}}],
        "events": [{"at": "1s", "deleteTopology": {"name": "shelve"}}],
        "expect": [{"at": "end", "held": {"shelf": True}, "topologies": {"llm-7": "shelves"}}],
    }
    found = faults(read(tmp_path, spec))
    assert found.keys() == {"spec.sets[1].spec.template.clusterTopologyName"}
    assert "known: shelves, did you mean that?" in found["spec.sets[1].spec.template.clusterTopologyName"][0]
    spec["sets"] = spec["sets"][:1]
    found = faults(read(tmp_path, spec))
    assert found.keys() == {
        "spec.events[0].deleteTopology.name",
        "spec.expect[0].held.shelf",
        "spec.expect[0].topologies.llm-7",
    }
