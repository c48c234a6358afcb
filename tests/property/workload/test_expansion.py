"""The objects of a set, rule by rule: names, gangs, missing and withheld objects, limits."""

from typing import Any, Final

import pytest
from hypothesis import given

from grove_core.areas.workload.rules import WorkloadReason
from grove_core.kernel.frozen import frozen_dict_of_tuples, thaw_json
from grove_core.kernel.steps import Attempt, AttemptOutcome, Create, StepStage
from grove_core.kernel.structs import replace
from grove_core.plan.plan import Plan
from grove_core.plan.plan_laws import broken_laws_in_plan
from grove_core.reconcile import reconcile
from grove_core.resources.api_names import (
    GATE,
)
from grove_core.snapshot.expected_replicas import MOST, max_object_count_of_set
from grove_core.snapshot.snapshot import Snapshot
from tests.property.few_examples import RARELY
from tests.property.workload.created_pods import base_gang_of
from tests.property.workload.life import Life
from tests.property.workload.sets import (
    Json,
    applied,
    at_rest,
    clique_raw,
    of_kind,
    pods_of,
    raw_sets,
    rounds_of,
    set_raw,
)


def test_wl030_grove_s_labels_lie_over_the_user_s() -> None:
    raw = set_raw(clique_raw("a", labels={"team": "ml", "grove.io/podgang": "mine"}))
    for item in (of_kind(raw, "PodClique")["llm-0-a"], pods_of(raw)["llm-0-a-0"]):
        labels = item["metadata"]["labels"]
        assert (labels["team"], labels["grove.io/podgang"]) == ("ml", "llm-0")
        assert labels["app.kubernetes.io/component"] == "pcs-podclique"


def test_wl016_a_set_lends_its_gangs_its_own_labels() -> None:
    meta = {"labels": {"team": "ml", "grove.io/x": "1"}, "annotations": {"queue": "q", "grove.io/y": "1"}}
    (gang,) = of_kind(set_raw(clique_raw("a", pod_spec={"schedulerName": "kai"}), meta=meta), "PodGang").values()
    assert gang["metadata"]["annotations"] == {"queue": "q"}
    assert gang["metadata"]["labels"]["team"] == "ml"
    assert "grove.io/x" not in gang["metadata"]["labels"]
    assert gang["metadata"]["labels"]["grove.io/scheduler-name"] == "kai"


def test_wl023_a_gang_refers_to_its_pods() -> None:
    raw = set_raw(clique_raw("a", 2), priorityClassName="high")
    (gang,) = at_rest(applied(raw)).gangs
    assert [(group.name, group.min_replicas, len(group.pods)) for group in gang.groups] == [("llm-0-a", 2, 2)]
    assert of_kind(raw, "PodGang")["llm-0"]["spec"]["priorityClassName"] == "high"


def test_wl086_priority_reaches_the_pods() -> None:
    raw = set_raw(clique_raw("a", pod_spec={"priorityClassName": "low"}), priorityClassName="high")
    assert pods_of(raw)["llm-0-a-0"]["spec"]["priorityClassName"] == "high"
    own = set_raw(clique_raw("a", pod_spec={"priorityClassName": "low"}))
    assert pods_of(own)["llm-0-a-0"]["spec"]["priorityClassName"] == "low"


@pytest.mark.parametrize(
    ("lost", "fresh"),
    [([], []), ([0], [0]), ([1], [1]), ([0, 2], [0, 2]), ([0, 1, 2], [0, 1, 2])],
)
@pytest.mark.parametrize("how", ["gone", "deleting", "ended"])
def test_wl085_holes_are_filled_first(lost: list[int], fresh: list[int], how: str) -> None:
    seen = at_rest(applied(set_raw(clique_raw("a", 3))))
    (clique,) = seen.cliques
    states: dict[str, dict[str, Any]] = {"gone": {}, "deleting": {"deleting": True}, "ended": {"phase": "Failed"}}
    pods = [
        pod if pod.index not in lost else replace(pod, **states[how])
        for pod in seen.pods_of[clique.uid]
        if how != "gone" or pod.index not in lost
    ]
    world = replace(seen, pods_of=frozen_dict_of_tuples({clique.uid: pods}))
    plan = reconcile(world)
    assert broken_laws_in_plan(plan, world) == ()
    created = [step for step in plan.steps if isinstance(step.action, Create)]
    assert sorted(dict(step.because[0].facts)["index"] for step in created) == fresh


def test_wl020_too_many_pods_are_no_reason_to_make_more() -> None:
    seen = at_rest(applied(set_raw(clique_raw("a", 2))))
    (clique,) = seen.cliques
    fewer = replace(seen, cliques=(replace(clique, replicas=1),))
    assert not any(isinstance(step.action, Create) for step in reconcile(fewer).steps)


def test_wl015_the_object_s_replicas_count_not_the_template_s() -> None:
    group = {"name": "pool", "cliqueNames": ["a"], "replicas": 1}
    seen = at_rest(applied(set_raw(clique_raw("a"), groups=(group,))))
    scaled = replace(seen, groups=(replace(seen.groups[0], replicas=2),))
    rounds = [made for _, plan in rounds_of(scaled) if (made := created_by(plan))]
    assert [sorted(kind for kind, _ in made) for made in rounds] == [["PodClique"], ["PodGang"], ["Pod"]]
    assert {name for made in rounds for kind, name in made if kind != "Pod"} == {"llm-0-pool-1-a", "llm-0-pool-0"}


def created_by(plan: Plan) -> set[tuple[str, str]]:
    """Kind and name of what a plan creates."""
    return {(step.target.kind, step.target.name) for step in plan.steps if isinstance(step.action, Create)}


def with_base_placed(seen: Snapshot) -> Snapshot:
    """Every pod that has no gate is placed."""
    pods = {
        uid: [replace(pod, scheduled=not pod.has_grove_gate) for pod in found] for uid, found in seen.pods_of.items()
    }
    return replace(seen, pods_of=frozen_dict_of_tuples(pods))


SCALED: Final = set_raw(
    clique_raw("a", 3, minAvailable=2),
    clique_raw("b", 2, minAvailable=1),
    groups=({"name": "pool", "cliqueNames": ["b"], "replicas": 3, "minAvailable": 1},),
)


@RARELY
@given(raw_sets())
def test_wl071_pods_of_a_base_gang_are_made_before_those_that_wait_for_it(raw: Json) -> None:
    for seen, plan in rounds_of(applied(raw)):
        made = [step for step in plan.steps if isinstance(step.action, Create)]
        awaited = {gang for step in made if (gang := base_gang_of(step))}
        needed = {
            group.name: group.min_replicas for one in seen.gangs if one.ref.name in awaited for group in one.groups
        }
        there = {clique.ref.name: len(seen.pods_of.get(clique.uid, ())) for clique in seen.cliques}
        assert all(there[name] >= pods for name, pods in needed.items())


def test_wl071_what_a_quota_leaves_is_for_the_minimum() -> None:
    """The second pod of the base gang is refused: no pod of a scaled gang is made, not even a gated one."""
    looks = rounds_of(applied(SCALED))
    seen, plan = next((seen, plan) for seen, plan in looks if any(kind == "Pod" for kind, _ in created_by(plan)))
    first, *others = (step for step in plan.steps if step.target.name.startswith("llm-0-a-"))
    tried = (
        Attempt(first, AttemptOutcome.DONE),
        *(Attempt(step, AttemptOutcome.REFUSED, "exceeded quota") for step in others),
    )
    after = reconcile(replace(seen, attempts=tried))
    made = {name.rpartition("-")[0] for kind, name in created_by(after) if kind == "Pod"}
    assert made == {"llm-0-pool-0-b"}


@pytest.mark.parametrize("placed", [True, False])
def test_wl088_a_scaled_gang_is_born_without_gates_once_its_base_is_placed(placed: bool) -> None:
    start = at_rest(applied(SCALED))
    assert {pod.has_grove_gate for clique, pod in start.pods() if clique.base_gang} == {True}
    scaled = replace(start, groups=(replace(start.groups[0], replicas=4),))
    rounds = list(rounds_of(with_base_placed(scaled) if placed else scaled))
    pods = [
        thaw_json(step.action.manifest)["spec"]
        for _, plan in rounds
        for step in plan.steps
        if isinstance(step.action, Create) and step.target.kind == "Pod"
    ]
    assert [bool(spec.get("schedulingGates")) for spec in pods] == [not placed] * 2


@pytest.mark.req("WL-010")
def test_wl088_pods_wait_for_a_gang_that_refers_to_them_unless_it_cannot_be_written() -> None:
    looks = rounds_of(applied(set_raw(clique_raw("a", 2))))
    seen, plan = next((seen, plan) for seen, plan in looks if ("PodGang", "llm-0") in created_by(plan))
    assert created_by(plan) == {("PodGang", "llm-0")}
    (step,) = (step for step in plan.steps if step.target.kind == "PodGang")
    assert isinstance(step.action, Create)
    referred = thaw_json(step.action.manifest)["spec"]["podgroups"][0]["podReferences"]
    refused = reconcile(replace(seen, attempts=(Attempt(step, AttemptOutcome.REFUSED, "no such kind"),)))
    pods = [thaw_json(made.action.manifest) for made in refused.steps if isinstance(made.action, Create)]
    assert [pod["metadata"]["name"] for pod in pods] == [reference["name"] for reference in referred]
    assert all(pod["spec"]["schedulingGates"] == [{"name": GATE}] for pod in pods)
    without = replace(seen, complete=seen.complete - {"PodGang"})
    assert {kind for kind, _ in created_by(reconcile(without))} == {"Pod"}


def test_wl088_half_a_gang_is_born_gated() -> None:
    """After a termination one clique is back, and the other one is held by a foreign finalizer."""
    life = Life(set_raw(clique_raw("a", 2, minAvailable=2), clique_raw("b", 2, minAvailable=2)))
    life.settle()
    assert not any(pod.has_grove_gate for pod in life.all_pods())
    gone, held = life.clique("llm-0-a"), life.clique("llm-0-b")
    for pod in life.all_pods():
        life.world.end_pod_containers(pod.ref)
    del life.world.items[gone.ref]
    life.world.put_object(replace(held, deleting=True, finalizers=("example.com/held",)))
    life.settle()
    assert [(pod.has_grove_gate, pod.scheduled) for pod in life.pods("llm-0-a")] == [(True, False)] * 2
    del life.world.items[held.ref]
    life.settle()
    assert [pod.ready for pod in life.all_pods()] == [True] * 4


def test_wl010_a_set_being_deleted_gets_nothing() -> None:
    start = applied(set_raw(clique_raw("a")))
    going = replace(start, root=replace(start.root, deleting=True))
    assert not any(isinstance(step.action, Create) for step in reconcile(going).steps)


def test_wl022_the_other_object_of_a_name_is_held_back() -> None:
    raw = set_raw(clique_raw("pool-0-a"), clique_raw("a"), groups=({"name": "pool", "cliqueNames": ["a"]},))
    held = {why.rule.code for _, plan in rounds_of(applied(raw)) for one in plan.withheld for why in one.because[:1]}
    assert "NameWantedTwice" in held
    assert list(of_kind(raw, "PodClique")) == ["llm-0-pool-0-a"]


@pytest.mark.parametrize(
    ("raw", "held"),
    [
        (set_raw(clique_raw("a", 999_999)), False),
        (set_raw(clique_raw("a", 1_000_000)), True),
        (set_raw(clique_raw("a"), replicas=2_000_000_000), True),
        (set_raw(clique_raw("a"), groups=({"name": "g", "cliqueNames": ["a", "ghost"], "replicas": 10**9},)), True),
        (set_raw(clique_raw("a"), replicas=-5), False),
    ],
)
def test_wl024_a_set_too_large_is_held_back(raw: Json, *, held: bool) -> None:
    start = applied(raw)
    assert (max_object_count_of_set(start) > MOST) is held
    if held:
        (word,) = reconcile(start).withheld
        assert [why.rule for why in word.because] == [WorkloadReason.TOO_LARGE]


def test_wl014_cliques_that_only_a_group_names_are_left_out() -> None:
    raw = set_raw(clique_raw("a"), groups=({"name": "pool", "cliqueNames": ["a", "ghost"]},))
    assert list(of_kind(raw, "PodClique")) == ["llm-0-pool-0-a"]


def test_wl016_a_replica_without_cliques_has_no_gang() -> None:
    assert of_kind(set_raw(), "PodGang") == {}


def test_wl010_the_account_and_the_role_come_before_what_names_them() -> None:
    """Defect B3 of the Go operator."""
    steps = {step.target.kind: step.stage for step in reconcile(applied(set_raw(clique_raw("a")))).steps}
    assert steps["ServiceAccount"] is steps["Role"] is StepStage.FOUNDATION
    assert steps["Secret"] is steps["RoleBinding"] is StepStage.WORKLOAD


@pytest.mark.parametrize(
    ("raw", "made"),
    [
        (set_raw(clique_raw("a", 2), clique_raw("a", 3)), ["llm-0-a"]),
        (
            set_raw(*map(clique_raw, "abc"), groups=tuple({"name": "g", "cliqueNames": [name]} for name in "ab")),
            ["llm-0-b", "llm-0-c", "llm-0-g-0-a"],
        ),
        (
            set_raw(*map(clique_raw, "ab"), groups=({"name": "g", "cliqueNames": ["a", "a"]},)),
            ["llm-0-b", "llm-0-g-0-a"],
        ),
    ],
)
@pytest.mark.req("PL-001")
def test_wl022_the_first_of_a_name_in_the_template_counts(raw: Json, made: list[str]) -> None:
    """Such a set is refused (GT-099), but a stored one may not have been reviewed; it comes to rest, reported."""
    *_, (seen, plan) = rounds_of(applied(raw))
    assert sorted({clique.ref.name for clique in seen.cliques} | {"llm-0-b"} & set(made)) == made
    assert [clique.replicas for clique in seen.cliques if clique.ref.name == "llm-0-a"] in ([], [2])
    (word,) = (one for one in plan.withheld if one.target.kind == "PodCliqueSet")
    assert [why.rule for why in word.because] == [WorkloadReason.NAME_WANTED_TWICE]


@pytest.mark.parametrize(
    "raw",
    [
        set_raw(replicas=1_500_000),
        set_raw(clique_raw("a"), groups=({"name": "g", "cliqueNames": ["ghost"], "replicas": 1_500_000},)),
        set_raw(clique_raw("a", -1), groups=({"name": "g", "cliqueNames": ["a"], "replicas": 1_500_000},)),
        set_raw(clique_raw("a"), groups=({"name": "g", "cliqueNames": ["a"], "minAvailable": 1_500_000},)),
    ],
    ids=["replicas of nothing", "of an unowned group", "of fewer than no pods", "only waited for"],
)
def test_wl024_what_is_walked_is_counted(raw: Json) -> None:
    assert max_object_count_of_set(applied(raw)) > MOST
