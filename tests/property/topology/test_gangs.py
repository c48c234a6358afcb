"""The topology of a set, and the constraints of its PodGangs (TP-001 to TP-031)."""

from itertools import product
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grove_core.areas.topology.judge import has_bound_pods, judge_topology
from grove_core.areas.topology.rules import TopologyReason
from grove_core.areas.topology.verdicts import TopologyResolution
from grove_core.in_memory.in_memory_cluster import InMemoryCluster
from grove_core.kernel.conditions import condition_of
from grove_core.kernel.frozen import thaw_json
from grove_core.kernel.steps import SetStatus
from grove_core.kernel.structs import replace
from grove_core.plan.plan import Plan
from grove_core.plan.plan_laws import broken_laws_in_plan
from grove_core.reconcile import reconcile
from grove_core.resources.api_names import TOPOLOGY_IN_SYNC, TOPOLOGY_KIND, TOPOLOGY_NAME
from grove_core.resources.cluster_topology import DEFAULT_TOPOLOGY, ClusterTopology, TopologyLevel, effective_topologies
from grove_core.resources.configuration import DEFAULT_CONFIGURATION
from grove_core.resources.podcliqueset_spec import SetTemplate
from grove_core.resources.podgang import (
    NO_PLACEMENT,
    GangPackConstraint,
    PackedGroupReplica,
    PodGang,
    podgang_from_json,
)
from grove_core.resources.topology_usage import topology_in_template
from grove_core.snapshot.snapshot import Snapshot
from tests.property.topology.sets_with_constraints import (
    HOST,
    LEVELS,
    ON,
    RACK,
    ZONE,
    constrained_set,
    topology,
    unplaced_set,
    with_bound_pod,
    with_topologies,
)
from tests.property.workload.sets import NOW, applied, at_rest, clique_raw, set_raw


def gangs_of(snapshot: Snapshot) -> dict[str, PodGang]:
    return {gang.ref.name: gang for gang in snapshot.gangs}


def held_in(plan: Plan) -> dict[str, set[Any]]:
    gangs = (held for held in plan.withheld if held.target.kind == "PodGang")
    return {held.target.name: {reason.rule for reason in held.because} for held in gangs}


NAMES: Final = st.sampled_from(["", "aws-p5", DEFAULT_TOPOLOGY])
CONSTRAINTS: Final = st.sampled_from([None, {}, {"packDomain": "rack"}, {"topologyName": "gcp-a3", "packDomain": "x"}])


@given(NAMES, CONSTRAINTS, CONSTRAINTS, CONSTRAINTS)
@pytest.mark.req("TP-002")
@pytest.mark.req("TP-003")
def test_tp001_exactly_one_topology_or_none(name: str, top: Any, of_group: Any, of_clique: Any) -> None:
    template = SetTemplate.model_validate(
        {
            "clusterTopologyName": name,
            "topologyConstraint": top,
            "podCliqueScalingGroups": [{"name": "g", "cliqueNames": ["c"], "topologyConstraint": of_group}],
            "cliques": [{"name": "c", "spec": {}, "topologyConstraint": of_clique}],
        }
    )
    levels = [one for one in (top, of_group, of_clique) if one is not None]
    named = name or next((one["topologyName"] for one in levels if "topologyName" in one), "")
    assert topology_in_template(template).effective_topology_name == ((named or DEFAULT_TOPOLOGY) if levels else "")


@pytest.mark.req("TP-069")
def test_tp020_each_gang_has_the_keys_of_its_constraints_and_names_the_topology() -> None:
    gangs = gangs_of(unplaced_set(topology(DEFAULT_TOPOLOGY)))
    base, scaled = gangs["llm-0"], gangs["llm-0-pool-0"]
    assert base.annotations[TOPOLOGY_NAME] == scaled.annotations[TOPOLOGY_NAME] == DEFAULT_TOPOLOGY
    assert base.placement.gang == GangPackConstraint(ZONE, RACK)
    assert base.placement.cliques == (("llm-0-a", GangPackConstraint(HOST)),)
    assert base.placement.packed_groups == (
        PackedGroupReplica("llm-0-pool-0", ("llm-0-pool-0-b",), GangPackConstraint(RACK)),
    )
    assert scaled.placement.gang == GangPackConstraint(RACK)
    assert (scaled.placement.cliques, scaled.placement.packed_groups) == ((), ())


def test_tp001_the_named_topology_and_no_other() -> None:
    other = topology("aws-p5", ("zone", "z"), ("rack", "r"), ("host", "h"))
    gangs = gangs_of(unplaced_set(topology(DEFAULT_TOPOLOGY), other, clusterTopologyName="aws-p5"))
    assert gangs["llm-0"].placement.gang == GangPackConstraint("z", "r")
    assert gangs["llm-0"].placement.topology == "aws-p5"


def test_tp007_off_writes_no_constraints_and_keeps_existing_ones() -> None:
    assert {gang.placement for gang in unplaced_set(configuration=DEFAULT_CONFIGURATION).gangs} == {NO_PLACEMENT}
    off = replace(unplaced_set(topology(DEFAULT_TOPOLOGY)), configuration=DEFAULT_CONFIGURATION)
    assert judge_topology(off).resolution is TopologyResolution.OFF
    assert not reconcile(off).steps


@pytest.mark.parametrize(
    ("name", "known", "rule", "words"),
    [
        ("gcp-a3", [topology("aws-p5")], TopologyReason.TOPOLOGY_MISSING, "aws-p5"),
        ("", [topology(DEFAULT_TOPOLOGY, ("zone", "z"), ("host", "h"))], TopologyReason.DOMAIN_MISSING, "zone, host"),
    ],
)
@pytest.mark.req("TP-011")
def test_tp010_gangs_are_withheld_and_the_reason_lists_known_topologies(
    name: str, known: list[ClusterTopology], rule: TopologyReason, words: str
) -> None:
    waiting = unplaced_set(*known, clusterTopologyName=name)
    assert not waiting.gangs
    plan = reconcile(waiting)
    held = {one.target.name: one for one in plan.withheld if one.target.kind == "PodGang"}
    assert held.keys() == {"llm-0", "llm-0-pool-0"}
    assert all(one.because[0].rule is rule and words in one.because[0].sentence for one in held.values())
    assert not any("Pod" in step.target.kind and step.target.kind == "Pod" for step in plan.steps)


def test_tp010_existing_gangs_are_not_changed() -> None:
    running = with_bound_pod(unplaced_set(topology("aws-p5"), clusterTopologyName="aws-p5"))
    steps = reconcile(with_topologies(running)).steps
    assert all(isinstance(step.action, SetStatus) for step in steps)
    assert any(reason.rule is TopologyReason.TOPOLOGY_TROUBLE for step in steps for reason in step.because)


def test_tp010_the_configured_default_counts_until_it_is_created() -> None:
    """The plan of the set is the same before and after; a problem that ends in the same round is not reported."""
    before, after = unplaced_set(), unplaced_set(topology(DEFAULT_TOPOLOGY))
    assert gangs_of(before).keys() == gangs_of(after).keys()
    assert all(gang.placement == gangs_of(after)[name].placement for name, gang in gangs_of(before).items())
    assert condition_of(before.root.status.conditions, TOPOLOGY_IN_SYNC) is None


def test_tp010_the_reason_suggests_a_known_topology() -> None:
    waiting = with_topologies(applied(constrained_set(clusterTopologyName="aws-p4")), topology("aws-p5"))
    judged = judge_topology(waiting)
    assert judged.name == "aws-p4"
    assert "known: aws-p5, did you mean that?" in judged.because[0].sentence


@pytest.mark.parametrize(("name", "standing"), [("aws-p5", TopologyResolution.UNKNOWN), ("", TopologyResolution.USED)])
def test_tp013_not_collected_is_not_absent(name: str, standing: TopologyResolution) -> None:
    blind = with_topologies(applied(constrained_set(clusterTopologyName=name)))
    blind = replace(blind, complete=blind.complete - {TOPOLOGY_KIND})
    assert judge_topology(blind).resolution is standing
    assert condition_of(at_rest(blind).root.status.conditions, TOPOLOGY_IN_SYNC) is None


@pytest.mark.parametrize("kind", [TOPOLOGY_KIND, "ClusterTopologyBinding"])
def test_tp049_a_binding_is_a_topology_and_a_cluster_topology_takes_precedence(kind: str) -> None:
    both = (topology("t", ("zone", "b"), kind="ClusterTopologyBinding"), topology("t", ("zone", "a")))
    assert (
        effective_topologies(both)["t"].levels
        == effective_topologies(both[::-1])["t"].levels
        == (TopologyLevel("zone", "a"),)
    )
    assert effective_topologies([topology("t", kind=kind)])["t"].levels == LEVELS


OTHER: Final = topology("gcp-a3", ("zone", "z"), ("block", "b"), ("rack", "r"), ("host", "h"))


def test_tp025_while_nothing_is_placed_gangs_follow_the_topology() -> None:
    pending = unplaced_set(topology(DEFAULT_TOPOLOGY), OTHER)
    template = pending.root.spec.template.model_copy(update={"cluster_topology_name": "gcp-a3"})
    moved = replace(
        pending, root=replace(pending.root, spec=pending.root.spec.model_copy(update={"template": template}))
    )
    plan = reconcile(moved)
    assert not broken_laws_in_plan(plan, moved)
    applies = [step for step in plan.steps if step.target.kind == "PodGang"]
    assert {reason.rule for step in applies for reason in step.because} == {TopologyReason.GANG_FOLLOWS_TOPOLOGY}
    rest = gangs_of(at_rest(moved))
    assert rest == {
        name: replace(gang, resource_version=rest[name].resource_version, uid=rest[name].uid)
        for name, gang in gangs_of(unplaced_set(OTHER, clusterTopologyName="gcp-a3")).items()
    }


def test_tp025_constraints_that_are_not_wanted_any_more_are_removed() -> None:
    pending = unplaced_set(topology(DEFAULT_TOPOLOGY))
    template = pending.root.spec.template.model_copy(update={"topology_constraint": None})
    spec = pending.root.spec.model_copy(update={"template": template})
    rest = at_rest(replace(pending, root=replace(pending.root, spec=spec)))
    assert gangs_of(rest)["llm-0"].placement.gang == GangPackConstraint()


@pytest.mark.req("TP-030")
@pytest.mark.req("TP-031")
def test_tp026_placed_gangs_stay_and_the_condition_reports_it_until_they_match() -> None:
    running = with_bound_pod(unplaced_set(topology(DEFAULT_TOPOLOGY)))
    changed = with_topologies(running, topology(DEFAULT_TOPOLOGY, ("zone", "z"), ("rack", "r"), ("host", "h")))
    plan = reconcile(changed)
    assert not [step for step in plan.steps if step.target.kind == "PodGang"]
    assert held_in(plan) == {name: {TopologyReason.PLACED_OTHERWISE} for name in ("llm-0", "llm-0-pool-0")}
    world = InMemoryCluster((changed,))
    for step in plan.steps:
        world.attempt_step(step)
    after = world.snapshot_of_set(changed.root.ref, NOW)
    assert after is not None
    condition = condition_of(after.root.status.conditions, TOPOLOGY_IN_SYNC)
    assert condition is not None
    assert (condition.status.value, condition.reason) == ("False", "PlacedOtherwise")
    assert "llm-0, llm-0-pool-0" in condition.message
    again = reconcile(with_topologies(after, topology(DEFAULT_TOPOLOGY))).steps
    assert [thaw_json(step.action.fields) for step in again if step.target.kind == "PodCliqueSet"] == [  # type: ignore[union-attr]  # a set is only written by statuses here
        {"removedConditions": [TOPOLOGY_IN_SYNC]}
    ]


def test_tp030_any_number_of_problems_fits_into_a_condition() -> None:
    cliques = []
    for number in range(120):
        clique = clique_raw(f"a{number}")
        clique["topologyConstraint"] = {"pack": {"required": f"{'x' * 150}{number}", "preferred": f"y{'z' * 150}"}}
        cliques.append(clique)
    seen = with_topologies(applied(set_raw(*cliques)), topology(DEFAULT_TOPOLOGY))
    (step,) = [step for step in reconcile(seen).steps if step.target.kind == "PodCliqueSet"]
    assert isinstance(step.action, SetStatus)
    (condition,) = thaw_json(step.action.fields)["conditions"]
    assert condition["type"] == TOPOLOGY_IN_SYNC
    assert 30_000 < len(condition["message"]) <= 32_768


@pytest.mark.parametrize(("bound", "known", "off"), [*product([True, False], [0, 1, 2], [True, False])])
def test_tp030_plans_of_every_state_are_valid_and_converge(bound: bool, known: int, off: bool) -> None:
    seen = unplaced_set(topology(DEFAULT_TOPOLOGY))
    seen = with_bound_pod(seen) if bound else seen
    states = (
        (),
        (topology(DEFAULT_TOPOLOGY, ("zone", "z")),),
        (topology(DEFAULT_TOPOLOGY, ("zone", "z"), *LEVELS[1:]),),
    )
    seen = with_topologies(seen, *states[known], configuration=DEFAULT_CONFIGURATION if off else ON)
    assert not broken_laws_in_plan(reconcile(seen), seen)
    assert not reconcile(at_rest(seen)).steps


def test_tp020_a_gang_is_parsed_as_it_was_written() -> None:
    gang = unplaced_set(topology(DEFAULT_TOPOLOGY)).gangs[0]
    spec = {"podgroups": [], **{key: thaw_json(part) for key, part in gang.placement.spec_fields.items()}}
    meta = {"name": "g", "annotations": {TOPOLOGY_NAME: DEFAULT_TOPOLOGY}}
    read = podgang_from_json({"metadata": meta, "spec": spec}).placement
    assert read == gang.placement._replace(cliques=())


def test_tp026_a_status_is_enough_for_a_set_to_be_placed() -> None:
    pending = unplaced_set(topology(DEFAULT_TOPOLOGY))
    first, *rest = pending.cliques
    said = replace(pending, cliques=(replace(first, status=replace(first.status, scheduled=1)), *rest))
    assert has_bound_pods(said)
    assert not has_bound_pods(pending)
