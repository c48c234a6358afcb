"""The groups that a set becomes: hierarchy, minima, topology, priority, claims (SC-007, SC-010 to SC-017)."""

from collections import defaultdict
from typing import Any

import pytest
from hypothesis import assume, given

from grove_core.kernel.frozen import thaw_json
from grove_core.resources.configuration import Configuration, GangBackend
from tests.property.scheduling.grouped_sets import KUBERNETES, PLACED, groups_in, llama, rested_in_groups, spec_of
from tests.property.workload.sets import Json, clique_raw, raw_sets, set_raw


def gang_policy(**least: int) -> Json:
    return {"schedulingPolicy": {"gang": least}}


@pytest.mark.req("SC-010")
def test_sc010_one_workload_has_a_template_for_each_kind_of_gang() -> None:
    life = rested_in_groups(set_raw(*llama()["spec"]["template"]["cliques"], groups=(pool(),), replicas=2))
    (workload,) = (name for name in groups_in(life) if name.startswith("Workload/"))
    spec = spec_of(life, workload)
    assert workload == "Workload/llm"
    assert spec["controllerRef"] == {"apiGroup": "grove.io", "kind": "PodCliqueSet", "name": "llm"}
    base, scaled = spec["compositePodGroupTemplates"]
    assert (base["name"], [one["name"] for one in base["podGroupTemplates"]]) == ("base", ["clique-router"])
    (inner,) = base["compositePodGroupTemplates"]
    assert [one["name"] for one in inner["podGroupTemplates"]] == ["clique-leader", "clique-worker"]
    assert scaled["name"] == "scaled-group-pool"
    assert [one["name"] for one in scaled["podGroupTemplates"]] == ["scaled-clique-leader", "scaled-clique-worker"]


def pool() -> Json:
    return {"name": "pool", "cliqueNames": ["leader", "worker"], "replicas": 3, "minAvailable": 2}


@pytest.mark.req("SC-010")
def test_sc010_the_workload_has_a_template_for_scaled_gangs_before_there_are_any() -> None:
    life = rested_in_groups(llama(pool={"replicas": 2}))
    names = [one["name"] for one in spec_of(life, "Workload/llm")["compositePodGroupTemplates"]]
    assert names == ["base", "scaled-group-pool"]


@pytest.mark.req("SC-010")
def test_sc010_a_base_gang_may_consist_of_scaling_groups_alone() -> None:
    life = rested_in_groups(set_raw(clique_raw("leader"), groups=({"name": "pool", "cliqueNames": ["leader"]},)))
    base, _ = spec_of(life, "Workload/llm")["compositePodGroupTemplates"]
    assert "podGroupTemplates" not in base
    assert [one["name"] for one in base["compositePodGroupTemplates"]] == ["group-pool"]
    assert spec_of(life, "CompositePodGroup/llm-0")["schedulingPolicy"] == {"gang": {"minGroupCount": 1}}


@pytest.mark.req("SC-011", "SC-012", "SC-013")
def test_sc011_a_gang_is_a_tree_of_groups() -> None:
    life = rested_in_groups(llama())
    parents = {name: one.spec.get("parentCompositePodGroupName") for name, one in groups_in(life).items()}
    assert parents == {
        "Workload/llm": None,
        "CompositePodGroup/llm-0": None,
        "PodGroup/llm-0-router": "llm-0",
        "CompositePodGroup/llm-0-pool-0": "llm-0",
        "PodGroup/llm-0-pool-0-leader": "llm-0-pool-0",
        "PodGroup/llm-0-pool-0-worker": "llm-0-pool-0",
        "CompositePodGroup/llm-0-pool-1": "llm-0",
        "PodGroup/llm-0-pool-1-leader": "llm-0-pool-1",
        "PodGroup/llm-0-pool-1-worker": "llm-0-pool-1",
        "CompositePodGroup/llm-0-pool-2": None,
        "PodGroup/llm-0-pool-2-leader": "llm-0-pool-2",
        "PodGroup/llm-0-pool-2-worker": "llm-0-pool-2",
    }
    least = {
        name: spec_of(life, name)["schedulingPolicy"]["gang"] for name in groups_in(life) if name != "Workload/llm"
    }
    assert least["CompositePodGroup/llm-0"] == {"minGroupCount": 3}
    assert least["CompositePodGroup/llm-0-pool-0"] == least["CompositePodGroup/llm-0-pool-2"] == {"minGroupCount": 2}
    assert (least["PodGroup/llm-0-router"], least["PodGroup/llm-0-pool-0-worker"]) == ({"minCount": 1}, {"minCount": 3})


@pytest.mark.req("SC-013")
@pytest.mark.parametrize("least", [1, 2])
def test_sc013_the_minimum_is_that_of_the_clique(least: int) -> None:
    life = rested_in_groups(set_raw(clique_raw("a", 3, minAvailable=least)))
    assert spec_of(life, "PodGroup/llm-0-a")["schedulingPolicy"] == {"gang": {"minCount": least}}
    assert len(life.pods("llm-0-a")) == 3


@pytest.mark.req("SC-014")
def test_sc014_a_required_domain_confines_the_group_of_its_part() -> None:
    constraint = {"pack": {"required": "zone", "preferred": "rack"}}
    raw = llama(pool={"topologyConstraint": {"pack": {"required": "rack"}}}, topologyConstraint=constraint)
    raw["spec"]["template"]["cliques"][2]["topologyConstraint"] = {"pack": {"required": "rack"}}
    life = rested_in_groups(raw, PLACED)
    keys = {
        name: [one["key"] for one in spec_of(life, name).get("schedulingConstraints", {}).get("topology", [])]
        for name in groups_in(life)
    }
    zone, rack = ["example.com/zone"], ["example.com/rack"]
    assert keys["CompositePodGroup/llm-0"] == zone
    assert keys["CompositePodGroup/llm-0-pool-0"] == keys["CompositePodGroup/llm-0-pool-2"] == rack
    assert (keys["PodGroup/llm-0-router"], keys["PodGroup/llm-0-pool-0-leader"]) == ([], [])
    assert keys["PodGroup/llm-0-pool-0-worker"] == keys["PodGroup/llm-0-pool-2-worker"] == rack


@pytest.mark.req("SC-015")
def test_sc015_all_groups_have_the_priority_of_the_set() -> None:
    life = rested_in_groups(llama(priorityClassName="urgent"))
    assert {one.spec["priorityClassName"] for name, one in groups_in(life).items() if name != "Workload/llm"} == {
        "urgent"
    }
    templates = spec_of(life, "Workload/llm")["compositePodGroupTemplates"]
    assert {one["priorityClassName"] for one in templates} == {"urgent"}


def disruption(raw: Json, group: str) -> str:
    (mode,) = spec_of(rested_in_groups(raw), group)["disruptionMode"]
    return str(mode)


@pytest.mark.req("SC-016")
@pytest.mark.parametrize(
    ("group", "mode"),
    [
        ("CompositePodGroup/llm-0", "single"),
        ("CompositePodGroup/llm-0-pool-0", "all"),
        ("CompositePodGroup/llm-0-pool-2", "all"),
        ("PodGroup/llm-0-pool-0-worker", "all"),
    ],
)
def test_sc016_what_is_of_no_use_in_part_is_taken_as_a_whole(group: str, mode: str) -> None:
    assert disruption(llama(), group) == mode


@pytest.mark.req("SC-016")
@pytest.mark.parametrize(
    ("clique", "mode"),
    [
        ({"minAvailable": 2}, "single"),
        ({"minAvailable": 3}, "all"),
        ({"minAvailable": 3, "autoScalingConfig": {"maxReplicas": 5}}, "single"),
    ],
)
def test_sc016_single_pods_can_be_taken_where_some_are_not_needed(clique: dict[str, Any], mode: str) -> None:
    assert disruption(set_raw(clique_raw("a", 3, **clique)), "PodGroup/llm-0-a") == mode


def claims_of(spec: Json) -> set[str]:
    """The names of the claims that a pod or a PodGroup has by name."""
    return {one["resourceClaimName"] for one in spec.get("resourceClaims", ()) if "resourceClaimName" in one}


@given(raw=raw_sets())
@pytest.mark.req("SC-007", "SC-017")
def test_sc017_groups_have_the_claims_that_all_their_pods_share(raw: Json) -> None:
    """A PodGroup has at most four of the claims that all its pods have, and no two of a gang have the same claim."""
    life = rested_in_groups(raw)
    pods: dict[str, list[set[str]]] = defaultdict(list)
    users: dict[tuple[str, str], set[str]] = defaultdict(set)
    for pod in life.all_pods():
        claims = claims_of(thaw_json(life.world.manifests[pod.ref])["spec"])
        pods[pod.pod_group].append(claims)
        for name in claims:
            users[pod.gang, name].add(pod.pod_group)
    assert all(len(groups) == 1 for groups in users.values())
    for name, group in groups_in(life).items():
        of_pods = pods[group.ref.name]
        if name.startswith("PodGroup/") and of_pods:
            shared, claims = set[str].intersection(*of_pods), claims_of(thaw_json(group.spec))
            assert claims <= shared
            assert len(of_pods) == 1 or len(claims) == min(len(shared), 4)


@given(raw=raw_sets())
@pytest.mark.req("SC-011", "SC-013", "SC-028")
def test_sc028_any_set_comes_to_rest_with_a_group_for_each_pod(raw: Json) -> None:
    life = rested_in_groups(raw)
    groups = groups_in(life)
    assume(groups or not life.all_pods())  # PodCliques that share claims have PodGangs (SC-007)
    for pod in life.all_pods():
        owner = next(item for item in life.world.items.values() if item.uid == pod.owner_uid)
        assert pod.pod_group == owner.ref.name
        assert not pod.has_grove_gate
        parent = str(groups[f"PodGroup/{pod.pod_group}"].spec["parentCompositePodGroupName"])
        assert f"CompositePodGroup/{parent}" in groups
    assert not [ref for ref in life.world.items if ref.kind == "PodGang"]
    counted = {name: one for name, one in groups.items() if name.startswith("CompositePodGroup/")}
    for name, group in counted.items():
        children = [one for one in groups.values() if one.spec.get("parentCompositePodGroupName") == group.ref.name]
        assert spec_of(life, name)["schedulingPolicy"] == {"gang": {"minGroupCount": len(children)}}


@given(raw=raw_sets())
@pytest.mark.req("SC-004")
def test_sc004_another_configuration_changes_nothing_of_a_set_at_rest(raw: Json) -> None:
    for first, then in ((GangBackend.KUBERNETES, GangBackend.PODGANG), (GangBackend.PODGANG, GangBackend.KUBERNETES)):
        life = rested_in_groups(raw, Configuration(gang_backend=first))
        life.world.configuration = Configuration(gang_backend=then)
        plan = life.round()
        assert plan is not None
        assert plan.steps == ()


def test_a_set_in_groups_is_updated_and_deleted_as_any_other() -> None:
    life = rested_in_groups(llama(), KUBERNETES)
    life.new_image("example.com/main:2")
    life.settle()
    assert {life.image_of(pod) for pod in life.all_pods()} == {"example.com/main:2"}
    assert {pod.pod_group for pod in life.all_pods()} == {
        name.removeprefix("PodGroup/") for name in groups_in(life) if name.startswith("PodGroup/")
    }
