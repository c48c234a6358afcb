"""Tests for mutants of the workload area that no other test killed (specs/mutants.md)."""

from datetime import timedelta
from typing import Any, Final

import pytest

from grove_core.areas.workload.admission.manifest_defaults import podcliqueset_with_defaults
from grove_core.areas.workload.objects.podgangs import GangConstraintChange, changes_of_podgang
from grove_core.areas.workload.pods.pod_slots import excess_pods
from grove_core.areas.workload.rules import WorkloadReason
from grove_core.kernel.frozen import FrozenDict, FrozenMap, Json, frozen_dict_of_tuples, thaw_json
from grove_core.kernel.steps import Apply, Attempt, AttemptOutcome, Create, Delete, SetStatus, Step
from grove_core.kernel.structs import replace
from grove_core.kernel.time_formats import format_time
from grove_core.reconcile import reconcile
from grove_core.resources.podgang import PodGangConstraints
from grove_core.snapshot.expected_replicas import expected_set_of
from grove_core.snapshot.snapshot import Snapshot
from tests.property.workload.life import Life
from tests.property.workload.sets import clique_raw, pods_of, set_raw
from tests.property.workload.settled_sets import GROUP, rested

ONE: Final = set_raw(clique_raw("a", 1))
GROUPED: Final = set_raw(clique_raw("a", 1), groups=(GROUP,), replicas=2)


def seen_in(life: Life) -> Snapshot:
    seen = life.look()
    assert seen is not None
    return replace(seen, attempts=())


def written(seen: Snapshot, name: str) -> list[Any]:
    """The fields of what is applied to an object, and the statuses that are written to it."""
    steps = [step for step in reconcile(seen).steps if step.target.name == name]
    return [thaw_json(step.action.fields) for step in steps if isinstance(step.action, Apply | SetStatus)]


def test_wl086_what_a_container_asks_for_stays_beside_its_claims() -> None:
    gpus = {"limits": {"nvidia.com/gpu": 8}, "claims": [{"name": "own"}]}
    raw = set_raw(
        clique_raw("a", pod_spec={"containers": [{"name": "main", "resources": gpus}]}),
        resourceClaimTemplates=[{"name": "x", "templateSpec": {"spec": {"devices": {}}}}],
        resourceSharing=[{"name": "x", "scope": "AllReplicas"}],
    )
    (pod,) = pods_of(raw).values()
    (container,) = pod["spec"]["containers"]
    assert container["resources"] == {**gpus, "claims": [{"name": "own"}, {"name": "llm-all-x"}]}


def test_wl213_an_annotation_of_the_template_is_taken_over() -> None:
    life = rested(set_raw(clique_raw("a", annotations={"note": "x"})))
    template = life.root.spec.template
    (clique,) = template.cliques
    changed = clique.model_copy(update={"annotations": FrozenMap({"note": "y"})})
    life.edit(template=template.model_copy(update={"cliques": (changed,)}))
    life.settle()
    assert life.clique("llm-0-a").annotations["note"] == "y"


def test_wl203_a_pod_that_does_not_run_goes_before_one_that_is_not_ready() -> None:
    life = rested(set_raw(clique_raw("a", 2)))
    low, high = (replace(pod, ready=False) for pod in life.pods("llm-0-a"))
    low = replace(low, phase="Pending")
    assert excess_pods([low, high], 1, low.template_hash) == [low]


def test_wl190_the_largest_number_of_replicas_is_a_number() -> None:
    most = 2**31 - 1
    (clique,) = podcliqueset_with_defaults(set_raw(clique_raw("a", most)))["spec"]["template"]["cliques"]
    assert clique["spec"]["minAvailable"] == most


def test_wl026_a_gang_follows_the_priority_of_its_set() -> None:
    life = rested(ONE)
    life.edit(template=life.root.spec.template.model_copy(update={"priority_class_name": "high"}))
    seen = seen_in(life)
    assert {"spec": {"priorityClassName": "high"}} in written(seen, "llm-0")
    (step,) = [step for step in reconcile(seen).steps if step.target.short == "PodGang/llm-0"]
    assert [why.rule for why in step.because] == [WorkloadReason.GANG_FOLLOWS_SET]


def test_wl026_annotations_of_the_set_and_a_new_topology_are_written_together() -> None:
    seen = seen_in(rested(ONE))
    (gang,) = seen.gangs
    root = replace(seen.root, annotations=FrozenMap({"team": "x"}))
    (part,) = expected_set_of(seen).replicas[0].gangs
    move = GangConstraintChange(
        PodGangConstraints("rack-scale"), WorkloadReason.GANG_FOLLOWS_PODS.because(gang.ref, pods=1)
    )
    change = changes_of_podgang(root, gang, part, {group.name: group.pods for group in gang.groups}, move)
    assert change is not None
    metadata = change.fields["metadata"]
    assert isinstance(metadata, FrozenMap)
    assert thaw_json(metadata["annotations"]) == {"team": "x", "grove.io/topology-name": "rack-scale"}


def test_wl023_a_gang_stays_as_it_is_where_not_all_gangs_are_known() -> None:
    seen = seen_in(rested(ONE))
    (gang,) = seen.gangs
    (group,) = gang.groups
    strange = replace(seen, gangs=(replace(gang, groups=(replace(group, pods=()),)),))
    assert [fields for fields in written(strange, "llm-0") if "spec" in fields]
    blind = replace(strange, complete=strange.complete - {"PodGang"})
    assert not [fields for fields in written(blind, "llm-0") if "spec" in fields]


def test_wl243_a_gang_that_names_too_few_pods_says_so() -> None:
    """Its clique was scaled below what the gang needs before it was seen with all its pods."""
    life = rested(set_raw(clique_raw("a", 2)))
    life.scale("llm-0-a", 1)
    life.settle()
    seen = seen_in(life)
    (gang,) = seen.gangs
    bare = replace(seen, gangs=(replace(gang, status=replace(gang.status, conditions=())),))
    (reported,) = [fields["conditions"] for fields in written(bare, "llm-0") if "conditions" in fields]
    (initialized,) = [one for one in reported if one["type"] == "Initialized"]
    assert (initialized["status"], initialized["reason"]) == ("False", "PodGangPodsCreationPending")


def test_wl243_another_reason_changes_nothing_since_when_it_holds() -> None:
    """A user wrote a reason of their own into the conditions."""
    seen = seen_in(rested(set_raw(clique_raw("a", 2))))
    (gang,) = seen.gangs
    theirs = tuple(replace(one, reason="Elsewhere") for one in gang.status.conditions)
    changed = replace(seen, gangs=(replace(gang, status=replace(gang.status, conditions=theirs)),))
    later = replace(changed, now=seen.now + timedelta(hours=1))
    (reported,) = [fields["conditions"] for fields in written(later, "llm-0") if "conditions" in fields]
    before = {one.type: format_time(one.last_transition_time) for one in gang.status.conditions}
    assert {one["type"]: one["lastTransitionTime"] for one in reported} == before


def test_wl212_each_update_has_a_beginning_of_its_own() -> None:
    life = rested(ONE)
    began = []
    for image in ("v2", "v3"):
        life.now += timedelta(hours=1)
        life.new_image(image)
        life.settle()
        began.append(str(life.root.status.progress["updateStartedAt"]))
    assert began[0] < began[1]


def test_wl224_a_group_counts_its_members_when_its_update_ends() -> None:
    life = rested(set_raw(clique_raw("a", 1), groups=(GROUP,)))
    life.new_image("v2")
    life.settle()
    progress = life.group("llm-0-pool").status.progress
    assert (progress["updatedPodCliquesCount"], progress["totalPodCliquesCount"]) == (2, 2)


def test_wl224_no_update_of_a_clique_ends_while_it_has_old_pods() -> None:
    """Of a replica whose turn has not come, with pods enough to serve."""
    life = rested(set_raw(clique_raw("a", 1), replicas=2))
    life.new_image("v2")
    while not life.clique("llm-0-a").status.updating:
        life.round()
    ours, theirs = life.clique("llm-0-a"), life.clique("llm-1-a")
    labels = FrozenMap({**theirs.labels, "grove.io/pod-template-hash": ours.template_hash})
    status = replace(theirs.status, updating=True, progress=ours.status.progress)
    taken = replace(theirs, template_hash=ours.template_hash, pod_spec=ours.pod_spec, labels=labels, status=status)
    life.world.put_object(taken)
    assert not [fields for fields in written(seen_in(life), "llm-1-a") if "updateProgress" in fields]


def test_wl212_the_next_replica_waits_while_a_group_of_this_one_is_missing() -> None:
    life = rested(GROUPED)
    life.new_image("v2")
    while not life.root.status.updating:
        life.round()
    seen = seen_in(life)
    members = [clique for clique in seen.cliques if clique.group_replica_index >= 0 and clique.replica_index == 0]
    without = replace(
        seen,
        groups=tuple(group for group in seen.groups if group.ref.name != "llm-0-pool"),
        cliques=tuple(clique for clique in seen.cliques if clique not in members),
        pods_of=frozen_dict_of_tuples(
            {uid: pods for uid, pods in seen.pods_of.items() if uid not in {one.uid for one in members}}
        ),
    )
    reported = [fields.get("updateProgress", {}) for fields in written(without, "llm")]
    assert not [one for one in reported if one.get("currentlyUpdating", [{"replicaIndex": 0}])[0]["replicaIndex"] != 0]


def test_wl219_a_replica_of_a_group_that_has_no_room_is_not_waited_for() -> None:
    life = rested(set_raw(clique_raw("a", 1), groups=({**GROUP, "replicas": 3},)))
    (last,) = life.pods("llm-0-pool-2-a")
    life.world.put_pod(replace(last, scheduled=False, ready=False, node="", phase="Pending", trouble="Unschedulable"))
    life.new_image("v2")
    for _ in range(60):
        life.round()
        for pod in life.all_pods():
            if pod.gang == "llm-0-pool-1" and not pod.has_grove_gate:
                life.world.put_pod(replace(pod, trouble="Unschedulable"))
            elif not pod.has_grove_gate and not pod.ready:
                life.world.put_pod(replace(pod, scheduled=True, node="n", phase="Running", ready=True))
    assert {life.image_of(pod) for pod in life.all_pods()} == {"v2"}


def test_wl085_no_pod_is_made_for_a_clique_that_ends_in_the_same_moment() -> None:
    life = rested(set_raw(clique_raw("a", 2), replicas=2, terminationDelay="1m"))
    for pod in life.pods("llm-0-a"):
        life.world.put_pod(replace(pod, ready=False))
    life.round()
    life.now += timedelta(minutes=5)
    life.world.delete_object(life.pods("llm-0-a")[0].ref)
    steps = reconcile(seen_in(life)).steps
    assert [step.target.name for step in steps if isinstance(step.action, Delete)] == ["llm-0-a"]
    assert not [step for step in steps if isinstance(step.action, Create)]


@pytest.fixture
def going() -> Snapshot:
    """A set that is being deleted, and nothing is left of it."""
    seen = seen_in(rested(ONE))
    return replace(seen, root=replace(seen.root, deleting=True), cliques=(), groups=(), pods_of=FrozenDict())


def remaining(seen: Snapshot) -> list[Json]:
    """How much is waited for, as it is said."""
    found = [
        why for held in reconcile(seen).withheld for why in held.because if why.rule is WorkloadReason.PARTS_REMAIN
    ]
    return [dict(why.facts)["remaining"] for why in found]


def steps_of(kind: str) -> list[Step]:
    life = Life(GROUPED)
    plans = [life.round() for _ in range(4)]
    return [step for plan in plans if plan for step in plan.steps if step.target.kind == kind]


@pytest.mark.parametrize(
    ("kind", "outcome", "left"),
    [
        ("PodClique", AttemptOutcome.DONE, [1]),
        ("PodCliqueScalingGroup", AttemptOutcome.DONE, [1]),
        ("PodClique", AttemptOutcome.CONFLICT, []),
        ("Service", AttemptOutcome.DONE, []),
    ],
)
def test_wl231_what_was_made_a_moment_ago_is_waited_for(
    going: Snapshot, kind: str, outcome: AttemptOutcome, left: list[int]
) -> None:
    made = next(step for step in steps_of(kind) if isinstance(step.action, Create))
    assert remaining(replace(going, attempts=(Attempt(made, outcome),))) == left


def test_wl231_what_is_left_is_counted(going: Snapshot) -> None:
    """Cliques, and pods that have outlived theirs; pods of other sets of the namespace are none of it."""
    seen = seen_in(rested(set_raw(clique_raw("a", 2), clique_raw("b", 1))))
    clique = next(one for one in seen.cliques if one.ref.name == "llm-0-b")
    pods = [pod for pod in seen.pods() if pod[1].name.startswith("llm-0-a")]
    orphans = {"gone": [pod for _, pod in pods], "else": [replace(pods[0][1], set_name="chat", uid="x")]}
    left = replace(
        going, cliques=(clique,), pods_of=frozen_dict_of_tuples({clique.uid: seen.pods_of[clique.uid], **orphans})
    )
    assert remaining(left) == [3]


def test_wl232_all_kinds_that_were_not_collected_are_named(going: Snapshot) -> None:
    blind = replace(going, not_collected=frozenset({"PodClique", "Pod"}))
    found = [why for held in reconcile(blind).withheld for why in held.because]
    assert [dict(why.facts)["kinds"] for why in found if why.rule is WorkloadReason.PARTS_NOT_COLLECTED] == [
        "PodCliques, pods"
    ]
