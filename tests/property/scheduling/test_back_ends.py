"""Which back end a set has, and when a gang goes from one to the other (SC-001 to SC-006, SC-028)."""

from typing import Any

import pytest

from grove_core.areas.scheduling.judge import judge_gang_backends, scheduling_preflight_objection
from grove_core.areas.scheduling.rules import SchedulingReason
from grove_core.kernel.refs import Ref
from grove_core.kernel.structs import replace
from grove_core.preflight import kinds_of_unknown_availability, preflight_notices, preflight_objections
from grove_core.resources.configuration import (
    Configuration,
    MnnvlConfiguration,
    MnnvlMode,
    ServedApis,
    WorkloadApiLevel,
)
from grove_core.rule_sets.rule_set_by_name import rule_set
from tests.property.scheduling.grouped_sets import KUBERNETES, PODGANG, grouped, groups_in, llama, rested_in_groups
from tests.property.workload.life import Life
from tests.property.workload.sets import Json, applied, clique_raw, set_raw

AUTO = Configuration()
HIERARCHICAL = ServedApis(workload_api=WorkloadApiLevel.HIERARCHICAL)
FLAT = ServedApis(workload_api=WorkloadApiLevel.FLAT)
NONE = ServedApis(workload_api=WorkloadApiLevel.NONE)
BY_ANNOTATION = replace(KUBERNETES, mnnvl=MnnvlConfiguration(enabled=True, mode=MnnvlMode.ANNOTATIONS))
SHARING: Json = {"name": "x", "scope": "PerReplica"}
SHARED: Json = {"grove.io/mnnvl-enabled": "true"}
OF_REPLICA: Json = SHARED | {"grove.io/mnnvl-scope": "scalingGroupReplica"}
NAMED: Json = {"containers": [{"name": "main"}], "resourceClaims": [{"name": "x", "resourceClaimName": "cache"}]}
OF_TEMPLATE: Json = NAMED | {"resourceClaims": [{"name": "x", "resourceClaimTemplateName": "cache"}]}
CLAIMS: set[object] = {SchedulingReason.SHARES_CLAIMS}
ALL: Json = SHARING | {"scope": "AllReplicas"}


def in_group(cliques: str, least: int, **more: Any) -> Json:
    """A set of one scaling group of these cliques, with one replica beyond its minimum."""
    pool: Json = {"name": "pool", "cliqueNames": list(cliques), "replicas": least + 1, "minAvailable": least, **more}
    return set_raw(*map(clique_raw, cliques), groups=(pool,))


def backend(raw: Json, configuration: Configuration, served: ServedApis = HIERARCHICAL) -> tuple[bool, set[object]]:
    """Whether new gangs have groups, and the rules of the reasons."""
    found = judge_gang_backends(replace(applied(raw), configuration=configuration, served=served))
    return found.has_groups("llm-0"), {why.rule for why in found.because}


@pytest.mark.req("SC-001", "SC-006")
@pytest.mark.parametrize(
    ("configuration", "served", "has_groups"),
    [
        (AUTO, HIERARCHICAL, True),
        (AUTO, FLAT, False),
        (AUTO, NONE, False),
        (AUTO, ServedApis(), False),
        (KUBERNETES, HIERARCHICAL, True),
        (KUBERNETES, ServedApis(), True),
        (KUBERNETES, FLAT, False),
        (KUBERNETES, NONE, False),
        (PODGANG, HIERARCHICAL, False),
    ],
)
def test_sc001_the_back_end_is_as_configured_and_served(
    configuration: Configuration, served: ServedApis, *, has_groups: bool
) -> None:
    assert backend(llama(), configuration, served)[0] is has_groups


@pytest.mark.req("SC-002", "SC-007", "SC-020")
@pytest.mark.parametrize(
    ("raw", "configuration", "rules"),
    [
        (set_raw(clique_raw("a", pod_spec={"schedulerName": "default-scheduler"})), AUTO, set()),
        (
            set_raw(clique_raw("a", pod_spec={"schedulerName": "kai-scheduler"})),
            KUBERNETES,
            {SchedulingReason.OTHER_SCHEDULER},
        ),
        (set_raw(*map(clique_raw, "ab"), meta={"annotations": SHARED}), KUBERNETES, set()),
        (set_raw(*map(clique_raw, "ab"), meta={"annotations": SHARED}), BY_ANNOTATION, CLAIMS),
        (set_raw(clique_raw("a"), meta={"annotations": SHARED}), BY_ANNOTATION, set()),
        (set_raw(clique_raw("a", annotations=SHARED), clique_raw("b")), BY_ANNOTATION, set()),
        (in_group("ab", 1, annotations=OF_REPLICA), BY_ANNOTATION, CLAIMS),
        (in_group("a", 2, annotations=OF_REPLICA), BY_ANNOTATION, set()),
        (set_raw(*map(clique_raw, "ab"), resourceSharing=[SHARING]), AUTO, CLAIMS),
        (
            set_raw(*map(clique_raw, "ab"), resourceSharing=[SHARING | {"filter": {"childCliqueNames": ["a"]}}]),
            AUTO,
            set(),
        ),
        (set_raw(clique_raw("a", resourceSharing=[SHARING]), clique_raw("b", resourceSharing=[SHARING])), AUTO, set()),
        (in_group("a", 1, resourceSharing=[SHARING]), AUTO, set()),
        (in_group("a", 2, resourceSharing=[SHARING]), AUTO, set()),
        (in_group("a", 2, resourceSharing=[ALL]), AUTO, CLAIMS),
        (in_group("a", 1, resourceSharing=[ALL]), AUTO, set()),
        (set_raw(*(clique_raw(one, pod_spec=NAMED) for one in "ab")), AUTO, CLAIMS),
        (set_raw(clique_raw("a", pod_spec=NAMED), clique_raw("b")), AUTO, set()),
        (set_raw(*(clique_raw(one, pod_spec=OF_TEMPLATE) for one in "ab")), AUTO, set()),
        (set_raw(*map(clique_raw, "abcdefgh")), AUTO, set()),
        (set_raw(*map(clique_raw, "abcdefghi")), AUTO, {SchedulingReason.TOO_MANY_PARTS}),
        (
            set_raw(
                *map(clique_raw, "abcdefgh"), groups=tuple({"name": one, "cliqueNames": [one]} for one in "abcdefgh")
            ),
            AUTO,
            {SchedulingReason.TOO_MANY_PARTS},
        ),
        (
            set_raw(*map(clique_raw, "abcdefghi"), groups=({"name": "pool", "cliqueNames": [*"abcdefghi"]},)),
            KUBERNETES,
            {SchedulingReason.TOO_MANY_PARTS},
        ),
    ],
)
def test_sc002_a_set_that_groups_do_not_suit_keeps_podgangs(
    raw: Json, configuration: Configuration, rules: set[object]
) -> None:
    has_groups, found = backend(raw, configuration)
    assert has_groups is (not rules)
    assert found >= rules


@pytest.mark.req("SC-008")
@pytest.mark.parametrize(
    ("configuration", "served", "follows"),
    [
        (AUTO, HIERARCHICAL, "groups"),
        (AUTO, FLAT, "PodGangs"),
        (AUTO, NONE, "PodGangs"),
        (AUTO, ServedApis(), ""),
        (KUBERNETES, HIERARCHICAL, ""),
        (PODGANG, NONE, ""),
    ],
)
def test_sc008_what_follows_from_auto_is_said(configuration: Configuration, served: ServedApis, follows: str) -> None:
    notices = preflight_notices(configuration, served)
    said = [notice.sentence.rpartition("new gangs have ")[2] for notice in notices]
    assert [words.partition(",")[0] for words in said] == [follows] * bool(follows)


@pytest.mark.req("SC-001")
def test_sc001_the_go_operator_makes_podgangs() -> None:
    seen = replace(applied(llama()), configuration=KUBERNETES, served=HIERARCHICAL)
    assert not rule_set("field").gang_backends(seen).has_groups("llm-0")


@pytest.mark.req("SC-005")
@pytest.mark.parametrize(
    ("configuration", "served", "refused"),
    [
        (KUBERNETES, NONE, True),
        (KUBERNETES, FLAT, True),
        (KUBERNETES, HIERARCHICAL, False),
        (KUBERNETES, ServedApis(), False),
        (AUTO, NONE, False),
        (PODGANG, NONE, False),
    ],
)
def test_sc005_an_operator_does_not_start_without_the_api_it_needs(
    configuration: Configuration, served: ServedApis, *, refused: bool
) -> None:
    assert (scheduling_preflight_objection(configuration, served) is not None) is refused


@pytest.mark.req("SC-005")
def test_sc005_every_objection_is_reported() -> None:
    configuration = replace(KUBERNETES, mnnvl=MnnvlConfiguration(enabled=True))
    found = preflight_objections(configuration, replace(NONE, without_domains=True))
    assert [one.setting for one in found] == ["mnnvl.enabled", "scheduling.backend"]


@pytest.mark.req("SC-005")
def test_sc005_what_is_not_known_is_said() -> None:
    configuration = replace(KUBERNETES, mnnvl=MnnvlConfiguration(enabled=True))
    assert kinds_of_unknown_availability(configuration, ServedApis()) == ("ComputeDomain", "CompositePodGroup")
    assert kinds_of_unknown_availability(AUTO, ServedApis()) == ()
    assert kinds_of_unknown_availability(KUBERNETES, HIERARCHICAL) == ()


@pytest.mark.req("SC-004")
def test_sc004_new_gangs_have_the_new_back_end_and_old_ones_their_own() -> None:
    life = rested_in_groups(llama(), PODGANG)
    life.world.configuration = KUBERNETES
    life.scale("llm-0-pool", 4)
    life.settle()
    assert set(groups_in(life)) == {
        "Workload/llm",
        "CompositePodGroup/llm-0-pool-3",
        "PodGroup/llm-0-pool-3-leader",
        "PodGroup/llm-0-pool-3-worker",
    }
    named = {pod.pod_group for pod in life.all_pods()}
    assert named == {"", "llm-0-pool-3-leader", "llm-0-pool-3-worker"}
    assert all(pod.ready for pod in life.all_pods())


@pytest.mark.req("SC-004", "SC-028")
def test_sc028_a_scaled_podgang_follows_a_base_gang_in_groups() -> None:
    life = rested_in_groups(llama(), KUBERNETES)
    life.world.configuration = PODGANG
    life.scale("llm-0-pool", 4)
    life.settle()
    assert [ref.name for ref in life.world.items if ref.kind == "PodGang"] == ["llm-0-pool-1"]
    assert {pod.pod_group for pod in life.pods("llm-0-pool-3-worker")} == {""}
    assert all(pod.ready for pod in life.all_pods())


@pytest.mark.req("SC-004")
def test_sc004_a_gang_without_pods_changes_its_back_end() -> None:
    life = rested_in_groups(llama(), PODGANG)
    life.world.configuration = KUBERNETES
    for pod in life.all_pods():
        life.world.delete_pod(pod)
    while life.kubelet():
        pass
    life.settle()
    assert not [ref for ref in life.world.items if ref.kind == "PodGang"]
    assert {pod.pod_group == "" for pod in life.all_pods()} == {False}


@pytest.mark.req("SC-004")
def test_sc004_pods_that_are_being_deleted_do_not_count() -> None:
    life = Life(llama(), lingering=True)
    life.settle()
    life.world.configuration = KUBERNETES
    for pod in life.all_pods():
        life.world.delete_pod(pod)
    assert all(pod.deleting for pod in life.all_pods())
    life.round()
    assert "PodGroup/llm-0-router" in groups_in(life)


@pytest.mark.req("SC-028")
def test_sc028_pods_of_a_scaled_gang_come_once_the_base_gang_is_placed() -> None:
    life = grouped(llama())
    for _ in range(6):
        plan = life.round()
    assert plan is not None
    assert not life.pods("llm-0-pool-2-worker")
    assert len(life.pods("llm-0-pool-1-worker")) == 3
    waits = {(one.target.short, why.rule.code) for one in plan.withheld for why in one.because}
    assert ("PodClique/llm-0-pool-2-worker", "BaseGangNotPlaced") in waits
    life.kubelet()
    life.round()
    assert len(life.pods("llm-0-pool-2-worker")) == 3


@pytest.mark.req("SC-026")
@pytest.mark.parametrize("kind", ["PodGroup/llm-0-pool-0-worker", "CompositePodGroup/llm-0-pool-0"])
def test_sc026_pods_do_not_join_a_group_of_somebody_else(kind: str) -> None:
    life = grouped(llama())
    ref = group_of_somebody_else(kind)
    life.world.foreign_owners = {(ref.kind, ref.namespace, ref.name): "of Deployment other"}
    for _ in range(6):
        plan = life.round()
    assert plan is not None
    held = {one.target.short: [why.rule.code for why in one.because] for one in plan.withheld}
    assert held[kind][0] == "GroupNameTaken"
    assert "PodGroupAbsent" in held["PodClique/llm-0-pool-0-worker"]
    assert not life.pods("llm-0-pool-0-worker")


def group_of_somebody_else(short: str) -> Ref:
    kind, _, name = short.partition("/")
    return Ref("scheduling.k8s.io/v1beta1", kind, "ml", name)


@pytest.mark.req("SC-028")
def test_sc028_a_member_that_cannot_be_created_keeps_no_pod_of_the_others_back() -> None:
    """The scheduler waits for the gang; with a PodGang the pods would not be created."""
    life = grouped(llama())
    life.world.foreign_owners = {("PodClique", "ml", "llm-0-pool-0-worker"): "without a controller"}
    for _ in range(6):
        plan = life.round()
    assert plan is not None
    assert "GangLacksClique" not in {why.rule.code for one in plan.withheld for why in one.because}
    assert len(life.pods("llm-0-router")) == 1
    assert "PodGroup/llm-0-pool-0-worker" in groups_in(life)
