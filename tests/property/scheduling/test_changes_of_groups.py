"""What becomes of groups that the set no longer has, or that differ from it (SC-021 to SC-027)."""

from typing import Any

import pytest

from grove_core.areas.scheduling.rules import SchedulingReason
from grove_core.areas.workload.rules import WorkloadReason
from grove_core.kernel.frozen import frozen, thaw_json
from grove_core.kernel.steps import Delete
from grove_core.kernel.structs import replace
from grove_core.plan.plan import Plan
from grove_core.reconcile import reconcile
from grove_core.resources.api_names import POD_GROUP_KIND
from grove_core.resources.configuration import Configuration
from tests.property.scheduling.grouped_sets import (
    PLACED,
    PODGANG,
    group_ref,
    grouped,
    groups_in,
    llama,
    rested_in_groups,
    rules_of,
    spec_of,
)
from tests.property.workload.life import Life
from tests.property.workload.sets import clique_raw, set_raw

IN_ZONE = {"topologyConstraint": {"pack": {"required": "zone"}}}
IN_RACK = {"topologyConstraint": {"pack": {"required": "rack"}}}


def deletions(plan: Plan | None) -> set[str]:
    assert plan is not None
    return {step.target.short for step in plan.steps if isinstance(step.action, Delete)}


def edit_group(life: Life, group: str, **fields: Any) -> None:
    """Store a group with other fields."""
    item = groups_in(life)[group]
    life.world.put_object(replace(item, spec=frozen({**thaw_json(item.spec), **fields})))


@pytest.mark.req("SC-021")
def test_sc021_groups_go_with_the_replica_that_is_scaled_in() -> None:
    life = rested_in_groups(llama())
    life.scale("llm-0-pool", 2)
    assert deletions(life.round()) == {
        "PodClique/llm-0-pool-2-leader",
        "PodClique/llm-0-pool-2-worker",
        "CompositePodGroup/llm-0-pool-2",
        "PodGroup/llm-0-pool-2-leader",
        "PodGroup/llm-0-pool-2-worker",
    }
    life.settle()
    assert "CompositePodGroup/llm-0-pool-2" not in groups_in(life)


@pytest.mark.req("SC-021")
def test_sc021_groups_that_grove_did_not_make_stay() -> None:
    life = rested_in_groups(llama())
    life.scale("llm-0-pool", 2)
    for name in ("PodGroup/llm-0-pool-2-leader", "CompositePodGroup/llm-0-pool-2"):
        life.world.put_object(replace(groups_in(life)[name], managed=False))
    life.settle()
    assert {"PodGroup/llm-0-pool-2-leader", "CompositePodGroup/llm-0-pool-2"} <= set(groups_in(life))


@pytest.mark.req("SC-021")
def test_sc021_without_gangs_in_groups_the_workload_goes_as_well() -> None:
    life = rested_in_groups(llama())
    life.world.configuration = PODGANG
    for pod in life.all_pods():
        life.world.delete_pod(pod)
    while life.kubelet():
        pass
    life.settle()
    assert groups_in(life) == {}
    assert {pod.pod_group for pod in life.all_pods()} == {""}


@pytest.mark.req("SC-022")
def test_sc022_a_minimum_that_was_edited_is_restored() -> None:
    life = rested_in_groups(llama())
    edit_group(life, "PodGroup/llm-0-router", schedulingPolicy={"gang": {"minCount": 7}})
    assert rules_of(life.round()) == {SchedulingReason.MINIMUM_CHANGED}
    assert spec_of(life, "PodGroup/llm-0-router")["schedulingPolicy"] == {"gang": {"minCount": 1}}
    assert life.settle()[0].steps == ()


def pending(configuration: Configuration = PLACED) -> Life:
    """A set none of whose pods has a node."""
    life = grouped(llama(**IN_ZONE), configuration)
    for _ in range(6):
        life.round()
    return life


def switch_topology(life: Life) -> None:
    life.edit(template=grouped(llama(**IN_RACK)).root.spec.template)


@pytest.mark.req("SC-023", "SC-025")
def test_sc023_a_pending_gang_is_made_anew_for_another_domain() -> None:
    life = pending()
    assert spec_of(life, "CompositePodGroup/llm-0")["schedulingConstraints"]["topology"] == [
        {"key": "example.com/zone"}
    ]
    switch_topology(life)
    plan = life.round()
    assert {SchedulingReason.MADE_ANEW, SchedulingReason.WORKLOAD_OUTDATED} <= rules_of(plan)
    gone = deletions(plan)
    assert {"Workload/llm", "CompositePodGroup/llm-0", "PodGroup/llm-0-router", "PodGroup/llm-0-pool-1-worker"} <= gone
    assert sum(name.startswith("Pod/") for name in gone) == 9
    life.settle()
    rack = {"topology": [{"key": "example.com/rack"}]}
    assert spec_of(life, "CompositePodGroup/llm-0")["schedulingConstraints"] == rack
    assert spec_of(life, "Workload/llm")["compositePodGroupTemplates"][0]["schedulingConstraints"] == rack
    assert all(pod.ready for pod in life.all_pods())


@pytest.mark.req("SC-024")
def test_sc024_a_gang_on_nodes_keeps_its_groups() -> None:
    life = rested_in_groups(llama(**IN_ZONE), PLACED)
    switch_topology(life)
    plan = life.round()
    assert SchedulingReason.STAYS_AS_IT_IS in rules_of(plan)
    assert deletions(plan) == {"Workload/llm"}
    life.settle()
    zone = {"topology": [{"key": "example.com/zone"}]}
    assert spec_of(life, "CompositePodGroup/llm-0")["schedulingConstraints"] == zone
    condition = next(one for one in life.root.status.conditions if one.type == "TopologyInSync")
    assert condition.message.endswith("llm-0, llm-0-pool-0")


@pytest.mark.req("SC-024")
@pytest.mark.parametrize(
    "fields",
    [{"priorityClassName": "urgent"}, {"schedulingPolicy": {"basic": {}}}, {"parentCompositePodGroupName": "other"}],
)
def test_sc024_any_field_that_cannot_be_changed_counts(fields: dict[str, Any]) -> None:
    life = rested_in_groups(llama(priorityClassName="low"))
    edit_group(life, "PodGroup/llm-0-router", **fields)
    assert rules_of(life.round()) == {SchedulingReason.STAYS_AS_IT_IS}


@pytest.mark.req("SC-016")
def test_sc016_another_number_of_pods_makes_nothing_anew() -> None:
    life = rested_in_groups(set_raw(clique_raw("a", 3, minAvailable=3)))
    (mode,) = spec_of(life, "PodGroup/llm-0-a")["disruptionMode"]
    template = grouped(set_raw(clique_raw("a", 5, minAvailable=3))).root.spec.template
    life.edit(template=template)
    plans = life.settle()
    assert mode == "all"
    assert not any(deletions(plan) or plan.withheld for plan in plans)


@pytest.mark.req("SC-025")
def test_sc025_a_workload_stays_while_the_topology_is_missing() -> None:
    life = rested_in_groups(llama(**IN_ZONE), PLACED)
    template = life.root.spec.template.model_copy(update={"cluster_topology_name": "missing"})
    life.edit(template=template)
    assert deletions(life.round()) == set()


@pytest.mark.req("SC-023")
def test_sc023_what_a_server_fills_in_is_no_difference() -> None:
    life = rested_in_groups(llama())
    for name in groups_in(life):
        if name != "Workload/llm":
            edit_group(life, name, priority=0, preemptionPolicy="PreemptLowerPriority", priorityClassName="default")
    plan = life.round()
    assert plan is not None
    assert (plan.steps, plan.withheld) == ((), ())


@pytest.mark.req("SC-025")
@pytest.mark.parametrize("templates", [[], [{}], ["text", "text"], [{"name": "base"}, {"name": "scaled-group-pool"}]])
def test_sc025_an_outdated_workload_is_made_anew(templates: list[Any]) -> None:
    life = rested_in_groups(llama())
    before = spec_of(life, "Workload/llm")
    edit_group(life, "Workload/llm", compositePodGroupTemplates=templates)
    assert deletions(life.round()) == {"Workload/llm"}
    life.settle()
    assert spec_of(life, "Workload/llm") == before


@pytest.mark.req("SC-027")
def test_sc027_nothing_is_planned_for_groups_that_were_not_collected() -> None:
    life = rested_in_groups(llama())
    life.world.delete_pod(life.pods("llm-0-router")[0])
    while life.kubelet():
        pass
    seen = life.look()
    assert seen is not None
    others = tuple(one for one in seen.others if one.ref.kind != POD_GROUP_KIND)
    lacking = replace(seen, others=others, complete=seen.complete - {POD_GROUP_KIND})
    plan = reconcile(lacking)
    assert WorkloadReason.POD_GROUPS_UNKNOWN in rules_of(plan)
    assert not [step for step in plan.steps if step.target.kind in {"Pod", POD_GROUP_KIND}]


@pytest.mark.req("SC-028")
def test_sc028_a_group_that_is_being_deleted_counts_while_pods_are_in_it() -> None:
    life = rested_in_groups(llama())
    worker = "PodGroup/llm-0-pool-0-worker"
    life.world.put_object(replace(groups_in(life)[worker], deleting=True))
    life.world.delete_pod(life.pods("llm-0-pool-0-worker")[0])
    life.settle()
    assert len(life.pods("llm-0-pool-0-worker")) == 3


@pytest.mark.req("SC-028")
def test_sc028_the_first_pods_wait_for_a_group_that_is_being_deleted() -> None:
    life = rested_in_groups(llama())
    life.world.put_object(replace(groups_in(life)["PodGroup/llm-0-router"], deleting=True))
    life.world.delete_pod(life.pods("llm-0-router")[0])
    while life.kubelet():
        pass
    assert WorkloadReason.POD_GROUP_ABSENT in rules_of(life.round())
    life.world.delete_object(group_ref(life, "PodGroup/llm-0-router"))
    life.settle()
    assert len(life.pods("llm-0-router")) == 1


def test_groups_wait_for_a_topology_that_does_not_exist() -> None:
    life = grouped(llama(clusterTopologyName="missing", **IN_ZONE), PLACED)
    for _ in range(4):
        plan = life.round()
    assert plan is not None
    assert groups_in(life) == {}
    assert {"Workload/llm", "PodGroup/llm-0-router"} <= {one.target.short for one in plan.withheld}
