"""What is reported of pods in groups that have no node (SC-030 to SC-032), and of which objects it is asked."""

import pytest

from grove_core.areas.scheduling.rules import SchedulingReason
from grove_core.kernel.errors import MalformedObject
from grove_core.kernel.questions import PLACEMENT
from grove_core.kernel.structs import replace
from grove_core.object_explanation import ObjectExplanation
from grove_core.object_lookup import snapshot_has_object
from grove_core.plan.plan import Plan
from grove_core.reconcile import reconcile
from grove_core.resources.owned_object import owned_object_from_json
from grove_core.resources.pod import pod_from_json
from grove_core.snapshot.snapshot import Snapshot
from tests.property.scheduling.grouped_sets import PODGANG, grouped, llama, rested_in_groups
from tests.property.workload.life import Life

WORDS = "pod group is unschedulable"


def pending() -> Life:
    """A set whose base gang waits for nodes."""
    life = grouped(llama())
    for _ in range(6):
        life.round()
    return life


def plan_of(life: Life) -> Plan:
    seen = life.look()
    assert seen is not None
    return reconcile(seen)


def waiting(plan: Plan) -> dict[str, list[object]]:
    """PodClique -> rules of the finding on the placement of its pods."""
    found = (one for one in plan.findings if one.question == PLACEMENT)
    return {one.subject.name: [why.rule for why in one.because] for one in found}


@pytest.mark.req("SC-032")
def test_sc032_a_gang_that_the_scheduler_has_not_looked_at() -> None:
    found = waiting(plan_of(pending()))
    assert set(map(tuple, found.values())) == {(SchedulingReason.NOT_LOOKED_AT,)}
    assert found.keys() == {
        "llm-0-router",
        *(f"llm-0-pool-{replica}-{role}" for replica in (0, 1) for role in ("leader", "worker")),
    }


@pytest.mark.req("SC-030")
def test_sc030_the_message_of_the_scheduler_is_passed_on() -> None:
    life = pending()
    for pod in life.pods("llm-0-router"):
        life.world.put_pod(replace(pod, unplaced_because=WORDS))
    plan = plan_of(life)
    assert waiting(plan)["llm-0-router"] == [SchedulingReason.SCHEDULER_MESSAGE]
    (finding,) = (one for one in plan.findings if one.question == PLACEMENT and one.subject.name == "llm-0-router")
    assert finding.because[0].sentence.endswith(WORDS)


@pytest.mark.req("SC-031")
def test_sc031_the_parts_without_pods_are_named() -> None:
    life = pending()
    life.world.delete_pod(life.pods("llm-0-pool-1-worker")[0])
    while [pod for pod in life.all_pods() if pod.deleting]:
        life.world.end_pod_containers(next(pod.ref for pod in life.all_pods() if pod.deleting))
    plan = plan_of(life)
    assert waiting(plan)["llm-0-router"] == [SchedulingReason.PARTS_WITHOUT_PODS]
    (finding,) = (one for one in plan.findings if one.question == PLACEMENT and one.subject.name == "llm-0-router")
    assert finding.because[0].sentence.endswith("llm-0-pool-1-worker")


def test_nothing_is_reported_of_placed_pods_and_of_podgangs() -> None:
    assert waiting(plan_of(rested_in_groups(llama()))) == {}
    assert waiting(plan_of(grouped(llama(), PODGANG))) == {}


@pytest.mark.parametrize(
    ("kind", "name", "cliques"),
    [
        ("CompositePodGroup", "llm-0", 5),
        ("CompositePodGroup", "llm-0-pool-1", 2),
        ("CompositePodGroup", "llm-0-pool-2", 2),
        ("PodGroup", "llm-0-pool-2-worker", 1),
        ("PodGang", "llm-0", 5),
        ("CompositePodGroup", "llm-1", 0),
    ],
)
def test_a_group_is_explained_by_its_podcliques(kind: str, name: str, cliques: int) -> None:
    seen = rested_in_groups(llama()).look()
    assert seen is not None
    assert snapshot_has_object(seen, kind, name) is bool(cliques)
    inquiry = ObjectExplanation(seen, reconcile(seen), kind, name)
    assert len(inquiry.cliques) == cliques
    assert (
        inquiry.ref.api_version
        == {
            "CompositePodGroup": "scheduling.k8s.io/v1alpha3",
            "PodGroup": "scheduling.k8s.io/v1beta1",
            "PodGang": "scheduler.grove.io/v1alpha1",
        }[kind]
    )


def with_group_condition(status: str) -> Snapshot:
    """The set with what the scheduler says of one PodGroup."""
    seen = rested_in_groups(llama()).look()
    assert seen is not None
    condition = {
        "type": "PodGroupInitiallyScheduled",
        "status": status,
        "reason": "Unschedulable",
        "message": WORDS,
        "lastTransitionTime": "2026-11-20T08:00:00Z",
    }
    raw = {
        "apiVersion": "scheduling.k8s.io/v1beta1",
        "kind": "PodGroup",
        "metadata": {"name": "llm-0-router", "namespace": seen.root.ref.namespace, "uid": "g"},
        "status": {"conditions": [condition]},
    }
    said = owned_object_from_json(raw).conditions
    assert len(said) == 1
    others = tuple(replace(one, conditions=said) if one.ref.name == "llm-0-router" else one for one in seen.others)
    return replace(seen, others=others)


@pytest.mark.parametrize(
    ("kind", "name", "status", "shown"),
    [
        ("PodGroup", "llm-0-router", "False", 1),
        ("PodGroup", "llm-0-router", "True", 1),
        ("PodClique", "llm-0-router", "False", 1),
        ("PodClique", "llm-0-router", "Unknown", 1),
        ("PodClique", "llm-0-router", "True", 0),
        ("PodClique", "llm-0-pool-0-worker", "False", 0),
        ("PodCliqueSet", "llm", "False", 0),
    ],
)
def test_cl085_what_the_scheduler_says_of_a_group(kind: str, name: str, status: str, shown: int) -> None:
    seen = with_group_condition(status)
    found = list(ObjectExplanation(seen, reconcile(seen), kind, name).conditions())
    assert [(ref.name, one.message) for ref, one in found] == [("llm-0-router", WORDS)] * shown


def test_cl085_the_conditions_of_a_podgang() -> None:
    seen, said = rested_in_groups(llama(), PODGANG).look(), with_group_condition("False").others
    assert seen is not None
    conditions = next(one.conditions for one in said if one.conditions)
    first, *rest = seen.gangs
    first = replace(first, status=replace(first.status, conditions=conditions))
    seen = replace(seen, gangs=(first, *rest))
    found = list(ObjectExplanation(seen, reconcile(seen), "PodGang", first.ref.name).conditions())
    assert found == [(first.ref, one) for one in conditions]
    assert found


@pytest.mark.parametrize("status", [7, {"conditions": 7}, {"conditions": [{"type": "MinAvailableBreached"}]}])
def test_cl085_an_unreadable_status_of_a_group_is_no_problem(status: object) -> None:
    raw = {
        "apiVersion": "scheduling.k8s.io/v1beta1",
        "kind": "PodGroup",
        "metadata": {"name": "g", "namespace": "ml", "uid": "g"},
        "status": status,
    }
    assert owned_object_from_json(raw).conditions == ()


def raw_pod(**condition: object) -> dict[str, object]:
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "a", "namespace": "ml"},
        "spec": {"schedulingGroup": {"podGroupName": "g"}, "containers": []},
        "status": {"conditions": [{"type": "Ready", "status": "False"}, {"type": "PodScheduled", **condition}]},
    }


def test_in030_the_group_and_the_message_of_a_pod_are_read() -> None:
    pod = pod_from_json(raw_pod(status="False", reason="Unschedulable", message=WORDS), {})
    assert (pod.pod_group, pod.unplaced_because) == ("g", WORDS)
    placed = pod_from_json(raw_pod(status="True", message=WORDS), {})
    assert (placed.pod_group, placed.unplaced_because) == ("g", "")


def test_in030_a_message_or_group_that_is_no_text_is_a_problem() -> None:
    with pytest.raises(MalformedObject) as fault:
        pod_from_json(raw_pod(status="False", message=7), {})
    assert [problem.path for problem in fault.value.problems] == ["status.conditions[1].message"]
    wrong = raw_pod(status="False")
    wrong["spec"] = {"schedulingGroup": {"podGroupName": 7}}
    with pytest.raises(MalformedObject) as fault:
        pod_from_json(wrong, {})
    assert "podGroupName" in fault.value.problems[0].path
