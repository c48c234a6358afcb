"""Gates, PodGangs, scaling in and deletion by the Go operator."""

from collections.abc import Callable
from typing import Any

import pytest

from grove_core.areas.workload.field.deletions import deleted_set_release
from grove_core.areas.workload.field.gates import judge_gates_by_go_operator
from grove_core.kernel.frozen import FrozenMap, object_under_key, thaw_json
from grove_core.kernel.steps import Apply, Create, Delete, DropFinalizer, SetStatus
from grove_core.kernel.structs import replace
from grove_core.kernel.wants import Withheld
from grove_core.reconcile import reconcile
from grove_core.resources.api_names import GATE, POD_GANG
from grove_core.resources.owned_object import OwnedObject, owned_object_from_json
from grove_core.resources.pod import Pod
from grove_core.rule_sets.go_operator import BY_RELEASE, NEWEST
from grove_core.snapshot.snapshot import Snapshot
from tests.property.workload.sets import applied
from tests.property.workload_field.healthy_sets import healthy, played, raw_set, with_pods


def gated(pod: Pod) -> Pod:
    return replace(pod, has_grove_gate=True, gated=True, scheduled=False, ready=False, phase="Pending", node="")


def verdicts(seen: Snapshot) -> dict[str, tuple[bool, str]]:
    return {
        gate.pod.name.rpartition("-")[0]: (gate.opens.verdict, gate.opens.because[0].rule.code)
        for gate in judge_gates_by_go_operator(seen)
    }


@pytest.mark.parametrize(("release", "left"), [("v0.1.0-alpha.11", []), ("v0.1.0-alpha.12-rc1", ["example.com/hold"])])
def test_wf045_earlier_releases_remove_the_gates_of_other_products_too(release: str, left: list[str]) -> None:
    gates = [{"name": GATE}, {"name": "example.com/hold"}]
    removals = [
        object_under_key(step.action.fields, "spec").get("schedulingGates")
        for step in reconcile(with_pods(healthy(), gated), BY_RELEASE[release]).steps
        if isinstance(step.action, Apply) and step.target.kind == "Pod"
    ]
    removed = thaw_json(removals[0])
    kept = [] if removed is None else [one["name"] for one in gates if one["name"] != removed[0]["name"]]
    assert kept == left


def test_wf041_pods_of_a_base_gang_are_freed_as_soon_as_it_names_them() -> None:
    seen = with_pods(healthy(), gated)
    assert verdicts(seen)["llm-0-router"] == (True, "NamedByBaseGang")
    few = tuple(
        replace(gang, groups=tuple(replace(one, pods=one.pods[:1]) for one in gang.groups)) for gang in seen.gangs
    )
    found = [gate.opens.verdict for gate in judge_gates_by_go_operator(replace(seen, gangs=few))]
    assert sum(found) == 3, "one pod of each clique is named; the gangs are not complete"


def test_wf042_pods_of_a_scaled_gang_wait_for_stored_counts_of_the_base_gang() -> None:
    seen = with_pods(healthy(), gated)
    assert verdicts(seen)["llm-0-pool-1-worker"] == (True, "BaseGangIsScheduled")
    lacking = tuple(
        replace(clique, status=replace(clique.status, scheduled=1)) if clique.ref.name == "llm-0-router" else clique
        for clique in seen.cliques
    )
    assert verdicts(replace(seen, cliques=lacking))["llm-0-pool-1-worker"][0] is False
    no_base = tuple(gang for gang in seen.gangs if gang.ref.name != "llm-0")
    assert verdicts(replace(seen, gangs=no_base))["llm-0-pool-1-worker"] == (False, "GatedUntilBaseGangIsScheduled")


def test_wf040_a_pod_that_no_gang_names_keeps_its_gate() -> None:
    seen = with_pods(healthy(), gated)
    assert not any(opens for opens, _ in verdicts(replace(seen, gangs=())).values())
    partial = replace(seen, gangs=(), complete=seen.complete - {"PodGang"}, not_collected=frozenset({"PodGang"}))
    assert {code for _, code in verdicts(partial).values()} == {"GangsNotCollected"}


def test_wf046_a_gang_is_initialized_once_and_its_phase_stays_pending() -> None:
    statuses: list[dict[str, Any]] = []

    def watch(_seen: Snapshot, plan: Any) -> None:
        statuses.extend(
            dict(step.action.fields)
            for step in plan.steps
            if step.target.kind == "PodGang" and isinstance(step.action, SetStatus)
        )

    found = played(applied(raw_set()), watch=watch)
    assert {gang.status.phase for gang in found.gangs} == {"Pending"}
    assert {gang.status.conditions[0].status.value for gang in found.gangs} == {"True"}
    assert {key for fields in statuses for key in fields} == {"phase", "conditions"}
    lost = replace(found, pods_of=type(found.pods_of)())
    assert not [
        step
        for step in reconcile(lost, NEWEST).steps
        if step.target.kind == "PodGang" and isinstance(step.action, SetStatus)
    ]


def names_deleted(seen: Snapshot) -> set[str]:
    return {step.target.short for step in reconcile(seen, NEWEST).steps if isinstance(step.action, Delete)}


def test_wf050_a_missing_clique_elsewhere_hides_a_surplus_one() -> None:
    seen = healthy(raw_set(replicas=2))
    spec = applied(raw_set(replicas=1)).root.spec
    scaled = replace(seen, root=replace(seen.root, spec=spec))
    assert "PodClique/llm-1-router" in names_deleted(scaled)
    assert "PodCliqueScalingGroup/llm-1-pool" in names_deleted(scaled)
    assert "PodClique/llm-1-pool-0-worker" not in names_deleted(scaled), "the garbage collector deletes it"
    hidden = replace(scaled, cliques=tuple(one for one in scaled.cliques if one.ref.name != "llm-0-router"))
    assert "PodClique/llm-1-router" not in names_deleted(hidden)


def test_wf052_the_indices_from_replicas_to_the_number_of_existing_ones_go() -> None:
    seen = healthy()
    scaled = replace(seen, groups=tuple(replace(group, replicas=1) for group in seen.groups))
    assert "PodClique/llm-0-pool-1-worker" in names_deleted(scaled)
    gap = replace(scaled, cliques=tuple(one for one in scaled.cliques if one.ref.name != "llm-0-pool-0-worker"))
    assert "PodClique/llm-0-pool-1-worker" not in names_deleted(gap), "one replica exists and one is wanted"


def other(kind: str, name: str, owner: str, **labels: str) -> OwnedObject:
    reference = {"kind": "PodCliqueSet", "name": "llm", "uid": owner, "controller": True}
    return owned_object_from_json(
        {
            "apiVersion": "v1",
            "kind": kind,
            "metadata": {
                "name": name,
                "namespace": "ml",
                "uid": f"uid-{name}",
                "labels": {"app.kubernetes.io/managed-by": "grove-operator"} | labels,
                "ownerReferences": [reference],
            },
        }
    )


def test_wf053_what_an_edited_set_no_longer_has() -> None:
    seen = healthy()
    uid = seen.root.uid
    more = (
        other("HorizontalPodAutoscaler", "llm-7-router", uid),
        other("ResourceClaim", "of-a-clique", "elsewhere"),
        other("Service", "llm-7", uid, **{"grove.io/podcliqueset-replica-index": "7"}),
        replace(other("HorizontalPodAutoscaler", "gone", uid), deleting=True),
    )
    edited = replace(seen, root=replace(seen.root, generation=(seen.root.generation or 0) + 1))
    plan = reconcile(replace(edited, others=(*seen.others, *more)), NEWEST)
    gone = {step.target.name for step in plan.steps if isinstance(step.action, Delete)}
    assert gone == {"llm-7-router", "of-a-clique"}
    kept = {held.target.name: held.because[0].rule.code for held in plan.withheld if isinstance(held, Withheld)}
    assert kept["llm-7"] == "ServiceLeaked"


def test_wf053_other_objects_stay_and_claims_of_unknown_pods_too() -> None:
    seen = healthy()
    more = (other("Role", "old", seen.root.uid), other("ResourceClaim", "of-a-clique", "elsewhere"))
    partial = replace(seen, complete=seen.complete - {"Pod"}, not_collected=frozenset({"Pod"}))
    assert names_deleted(replace(partial, others=(*seen.others, *more))) == set()


def test_wf060_a_deleted_set_goes_before_its_parts() -> None:
    seen = healthy()
    deleted = replace(seen, root=replace(seen.root, deleting=True))
    steps = reconcile(deleted, NEWEST).steps
    assert [(type(step.action), step.target.name) for step in steps] == [(DropFinalizer, "llm")]
    facts = dict(steps[0].because[0].facts)
    assert (facts["cliques"], facts["pods"], facts["ready"]) == (3, 7, 7)
    released = replace(deleted, root=replace(deleted.root, finalizers=()))
    assert not deleted_set_release(released).wants
    parts = tuple(replace(clique, deleting=True) for clique in seen.cliques)
    assert len(deleted_set_release(replace(seen, cliques=parts)).wants) == 3


def test_wf030_a_pod_that_failed_is_not_replaced() -> None:
    seen = with_pods(healthy(), lambda pod: replace(pod, phase="Failed", ready=False) if pod.index == 0 else pod)
    assert not [step for step in reconcile(seen, NEWEST).steps if isinstance(step.action, Create)]


@pytest.mark.parametrize("kind", ["Pod", "PodGang"])
def test_wf046_what_was_not_collected_is_left_alone(kind: str) -> None:
    seen = healthy()
    partial = replace(seen, complete=seen.complete - {kind}, not_collected=frozenset({kind}))
    assert not [step for step in reconcile(partial, NEWEST).steps if step.target.kind == kind]


@pytest.mark.req("WL-207")
def test_wf053_gangs_of_a_newer_release_stay_and_get_no_second_one() -> None:
    seen = with_pods(healthy(), lambda pod: replace(pod, gang=f"{pod.gang}-7f3a9c"))
    gangs = tuple(replace(gang, ref=replace(gang.ref, name=f"{gang.ref.name}-7f3a9c")) for gang in seen.gangs)
    cliques = tuple(
        replace(clique, labels=FrozenMap({**clique.labels, POD_GANG: f"{clique.labels[POD_GANG]}-7f3a9c"}))
        for clique in seen.cliques
    )
    plan = reconcile(replace(seen, gangs=gangs, cliques=cliques), NEWEST)
    assert not [step for step in plan.steps if isinstance(step.action, Create | Delete)]
    assert {held.because[0].rule.code for held in plan.withheld} == {"GangOfAnotherScheme"}


def without_gangs_and_services(seen: Snapshot) -> Snapshot:
    return replace(seen, gangs=(), others=tuple(one for one in seen.others if one.ref.kind != "Service"))


def test_wf047_a_set_at_rest_gets_no_gang_and_no_service_back() -> None:
    deleted = without_gangs_and_services(healthy())
    plan = reconcile(deleted, NEWEST)
    assert not plan.steps
    held = {held.target.short: held.because[0].rule.code for held in plan.withheld if held.target.kind != "Pod"}
    assert held.keys() >= {"PodGang/llm-0", "Service/llm-0"}
    assert set(held.values()) == {"NextReconcileAwaited"}


@pytest.mark.parametrize(
    "change",
    [
        lambda seen: replace(seen, root=replace(seen.root, generation=(seen.root.generation or 0) + 1)),
        lambda seen: replace(seen, cliques=seen.cliques[1:]),
        lambda seen: replace(seen, complete=seen.complete - {"PodCliqueScalingGroup"}),
    ],
    ids=["an edit", "a PodClique is gone", "scaling groups are not in the input"],
)
def test_wf047_with_the_next_reconcile_they_come_back(change: Callable[[Snapshot], Snapshot]) -> None:
    plan = reconcile(change(without_gangs_and_services(healthy())), NEWEST)
    assert "Service/llm-0" in {step.target.short for step in plan.steps if isinstance(step.action, Create)}
    assert "NextReconcileAwaited" not in {why.rule.code for held in plan.withheld for why in held.because}
