"""PodGangs follow their set and their pods, and report whether they are complete (WL-023, WL-026, WL-243)."""

from datetime import timedelta
from typing import Final

from grove_core.areas.workload.objects.podgangs import GangConstraintChange, changes_of_podgang
from grove_core.areas.workload.rules import WorkloadReason
from grove_core.kernel.frozen import FrozenMap, thaw_json
from grove_core.kernel.structs import replace
from grove_core.kernel.time_formats import format_time
from grove_core.reconcile import reconcile
from grove_core.resources.podgang import PodGangConstraints
from grove_core.snapshot.expected_replicas import expected_set_of
from tests.property.workload.sets import clique_raw, set_raw
from tests.property.workload.settled_sets import rested, seen_in, written

ONE: Final = set_raw(clique_raw("a", 1))


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
